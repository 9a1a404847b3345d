"""Figures that stand and decide nothing: chosen grades, and systems on other items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tallystick import score

N = 400


def table(*, chosen: bool = False, easy: bool = False) -> dict[str, list[Any]]:
    """Two systems, A better by ten points; B is graded where it is good, or run where it is easy."""
    rng = np.random.default_rng(5)
    rows: dict[str, list[Any]] = {name: [] for name in ("question", "system", "gpt", "human")}
    for question in range(N):
        for system, rate in (("A", 0.7), ("B", 0.6)):
            if easy and question % 2:
                if system == "B":
                    continue
                rate -= 0.4
            good = rng.random() < rate
            voted = good if rng.random() < 0.85 else not good
            graded = rng.random() < (0.3 if not chosen or system == "A" or good else 0.03)
            for name, cell in zip(
                rows, (question, system, int(voted), int(good) if graded else None), strict=True
            ):
                rows[name].append(cell)
    return rows


def test_grades_that_were_chosen_decide_nothing_and_pass_no_gate() -> None:
    with pytest.warns(UserWarning, match="the labels were not drawn at random"):
        result = score(table(chosen=True), gates=("B > A", "score(B) > 0.5"))
    assert result.verdict.startswith("The labels decide nothing, because they were not drawn")
    assert "(of B)" in result.verdict
    assert result.decision == "undecided"
    assert [gate.passed for gate in result.gates] == [None, None]
    assert "not drawn at random" in result.gates[0].text


def test_systems_on_different_items_are_not_ranked() -> None:
    with pytest.warns(UserWarning, match="the systems on different questions"):
        result = score(table(easy=True), gates=("B > A", "score(B) > 0.4"))
    assert result.verdict.startswith("The rows decide nothing, because they show the systems on")
    assert result.decision == "undecided"
    assert result.label_goal is None
    assert [gate.passed for gate in result.gates] == [None, True]
