import numpy as np

from tallystick.results import Unknown
from tallystick.stats.two_accuracies import mcnemar
from tallystick.verbs.compare import evaluate


def scores(n, seed=0):
    rng = np.random.default_rng(seed)
    return {"a": (rng.random(n) < 0.6).astype(int), "b": (rng.random(n) < 0.6).astype(int)}


def test_the_difference_that_is_named_is_found_with_about_the_power_that_is_named():
    """Models that disagree on .48 of 400 items, a lead of the printed size, 2,000 draws."""
    n, apart = 400, 0.48
    lead = evaluate(scores(n)).detectable_difference
    rng = np.random.default_rng(1)
    wins = rng.binomial(n, (apart + lead) / 2, 2000)
    losses = rng.binomial(n - wins, (apart - lead) / 2 / (1 - (apart + lead) / 2))
    power = np.mean([mcnemar(b, c) <= 0.05 for b, c in zip(wins, losses, strict=True)])
    assert 0.76 <= power <= 0.84


def test_models_that_never_disagree_leave_it_unknown():
    same = [1, 0] * 30
    found = evaluate({"a": same, "b": same}, models=("a", "b")).detectable_difference
    assert isinstance(found, Unknown)
    assert "never disagree" in found.reason
