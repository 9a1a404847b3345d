"""A number beside right and wrong answers is no model."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick import compare

RNG = np.random.default_rng(1)
OLD, NEW = ((RNG.random(200) < p).astype(int).tolist() for p in (0.5, 0.8))


def compared(**columns):
    return compare.evaluate({"id": list(range(200)), "old": OLD, "new": NEW, **columns})


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("weight", [1.5] * 100 + [2.0] * 100),
        ("seed", [1] * 200),
        ("max_score", [1] * 200),
        ("delta", [new - old for old, new in zip(OLD, NEW, strict=True)]),
        ("temperature", [0.7] * 200),
        ("p_gpt", RNG.random(200).tolist()),
        ("difficulty", RNG.integers(0, 4, 200).tolist()),
    ],
)
def test_what_is_named_or_filled_otherwise_is_left_out_with_the_reason(name, column) -> None:
    result = compared(**{name: column})
    assert result.verdict.startswith("new is better than old")
    assert result.reading.unused[name]


def test_a_third_model_stays_also_with_the_means_of_a_few_runs() -> None:
    third = RNG.integers(0, 4, 200) / 3
    assert len(compared(gpt=(RNG.random(200) < 0.6).astype(int).tolist()).models) == 3
    assert len(compared(gpt=third.tolist()).models) == 3


def test_models_that_are_called_like_settings_are_compared_if_there_are_no_others() -> None:
    result = compare.evaluate({"id": list(range(200)), "min": OLD, "max": NEW})
    assert len(result.models) == 2
