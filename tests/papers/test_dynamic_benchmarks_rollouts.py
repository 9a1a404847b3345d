"""Rollouts of any learner and design, the learners, and the score z_T."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks import similarity
from tallystick.papers.dynamic_benchmarks.certificates import path_certificate
from tallystick.papers.dynamic_benchmarks.designs import (
    Design,
    Population,
    Step,
    hierarchical,
    path,
)
from tallystick.papers.dynamic_benchmarks.rollouts import (
    Perfect,
    RandomErrors,
    Scripted,
    control_risk,
    fill,
    roll,
)


def by_hand(population, design_table, ballots, sets):
    """Follow one path item by item: majority risk, own risk, excess risk and noise, per round."""
    d, d0, coin = population.weights, population.start, population.coin
    clean = np.where(coin, 0, d) / d[~coin].sum()
    parts, out = [d0], []
    for t, errors in enumerate(sets):
        kept = [(w, part) for w, part in zip(design_table[t], parts, strict=True) if part.sum()]
        now = sum(w * part for w, part in kept) / sum(w for w, _ in kept)
        wrong = sum(w * one for w, one in zip(ballots, sets[: t + 1], strict=False))
        margin = wrong - sum(ballots[: t + 1]) / 2
        lost = np.where(np.isclose(margin, 0), 0.5, margin > 0)
        out.append((lost @ clean, errors @ clean, errors @ now, coin @ now))
        found = d * np.where(coin, 0.5, errors)
        parts.append(found / found.sum() if found.sum() else found)
    return np.array(out).T


@pytest.mark.parametrize("mixture", [None, 0.4, "random"])
@pytest.mark.parametrize("majority", [None, [1.0, 2.0, 0.5, 1.0, 1.0]])
@pytest.mark.parametrize("noisy", [0, 6])
def test_section_5_a_rollout_is_what_its_rounds_say_item_by_item(mixture, majority, noisy):
    rng = np.random.default_rng(0)
    table = [rng.dirichlet(np.ones(t + 1)).tolist() for t in range(5)]
    if mixture != "random":
        rest = [1 / (t + 1) if mixture is None else mixture for t in range(5)]
        table = [[1.0], *([r, *[(1 - r) / t] * t] for t, r in enumerate(rest[1:], 1))]
    weights = rng.dirichlet(np.ones(60), size=2)
    population = Population(weights[0], initial=weights[1], noisy=np.arange(60) < noisy)
    design = path(5, mixture=table if mixture == "random" else mixture, majority=majority)
    done = roll(population, design, RandomErrors(0.2), rollouts=7, rng=3, keep_errors=True)
    for row in range(7):
        expected = by_hand(population, table, majority or [1] * 5, done.error_sets[row])
        seen = [getattr(done, n)[row] for n in ("risk", "model_risk", "epsilon", "noise_share")]
        assert np.array(seen) == pytest.approx(expected, abs=1e-12)
    assert done.output_risk == pytest.approx(done.risk[:, -1])


def test_section_5_a_hierarchy_of_random_learners_beats_its_first_path():
    done = roll(Population.uniform(400), hierarchical(), RandomErrors(0.2), rollouts=30, rng=0)
    assert done.output_risk.mean() < 0.5 * done.risk[:, 2].mean()


@pytest.mark.parametrize(
    "table",
    [
        None,
        [[1], [0.5, 0.5], [0.2, 0.3, 0.5], [0.1, 0.2, 0.3, 0.4]],
        [[1.0], [0.0, 1.0], [0.0, 0.5, 0.5], [0.0, 0.2, 0.3, 0.5]],
    ],
)
def test_section_5_a_round_without_errors_adds_nothing_to_the_mixture(table):
    """A path without errors stays with its initial distribution, even at no weight."""
    people = Population.uniform(20)
    done = roll(people, path(4, mixture=table), Perfect(), rollouts=2, rng=0)
    assert np.all(done.risk == 0)
    assert np.all(np.isfinite(done.noise_share))


def test_section_5_error_sets_are_kept_only_when_asked_for():
    done = roll(Population.uniform(10), path(2), RandomErrors(0.2), rollouts=2, rng=0)
    with pytest.raises(InputError, match="keep_errors=True"):
        _ = done.error_sets


def test_section_5_bad_numbers_are_refused():
    people = Population.uniform(10)
    with pytest.raises(InputError, match="rollouts must be at least 1"):
        roll(people, path(2), RandomErrors(0.2), rollouts=0, rng=0)
    with pytest.raises(InputError, match=r"majority needs 2 weights, .* the first one positive"):
        roll(people, path(2, majority=[0, 1]), RandomErrors(0.2), rollouts=1, rng=0)


def test_section_5_a_design_that_trains_on_an_empty_error_set_is_refused_by_its_step():
    steps = {
        "h1": Step("train", ("initial",)),
        "e1": Step("collect", ("h1",)),
        "h2": Step("train", ("e1",)),
    }
    alone = Design("bare", steps, output="h2")
    with pytest.raises(InputError, match="step 'h2': the error set that it trains on is empty"):
        roll(Population.uniform(20), alone, Perfect(), rollouts=2, rng=0)
    assert roll(Population.uniform(20), alone, RandomErrors(0.2), rollouts=2, rng=0).rounds == 2


# Learners.


def begun(learner, population, rollouts=4, seed=0):
    return learner.begin(population, rollouts, np.random.default_rng(seed))


@pytest.mark.parametrize("epsilon", [0, -0.1, 0.51, float("nan"), (0.1, 0.6)])
def test_epsilon_outside_the_half_open_interval_is_refused(epsilon):
    with pytest.raises(InputError, match=r"epsilon must be in \(0, 1/2\]"):
        RandomErrors(epsilon)


def test_a_perfect_learner_errs_only_where_its_data_are_silent():
    population = Population.uniform(6)
    weights = np.tile([0.5, 0.5, 0, 0, 0, 0], (3, 1))
    silent = [[False, False, True, True, True, True]] * 3
    assert begun(Perfect(), population, 3)(weights, 0).tolist() == silent
    assert not begun(Perfect(outside=0), population, 3)(weights, 0).any()


@settings(max_examples=200)
@given(st.integers(2, 60), st.floats(0.01, 0.5), st.integers(0, 2**32 - 1))
def test_a_random_learner_keeps_its_promise_and_could_not_err_more(size, epsilon, seed):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(size), size=3)
    errors = begun(RandomErrors(epsilon), Population.uniform(size), 3, seed)(weights, 0)
    mass = (weights * errors).sum(axis=1)
    assert np.all(mass <= epsilon + 1e-8)
    assert np.all(mass + weights.max(axis=1) > epsilon)


def test_a_changing_model_has_an_epsilon_per_round_and_keeps_the_last():
    weights = np.full((1, 100), 0.01)
    build = begun(RandomErrors((0.1, 0.3)), Population.uniform(100), 1)
    assert [int(build(weights, t).sum()) for t in range(4)] == [10, 30, 30, 30]


def test_no_learner_errs_on_items_with_random_labels():
    population = Population.uniform(100, noise=0.3)
    weights = np.full((5, 100), 0.01)
    for learner in (RandomErrors(0.2), Perfect()):
        assert not begun(learner, population, 5)(weights, 0)[:, population.coin].any()


def test_a_script_is_played_and_ends():
    population = Population.uniform(3)
    build = begun(Scripted(np.eye(2, 3, dtype=bool)), population, 2)
    assert build(np.ones((2, 3)), 1).tolist() == [[False, True, False]] * 2
    with pytest.raises(InputError, match="the script has 2 rounds"):
        build(np.ones((2, 3)), 2)
    with pytest.raises(InputError, match=r"shape \(rounds, 3\)"):
        begun(Scripted(np.ones((2, 4), dtype=bool)), population)


def filled(score, weight, clean, epsilon, luck):
    """Take clean items of highest score until one does not fit; luck decides about that one."""
    errors, reached = np.zeros(len(score), bool), 0.0
    for i in sorted(np.flatnonzero(clean), key=lambda i: -score[i]):
        if reached + weight[i] > epsilon + 1e-9:
            with np.errstate(invalid="ignore"):
                errors[i] = luck * weight[i] < epsilon - reached
            break
        reached += weight[i]
        errors[i] = True
    return errors


@pytest.mark.parametrize("kind", ["plain", "infinite", "all clean", "none clean", "everything"])
def test_errors_are_filled_from_the_highest_score(kind):
    rng = np.random.default_rng(2)
    scores, weights = rng.random((30, 300)), rng.random((30, 300))
    weights[:, ::11] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    clean = rng.random(300) < {"all clean": 2.0, "none clean": -1.0}.get(kind, 0.9)
    if kind == "infinite":  # one of each, so that there is one order only
        scores[:, 5], scores[:, 6] = np.inf, -np.inf
    epsilon = 2.0 if kind == "everything" else 0.1
    luck = np.concatenate([rng.random(20), np.full(10, np.inf)])
    errors = fill(scores, weights, clean, epsilon, luck)
    for row in range(30):
        expected = filled(scores[row], weights[row], clean, epsilon, luck[row])
        # an item without weight changes nothing, wherever rounding puts it
        assert (errors[row] == expected)[weights[row] > 0].all()


def test_equal_and_infinite_scores_are_filled_up_to_the_same_mass():
    for score in (0.0, np.inf, -np.inf):
        scores, weights = np.full((1, 10), score), np.full((1, 10), 0.1)
        assert fill(scores, weights, np.ones(10, bool), 0.35, np.full(1, 2.0)).sum() == 3


# Section B.2: the score z_T.


def z_by_hand(errors):
    models = len(errors)
    share = errors.mean(axis=0)
    majority = np.where(share > 0.5, 1.0, np.where(share == 0.5, 0.5, 0.0))
    ratios = [
        majority[errors[s] & errors[t]].mean()
        for s in range(models)
        for t in range(models)
        if s != t and (errors[s] & errors[t]).any()
    ]
    return np.mean(ratios) if ratios else np.nan


@given(st.integers(2, 7), st.integers(3, 40), st.floats(0.05, 0.8), st.integers(0, 2**32 - 1))
def test_section_b_2_z_is_the_mean_over_pairs_with_common_errors(models, items, rate, seed):
    errors = np.random.default_rng(seed).random((models, items)) < rate
    assert similarity(errors) == pytest.approx(z_by_hand(errors), abs=1e-6, nan_ok=True)


def test_section_b_2_the_bad_sequence_of_theorem_3_5_has_z_one():
    proof = path_certificate(0.1, rounds=20)
    assert all(similarity(proof.errors[:t]) == pytest.approx(1) for t in range(3, 20))


def test_section_b_2_z_of_three_models_is_always_one_and_of_disjoint_ones_unknown():
    rng = np.random.default_rng(0)
    assert similarity(rng.random((50, 3, 30)) < 0.4) == pytest.approx(np.ones(50))
    assert np.isnan(similarity(np.eye(4, dtype=bool)))


def test_section_b_2_weights_and_another_majority_are_used():
    errors = np.array([[1, 1, 0], [1, 1, 0]], dtype=bool)
    weights, majority = np.array([0.6, 0.2, 0.2]), np.array([1, 0, 0])
    assert similarity(errors, weights=weights, majority=majority) == pytest.approx(0.75)
    with pytest.raises(InputError, match="two models"):
        similarity(errors[:1])


def test_section_5_the_control_votes_independent_errors_away_and_leaves_random_labels_out():
    people = Population.uniform(400)
    alone = control_risk(people, RandomErrors(0.1), rounds=5, rollouts=100, rng=0).mean(axis=0)
    assert alone[4] == pytest.approx(0.00856, abs=0.002)  # three or more of five, each at .1
    noisy = Population.uniform(200, noise=0.25)
    one = control_risk(noisy, RandomErrors(0.15), rounds=1, rollouts=50, rng=0)
    assert one.mean() == pytest.approx(0.2, abs=0.01)
