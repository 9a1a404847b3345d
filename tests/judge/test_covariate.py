import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.verbs.judge import evaluate
from tallystick.verbs.judge.answer import robust_slope


def table(n=1500, rng=1, drift=0.12, shared=0.0):
    """Judge a errs more on long items; all judges lean to yes by *shared* per deviation."""
    draw = np.random.default_rng(rng)
    truth = draw.integers(0, 2, n)
    length = draw.normal(300, 80, n)
    z = (length - 300) / 80
    votes = {}
    for name, slope in (("a", drift), ("b", 0.0), ("c", 0.0), ("d", 0.0)):
        wrong = draw.random(n) < np.clip(0.2 + (slope + shared) * z, 0, 1)
        votes[name] = np.where(wrong, 1 - truth, truth).tolist()
    return {**votes, "length": length.tolist(), "gold": truth.tolist()}


def by_judge(result):
    return {one.judge: one for one in result.covariates}


def test_with_labels_the_judge_whose_errors_grow_is_found():
    result = evaluate(table(), judges=list("abcd"), truth="gold", covariate="length")
    found = by_judge(result)
    assert not found["a"].relative
    assert found["a"].error.estimate == pytest.approx(0.12, abs=0.03)
    assert found["a"].error_p < 0.001
    assert min(found[name].error_p for name in "bcd") > 0.05
    assert "a and length: errors change by +1" in "\n".join(result.details())


def test_without_labels_it_is_relative_to_the_others_and_says_so():
    votes = {name: column for name, column in table().items() if name != "gold"}
    result = evaluate(votes, judges=list("abcd"), covariate="length")
    found = by_judge(result)
    assert found["a"].relative
    assert found["a"].error_p < 0.001
    assert found["a"].error.estimate > 0.04
    assert "relative to the other judges" in "\n".join(result.details())


def test_what_all_judges_share_cannot_be_seen_without_labels():
    shared = table(drift=0.0, shared=0.1)
    votes = {name: column for name, column in shared.items() if name != "gold"}
    blind = by_judge(evaluate(votes, judges=list("abcd"), covariate="length"))
    assert min(one.error_p for one in blind.values()) > 0.01
    seen = by_judge(evaluate(shared, judges=list("abcd"), truth="gold", covariate="length"))
    assert max(one.error_p for one in seen.values()) < 0.001


@pytest.mark.slow
def test_false_findings_are_held_over_judges_and_covariates():
    false = 0
    for seed in range(40):
        data = table(200, rng=seed, drift=0.0)
        result = evaluate(data, judges=list("abcd"), truth="gold", covariate="length")
        false += any(one.error_p <= 0.05 for one in result.covariates)
    assert false <= 7  # P(Binomial(40, .05) > 7) is 7e-4


def test_the_slope_is_that_of_statsmodels():
    statsmodels = pytest.importorskip("statsmodels.api")
    draw = np.random.default_rng(3)
    x, y = draw.normal(size=60), draw.integers(0, 2, 60).astype(float)
    z = (x - x.mean()) / x.std()
    fit = statsmodels.OLS(y, statsmodels.add_constant(z)).fit(cov_type="HC3", use_t=True)
    slope, p = robust_slope(x, y, alpha=0.05)
    assert slope.estimate == pytest.approx(fit.params[1])
    assert tuple(slope.interval) == pytest.approx(tuple(fit.conf_int()[1]))
    assert p == pytest.approx(fit.pvalues[1])


def test_what_cannot_be_estimated_says_why():
    few, _ = robust_slope(np.arange(5.0), np.zeros(5), alpha=0.05)
    assert "fewer than 10 items" in few.estimate.reason
    flat, _ = robust_slope(np.ones(20), np.zeros(20), alpha=0.05)
    assert "same on all items" in flat.estimate.reason
    never, p = robust_slope(np.arange(20.0), np.zeros(20), alpha=0.05)
    assert never.estimate == 0
    assert isinstance(p, Unknown)
    with pytest.raises(InputError, match="one judge"):
        evaluate({"a": [0, 1] * 10, "x": list(range(20))}, judges=["a"], covariate="x")


def test_the_slope_and_its_doubt_equal_statsmodels():
    """statsmodels 0.15.0, OLS(y, [1, z]).fit(cov_type="HC3", use_t=True), on these 30 items."""
    written = (
        "147.8 278.0 231.6 229.1 392.0 72.0 101.9 67.2 139.1 270.2 146.5 199.8 47.2 162.1 86.1"
        " 430.6 252.7 262.3 143.3 214.4 220.2 120.7 110.1 138.5 103.2 103.9 125.2 95.9 235.0 57.0"
    )
    x = np.array([float(word) for word in written.split()])
    y = np.array([int(c) for c in "000110101001100000000110000001"], dtype=float)
    slope, p = robust_slope(x, y, alpha=0.05)
    assert slope.estimate == pytest.approx(-0.05699701967444165, abs=1e-12)
    assert tuple(slope.interval) == pytest.approx((-0.27888024, 0.16488620), abs=1e-8)
    assert p == pytest.approx(0.6028984627075249, abs=1e-10)
