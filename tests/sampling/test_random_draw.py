"""Labelled items that chance cannot have drawn are found, whatever shows it."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.sampling.estimate import LEVEL, odd_draw, odd_draw_in_parts


def votes(n: int, judges: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, (n, judges))


def found(codes: np.ndarray, known: np.ndarray):
    names = [f"judge{j}" for j in range(codes.shape[1])]
    return odd_draw(codes, np.ones(len(codes)), known, columns=names, labels=("a", "b"))


def test_false_alarms_are_as_rare_as_the_level_says() -> None:
    rng = np.random.default_rng(1)
    codes = votes(400, 4, 2)
    alarms = 0
    for _ in range(400):
        known = np.zeros(400, bool)
        known[rng.choice(400, 60, replace=False)] = True
        alarms += found(codes, known) is not None
    assert alarms <= 400 * LEVEL + 3 * (400 * LEVEL) ** 0.5


@pytest.mark.parametrize("judges", [2, 3, 25])
def test_labels_on_disagreements_are_found_with_few_and_with_many_columns(judges: int) -> None:
    codes = votes(800, judges, 3)
    codes[:, 1:] = np.where(
        np.random.default_rng(4).random((800, judges - 1)) < 0.99, codes[:, :1], 1 - codes[:, :1]
    )
    apart = (codes != codes[:, :1]).any(axis=1)
    known = apart & (np.cumsum(apart) <= 40)
    result = found(codes, known)
    assert result is not None
    assert result.label is None
    assert result.drawn < result.everywhere


def test_the_sentence_names_what_shows_it() -> None:
    codes = votes(300, 2, 5)
    result = found(codes, codes[:, 1] == 1)
    assert "judge1 says b on 100.0\xa0% of them" in str(result)


def test_parts_with_other_shares_of_labels_are_no_odd_draw_and_an_odd_part_is_named():
    codes = np.array([[0], [1]] * 4)
    known = np.array([False, False, True, True] * 2)
    part = np.array([0] * 4 + [1] * 4)
    about = {"columns": ("x",), "labels": "ab", "part": part, "parts": ("m1", "m2")}
    fair = np.array([90.0, 10, 9, 1, 10, 90, 30, 270])
    assert odd_draw(codes, fair, known, columns=("x",), labels="ab") is not None  # taken together
    assert odd_draw_in_parts(codes, fair, known, **about) is None
    odd = np.array([90.0, 10, 9, 1, 200, 200, 0, 40])
    found = odd_draw_in_parts(codes, odd, known, **about)
    assert found is not None
    assert str(found).endswith("of m2")
    assert found.warning == f"{found}. Draw them at random"
