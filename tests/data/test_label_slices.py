"""A part of the table without labels is named."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallystick import judge
from tallystick.table import read
from tallystick.table.label_doubts import label_slice

ROLES = {"judges": ("x", "y", "z"), "truth": "gold"}
N = 800


def table(rng: np.random.Generator, known: np.ndarray, lang: np.ndarray) -> dict[str, list[Any]]:
    truth = rng.integers(0, 2, N)
    votes = {
        name: np.where(rng.random(N) < 0.8, truth, 1 - truth).tolist() for name in ("x", "y", "z")
    }
    gold = [int(y) if one else None for y, one in zip(truth, known, strict=True)]
    return {"lang": lang.tolist(), **votes, "gold": gold}


def test_labels_of_one_language_are_a_warning_and_an_assumption() -> None:
    rng = np.random.default_rng(1)
    lang = np.where(rng.random(N) < 0.5, "en", "de")
    given = table(rng, (lang == "en") & (rng.random(N) < 0.3), lang)
    result = judge.evaluate(given, **ROLES)
    assert any("are on rows with 'lang' de" in one for one in result.warnings)
    assert "'lang' makes no difference" in result.assumptions


def test_labels_drawn_at_random_or_a_little_more_here_than_there_are_not_doubted() -> None:
    for seed in range(40):
        rng = np.random.default_rng(10 + seed)
        lang = rng.choice(["en", "de", "fr", "it"], N, p=[0.6, 0.2, 0.1, 0.1])
        rate = np.where(lang == "en", 0.3, 0.15) if seed % 2 else 0.2
        given = table(rng, rng.random(N) < rate, lang)
        assert label_slice(read(given, **ROLES)) is None
