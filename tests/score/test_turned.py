"""Grades of which less is better are turned round, and it is said."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick import score
from tallystick.errors import InputError
from tallystick.table import read
from tallystick.verbs.score import ScoreQuestion
from tallystick.verbs.score.labelling import labelling


def table(name: str, bad, n: int = 200) -> dict[str, list]:
    """Return two systems of which b does the bad thing less often; *bad* writes true and false."""
    rng = np.random.default_rng(2)
    wrong = rng.random(2 * n) < np.where(np.arange(2 * n) % 2, 0.15, 0.5)
    voted = np.where(rng.random(2 * n) < 0.85, wrong, ~wrong)
    return {
        "item": (np.arange(2 * n) // 2).tolist(),
        "system": ["a", "b"] * n,
        f"gpt_{name}": [bad[int(one)] for one in voted],
        f"human_{name}": [bad[int(one)] if k % 4 < 2 else None for k, one in enumerate(wrong)],
    }


def asked(rows: dict[str, list], **options):
    _, _, judge, truth = rows
    return score(rows, system="system", item="item", judges=(judge,), truth=truth, **options)


@pytest.mark.parametrize("bad", [("no", "yes"), (0, 1), (False, True)])
def test_the_system_with_fewer_hallucinations_is_better(bad) -> None:
    result = asked(table("hallucinated", bad))
    assert result.verdict.startswith("b is better than a")
    assert result.turned
    assert any("turned round" in note for note in result.notes)
    assert result.system("b").score == pytest.approx(0.85, abs=0.1)


def test_the_user_can_say_otherwise_both_ways() -> None:
    rows = table("hallucinated", ("no", "yes"))
    assert asked(rows, lower_is_better=False).verdict.startswith("a is better than b")
    plain = {
        "gpt": rows["gpt_hallucinated"],
        "human": rows["human_hallucinated"],
    }
    neutral = {"item": rows["item"], "system": rows["system"], **plain}
    assert asked(neutral).verdict.startswith("a is better than b")
    assert asked(neutral, lower_is_better=True).verdict.startswith("b is better than a")


def test_numbers_of_errors_are_turned_on_their_scale() -> None:
    rows = table("errors", (0, 5))
    rng = np.random.default_rng(5)
    for name in ("gpt_errors", "human_errors"):
        rows[name] = [
            None if one is None else int(np.clip(one + rng.integers(-2, 3), 0, 5))
            for one in rows[name]
        ]
    result = asked(rows)
    assert result.turned
    assert result.verdict.startswith("b is better than a")
    known = [
        one
        for one, name in zip(rows["human_errors"], rows["system"], strict=True)
        if one is not None and name == "b"
    ]
    assert result.system("b").score == pytest.approx(5 - np.mean(known), abs=0.3)


def test_people_are_not_asked_what_is_good_by_columns_that_say_what_is_bad() -> None:
    rows = table("hallucinated", ("no", "yes"))
    assert asked(rows).label_goal is None
    data = read(rows, judges=("gpt_hallucinated",), system="system")
    with pytest.raises(InputError, match="turn the columns round"):
        labelling(data, ScoreQuestion())


def test_the_basis_says_that_scores_were_turned_round():
    pass_fail = asked(table("hallucinated", ("no", "yes")))
    assert "these scores are 100% minus what it says" in pass_fail.basis
    counted = table("errors", (0, 1))
    for name in ("gpt_errors", "human_errors"):
        counted[name] = [None if one is None else 5 * one for one in counted[name]]
    assert "these scores are 5 minus what it says" in asked(counted, scale=(0, 5)).basis
