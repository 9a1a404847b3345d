from itertools import pairwise

import pytest

from tallystick.table import Tally
from tallystick.verbs.bound import BoundTarget, Fitting, bound
from tallystick.verbs.bound.question import spam


@pytest.fixture(scope="module")
def proved():
    tally = Tally.of(spam(3000, rng=1))
    return bound(
        tally,
        prediction="classifier",
        label_models=["dawid-skene"],
        target=BoundTarget(at_least=0.5),
        fitting=Fitting(family=False, refits=0),
    )


def test_an_average_error_moves_the_end_of_accuracy_by_itself(proved):
    """So the breakdown on average is the distance of the proved end from the claim."""
    found = proved.breakdown
    assert found.claim == "accuracy ≥ 0.5"
    assert found.on_average == pytest.approx(proved.bounds[0].low - 0.5)
    assert found.in_every_pattern >= found.on_average


def test_the_sweep_never_narrows_as_more_error_is_allowed(proved):
    ends = [(row["delta"], row["low"], row["high"]) for row in proved.breakdown.sweep]
    for (_, low, high), (_, lower, higher) in pairwise(ends):
        assert lower <= low
        assert higher >= high


def test_without_a_claim_there_is_no_breakdown():
    fitting = Fitting(family=False, refits=0)
    result = bound(
        Tally.of(spam(400, rng=1)),
        prediction="classifier",
        label_models=["majority"],
        fitting=fitting,
    )
    assert result.breakdown is None
