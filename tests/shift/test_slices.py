import dataclasses

import numpy as np
import pytest

from tallystick.errors import InputError, NotIdentifiable
from tallystick.sampling import Strata
from tallystick.verbs.shift import Answers, Items, assess, part_of


def population(rng=0):
    """Items in two groups: in the second, a fifth of the answers got wrong."""
    draw = np.random.default_rng(rng)
    truth = draw.integers(0, 2, 600)
    group = np.arange(600) >= 400
    new = np.where(group & (draw.random(600) < 0.2), 1 - truth, truth)
    items = Items.of(truth.tolist(), old=truth.tolist(), confidence=draw.random(600))
    return items, Strata(truth), new, group


def assessed(asked):
    items, strata, new, group = population()
    answers = Answers.of(asked, new[asked])
    return assess(items, strata, answers, answers_are="deterministic"), new, group


def test_a_part_that_was_asked_whole_is_known_exactly():
    result, new, group = assessed(np.arange(600))
    items = result.evidence[0]
    for chosen in (group, ~group):
        part = part_of(result, chosen)
        assert part.n_items == chosen.sum()
        assert part.flip_rate.estimate == pytest.approx((new != items.old)[chosen].mean())
        assert part.accuracy_change.estimate == pytest.approx(-(new != items.truth)[chosen].mean())
        assert part.flip_rate.interval.width == pytest.approx(0, abs=1e-9)


def test_the_whole_is_a_part_of_itself():
    asked = np.random.default_rng(1).permutation(600)[:150]
    result, _, _ = assessed(asked)
    again = part_of(result, np.ones(600, bool))
    assert dataclasses.replace(again, seed=result.seed) == result


def test_the_part_that_changed_is_told_from_the_one_that_did_not():
    result, _, group = assessed(np.random.default_rng(2).permutation(600)[:300])
    changed, same = part_of(result, group), part_of(result, ~group)
    assert changed.accuracy_change.interval.high < 0
    assert same.accuracy_change.estimate == 0
    assert changed.calls + same.calls == result.calls


def test_parts_of_which_too_little_is_known_are_refused():
    result, _, group = assessed(np.arange(350))
    with pytest.raises(NotIdentifiable, match="only 0 answers came"):
        part_of(result, group)
    with pytest.raises(InputError, match="one boolean for each of its 600"):
        part_of(result, np.arange(600))
    with pytest.raises(InputError, match="a result that run or assess returned"):
        part_of(dataclasses.replace(result, evidence=None), group)
