import numpy as np
import pytest

from tallystick.dynamic import Correlated, Population
from tallystick.dynamic.advice import Background, RoundPrices, advise
from tallystick.dynamic.learners import Continued, RandomErrors
from tallystick.dynamic.papers.constructions import path_certificate
from tallystick.dynamic.rollouts import roll_path
from tallystick.errors import InputError


def options(advice):
    return {option.course: option for option in advice.options}


def test_early_rounds_are_worth_it_and_late_ones_are_not():
    population = Population.uniform(300)
    assert (
        advise(population, Correlated(0.1, 0.3), rounds=3, rng=0, rollouts=60).course
        == "one more round"
    )
    late = advise(population, RandomErrors(0.1), rounds=31, rng=0, rollouts=20)
    assert (late.course, late.gain, late.price) == ("stop", 0.0, 0.0)


def test_rounds_are_judged_at_the_next_odd_count():
    population = Population.uniform(200)
    assert (
        options(advise(population, RandomErrors(0.1), rounds=3, rng=0, rollouts=20))[
            "one more round"
        ].rounds
        == 2
    )
    assert (
        options(advise(population, RandomErrors(0.1), rounds=4, rng=0, rollouts=20))[
            "one more round"
        ].rounds
        == 1
    )


def test_the_reason_says_why_one_more_round_is_two():
    population = Population.uniform(200)
    assert (
        "2 rounds, since after an even number, 4, ties"
        in advise(population, RandomErrors(0.1), rounds=3, rng=0, rollouts=20).reason
    )
    assert "(1 round)" in advise(population, RandomErrors(0.1), rounds=2, rng=0, rollouts=20).reason


def test_cleaning_is_weighed_only_where_labels_are_random():
    noisy = advise(
        Population.uniform(300, noise=0.2), Correlated(0.1, 0.3), rounds=3, rng=0, rollouts=60
    )
    assert noisy.course == "clean labels"
    assert options(noisy)["clean labels"].price == 3.0
    assert "clean labels" not in options(
        advise(Population.uniform(300), Correlated(0.1), rounds=3, rng=0, rollouts=20)
    )


def test_a_hierarchy_is_not_advised_where_a_path_of_as_many_rounds_does_as_well():
    weighed = advise(Population.uniform(300), RandomErrors(0.1), rounds=3, rng=0, rollouts=60)
    assert "no less" in options(weighed)["go hierarchical"].note
    assert weighed.course != "go hierarchical"
    better = advise(
        Population.uniform(400), Correlated(0.2, 0.6, 0.5), rounds=3, rng=0, rollouts=60
    )
    assert better.course == "go hierarchical"


def test_the_bad_sequence_of_theorem_3_5_is_told_to_stop():
    proof = path_certificate(0.25, rounds=40)
    prices = RoundPrices(round=1, value=100)
    advice = advise(
        proof.population,
        proof.learner(),
        rounds=11,
        rng=0,
        rollouts=20,
        prices=prices,
        background=Background(beginner=RandomErrors(0.25)),
    )
    assert options(advice)["one more round"].no_gain == 1.0
    assert options(advice)["one more round"].gain == 0.0


def test_a_known_past_is_kept():
    population = Population.uniform(300)
    done = roll_path(
        population, Correlated(0.2, 0.5), rounds=3, rollouts=1, rng=7, keep_errors=True
    )
    learner = Continued(done.error_sets[0], Correlated(0.2, 0.5))
    advice = advise(
        population,
        learner,
        rounds=3,
        rng=0,
        rollouts=40,
        background=Background(beginner=Correlated(0.2, 0.5)),
    )
    assert f"{done.risk[0, 2]:.3g}" in advice.reason


def test_the_predicted_gain_holds_what_happens():
    """The 90 % prediction interval, over benchmarks drawn from the same learner."""
    population, learner = Population.uniform(300), Correlated(0.2, 0.5, 0.3)
    done = roll_path(population, learner, rounds=5, rollouts=200, rng=1)
    gain = done.risk[:, 2] - done.risk[:, 4]
    interval = options(advise(population, learner, rounds=3, rng=2, rollouts=200))[
        "one more round"
    ].interval
    assert np.mean((gain >= interval.low) & (gain <= interval.high)) >= 0.9


def test_doubt_is_repeated_and_bad_prices_are_refused():
    advice = advise(
        Population.uniform(100),
        RandomErrors(0.2),
        rounds=3,
        rng=0,
        rollouts=20,
        background=Background(doubt="the fit is refuted"),
    )
    assert "Beware: the fit is refuted." in advice.reason
    with pytest.raises(InputError, match="the price round"):
        RoundPrices(round=-1)
    with pytest.raises(InputError, match="reusable must be from 0 to 3"):
        Background(reusable=4)
    with pytest.raises(InputError, match="20 rollouts"):
        advise(Population.uniform(100), RandomErrors(0.2), rounds=3, rng=0, rollouts=2)
