"""``tallystick dynamic``: once as the installed command, else in this process, which is faster."""

import csv
import json

import numpy as np
import pytest


@pytest.fixture
def leave(in_process):
    """Run a verb in this process; return its exit code and what it printed."""

    def run(*arguments):
        done = in_process("dynamic", *arguments)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def log(tmp_path):
    """A long log of three rounds, 40 items each, and four models that fail together."""
    rng = np.random.default_rng(0)
    lines = ["item,round,model,correct,cost"]
    for number in (1, 2, 3):
        for k in range(40):
            hard = rng.standard_normal()
            right = 0.7 * hard + 0.7 * rng.standard_normal(4) < 0.4
            lines += [f"{number}-{k},{number},m{m},{int(ok)},2.5" for m, ok in enumerate(right)]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_analyse_answers_by_slice_and_knows_tokens_for_no_answer(leave, tmp_path):
    rng = np.random.default_rng(2)
    rows = ["uid,round,gold,topic,a,b,c"]
    for k in range(240):
        calls = [
            "xy"[int(v)] for v in 0.7 * rng.standard_normal() + 0.7 * rng.standard_normal(3) > 0.3
        ]
        rows.append(f"i{k},{k // 80 + 1},x,{'uv'[k % 2]},{','.join(calls)}")
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    asked = ("--truth", "gold", "--item", "uid", "--by", "topic", "--json")
    code, out, err = leave("analyse", "log.csv", *asked)
    assert code == 0, err
    body = json.loads(out)
    assert body["models"] == ["a", "b", "c"]
    assert [part["slice"] for part in body["slices"]] == ["u", "v"]
    assert [part["n_items"] for part in body["slices"]] == [120, 120]
    rows[1] = rows[1].rsplit(",", 1)[0] + ",NONE"
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    # A word for no answer needs no --missing any more; --labels says that it is a label.
    for more in ((), ("--missing", "NONE")):
        code, out, err = leave("analyse", "log.csv", *asked, *more)
        assert code == 0, err
        assert "1 of 720 answers are missing" in err
        assert json.loads(out)["rounds"][0]["items"] in (79, 80)


def test_analyse_leaves_out_items_whose_truth_is_na_and_counts_them(leave, tmp_path):
    once, _ = weighted_rows()
    rows = [line.rsplit(",", 1)[0] for line in once]
    write(
        tmp_path / "some.csv",
        HEAD,
        [*rows[::2], *(r.replace(",x,", ",NA,", 1) for r in rows[1::2])],
    )
    write(tmp_path / "kept.csv", HEAD, rows[::2])
    code, out, err = leave("analyse", "some.csv", *ASKED, "--json")
    assert code == 0, err
    assert err.count("30 of 60 items have no true label and are left out") == 1
    some, kept = json.loads(out), json.loads(leave("analyse", "kept.csv", *ASKED, "--json")[1])
    assert "30 of 60 items have no true label and are left out" in some["notes"]
    assert some["rounds"] == kept["rounds"]
    assert some["n_items"] == 30


def weighted_rows():
    """A wide log whose rows have whole weights, two of them 0, and its rows as often as their
    weight says."""
    rng = np.random.default_rng(3)
    once, often = [], []
    for k in range(60):
        calls = [
            "xy"[int(v)] for v in 0.7 * rng.standard_normal() + 0.7 * rng.standard_normal(3) > 0.3
        ]
        head, tail, weight = (
            f"i{k}",
            f"{k // 30 + 1},x,{'uv'[k % 2]},{','.join(calls)}",
            (k % 7 + 1) % 4,
        )
        once.append(f"{head},{tail},{weight}")
        often += [f"{head}.{copy},{tail}" for copy in range(weight)]
    return once, often


HEAD = "uid,round,gold,topic,a,b,c"
ASKED = ("--truth", "gold", "--item", "uid", "--models", "a,b,c")


