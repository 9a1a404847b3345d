"""Labels on rows that were not drawn at random decide nothing about a classifier."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick import bound
from tallystick.table import Tally
from tallystick.verbs.bound.labels import draw_of


def table(labelled, n: int = 1000) -> dict[str, list]:
    """Return a classifier, two weak labels and the truth where *labelled* says so."""
    rng = np.random.default_rng(3)
    truth = (rng.random(n) < 0.4).astype(int)
    weak = [np.where(rng.random(n) < p, truth, 1 - truth) for p in (0.8, 0.7)]
    prediction = np.where(rng.random(n) < 0.75, truth, 1 - truth)
    keep = labelled(prediction, weak[0], rng)
    gold = [int(y) if known else None for y, known in zip(truth, keep, strict=True)]
    columns = {"pred": prediction, "lf_a": weak[0], "lf_b": weak[1]}
    return {**{name: column.tolist() for name, column in columns.items()}, "gold": gold}


CHOSEN = {
    "one prediction": lambda h, w, rng: (h == 1) & (rng.random(len(h)) < 0.25),
    "agreement": lambda h, w, rng: (h == w) & (rng.random(len(h)) < 0.2),
    "disagreement": lambda h, w, rng: (h != w) & (rng.random(len(h)) < 0.25),
}


@pytest.mark.parametrize("how", CHOSEN)
def test_labels_chosen_by_what_the_columns_say_decide_nothing(how: str) -> None:
    result = bound.evaluate(
        table(CHOSEN[how]), prediction="pred", weak=("lf_a", "lf_b"), truth="gold"
    )
    assert result.decision == "undecided"
    assert result.verdict.startswith("The labels decide nothing")
    assert "were not drawn at random" in result.warnings[0]
    assert "drawn at random" in str(result.needed)


def test_random_labels_decide() -> None:
    rows = table(lambda h, w, rng: rng.random(len(h)) < 0.1)
    result = bound.evaluate(rows, prediction="pred", weak=("lf_a", "lf_b"), truth="gold")
    assert result.decision == "decided"
    assert not any("drawn at random" in warning for warning in result.warnings)


def test_random_draws_raise_no_more_alarms_than_allowed() -> None:
    alarms = 0
    rng = np.random.default_rng(8)
    rows = table(lambda h, w, rng: np.ones(len(h), bool), 300)
    for _ in range(200):
        keep = rng.random(300) < 0.15
        gold = [y if known else None for y, known in zip(rows["gold"], keep, strict=True)]
        tally = Tally.of({**rows, "gold": gold})
        alarms += draw_of(tally, ["pred", "lf_a", "lf_b"], "gold") is not None
    assert alarms <= 9  # at most 1 % each: the 1e-4 quantile of 200


def test_no_labels_or_all_labels_cannot_be_a_bad_draw() -> None:
    rows = table(lambda h, w, rng: np.ones(len(h), bool), 100)
    assert draw_of(Tally.of(rows), ["pred", "lf_a"], "gold") is None
    assert draw_of(Tally.of(rows), ["pred", "lf_a"], None) is None
