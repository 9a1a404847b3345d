import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.compare import Board, CompareQuestion, plan
from tallystick.verbs.compare.planning import Pilot


def pilot_of(board):
    found = Pilot.of(board, CompareQuestion())
    return found.difference, found.apart, found.source


def test_an_unknown_disagreement_is_said():
    assert any("--disagreement" in text for text in plan(0.1).warnings)
    assert not plan(0.1, disagreement=0.2).warnings


def test_a_pilot_gives_its_own_disagreement():
    scores = np.zeros((100, 2))
    scores[:30, 0] = 1
    scores[20:40, 1] = 1
    difference, apart, source = pilot_of(Board(names=("x", "y"), scores=scores))
    assert (difference, apart) == pytest.approx((0.1, 0.3))
    assert "pilot of 100 items" in source
    with pytest.raises(InputError, match="differ by the same on every item"):
        pilot_of(Board(names=("x", "y"), scores=np.ones((5, 2))))


def test_a_difference_beyond_the_disagreement_is_refused():
    with pytest.raises(InputError, match="cannot differ by more"):
        plan(0.2, disagreement=0.1)


def test_labelled_items_of_a_pilot_stand_for_those_without_a_label():
    rows = (
        [("x", "x", "y")] * 6
        + [("y", "x", "y")] * 2
        + [("z", "x", "y")] * 2
        + [(None, "x", "y")] * 10
    )
    rows += [("x", "x", "x")] * 9 + [("y", "x", "x")] * 1 + [(None, "x", "x")] * 70
    gold, a, b = (list(column) for column in zip(*rows, strict=True))
    found = pilot_of(
        Board.of(
            {"gold": gold, "A": a, "B": b}, truth="gold", models=("A", "B"), labels=("x", "y", "z")
        )
    )
    assert found[:2] == pytest.approx((0.4 * 0.2, 0.8 * 0.2))
    unlabelled = [None if x != y else g for g, x, y in rows]
    with pytest.raises(InputError, match="differ by the same on every item whose score is known"):
        pilot_of(
            Board.of(
                {"gold": unlabelled, "A": a, "B": b},
                truth="gold",
                models=("A", "B"),
                labels=("x", "y", "z"),
            )
        )
