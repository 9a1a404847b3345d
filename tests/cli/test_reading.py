"""What was read is declared once, shown above every answer, and asked where it is not clear."""

from __future__ import annotations

import csv
import json
import random
import shlex
import tomllib
from pathlib import Path

import pytest

import tallystick as ts
from tallystick.errors import AskError, InputError
from tallystick.registry import capabilities, capability
from tallystick.report import page_of
from tallystick.table import Reading, answered, write_csv

SHOWN = [one.verb for one in capabilities() if one.demo is not None]


def votes(rows: int = 120, **more: object) -> dict[str, list[object]]:
    draw = random.Random(1)
    truth = [draw.choice(["yes", "no"]) for _ in range(rows)]
    other = {"yes": "no", "no": "yes"}

    def judge(right: float) -> list[object]:
        return [one if draw.random() < right else other[one] for one in truth]

    gold = [one if k % 3 == 0 else None for k, one in enumerate(truth)]
    return {"id": list(range(rows)), "gpt": judge(0.9), "claude": judge(0.8), "gold": gold, **more}


def write(path: Path, columns: dict[str, list[object]], sep: str = ",") -> str:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=sep)
        writer.writerow(columns)
        writer.writerows(
            ["" if cell is None else cell for cell in row]
            for row in zip(*columns.values(), strict=True)
        )
    return path.name


@pytest.mark.parametrize("verb", SHOWN)
def test_every_verb_shows_first_what_it_read(verb, tallystick, tmp_path):
    shown = capability(verb)
    made = shown.demo(0)
    write_csv(tmp_path / "t.csv", made.table)
    words = [*verb.split(), "t.csv", *made.command()]
    # What is paid for is kept in a file.
    words += ["-o", "answers.csv"] if verb == "ask" else []
    text = tallystick(*words).stdout
    body = json.loads(tallystick(*words, "--json").stdout)

    line = body["reading"]["line"]
    assert line.startswith("read: ")
    assert " ".join(text.split()).startswith(line)

    result = answered(shown, made.table, made.options)
    assert result.reading.line() == line
    assert str(result).startswith(line)
    assert line in page_of(result).replace("&#39;", "'")
    assert line in result._repr_html_()
    for columns in (value for value in body["reading"].values() if isinstance(value, list)):
        assert columns


def test_the_line_says_counts_labels_and_what_is_unused():
    table = votes(topic=["tea", "a long story about coffee"] * 60)
    found = ts.judge(table, truth="gold").reading
    assert found.line() == (
        "read: 120 items (id) · judges gpt, claude: yes or no · labels: 40 (gold) · unused: topic"
    )
    assert found.how == {"item": "by name", "judges": "by content"}
    named = ts.judge(table, truth="gold", judges=["gpt", "claude"], item="id").reading
    assert "?" not in named.line()
    assert {*named.how.values()} == {"named"}


def test_many_names_are_cut_and_one_row_is_one_row():
    twenty = tuple(f"judge_{k}" for k in range(20))
    assert "judge_7 and 12 more" in Reading(judges=twenty).line()
    nine = tuple(f"j{k}" for k in range(9))
    assert "more" not in Reading(judges=nine).line()
    assert Reading(rows=1).line() == "read: 1 row"
    assert len(Reading(judges=twenty, models=twenty, weak=twenty).line()) < 200


def test_tallies_frames_and_several_files_have_a_reading(tmp_path, tallystick):
    pl = pytest.importorskip("polars")
    table = votes()
    counted = ts.Tally.of({name: table[name] for name in ("gpt", "claude", "gold")})
    assert ts.judge(counted, truth="gold").reading.line() == (
        "read: 120 rows · judges gpt, claude: yes or no · labels: 40 (gold)"
    )
    many = {name: cells * 500 for name, cells in table.items() if name != "id"}
    # Written out 500 times, the labelled rows are plainly others than the rest.
    with pytest.warns(UserWarning, match="drawn at random"):
        lazy = ts.judge(pl.LazyFrame(many), truth="gold").reading
    assert "60,000 rows" in lazy.line()
    assert "labels: 20,000 (gold)" in lazy.line()

    for name, right in (("old", 3), ("new", 4)):
        marks = [int(k % right > 0) for k in range(60)]
        write(tmp_path / f"{name}.csv", {"question_id": list(range(60)), "correct": marks})
    body = json.loads(tallystick("compare", "old.csv", "new.csv", "--json").stdout)
    assert body["reading"]["models"] == ["old", "new"]
    assert "models old, new: 0 or 1 (correct)" in body["reading"]["line"]