def write(path, head, rows):
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def read_items(path):
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_analyse_writes_a_row_an_item_of_a_wide_log(leave, tmp_path):
    once, _ = weighted_rows()
    write(tmp_path / "once.csv", HEAD + ",w", ["=1+1" + once[0][2:], *once[1:]])
    code, out, err = leave("analyse", "once.csv", *ASKED, "--items-out", "items.csv", "--json")
    assert code == 0, err
    rows = read_items(tmp_path / "items.csv")
    assert [row["item"] for row in rows] == ["'=1+1", *(f"i{k}" for k in range(1, 60))]
    for each in json.loads(out)["rounds"]:
        mine = [row for row in rows if row["round"] == str(each["round"])]
        errors = [float(row["vote_error"]) for row in mine]
        assert np.mean(errors) == pytest.approx(each["risk"])
    first = next(row for row in rows if row["check_order"] == "1")
    assert (first["wrong"], first["vote"], first["vote_error"]) == ("3", "y", "1.0")


def test_analyse_reads_a_label_in_two_spellings_as_one_where_the_truth_does(leave, tmp_path):
    _, often = weighted_rows()
    write(tmp_path / "plain.csv", HEAD, often)
    write(tmp_path / "mixed.csv", HEAD, [*often[:-1], often[-1][:-1] + often[-1][-1].upper()])
    told = leave("analyse", "mixed.csv", *ASKED, "--coerce", "--json")
    assert told[0] == 0, told[2]
    same = json.loads(leave("analyse", "plain.csv", *ASKED, "--json")[1])
    assert {**json.loads(told[1]), "reading": None} == {**same, "reading": None}
    alone = leave("analyse", "mixed.csv", *ASKED, "--json")
    assert "labels that differ only by capitals, blanks or the way" in alone[2]
    body, plain = json.loads(alone[1]), json.loads(told[1])
    aside = {"notes": [], "reading": None}
    assert {**body, **aside} == {**plain, **aside}


def test_analyse_reads_columns_of_mixed_types_only_when_told(leave, tmp_path):
    rows = []
    for k, line in enumerate(weighted_rows()[1]):
        uid, number, _, _, *calls = line.split(",")
        said = {
            name: [1, "1", True][k % 3] if call == "x" else 0
            for name, call in zip("abc", calls, strict=True)
        }
        rows.append(json.dumps({"uid": uid, "round": int(number), "gold": 1, **said}))
    (tmp_path / "log.ndjson").write_text("\n".join(rows), encoding="utf-8")
    code, _, err = leave("analyse", "log.ndjson", *ASKED, "--json")
    assert code == 1
    assert "coerce (--coerce)" in err
    code, out, err = leave("analyse", "log.ndjson", *ASKED, "--coerce", "--json")
    assert code == 0, err
    wrong = [line.split(",")[-1] == "y" for line in weighted_rows()[1]]
    body = json.loads(out)
    found = sum((1 - each["accuracy"]) * each["items"] for each in body["rounds"])
    assert found == pytest.approx(sum(wrong))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("theory", "--epsilon", ".7"), "epsilon must be in (0, 1/2]"),
        (("simulate", "--epsilon", "0"), "epsilon must be in (0, 1/2]"),
        (("simulate", "--learner", "theorem-4.2"), "is about --design hierarchical"),
        (("simulate", "--learner", "theorem-3.5", "--design", "hierarchical"), "--design path"),
        (("simulate", "--learner", "worst", "--rounds", "9"), "up to 8 --rounds"),
        (("theory", "--epsilon", ".1", "--rounds", "9999"), "rounds must be at most 200"),
        (("simulate", "--rollouts", "9999999"), "rollouts must be at most 10000"),
        (("analyse", "absent.csv"), "absent.csv"),
    ],
)
def test_bad_input_leaves_with_one_and_names_it(leave, arguments, message):
    done = leave(*arguments)
    code, out, err = done
    assert (code, out) == (1, "")
    assert message in err


def test_one_round_missing_rounds_and_models_that_differ_between_rounds_work(leave, log):
    text = log.read_text(encoding="utf-8")
    for edit, rounds in (
        (text.replace(",2,m", ",5,m"), [1, 3, 5]),
        ("\n".join(line for line in text.splitlines() if ",1,m" in line or "item" in line), [1]),
        (text.replace(",3,m0", ",3,m9"), [1, 2, 3]),
    ):
        log.write_text(edit, encoding="utf-8")
        code, out, err = leave("analyse", log, "--json")
        assert code == 0, err
        assert [row["round"] for row in json.loads(out)["rounds"]] == rounds
