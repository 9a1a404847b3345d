import csv
import json

import numpy as np
import pytest

from tallystick.papers.noisy_judges.correlated_judges import Point, simulate

POINT = Point(
    prevalence="2/5",
    accuracy={
        "gpt": ("9/10", "4/5"),
        "claude": ("4/5", "9/10"),
        "llama": ("4/5", "3/4"),
        "qwen": ("7/10", "4/5"),
    },
)


@pytest.fixture
def table(tmp_path):
    """Votes of four judges on 600 items, 80 of them labelled."""
    data = simulate(POINT).independent_draws(600, rng=5)
    path = tmp_path / "votes.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", *POINT.names, "gold", "part"])
        for i in range(600):
            gold = data["truth"][i] if i % 7 == 0 else ""
            writer.writerow([i, *(data[name][i] for name in POINT.names), gold, "ab"[i % 2]])
    return path


def test_a_few_labels_give_intervals_that_rest_on_them(tallystick, table, tmp_path):
    done = tallystick(
        "judge",
        table,
        *"--judges gpt,claude,llama,qwen --truth gold --items-out i.csv --json".split(),
    )
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert body["method"] == "labels"
    assert body["n_labels"] == 86
    assert body["labels_worth"] > 0
    assert body["population"] == "these"
    rows = list(csv.DictReader((tmp_path / "i.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["consensus"] for row in rows} == {"a", "b"}
    for name in ("label_next", "check_next"):
        order = sorted(int(row[name]) for row in rows if row[name])
        assert order == list(range(1, 600 - 86 + 1))
        assert not any(row[name] for row in rows if row["gold"])
    first = next(row for row in rows if row["check_next"] == "1")
    assert float(first["probability"]) == min(float(row["probability"]) for row in rows)
    assert max(float(row["probability"]) for row in rows if not row["gold"]) < 1
    assert 0 <= body["calibration"]["error"] <= 0.15


def stream_lines(n, change):
    """Votes of three judges; from item *change* on gpt says the opposite."""
    data = simulate(POINT).independent_draws(n, rng=6)
    flipped = np.where(np.arange(n) >= change, np.where(data["gpt"] == "a", "b", "a"), data["gpt"])
    return [
        "gpt,claude,llama",
        *(f"{flipped[i]},{data['claude'][i]},{data['llama'][i]}" for i in range(n)),
    ]


def test_following_stdin_prints_one_line_per_window_and_the_last_partial_one(tallystick):
    """The rule changed: alarms come after 500 items, from one watch over all windows."""
    lines = stream_lines(1150, 800)
    done = tallystick(
        *"judge - --follow --window 200 --method majority".split(),
        stdin="\n".join(lines) + "\n",
    )
    assert done.returncode == 0, done.stderr
    bodies = [json.loads(line) for line in done.stdout.splitlines()]
    windows = [body["window"] for body in bodies]
    assert [window["start"] for window in windows] == [0, 200, 400, 600, 800, 1000]
    assert [window["partial"] for window in windows] == [False] * 5 + [True]
    assert windows[5]["end"] == 1150
    assert windows[1]["change"] is None
    assert "gpt" in windows[4]["change"]["proves"]
    assert bodies[4]["change"]["likely"] == "gpt alone changed"
    low, high = bodies[4]["change"]["range"]
    assert low <= 800 <= high
    assert bodies[4]["alarms"][0]["name"] == "change"
    assert bodies[0]["notices"] == []
    rows = "\n".join(json.dumps({"x": i % 2, "y": i % 2, "z": (i // 2) % 2}) for i in range(20))
    done = tallystick("judge", "-", "--follow", "--window", "10", stdin=rows + "\n")
    assert len(done.stdout.splitlines()) == 2


def test_known_judges_and_a_prevalence_range_are_read(tallystick, table, tmp_path):
    known = {name: {"a": float(a), "b": float(b)} for name, (a, b) in POINT.accuracy.items()}
    (tmp_path / "known.json").write_text(json.dumps(known), encoding="utf-8")
    judges = ("--judges", "gpt,claude,llama,qwen")
    done = tallystick(
        "judge", table, *judges, *"--known known.json --method dawid-skene --json".split()
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["prevalence"]["a"]["estimate"] == pytest.approx(0.4, abs=0.06)
    done = tallystick(
        "judge", table, *judges, *"--prevalence a=.3,.45 --method logical --json".split()
    )
    assert json.loads(done.stdout)["judges"][0]["interval"][0] > 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--prevalence", "a=2"), "LABEL=LOW,HIGH"),
        (("--prevalence", "a=.9,1.5"), "within (0, 1)"),
        (("--prevalence", "nobody=.1,.2"), "'nobody'"),
        (("--known", "absent.json"), "absent.json"),
        (
            ("--method", "majority", "--prevalence", "a=.3,.4"),
            "prevalence has no effect with method majority",
        ),
        (("--recorded", "position"), "it is for position-bias"),
        (("--alpha", "2"), "alpha must be in (0, 1)"),
        (("--follow",), "stdin"),
        (("--method", "self-consistency", "--window", "100"), "window has no effect"),
        (("--window", "100", "--weight", "item"), "window counts rows"),
    ],
)
def test_bad_options_are_refused_by_name(tallystick, table, options, said):
    done = tallystick("judge", table, "--judges", "gpt,claude,llama", *options)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_hostile_tables_get_a_true_statement_or_a_clear_error(tallystick):
    two = tallystick("judge", "-", "--judges", "x,y", "--json", stdin="x,y\n0,1\n1,1\n0,0\n")
    assert json.loads(two.stdout)["decision"] == "unknowable"
    mute = tallystick("judge", "-", stdin="x,y,z\n0,1,\n1,1,\n0,0,\n")
    assert mute.returncode == 0
    assert "unused: z" in mute.stdout
    named = tallystick("judge", "-", "--judges", "x,y,z", stdin="x,y,z\n0,1,\n1,1,\n0,0,\n")
    assert named.returncode == 1
    assert "'z'" in named.stderr
    asked = ("judge", "-", "--method", "independent", "--judges", "x,y,z")
    three = tallystick(*asked, stdin="x,y,z\n0,1,2\n1,1,1\n0,0,0\n")
    assert three.returncode == 1
    assert "two labels" in three.stderr
    constant = tallystick("judge", "-", "--judges", "x,y", stdin="x,y\n1,1\n1,1\n")
    assert constant.returncode == 1
    assert "never disagree" in constant.stderr


def test_a_saved_tally_is_judged_by_the_columns_that_are_named(tallystick, table):
    columns = ",".join((*POINT.names, "gold"))
    assert tallystick("tally", table, "--columns", columns, "-o", "votes.tally").returncode == 0
    asked = ("--judges", "gpt,claude,llama", "--truth", "gold", "--json")
    whole, counted = (
        json.loads(tallystick("judge", source, *asked).stdout) for source in (table, "votes.tally")
    )
    assert counted["judges"] == whole["judges"]
    assert "no column 'nobody'" in tallystick("judge", "votes.tally", "--judges", "nobody").stderr
    assert (
        "--items-out needs the rows"
        in tallystick("judge", "votes.tally", "--items-out", "x.csv").stderr
    )


@pytest.mark.parametrize(
    "option", [("--by", "x"), ("--html", "page.html"), ("--items-out", "i.csv"), ("--weight", "x")]
)
def test_following_refuses_what_it_would_not_read(tallystick, option):
    done = tallystick(
        *"judge - --follow --window 2".split(), *option, stdin="x,y,z\n0,1,0\n1,1,0\n"
    )
    assert done.returncode == 1
    assert f"does not take {option[0]}" in done.stderr
    assert done.stdout == ""


def test_a_word_for_no_answer_is_read_as_no_vote(tallystick, tmp_path):
    (tmp_path / "blank.csv").write_text(
        "a,b,c\n" + "yes,no,None\nno,no,yes\nyes,yes,yes\n" * 9, encoding="utf-8"
    )
    done = tallystick("judge", "blank.csv", "--judges", "a,b,c", "--json")
    assert [one["votes"] for one in json.loads(done.stdout)["judges"]] == [27, 27, 18]


def test_following_grades_the_judges_that_are_named_and_all_without_names(tallystick):
    rows = "".join(f"{i % 2},{i % 2},{(i % 3 > 0) * 1}\n" for i in range(20))
    for named, names in (((), ["x", "y", "z"]), (("--judges", "x,z"), ["x", "z"])):
        asked = ("judge", "-", "--follow", "--window", "10", *named)
        done = tallystick(*asked, stdin="x,y,z\n" + rows)
        assert done.returncode == 0, done.stderr
        for line in done.stdout.splitlines():
            assert [one["name"] for one in json.loads(line)["judges"]] == names