def test_a_long_table_names_who_voted_and_the_vote():
    table = votes(40)
    rows = [(k, who, table[who][k]) for k in range(40) for who in ("gpt", "claude")]
    long = dict(zip(("item", "rater", "vote"), map(list, zip(*rows, strict=True)), strict=True))
    found = ts.judge(long).reading
    assert found.line() == "read: 40 items (item) · judges claude, gpt (rater): yes or no (vote)"
    assert ts.judge(long, reading=found).reading.line() == found.line()


def test_a_session_and_an_audit_show_what_they_read(tmp_path, tallystick):
    write(tmp_path / "t.csv", votes())
    begun = tallystick("label", "t.csv", "--question", "judge", "--session", "s.label", "--json")
    assert json.loads(begun.stdout)["reading"]["judges"] == ["gpt", "claude"]
    body = json.loads(tallystick("audit", "t.csv", "--json").stdout)
    assert body["reading"]["truth"] == "gold"
    assert all(one["reading"]["line"].startswith("read: ") for one in body["sections"])


TABLES = {
    "votes": votes(),
    "open truth": {**votes(), "gold": None, "human": votes()["gold"]},
    "marks": {
        "id": list(range(90)),
        "model_a": [int(k % 4 > 0) for k in range(90)],
        "model_b": [int(k % 3 > 0) for k in range(90)],
    },
    "sparse": {**votes(), "gold": None, "mensch": votes()["gold"]},
    "wide": {
        "id": list(range(60)),
        **{f"{s}.gpt": [int(k % n > 0) for k in range(60)] for s, n in (("A", 3), ("B", 5))},
        **{f"{s}.human": [k % 2 if k < 30 else None for k in range(60)] for s in "AB"},
    },
    "rounds": capability("dynamic analyse").demo(0).table,
    "texts": {"a": [f"some words {k}" for k in range(30)], "b": [k / 7 for k in range(30)]},
}


@pytest.mark.parametrize("name", TABLES)
def test_every_command_that_look_prints_runs_or_asks(name, tmp_path, tallystick):
    columns = {key: cells for key, cells in TABLES[name].items() if cells is not None}
    write_csv(tmp_path / "t.csv", columns)
    done = tallystick("look", "t.csv", "--json")
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert [one["name"] for one in body["columns"]] == list(columns)
    assert bool(body["commands"]) is (name != "texts")
    for command in body["commands"]:
        assert tallystick(*shlex.split(command)[1:]).returncode in (0, 2), command


def test_look_says_what_each_column_is(tmp_path, tallystick):
    write(tmp_path / "t.csv", votes(blank=[None] * 120, same=[3] * 120), sep=";")
    text = tallystick("look", "t.csv").stdout
    assert text.startswith("read: 120 items (id)")
    said = {line.split()[0]: " ".join(line.split()) for line in text.splitlines() if line}
    assert said["gpt"] == "gpt no, yes 2 0 judge voter, truth"
    assert said["gold"] == "gold no, yes 2 80 truth voter, truth"
    assert "unused nothing: every cell is blank" in said["blank"]
    assert "unused" in said["same"]
    assert "  tallystick judge t.csv --judges gpt,claude --truth gold --item id" in text


def test_look_guesses_no_order_of_two_words(tmp_path, tallystick):
    cells = {name: list(said) * 40 for name, said in (("gold", "abb"), ("x", "aba"), ("y", "abb"))}
    write_csv(tmp_path / "t.csv", {"id": list(range(120)), **cells})
    body = json.loads(tallystick("look", "t.csv", "--json").stdout)
    assert not [one for one in body["commands"] if "--labels" in one or " score " in one]
    assert "--labels=a,b or --labels=b,a" in body["open"][0]


