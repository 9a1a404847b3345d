"""The headline: first whether the API changed, then better or worse, then what moved."""

import numpy as np
import pytest

from tallystick import shift
from tallystick.verbs.shift.result import Unheard
from tallystick.verbs.shift.verdict import warnings_of


def table(moved, *, seed=0, n=800):
    """Answers that are right on .8; *moved* gives the new ones."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["a", "b", "c"], n)
    old = np.where(rng.random(n) < 0.8, truth, "a")
    return {"gold": truth.tolist(), "old": old.tolist(), "new": moved(truth, old, rng).tolist()}


ROLES = {"truth": "gold", "old": "old", "new": "new"}


def said(moved, **more):
    return shift(table(moved), **ROLES, **more)


def worse(truth, old, rng):
    return np.where((truth == "b") & (rng.random(len(truth)) < 0.3), "c", old)


def test_a_change_of_a_deterministic_api_is_said_first_then_worse_then_what_moved():
    found = said(worse, deterministic=True)
    assert found.changed is True
    assert found.verdict.startswith("The API changed: ")
    assert found.verdict.index("It got worse: accuracy −") < found.verdict.index("What moved: b → ")


def test_changed_without_better_or_worse_says_changed_and_what_is_open():
    def swap(truth, old, rng):
        wrong = (old != truth) & (rng.random(len(truth)) < 0.3)
        right = (old == truth) & (rng.random(len(truth)) < 0.06)
        return np.where(wrong, truth, np.where(right, np.where(truth == "c", "b", "c"), old))

    found = shift(
        table(swap), truth="gold", old="old", api="replay:new", budget=400, deterministic=True
    )
    assert found.changed is True
    assert found.decision == "decided"
    assert found.sentences.open.startswith("Not settled: Whether it got better or worse is open")


def test_no_flip_is_hardly_any_change():
    found = said(lambda truth, old, rng: old, deterministic=True)
    assert found.changed is False
    assert found.verdict.startswith("The API hardly changed: at most 0.0%")


def test_recorded_answers_that_differ_are_not_said_to_have_changed():
    def some(truth, old, rng):
        u = rng.random(len(truth))
        return np.where((old != truth) & (u < 0.15), truth, np.where(u < 0.03, "b", old))

    found = said(some)
    assert found.changed is None
    assert "only answers at random, recorded answers cannot show" in found.verdict
    assert said(worse).changed is True  # all one way is more than chance


def test_without_labels_nothing_is_said_of_accuracy():
    held = {name: one for name, one in table(worse).items() if name != "gold"}
    found = shift(held, old="old", new="new", deterministic=True)
    assert "ccuracy" not in found.verdict
    assert found.changed is True


def test_answers_that_cannot_be_read_prove_nothing():
    """All of them were wrong answers before: "The API got worse: accuracy −86 points"."""
    held = {"gold": ["a", "b"] * 50, "old": ["a", "b"] * 50, "said": ["maybe a, maybe b"] * 100}
    found = shift(held, truth="gold", old="old", api="replay:said", budget=40)
    assert (found.changed, found.decision) == (None, "undecided")
    assert found.verdict.startswith("Most of the 40 answers could not be read as a label")
    assert not any(cell.survives for cell in found.top_cells)


def test_each_kind_of_unknown_is_warned_of_by_itself():
    assert warnings_of({}) == ()
    kinds = {kind: Unheard(answers=2, hides=0.01) for kind in ("failed", "unread", "refused")}
    found = warnings_of(kinds)
    assert len(found) == 3
    assert "could hide 1.0% of all items" in found[0]
    assert "the intervals allow for 1.0%" in found[1]
    assert "declined to answer" in found[2]


@pytest.mark.parametrize("kind", ["random", "deterministic"])
def test_a_run_that_asks_says_how_many_items_it_asked(kind):
    found = shift(
        table(worse),
        truth="gold",
        old="old",
        api="replay:new",
        budget=200,
        deterministic=kind == "deterministic",
    )
    assert "(200 of 800 items asked)." in found.verdict


def test_grades_are_in_points_of_their_scale():
    held = {"old": [1, 3, 5, 2] * 30, "new": [2, 3, 5, 3] * 30}
    found = shift(held, old="old", new="new", scale=(1, 5))
    assert found.grade_change.estimate == 0.125
    assert "+12.5 points" in found.verdict
    assert "of the scale from 1 to 5" in found.verdict
