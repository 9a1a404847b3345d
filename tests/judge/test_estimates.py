import numpy as np
import pytest

from tallystick.table import Tally
from tallystick.table.panel import Panel
from tallystick.verbs.judge.grade import majorities


def panel(judges=3, n=400, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.5
    votes = {
        f"j{k}": np.where(rng.random(n) < 0.8, truth, ~truth).astype(int) for k in range(judges)
    }
    return Panel.of(Tally.of(votes)), votes


def test_majority_with_oneself_is_never_below_majority_of_the_others():
    """A judge takes part in its own majority, which can only agree with it more."""
    held, votes = panel()
    claims = {claim.estimate.method: claim.estimate.accuracy for claim in majorities(held)}
    assert all(claims["majority"][name] >= claims["majority of the others"][name] for name in votes)
    own = np.stack(list(votes.values()))
    whole = own.sum(axis=0) >= 2
    assert claims["majority"]["j0"] == pytest.approx(np.mean(own[0] == whole))


def test_two_judges_have_no_majority():
    assert majorities(panel(judges=2)[0]) == []


def test_every_doubt_holds_its_estimate():
    held, votes = panel()
    for claim in majorities(held):
        low, high = claim.doubt(0.05)
        values = np.array([claim.estimate.accuracy[name] for name in votes])
        assert ((low <= values) & (values <= high)).all()
