"""Labels in a second file: all of them land, or the call is refused with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.errors import InputError
from tallystick.table import read
from tallystick.verbs.judge import evaluate

JUDGES = ("gpt", "claude")
TABLE = "qid,gpt,claude\n" + "".join(f"q{i},{'yn'[i % 2]},{'yn'[i % 3 == 0]}\n" for i in range(30))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "votes.csv").write_text(TABLE)
    return tmp_path / "votes.csv"


def labels(folder: Path, text: str) -> str:
    (folder / "labels.csv").write_text(text)
    return str(folder / "labels.csv")


def test_labels_are_joined_by_item_in_the_order_of_the_rows(table: Path, tmp_path: Path) -> None:
    second = labels(tmp_path, "qid,human\nq7,n\nq2,y\n")
    with read(table, item="qid", truth_file=second) as data:
        assert data.roles.truth == "human"
        known = dict(zip(*data.cells("qid", "human").values(), strict=True))
        assert {k: v for k, v in known.items() if v} == {"q2": "y", "q7": "n"}
        assert list(known) == [f"q{i}" for i in range(30)]
        assert any("2 labels joined by qid" in note for note in data.notes)


def test_a_verb_takes_the_labels_of_the_second_file(table: Path, tmp_path: Path) -> None:
    second = labels(tmp_path, "qid,human\n" + "".join(f"q{i},{'yn'[i % 2]}\n" for i in range(10)))
    assert evaluate(table, item="qid", truth_file=second, judges=JUDGES).n_labels == 10


def test_labels_are_joined_by_item_and_system(tmp_path: Path) -> None:
    rows = "".join(f"q{i},{s},y\n" for i in range(3) for s in "AB")
    (tmp_path / "outputs.csv").write_text("q,system,gpt\n" + rows)
    second = labels(tmp_path, "q,system,human\nq1,B,n\n")
    options = {"item": "q", "system": "system", "truth_file": second}
    from tallystick.table import Door

    with read(tmp_path / "outputs.csv", Door(pivots=False, repeats=True), **options) as data:
        assert data.cells("human")["human"] == [None, None, None, "n", None, None]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("qid,human\nq99,y\n", "1 of 1 labels are for items that .*does not have, such as 'q99'"),
        ("qid,human\nq1,y\nq1,y\n", "names 'q1' .*twice: keep one label"),
        ("qid,human\nq1,y\nq1,n\n", "names 'q1' .*with different labels"),
        ("qid,human,note\nq1,y,z\n", "name the column of the truth"),
        ("other,human\nq1,y\n", "has no column 'qid'"),
        ("qid,human\n,y\n", "'qid' is blank"),
    ],
)
def test_labels_that_do_not_fit_are_refused(
    table: Path, tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read(table, item="qid", truth_file=labels(tmp_path, text))


def test_two_truths_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("qid,gpt,gold\nq1,y,y\nq2,n,\n")
    table = tmp_path / "votes.csv"
    with read(
        table, item="qid", truth="gold", truth_file=labels(tmp_path, "qid,gold\nq2,n\n")
    ) as d:
        assert d.cells("gold")["gold"] == ["y", "n"]
    with pytest.raises(InputError, match="disagree on 'gold'"):
        read(table, item="qid", truth="gold", truth_file=labels(tmp_path, "qid,gold\nq1,n\n"))


def test_a_file_of_labels_that_serves_several_tables_is_joined(table: Path, tmp_path: Path) -> None:
    rows = "".join(f"q{i},{'yn'[i % 2]}\n" for i in range(50))
    second = labels(tmp_path, "qid,human\n" + rows)
    with read(table, item="qid", truth_file=second) as data:
        assert any("20 are for items that" in note for note in data.notes)
    # A file that misses an item of the table is not a file for all of it.
    other = labels(tmp_path, "qid,human\n" + rows.replace("q0,", "q99,"))
    with pytest.raises(InputError, match="labels are for items that"):
        read(table, item="qid", truth_file=other)
