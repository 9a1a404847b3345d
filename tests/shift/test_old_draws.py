"""The vectors were computed apart from this code, by the formulas of docs/theory/shift.md."""

import numpy as np
import pytest
from scipy.special import ndtri

from tallystick.errors import InputError
from tallystick.sampling import Strata
from tallystick.verbs.shift.grades import GradedAnswers, graded_change
from tallystick.verbs.shift.old_draws import draw_noise, fresh_noise, old_draws_change, old_noise


def test_the_printed_vector_comes_out():
    draws = np.array([[1, 0]] * 100 + [[1, 1]] * 500)
    old = old_noise(draws)
    # Σh = 10: ten of forty repeats reverted
    new = fresh_noise(0.2, [0] * 40, [1] * 40, [0] * 10 + [1] * 30)
    assert (round(old, 4), round(new, 4)) == (0.0833, 0.0500)
    term = ndtri(0.025) ** 2 * draw_noise(new, old, draws=2, items=600)
    assert f"{term:.3e}" == "5.869e-04"


def test_the_old_noise_is_unbiased_for_any_number_of_draws():
    rng = np.random.default_rng(0)
    rates = rng.beta(2, 1, 20_000)
    for k in (2, 5):
        draws = rng.random((20_000, k)) < rates[:, None]
        assert old_noise(draws) == pytest.approx(np.mean(rates * (1 - rates)), abs=0.004)


def test_the_change_is_against_the_mean_of_all_draws():
    rng = np.random.default_rng(1)
    draws = (rng.random((200, 3)) < 0.7).astype(float)
    strata = Strata(draws[:, 0].astype(int))
    asked = rng.permutation(200)[:120]
    new = (rng.random(120) < 0.6).astype(float)
    answers = GradedAnswers(asked=asked, grade=new)
    found = old_draws_change(strata, draws, answers, new_noise=0.1)
    d = new - draws[asked].mean(axis=1)
    of = strata.of[asked]
    assert found.value == pytest.approx(sum(strata.shares[k] * d[of == k].mean() for k in (0, 1)))
    silent = graded_change(strata, draws.mean(axis=1), answers, share=0)
    extra = ndtri(0.025) ** 2 * draw_noise(0.1, old_noise(draws), draws=3, items=200)
    assert found.value - found.low == pytest.approx(np.hypot(silent.value - silent.low, extra**0.5))


def test_noise_that_was_fixed_is_covered_with_two_old_draws():
    """One old draw covers .28 here: new repeats cannot see old noise."""
    rng = np.random.default_rng(2)
    rate = rng.choice([0.3, 0.7, 1.0], 500, p=[0.2, 0.3, 0.5])
    new = (rate > 0.5).astype(float)  # temperature 0: the likelier answer, always
    truth = np.mean(new - rate)
    hits = 0
    for _ in range(200):
        draws = (rng.random((500, 2)) < rate[:, None]).astype(float)
        answers = GradedAnswers(asked=np.arange(500), grade=new)
        strata = Strata(draws[:, 0].astype(int))
        noise = fresh_noise(0.2, [0] * 30, [1] * 30, [1] * 30)
        found = old_draws_change(strata, draws, answers, new_noise=noise)
        hits += found.low <= truth <= found.high
    assert hits >= 178  # 1e-3 quantile at .95


@pytest.mark.parametrize("draws", [[[1], [0]], [1, 0], [[0.5, 1], [1, 1]]])
def test_draws_that_are_not_right_or_wrong_are_refused(draws):
    with pytest.raises(InputError, match="draws must be right"):
        old_noise(draws)


def test_arguments_out_of_range_are_refused():
    with pytest.raises(InputError, match="flip_rate"):
        fresh_noise(1.5, [0], [1], [1])
    with pytest.raises(InputError, match="at least 2"):
        draw_noise(0.1, 0.1, draws=1, items=10)
    answers = GradedAnswers(asked=np.arange(2), grade=np.ones(2))
    with pytest.raises(InputError, match="row for each of 3 items"):
        old_draws_change(Strata([0, 0, 0]), np.ones((2, 2)), answers, new_noise=0.1)
