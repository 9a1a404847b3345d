"""Labels that people gave only where the old answer was right prove no change."""

from __future__ import annotations

import numpy as np

from tallystick import shift


def table(rng: np.random.Generator, confirmed: bool) -> dict[str, list[str | None]]:
    labels = np.array(["billing", "sales", "tech"])
    truth = labels[rng.choice(3, 900, p=[0.5, 0.3, 0.2])]
    old, new = (
        np.where(rng.random(900) < 0.75, truth, labels[rng.integers(0, 3, 900)]) for _ in "on"
    )
    known = rng.random(900) < 0.4
    if confirmed:
        known &= old == truth
    return {
        "team": [str(y) if one else None for y, one in zip(truth, known, strict=True)],
        "march": old.tolist(),
        "june": new.tolist(),
    }


def test_labels_on_confirmed_answers_decide_nothing() -> None:
    given = table(np.random.default_rng(1), confirmed=True)
    options = {"truth": "team", "old": "march", "new": "june", "gates": ("accuracy_change > -1%",)}
    result = shift.evaluate(given, **options)
    assert [gate.passed for gate in result.gates] == [None]
    assert result.verdict.startswith("The labels decide nothing, because they were not drawn at")
    assert result.decision == "undecided"
    assert "march and june agree on" in result.warnings[0]


def test_labels_drawn_at_random_are_rarely_doubted() -> None:
    doubted = 0
    for seed in range(40):
        given = table(np.random.default_rng(100 + seed), confirmed=False)
        result = shift.evaluate(given, truth="team", old="march", new="june")
        doubted += result.verdict.startswith("The labels decide nothing")
    assert doubted <= 2
