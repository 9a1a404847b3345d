from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from tallystick.errors import InputError
from tallystick.sampling.draws import DrawJournal, draw_batch, uniform_spread
from tallystick.sampling.duels import (
    classifier_difference,
    disagreement_strata,
    gap_spread,
    judged_difference,
)
from tallystick.sampling.stopping import verdict_forecast

TENS = list(range(0, 100, 10))
GUESS = [0.9, 0.6, 0.4, 0.1]


def _as_printed(value, printed):
    """Write *value* with as many decimals as the page prints."""
    return f"{value:.{len(printed.partition('.')[2])}f}"


@pytest.mark.parametrize(
    ("value", "n", "printed"),
    [
        (lambda t: 1, 10, ("100.72", "0.1376")),
        (lambda t: t % 4 < 2, 16, ("0.4373", "1.0489")),
        (lambda t: t % 5 != 4, 40, ("1992.2", "0.0239")),
    ],
)
def test_the_two_e_processes_of_classifiers_are_those_of_the_page(scripted, value, n, printed):
    journal, values = scripted(
        [50] * 4, lambda t: t % 4, value, n, freeze=TENS, rule=uniform_spread
    )
    found = classifier_difference(journal, (values, values), GUESS)
    ends = found.above[-1], found.below[-1]
    assert tuple(map(_as_printed, ends, printed)) == printed


@pytest.mark.parametrize(
    ("value", "n", "up", "down"),
    [
        (lambda t: (1, 0, -1)[t % 3], 30, "0.9659", "1.0058"),
        (lambda t: 1, 12, "55.120", "0.0539"),
        (lambda t: t % 3 == 0, 60, "10793", "0.0001"),
    ],
)
def test_the_e_process_of_judged_outputs_is_that_of_the_page(scripted, value, n, up, down):
    journal, values = scripted(
        [150, 200, 150], lambda t: t % 3, value, n, freeze=TENS, rule=gap_spread
    )
    found = judged_difference(journal, (values, values), [0.8, 0.0, -0.8])
    assert _as_printed(found.above[-1], up) == up
    assert _as_printed(found.below[-1], down) == down


def test_strata_of_disagreements_leave_out_what_both_say_alike():
    posterior = np.column_stack((1 - np.linspace(0, 1, 40), np.linspace(0, 1, 40)))
    first, second = np.ones(40, int), np.zeros(40, int)
    second[:8] = 1
    strata, guess = disagreement_strata(first, second, posterior)
    assert (strata.of[:8] == -1).all()
    assert strata.sizes.tolist() == [8, 8, 8, 8]
    assert (np.diff(guess) > 0).all()


def test_an_answer_of_a_third_class_counts_half():
    posterior = np.tile([0.2, 0.3, 0.5], (10, 1))
    _, guess = disagreement_strata([0] * 10, [1] * 10, posterior)
    assert guess[0] == pytest.approx(0.2 + 0.5 / 2)


def test_classifiers_that_never_disagree_are_refused():
    with pytest.raises(InputError, match="never disagree"):
        disagreement_strata([0, 1], [0, 1], [[0.5, 0.5]] * 2)


def test_a_sign_that_the_rest_can_not_turn_is_certain():
    strata, guess = disagreement_strata([0] * 9, [1] * 9, np.full((9, 2), 0.5))
    journal = draw_batch(strata, DrawJournal.empty(strata.sizes), size=5, spread=[1.0], rng=0)
    found = classifier_difference(journal, (np.zeros(5), np.zeros(5)), guess)
    assert (found.verdict, found.certain, found.items - found.labelled) == ("below", True, 4)


def test_all_labelled_and_even_is_a_tie():
    strata, guess = disagreement_strata([0] * 4, [1] * 4, np.full((4, 2), 0.5))
    journal = draw_batch(strata, DrawJournal.empty(strata.sizes), size=4, spread=[1.0], rng=0)
    found = classifier_difference(journal, ([1, 0, 0.5, 0.5],) * 2, guess)
    assert (found.verdict, found.certain) == ("even", True)


def test_both_wrong_moves_nothing(scripted):
    journal, values = scripted(
        [50], lambda t: 0, lambda t: 0.5, 30, freeze=TENS, rule=uniform_spread
    )
    found = classifier_difference(journal, (values, values), [0.5])
    assert found.verdict is None
    assert found.above[-1] == pytest.approx(1.0, abs=1e-9)
    assert found.below[-1] == pytest.approx(1.0, abs=1e-9)


def test_the_wrong_sign_at_an_exact_tie_is_rare_even_if_the_guesses_mislead():
    rng, runs, alpha = np.random.default_rng(11), 300, 0.1
    posterior = np.column_stack((np.linspace(0.05, 0.95, 120), np.linspace(0.95, 0.05, 120)))
    strata, guess = disagreement_strata([0] * 120, [1] * 120, posterior)
    called = 0
    for _ in range(runs):
        truth = rng.permutation(np.repeat([0.0, 1.0], 60))  # a tie, whatever the guesses say
        journal = DrawJournal.empty(strata.sizes)
        for _ in range(8):
            journal = draw_batch(strata, journal, size=10, spread=np.ones(len(strata)), rng=rng)
        found = classifier_difference(journal, (truth[journal.item],) * 2, guess, alpha=alpha)
        called += found.verdict is not None
    assert called <= binom.ppf(1 - 1e-4, runs, alpha)


def test_the_forecast_of_a_clear_difference_is_small(scripted):
    journal, values = scripted(
        [200] * 4, lambda t: t % 4, lambda t: t % 10 > 0, 15, freeze=TENS, rule=uniform_spread
    )
    found = classifier_difference(journal, (values, values), [0.5] * 4)
    needed = verdict_forecast(float(np.log(found.above[-1])), found.growth)
    assert 0 <= needed < 30
    even, half = scripted([200], lambda t: 0, lambda t: t % 2, 20, freeze=TENS, rule=uniform_spread)
    assert classifier_difference(even, (half, half), [0.5]).growth < 0.01
