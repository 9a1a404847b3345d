"""The dual of the joint programme: the same numbers as the programme itself."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from tallystick.table import Tally
from tallystick.table.panel import Panel
from tallystick.verbs.judge.logical import best_worst, worst_best

joint = import_module("tallystick.verbs.judge.logical")
"""The file: its function has the same name."""


def _panel(labels: int, judges: int, *, truth: bool) -> Panel:
    draw = np.random.default_rng(10 * labels + judges)
    right = draw.integers(0, labels, 300)
    votes: dict[str, list[int | None]] = {}
    for j in range(judges):
        said = np.where(draw.random(300) < 0.55, right, draw.integers(0, labels, 300))
        votes[f"j{j}"] = [None if draw.random() < 0.05 else int(one) for one in said]
    if truth:
        votes["gold"] = [int(one) if i % 9 == 0 else None for i, one in enumerate(right)]
    return Panel.of(Tally.of(votes), truth="gold" if truth else None)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("judges", [2, 5])
@pytest.mark.parametrize("truth", [False, True])
@pytest.mark.parametrize("ranges", [{}, {0: (0.6, 0.8)}])
def test_prices_find_the_bounds_of_the_programme(
    labels: int,
    judges: int,
    truth: bool,
    ranges: dict[int, tuple[float, float]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    panel = _panel(labels, judges, truth=truth)
    top, bottom = best_worst(panel, ranges), worst_best(panel, ranges)
    monkeypatch.setattr(joint, "MOST_CELLS", 0)
    # A bound that is not sharp must err outwards.
    assert top - 1e-9 <= best_worst(panel, ranges) <= top + 1e-5
    assert bottom - 1e-5 <= worst_best(panel, ranges) <= bottom + 1e-9
