"""What is warned of in rows is warned of in their counts, in the same words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import Data, Tally, conclude, read
from tallystick.table.data import BesideCounts, labels_in
from tallystick.verbs.compare.answer import CAPABILITY as COMPARE
from tallystick.verbs.judge.answer import CAPABILITY as JUDGE

OPTIONS = {"judges": ("a", "b", "c"), "truth": "gold"}


def table(rows: int = 240, labels: tuple[str, ...] = ("pass", "fail")) -> dict[str, list[Any]]:
    """Three judges that are mostly right, and a truth on seven rows of ten."""
    rng = np.random.default_rng(2)
    truth = rng.integers(len(labels), size=rows)
    found: dict[str, list[Any]] = {}
    for name, right in (("a", 0.7), ("b", 0.7), ("c", 0.6)):
        other = rng.integers(len(labels), size=rows)
        codes = np.where(rng.random(rows) < right, truth, other)
        found[name] = [labels[code] for code in codes]
    found["gold"] = [
        labels[code] if keep else None
        for code, keep in zip(truth, rng.random(rows) < 0.7, strict=True)
    ]
    return found


def counted(columns: dict[str, list[Any]], **options: Any) -> Data:
    """Return the same rows as counts, each column with its own spelling."""
    names = tuple(columns)
    tally = Tally.from_patterns(columns, [1] * len(columns["a"]), apart=names)
    return read(tally, JUDGE.door, **options)


def both(columns: dict[str, list[Any]], beside: BesideCounts | None = None, **options: Any) -> Any:
    """Return what judge says of rows and of their counts."""
    options = {**OPTIONS, **options}
    kept = {name: columns[name] for name in ("a", "b", "c", "gold")}
    data = replace(counted(kept, **options), source="the table", beside=beside)
    with read(columns, JUDGE.door, **options) as rows:
        question = JUDGE.question()
        found = conclude(JUDGE, replace(rows, source="the table"), question)
    return found, conclude(JUDGE, data, question)


def spoilt(fault: str) -> dict[str, list[Any]]:
    columns = table(labels=("1", "2", "3") if fault == "code" else ("pass", "fail"))
    if fault == "copied":
        columns["b"] = [
            gold or vote for gold, vote in zip(columns["gold"], columns["b"], strict=True)
        ]
    elif fault == "reversed":
        turned = {"pass": "fail", "fail": "pass", None: None}
        columns["gold"] = [turned[label] for label in columns["gold"]]
    elif fault == "unrelated":
        columns["gold"] = columns["gold"][97:] + columns["gold"][:97]
    elif fault == "capitals":
        columns["c"] = [vote.title() for vote in columns["c"]]
    elif fault == "code":
        columns["c"][5] = "99"
    return columns


@pytest.mark.parametrize("fault", ["none", "copied", "reversed", "unrelated", "capitals"])
def test_counts_are_warned_of_as_their_rows_are(fault: str) -> None:
    rows, counts = both(spoilt(fault))
    assert counts.warnings == rows.warnings
    assert counts.assumptions == rows.assumptions
    assert counts.notes == rows.notes
    assert counts.judges == rows.judges
    said = {"copied": "copied", "reversed": "other way round", "unrelated": "by chance"}
    assert any(said.get(fault, "") in one for one in counts.warnings) or fault not in said


def test_a_code_that_moves_the_mean_is_asked_about_in_counts_too() -> None:
    columns = spoilt("code")
    columns["c"][:40] = ["99"] * 40
    for look in (lambda: read(columns, JUDGE.door, **OPTIONS), lambda: counted(columns, **OPTIONS)):
        with pytest.raises(InputError, match="99 in c stands apart from the other numbers"):
            conclude(JUDGE, look(), JUDGE.question())


def test_a_block_of_labels_is_known_beside_the_counts() -> None:
    columns = table()
    columns["gold"] = [label or "pass" for label in columns["gold"][:50]] + [None] * 190
    beside = BesideCounts(labelled=(1, 50))
    rows, counts = both(columns, beside)
    assert counts.warnings == rows.warnings
    assert any("rows 1 to 50 of 240" in one for one in counts.warnings)
    assert "the table is in random order" in counts.assumptions


def test_a_token_for_no_answer_turns_no_count_into_a_weight() -> None:
    again = counted(table(), **OPTIONS, missing=("fail",)).tally("judges", "truth")
    assert not again.weighted
    assert again.n == 240
    assert set(again.labels["a"]) == {"pass", None}


def test_marks_are_no_answers_in_counts_either() -> None:
    marks = {f"{name}_correct": [0, 1, 1, 1] * 10 for name in "ab"}
    tally = Tally.of({**marks, "gold": [0, 1] * 20})
    with pytest.raises(InputError, match="b_correct repeats other columns"):
        conclude(COMPARE, read(tally, COMPARE.door, truth="gold"), COMPARE.question())


def test_blank_labels_are_no_labels() -> None:
    assert labels_in(Tally.of({"b": ["x", "y", ""]}), "b") == ["x", "y"]
