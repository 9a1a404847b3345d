import numpy as np

from tallystick.dynamic import Correlated, Population
from tallystick.dynamic.forecast import fitted_learner, forecast
from tallystick.dynamic.learners import RandomErrors
from tallystick.dynamic.probit import fit_correlation
from tallystick.dynamic.rollouts import roll_path
from tallystick.results import Unknown


def history(rounds=5, seed=0):
    learner = Correlated(0.2, 0.5, 0.4)
    return roll_path(
        Population.uniform(500), learner, rounds=rounds, rollouts=1, rng=seed, keep_errors=True
    )


def test_the_fitted_learner_has_the_risk_correlation_and_protection_of_the_one_that_made_the_log():
    errors = history(7).error_sets[0]
    fit = fit_correlation(errors, on_path=True, simulations=19)
    learner = fitted_learner(errors, fit, on_path=True, draws=30, rng=0)
    assert abs(learner.epsilon - 0.2) < 0.01
    assert abs(learner.rho - 0.5) < 0.15
    assert abs(learner.gamma - 0.4) < 0.2
    hard, easy = errors.sum(axis=0) >= 4, errors.sum(axis=0) == 0
    assert learner.difficulty[:, hard].mean() > learner.difficulty[:, easy].mean() + 1


def test_the_forecast_starts_from_where_the_log_stands():
    done = history()
    fit = fit_correlation(done.error_sets[0], on_path=True, simulations=19)
    advice, ahead = forecast(done.error_sets[0], fit, on_path=True, rollouts=40, rng=0)
    assert f"{done.risk[0, -1]:.3g}" in advice.reason
    assert len(ahead.worst) == 9


def test_models_beyond_one_half_have_no_simulator():
    errors = np.random.default_rng(0).random((3, 200)) < 0.7
    fit = fit_correlation(errors, simulations=19)
    advice, ahead = forecast(errors, fit, on_path=False, rng=0)
    assert isinstance(advice, Unknown)
    assert "outside (0, 1/2]" in advice.reason
    assert isinstance(ahead, Unknown)


def test_a_log_whose_correlation_the_profile_could_not_bracket_is_fitted():
    """The profile once started from nowhere, ended below the maximum, and the search for its ends
    had none."""
    for seed in range(12):
        errors = roll_path(
            Population.uniform(400),
            Correlated(0.1, 0.7),
            rounds=3,
            rollouts=1,
            rng=seed,
            keep_errors=True,
        ).error_sets[0]
        fit = fit_correlation(errors, on_path=True, simulations=1)
        assert fit.rho in fit.interval


def test_independent_errors_are_fitted_as_such():
    errors = roll_path(
        Population.uniform(600), RandomErrors(0.2), rounds=4, rollouts=1, rng=0, keep_errors=True
    )
    assert fit_correlation(errors.error_sets[0], on_path=True, simulations=1).interval.low < 0.1
