import csv
import gzip
from dataclasses import replace

import numpy as np
import pytest

from tallystick.dynamic import Correlated, Population
from tallystick.dynamic.probit import _objective, fit_correlation
from tallystick.dynamic.rollouts import roll_path
from tallystick.errors import InputError, NotIdentifiable


def drawn(rho, models=5, items=2000, seed=0, threshold=0.5):
    rng = np.random.default_rng(seed)
    return (
        rho**0.5 * rng.standard_normal(items)
        + (1 - rho) ** 0.5 * rng.standard_normal((models, items))
        > threshold
    )


@pytest.mark.parametrize("rho", [0.0, 0.1, 0.5, 0.8])
def test_a_known_correlation_is_recovered(rho):
    fit = fit_correlation(drawn(rho), simulations=49)
    assert abs(fit.rho - rho) < 0.06
    assert fit.interval.low - 0.01 <= rho <= fit.interval.high + 0.01
    assert fit.thresholds == pytest.approx((0.5,) * 5, abs=0.1)
    assert fit.fits


def test_the_gradient_is_that_of_the_likelihood():
    rng = np.random.default_rng(0)
    patterns, offsets, counts = (
        rng.random((9, 4)) < 0.4,
        rng.standard_normal((9, 4)),
        rng.integers(1, 9, 9).astype(float),
    )
    at = rng.standard_normal(6)
    value, gradient = _objective(at, patterns, offsets, counts, None)
    numeric = [
        (_objective(at + h, patterns, offsets, counts, None)[0] - value) / 1e-6
        for h in 1e-6 * np.eye(6)
    ]
    assert gradient == pytest.approx(numeric, abs=1e-3)


def test_on_a_path_the_protection_by_weight_is_fitted_too():
    """Without gamma a true rho of .5 reads far too low on a path: the benchmark itself breaks up
    the overlap."""
    done = roll_path(
        Population.uniform(4000),
        Correlated(0.15, 0.5, 0.5),
        rounds=6,
        rollouts=1,
        rng=0,
        keep_errors=True,
    )
    errors = done.error_sets[0]
    aware, naive = (
        fit_correlation(errors, on_path=True, simulations=49),
        fit_correlation(errors, simulations=1),
    )
    assert abs(aware.rho - 0.5) < 0.12
    assert aware.gamma == pytest.approx(0.5, abs=0.2)
    assert naive.rho < aware.rho - 0.1


def test_errors_of_another_kind_do_not_pass_the_fit_test():
    rng = np.random.default_rng(0)
    errors = rng.random((6, 3000)) < 0.05
    errors[:, :300] = True  # a hard core that every model gets wrong, and nothing in between
    assert not fit_correlation(errors, simulations=199).fits


def test_difficulty_is_drawn_from_what_the_history_allows():
    errors = drawn(0.6, items=500)
    fit = fit_correlation(errors, simulations=1)
    difficulty = fit.difficulty(errors, rollouts=200, rng=0).mean(axis=0)
    wrong = errors.sum(axis=0)
    assert difficulty[wrong == 5].min() > difficulty[wrong == 0].max()


def test_models_that_never_or_always_err_are_named():
    errors = drawn(0.3)
    errors[2] = False
    with pytest.raises(NotIdentifiable, match="model 3 of 5 is never wrong"):
        fit_correlation(errors)
    with pytest.raises(InputError, match="2 models and 10 items"):
        fit_correlation(errors[:1])


def test_anli_has_the_correlation_of_the_baseline(shared_data):
    with gzip.open(
        shared_data / "dynamic" / "anli_dev_rounds_8models.csv.gz", "rt", encoding="utf-8"
    ) as lines:
        rows = list(csv.DictReader(lines))
    models = [name for name in rows[0] if name.startswith("anli-")]
    known = {1: (0.69, 0.087, 0.0015), 2: (0.58, 0.171, 0.023), 3: (0.58, 0.181, 0.026)}
    for number, (rho, together, independent) in known.items():
        here = [row for row in rows if int(row["round"]) == number]
        errors = np.array([[row[model] != row["gold"] for row in here] for model in models])
        fit = fit_correlation(errors, rng=0)
        assert abs(fit.rho - rho) <= 0.05
        assert fit.all_wrong == pytest.approx(together, abs=0.0005)
        assert abs(fit.all_wrong_predicted - fit.all_wrong) <= 0.01
        assert fit.all_wrong_independent == pytest.approx(independent, abs=0.0005)
        assert fit.fits


@pytest.mark.parametrize("on_path", [False, True])
def test_the_mean_difficulty_is_that_of_many_draws(on_path):
    errors = drawn(0.6, models=4, items=60)
    fit = fit_correlation(errors, simulations=19, on_path=on_path)
    draws = fit.difficulty(errors, rollouts=20_000, rng=0, on_path=on_path)
    error = draws.std(axis=0) / 20_000**0.5
    assert np.all(
        np.abs(draws.mean(axis=0) - fit.mean_difficulty(errors, on_path=on_path)) < 5 * error
    )


def test_the_difficulty_of_a_history_too_unlikely_for_a_float_is_a_number():
    shared = np.random.default_rng(0).standard_normal(40)
    errors = drawn(0.5, models=3, items=40)
    many = replace(fit_correlation(errors, simulations=19), thresholds=(0.0,) * 3000)
    own = np.random.default_rng(1).standard_normal((3000, 40))
    means = many.mean_difficulty(shared + own > 0)
    assert np.corrcoef(means, shared)[0, 1] > 0.95
