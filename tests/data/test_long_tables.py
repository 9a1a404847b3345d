"""Tables with one row per vote become one column per judge, and lose nothing on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick import compare
from tallystick.errors import InputError
from tallystick.table import Table, scan
from tallystick.table.long_tables import to_wide
from tallystick.table.roles import Layout

VOTES = [(q, who, "xy"[(q * q + k) // 3 % 2]) for q in range(1, 9) for k, who in enumerate("ab")]
LONG = "task,worker,label,truth\n" + "".join(f"{q},{who},{v},x\n" for q, who, v in VOTES)


def _wide(path: Path, content: str, item: str | None = None, **said: Any) -> Table:
    path.write_text(content)
    return to_wide(scan(path), Layout(**said), item=item)[0]


def test_a_long_table_is_recognised_pivoted_and_told(tmp_path: Path) -> None:
    table = _wide(tmp_path / "a.csv", LONG)
    assert table.shape == "long"
    assert table.columns == ("task", "truth", "a", "b")
    assert table.relation.fetchall()[:2] == [("1", "x", "x", "x"), ("2", "x", "y", "y")]
    assert table.long == ("worker", "label")


def test_options_override_the_structure(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    assert _wide(path, LONG, shape="wide").columns == ("task", "worker", "label", "truth")
    odd = "q,who,what\n1,a,x\n1,b,y\n"
    assert _wide(path, odd).shape == "wide"  # two rows show no structure
    assert _wide(path, odd, item="q", judge="who", vote="what").columns == ("q", "a", "b")


@pytest.mark.parametrize(
    "content",
    [
        "item,model,label\n1,x,x\n2,y,y\n3,x,y\n",
        "a,b,c\n1,x,x\n1,y,y\n",
        "item,gpt,claude\n1,x,x\n1,y,y\n",
        "item,judge\n1,x\n1,y\n",
    ],
)
def test_a_wide_table_is_not_taken_for_a_long_one(tmp_path: Path, content: str) -> None:
    assert _wide(tmp_path / "a.csv", content).shape == "wide"


@pytest.mark.parametrize(
    ("content", "said", "words"),
    [
        (
            "item,judge,vote\n1,a,x\n2,a,x\n1,a,y\n",
            {},
            r"item '1' has two votes of judge 'a', at row 1 of .* and row 3 of .*--shape wide",
        ),
        ("item,judge,vote\n1,a,x\n1,a,y\n", {"shape": "long"}, "two votes of judge 'a'"),
        ("item,judge,vote\n1,a,x\n1,,y\n", {"shape": "long"}, "judge column 'judge' is blank"),
        ("item,judge,vote\n1,a,x\n,a,y\n,b,y\n", {"shape": "long"}, "item column 'item' is blank"),
        (
            "q,judge,vote\n1,a,x\n",
            {"shape": "long"},
            r"name the columns of items, voters and votes",
        ),
        ("q,w,v\n1,a,x\n", {"judge": "x"}, "has no column 'x'"),
        ("q,w,v\n1,a,x\n", {"item": "q", "judge": "w", "vote": "w"}, "three different columns"),
        ("q,w,v\n1,a,x\n", {"shape": "wide", "judge": "w"}, "name the columns of a long table"),
        ("q,w,v\n1,a,x\n", {"shape": "tall"}, "shape must be one of auto, wide, long, got 'tall'"),
        ("item,judge,vote\n1,item,x\n1,b,y\n", {"shape": "long"}, r"'item' twice"),
    ],
)
def test_what_could_be_read_wrongly_is_refused(
    tmp_path: Path, content: str, said: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        _wide(tmp_path / "a.csv", content, **said)


def test_a_column_that_changes_within_an_item_is_left_out_and_said(tmp_path: Path) -> None:
    content = "item,judge,vote,time\n1,a,x,3\n1,b,y,4\n"
    table = _wide(tmp_path / "a.csv", content, shape="long")
    assert table.columns == ("item", "a", "b")
    assert "column 'time' changes within an item: left out" in table.notes


def test_votes_keep_their_type_and_judges_may_be_numbers() -> None:
    long = pa.table({"item": [1, 1, 2], "judge": [10, 9, 10], "vote": [True, False, True]})
    table, judges, _ = to_wide(scan(long), Layout(shape="long"), item=None)
    assert judges == ("9", "10")
    assert table.relation.fetchall() == [(1, False, True), (2, None, True)]


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 5), st.sampled_from("ab'\"")), st.sampled_from("xyz"), min_size=1
    )
)
def test_pivoting_loses_and_invents_no_vote(votes: dict[tuple[int, str], str]) -> None:
    long = pa.table(
        {"i": [i for i, _ in votes], "j": [j for _, j in votes], "v": list(votes.values())},
    )
    wide, judges, _ = to_wide(scan(long), Layout(judge="j", vote="v"), item="i")
    with wide as table:
        rows = table.relation.fetchall()
    assert [row[0] for row in rows] == list(dict.fromkeys(i for i, _ in votes))
    found = {
        (row[0], j): vote
        for row in rows
        for j, vote in zip(judges, row[1:], strict=True)
        if vote is not None
    }
    assert found == votes


def runs_of_agents() -> dict[str, list]:
    rows = [(f"t{t}", who, k, (t + k) % 3 > 0) for t in range(9) for who in "xy" for k in (1, 2)]
    task, agent, trial, resolved = (list(column) for column in zip(*rows, strict=True))
    return {"task": task, "agent": agent, "trial": trial, "resolved": resolved}


def test_one_column_of_models_names_who_answered():
    table = runs_of_agents()
    result = compare.evaluate(
        table, models="agent", metric="resolved", item="task", replicate="trial"
    )
    assert {row.name for row in result.models} == {"x", "y"}
    assert result.n_items == 9
    assert not any("several rows" in text for text in result.warnings)


def test_an_invented_key_is_not_shown_to_the_user():
    with pytest.raises(InputError) as refused:
        compare.evaluate(
            {**runs_of_agents(), "cost": [0.5] * 36}, item="task", replicate="trial", vote="cost"
        )
    assert "item and run" not in str(refused.value)
