from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.io import scan
from tallystick.io.table import Table


def _scan(path: Path, content: str, **options: str) -> Table:
    path.write_text(content)
    return scan(path, **options)


LONG = "task,worker,label,truth\n2,b,x,x\n2,a,y,x\n1,a,,y\n"


def test_a_long_table_is_recognised_pivoted_and_told(tmp_path: Path) -> None:
    table = _scan(tmp_path / "a.csv", LONG)
    assert table.shape == "long"
    assert table.columns == ("task", "truth", "a", "b")
    assert table.relation.fetchall() == [("2", "x", "y", "x"), ("1", "y", None, None)]
    assert "is a long table: item 'task', judge 'worker', vote 'label'; 2 judges" in table.notes[-1]


def test_options_override_what_would_be_detected(tmp_path: Path) -> None:
    assert _scan(tmp_path / "a.csv", LONG, shape="wide").columns == (
        "task",
        "worker",
        "label",
        "truth",
    )
    odd = "q,who,what\n1,a,x\n1,b,y\n"
    assert _scan(tmp_path / "b.csv", odd).shape == "wide"
    assert _scan(tmp_path / "b.csv", odd, item="q", judge="who", vote="what").columns == (
        "q",
        "a",
        "b",
    )


@pytest.mark.parametrize(
    "content",
    [
        "item,model,label\n1,x,x\n2,y,y\n3,x,y\n",  # every item once: three columns of a wide table
        "a,b,c\n1,x,x\n1,y,y\n",
        "item,gpt,claude\n1,x,x\n1,y,y\n",
        "item,judge\n1,x\n1,y\n",
    ],
)
def test_a_wide_table_is_not_taken_for_a_long_one(tmp_path: Path, content: str) -> None:
    assert _scan(tmp_path / "a.csv", content).shape == "wide"


def test_a_table_of_votes_in_which_no_item_repeats_is_wide_with_a_hint(tmp_path: Path) -> None:
    [note] = _scan(tmp_path / "a.csv", "item,judge,vote\n1,a,x\n2,b,y\n").notes
    assert (
        "has each 'item' once and is read as wide; if its rows are votes, say --shape long" in note
    )


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (
            "item,judge,vote\n1,a,x\n2,a,x\n1,a,y\n",
            {},
            (
                r"item '1' has two votes of judge 'a', at row 1 of .* and row 3 of .*\(line 4\);"
                r" keep one .*--shape wide"
            ),
        ),
        ("item,judge,vote\n1,a,x\n1,a,y\n", {"shape": "long"}, "two votes of judge 'a'"),
        ("item,judge,vote\n1,a,x\n1,,y\n", {}, r"row 2 of .*: the judge column 'judge' is blank"),
        (
            "item,judge,vote\n1,a,x\n,a,y\n,b,y\n",
            {},
            r"row 2 of .*: the item column 'item' is blank",
        ),
        (
            "item,judge,vote,time\n1,a,x,3\n1,b,y,4\n",
            {},
            "column 'time' changes within an item: say shape='long'",
        ),
        (
            "item,judge,vote,answer\n1,a,x,x\n1,b,y,x\n",
            {},
            r"vote column could be any of .*: name it .*--vote",
        ),
        (
            "q,judge,vote\n1,a,x\n",
            {"shape": "long"},
            "its item column is none of .* by its name: name it with item=",
        ),
        ("q,w,v\n1,a,x\n", {"judge": "x"}, "has no column 'x'"),
        ("q,w,v\n1,a,x\n", {"item": "q", "judge": "w", "vote": "w"}, "three different columns"),
        (
            "q,w,v\n1,a,x\n",
            {"shape": "wide", "judge": "w"},
            "judge and vote name the columns of a long table",
        ),
        ("q,w,v\n1,a,x\n", {"shape": "tall"}, "shape must be 'auto', 'wide' or 'long', got 'tall'"),
        ("item,judge,vote\n1,item,x\n1,b,y\n", {}, r"'item' twice"),
    ],
)
def test_what_could_be_read_wrongly_is_refused(
    tmp_path: Path, content: str, options: dict[str, str], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        _scan(tmp_path / "a.csv", content, **options)


def test_a_varying_column_is_left_out_when_the_shape_is_said(tmp_path: Path) -> None:
    table = _scan(tmp_path / "a.csv", "item,judge,vote,time\n1,a,x,3\n1,b,y,4\n", shape="long")
    assert table.columns == ("item", "a", "b")
    assert "column 'time' changes within an item and is left out" in table.notes


def test_votes_keep_their_type_and_judges_may_be_numbers() -> None:
    table = scan(pa.table({"item": [1, 1, 2], "judge": [10, 9, 10], "vote": [True, False, True]}))
    assert table.columns == ("item", "9", "10")
    assert table.relation.fetchall() == [(1, False, True), (2, None, True)]


@settings(max_examples=25)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 5), st.sampled_from("ab'\"")), st.sampled_from("xyz"), min_size=1
    )
)
def test_pivoting_loses_and_invents_no_vote(votes: dict[tuple[int, str], str]) -> None:
    long = pa.table(
        {"i": [i for i, _ in votes], "j": [j for _, j in votes], "v": list(votes.values())},
    )
    with scan(long, item="i", judge="j", vote="v") as table:
        judges = table.columns[1:]
        rows = table.relation.fetchall()
    assert [row[0] for row in rows] == list(dict.fromkeys(i for i, _ in votes))
    found = {
        (row[0], j): vote
        for row in rows
        for j, vote in zip(judges, row[1:], strict=True)
        if vote is not None
    }
    assert found == votes
