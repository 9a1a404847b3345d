"""Grades may be words of the user's own, listed with the worst first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tallystick import score

N = 200


def table(words: tuple[str, ...]) -> dict[str, list[Any]]:
    """Two systems, beta better, graded by words that rise; each fifth output has a human grade."""
    rng = np.random.default_rng(3)
    system = ["alpha", "beta"] * N
    good = rng.random(2 * N) < np.tile([0.4, 0.8], N)
    steps = np.where(good, len(words) - 1, rng.integers(0, len(words) - 1, 2 * N))
    seen = np.where(rng.random(2 * N) < 0.85, steps, rng.integers(0, len(words), 2 * N))
    human = [words[step] if k % 5 < 2 else None for k, step in enumerate(steps)]
    return {
        "question": [k // 2 for k in range(2 * N)],
        "system": system,
        "gpt": [words[step] for step in seen],
        "human": human,
    }


def as_numbers(given: dict[str, list[Any]], words: tuple[str, ...], low: int) -> dict[str, Any]:
    number = {word: low + place for place, word in enumerate(words)} | {None: None}
    return given | {name: [number[cell] for cell in given[name]] for name in ("gpt", "human")}


@pytest.mark.parametrize(
    ("words", "scale", "low"),
    [(("unsafe", "safe"), None, 0), (("poor", "fair", "good", "superb"), (1, 4), 1)],
)
def test_words_in_order_give_what_their_numbers_give(
    words: tuple[str, ...], scale: tuple[float, float] | None, low: int
) -> None:
    given = table(words)
    by_words = score(given, labels=words).to_dict()
    by_numbers = score(as_numbers(given, words, low), scale=scale).to_dict()
    assert by_words["systems"] == by_numbers["systems"]
    assert by_words["verdict"] == by_numbers["verdict"]
    assert str(by_words["verdict"]).startswith("beta is better")


def test_the_other_order_calls_the_other_system_better() -> None:
    given = table(("unsafe", "safe"))
    assert score(given, labels=("unsafe", "safe")).verdict.startswith("beta is better")
    assert score(given, labels=("safe", "unsafe")).verdict.startswith("alpha is better")