def test_look_guesses_no_truth_among_people_of_whom_one_had_the_last_word(tmp_path, tallystick):
    people = {f"annotator_{k}": list(said) * 40 for k, said in ((1, "abb"), (2, "aba"), (3, "bbb"))}
    last = [cell if k % 5 == 0 else "" for k, cell in enumerate(people["annotator_1"])]
    write_csv(tmp_path / "t.csv", {"id": list(range(120)), **people, "adjudicated": last})
    body = json.loads(tallystick("look", "t.csv", "--json").stdout)
    assert body["reading"]["truth"] == "adjudicated"
    assert not [one for one in body["commands"] if "--truth annotator" in one]


def test_a_reading_file_is_obeyed_and_options_win(tmp_path, tallystick):
    table = votes()
    table["other"] = [cell if k % 7 else "no" for k, cell in enumerate(table["gpt"])]
    write(tmp_path / "t.csv", table)
    assert tallystick("look", "t.csv", "-o", "t.toml").returncode == 0
    said = (tmp_path / "t.toml").read_text()
    assert len(said.splitlines()) <= 16
    kept = tomllib.loads(said)
    assert kept["truth"] == "gold"
    assert kept["judges"] == ["gpt", "claude", "other"]

    (tmp_path / "mine.toml").write_text('judges = ["gpt", "claude"]  # these two\ntruth = "gold"\n')
    for verb, group in (("judge", "judges"), ("compare", "models"), ("audit", "judges")):
        body = json.loads(tallystick(verb, "t.csv", "--reading", "mine.toml", "--json").stdout)
        assert body["reading"][group] == ["gpt", "claude"], verb
        assert body["reading"]["truth"] == "gold"
    won = tallystick("judge", "t.csv", "--reading", "mine.toml", "--judges", "gpt,other", "--json")
    assert json.loads(won.stdout)["reading"]["judges"] == ["gpt", "other"]
    result = ts.judge(table, reading=tmp_path / "mine.toml")
    assert result.reading.judges == ("gpt", "claude")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('jugdes = ["gpt"]', "'jugdes' is not part of a reading: did you mean 'judges'?"),
        ('judges = ["claud"]\ntruth = "gold"', "no column 'claud': did you mean 'claude'?"),
        ('item = "sure"', "no column 'sure'"),
        ("judges = [", "is not a reading file"),
        ("judges = {a = 1}", "must be a text or a list of texts"),
    ],
)
def test_a_reading_file_that_does_not_fit_is_refused_by_name(said, message, tmp_path, tallystick):
    write(tmp_path / "t.csv", votes())
    (tmp_path / "t.toml").write_text(said)
    done = tallystick("judge", "t.csv", "--reading", "t.toml")
    assert done.returncode == 1
    assert message in done.stderr
    assert tallystick("judge", "t.csv", "--reading", "absent.toml").returncode == 1


def sparse() -> dict[str, list[object]]:
    """Votes beside labels whose name says nothing: a truth, or one more judge."""
    table = votes()
    table["mensch"] = table.pop("gold")
    return table


def test_a_question_leaves_with_2_and_two_commands_that_run(tmp_path, tallystick):
    write(tmp_path / "t.csv", sparse())
    done = tallystick("judge", "t.csv", "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    question, *commands = done.stderr.splitlines()
    assert question == (
        "tallystick: t.csv: mensch is filled on 40 of 120 rows: human labels, or judges?"
    )
    assert commands == [
        "  tallystick judge t.csv --json --truth mensch --judges gpt,claude",
        "  tallystick judge t.csv --json --judges gpt,claude,mensch",
    ]
    for command in commands:
        assert tallystick(*shlex.split(command)[1:]).returncode == 0


def test_a_question_in_python_says_what_is_open():
    with pytest.raises(AskError, match="Add --truth mensch --judges gpt,claude or") as caught:
        ts.judge(sparse())
    assert isinstance(caught.value, InputError)
    assert caught.value.role == "truth"
    assert caught.value.candidates == ("mensch",)
    assert caught.value.calls == (
        "--truth mensch --judges gpt,claude",
        "--judges gpt,claude,mensch",
    )
