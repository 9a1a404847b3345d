"""The latent-class model: probabilities, fits, ridges, information, pairs that do not fit."""

from __future__ import annotations

import itertools
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import NotIdentifiable
from tallystick.stats.latent_checks import (
    Replica,
    agreement_z,
    covote_z,
    degrees_of_freedom,
    information,
    misfit,
    simulate,
)
from tallystick.stats.latent_model import (
    LatentModel,
    LatentOptions,
    Problem,
    as_votes,
    best_order,
    climb,
    expected_agreement,
    fit,
    log_likelihood,
    majority_share,
    pack,
    posterior,
    unpack,
)

# The latent-class model itself.


def test_a_missing_vote_is_summed_out(ternary, frequencies) -> None:
    codes, chance = frequencies(ternary)
    first = chance[(codes[:, 0] == 2) & (codes[:, 3] == 3)].sum()
    assert np.exp(log_likelihood(ternary, [[2, -1, -1, 3]]))[0] == pytest.approx(first, abs=1e-12)


def test_the_posterior_is_bayes_rule_by_hand(binary) -> None:
    joint = [0.65 * 0.9 * 0.3 * 0.95, 0.35 * 0.2 * 0.85 * 0.4]
    np.testing.assert_allclose(
        posterior(binary, [[0, 1, -1, 0]])[0], np.array(joint) / sum(joint), atol=1e-12
    )


def test_a_pattern_that_the_model_rules_out_is_refused_and_has_log_likelihood_minus_infinity() -> (
    None
):
    sure = LatentModel([0.5, 0.5], [[[1, 0], [0, 1]]] * 2)
    assert log_likelihood(sure, [[0, 1]])[0] == -np.inf
    with pytest.raises(NotIdentifiable, match="pattern 0 has probability 0"):
        posterior(sure, [[0, 1]])


def test_expected_agreement_equals_the_sum_over_patterns(ternary, frequencies) -> None:
    codes, chance = frequencies(ternary)
    same = codes[:, :, None] == codes[:, None, :]
    np.testing.assert_allclose(
        expected_agreement(ternary), np.einsum("i,ijk->jk", chance, same), atol=1e-12
    )


# Fitting: recovery, laws, starts, known parts, refusals.


def random_votes(seed: int, n_classes: int = 2, n_judges: int = 5, n: int = 60, gaps: float = 0.2):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    codes = np.where(
        rng.random((n, n_judges)) < 0.6, truth[:, None], rng.integers(0, n_classes, (n, n_judges))
    )
    codes[rng.random(codes.shape) < gaps] = -1
    return codes, truth


@pytest.mark.parametrize("which", ["binary", "ternary"])
def test_exact_frequencies_give_back_the_model(which, request, frequencies) -> None:
    model = request.getfixturevalue(which)
    codes, counts = frequencies(model, 1000)
    found = fit(codes, counts, n_classes=model.n_classes, n_votes=model.n_votes)
    np.testing.assert_allclose(found.balance, model.balance, atol=1e-6)
    np.testing.assert_allclose(found.confusion, model.confusion, atol=1e-6)


def test_exact_frequencies_with_votes_missing_at_random_give_back_the_model(
    binary, frequencies
) -> None:
    codes, counts = frequencies(binary, 1000)
    gap = codes.copy()
    gap[:, 0] = -1
    found = fit(np.vstack((codes, gap)), np.concatenate((counts, 0.5 * counts)), n_classes=2)
    np.testing.assert_allclose(found.confusion, binary.confusion, atol=1e-6)


@given(st.integers(0, 10_000), st.permutations(range(3)))
def test_renaming_the_labels_renames_the_answer(seed: int, names: list[int]) -> None:
    codes, _ = random_votes(seed, 3, n=150, gaps=0.1)
    options = LatentOptions(confusion_prior=1.0)
    name = np.append(names, -1)  # the last entry keeps -1 what it is
    one = fit(codes, np.ones(150), n_classes=3, options=options)
    other = fit(name[codes], np.ones(150), n_classes=3, options=options)
    assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-5)
    np.testing.assert_allclose(other.balance[names], one.balance, atol=1e-5)
    np.testing.assert_allclose(other.confusion[:, names][:, :, names], one.confusion, atol=1e-5)


def test_a_known_judge_stands_in_for_a_third_one(binary, frequencies) -> None:
    codes, counts = frequencies(binary, 1000)
    pairs, where = np.unique(codes[:, :2], axis=0, return_inverse=True)
    options = LatentOptions(confusion={0: binary.confusion[0]}, max_iterations=50_000)
    found = fit(pairs, np.bincount(where.ravel(), weights=counts), n_classes=2, options=options)
    np.testing.assert_array_equal(found.confusion[0], binary.confusion[0])
    two = LatentModel(binary.balance, binary.confusion[:2])
    there, true = (np.exp(log_likelihood(one, pairs)) for one in (found.model, two))
    np.testing.assert_allclose(there, true, atol=1e-5)


def test_votes_that_a_known_judge_cannot_give_are_refused() -> None:
    codes = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 0]])
    sure = {0: np.eye(2), 1: np.eye(2)}
    with pytest.raises(
        NotIdentifiable, match="pattern 2 has probability 0 under the known confusion matrices"
    ):
        fit(codes, [5, 5, 1, 1], n_classes=2, options=LatentOptions(confusion=sure))


def test_an_informative_abstention_is_a_vote_of_its_own(ternary, frequencies) -> None:
    codes, counts = frequencies(ternary, 1000)
    silent = np.where(codes == 3, -1, codes)
    told = fit(codes, counts, n_classes=3, n_votes=ternary.n_votes)
    blind = fit(silent, counts, n_classes=3)
    assert np.abs(told.balance - ternary.balance).max() < 1e-6
    # the gap is not random, and taking it so is wrong
    assert np.abs(blind.balance - ternary.balance).max() > 0.003


def test_two_judges_are_refused_without_an_anchor() -> None:
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.raises(NotIdentifiable, match="only 2 judges gave two different votes"):
        fit(codes, [4, 1, 1, 4], n_classes=2)
    with pytest.raises(NotIdentifiable, match="only 2 judges"):
        fit(np.column_stack((codes, [0] * 4)), [4, 1, 1, 4], n_classes=2)
    assert fit(
        codes, [4, 1, 1, 4], n_classes=2, options=LatentOptions(confusion_prior=1.0)
    ).converged


def test_a_fit_that_did_not_converge_says_so(binary) -> None:
    codes, _ = simulate(binary, 500, rng=2)
    found = fit(codes, np.ones(500), n_classes=2, options=LatentOptions(max_iterations=2))
    assert (found.converged, found.iterations) == (False, 2)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from([0.0, 0.5]))
def test_the_objective_never_falls(seed: int, n_classes: int, prior: float) -> None:
    codes, _ = random_votes(seed, n_classes)
    votes = as_votes(codes, np.ones(len(codes)), n_classes=n_classes)
    reached = []
    for steps in (1, 2, 3, 4, 6, 10, 30, 200):
        options = LatentOptions(confusion_prior=prior, max_iterations=steps)
        problem = Problem.of(votes, n_classes, options)
        start = problem.maximise(majority_share(votes, n_classes))
        reached.append(climb(problem, start, options).expectation.objective)
    history = np.array(reached)
    assert (np.diff(history) >= -1e-9 * np.abs(history[1:])).all()


def test_classes_are_named_so_that_judges_are_right_most() -> None:
    held = as_votes(np.array([[0, 1, 2], [1, 2, 0]]), np.ones(2), n_classes=3, n_votes=[3, 3, 3])
    # Class k of this table answers (k + 1) % 3, so its right name is that.
    rolled = np.roll(0.7 * np.eye(3) + 0.1, 1, axis=1)
    table = np.column_stack((np.full(3, 1 / 3), *([rolled] * 3)))
    assert best_order(table, held, np.ones(3)).tolist() == [2, 0, 1]
    # A judge without votes has no say, however clear its table is.
    mixed = np.column_stack((np.full(3, 1 / 3), rolled, 0.7 * np.eye(3) + 0.1, rolled))
    assert best_order(mixed, held, np.array([0.0, 5.0, 0.0])).tolist() == [0, 1, 2]


# Scores and information.


latent_information = import_module("tallystick.stats.latent_checks")


def moved(info, eta):
    """The model after a step *eta* along the softmax coordinates."""
    table = np.log(np.maximum(pack(info.model), 1e-300))
    table[info.position[:, 0], info.position[:, 1]] += eta
    table = np.exp(table)
    start = 1 + np.cumsum(info.model.n_votes) - info.model.n_votes
    table[:, 0] /= table[:, 0].sum()
    for s, v in zip(start, info.model.n_votes, strict=True):
        table[:, s : s + v] /= table[:, s : s + v].sum(axis=1, keepdims=True)
    return unpack(table, info.model.n_votes)


def slope(info, of, step=1e-5):
    """Central differences of a vector function along every coordinate, last axis."""
    size = info.position.shape[0]
    return np.stack(
        [
            (of(moved(info, step * e)) - of(moved(info, -step * e))) / (2 * step)
            for e in np.eye(size)
        ],
        -1,
    )


@pytest.fixture(scope="module")
def noisy(ternary):
    codes, _ = simulate(ternary, 3000, rng=12)
    codes[np.random.default_rng(1).random(codes.shape) < 0.2] = -1
    codes, counts = np.unique(codes, axis=0, return_counts=True)
    return fit(codes, counts, n_classes=3, n_votes=ternary.n_votes)


def test_a_model_of_too_many_parameters_is_refused_before_memory_is_full(
    noisy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latent_information, "MOST_PARAMETERS", 5)
    with pytest.raises(
        NotIdentifiable, match=r"labels and .* judges have .* parameters, more than"
    ):
        information(noisy)


def second_derivatives(info, codes, counts, h=1e-3):
    """Central second differences of the log likelihood."""
    size = info.position.shape[0]

    def value(eta):
        return counts @ log_likelihood(moved(info, eta), codes)

    out = np.empty((size, size))
    for a, b in itertools.product(range(size), repeat=2):
        ea, eb = h * np.eye(size)[a], h * np.eye(size)[b]
        out[a, b] = (value(ea + eb) - value(ea - eb) - value(eb - ea) + value(-ea - eb)) / (
            4 * h * h
        )
    return out


def test_the_observed_information_is_minus_the_hessian(noisy) -> None:
    info = information(noisy)
    numeric = second_derivatives(info, noisy.votes.codes, noisy.votes.counts)
    np.testing.assert_allclose(np.linalg.inv(info.covariance), -numeric, atol=2e-3)


def test_for_a_trio_the_covariance_is_the_multinomial_delta_method() -> None:
    model = LatentModel(
        [0.6, 0.4], [[[a, 1 - a], [1 - b, b]] for a, b in [(0.9, 0.8), (0.7, 0.85), (0.8, 0.75)]]
    )
    codes = np.array(list(itertools.product([0, 1], repeat=3)))
    counts = np.random.default_rng(2).multinomial(5000, np.exp(log_likelihood(model, codes)))
    found = fit(codes, counts, n_classes=2, options=LatentOptions(tolerance=1e-13))
    info = information(found)
    frequency = counts / 5000
    # seven free frequencies, seven parameters
    jacobian = slope(info, lambda m: np.exp(log_likelihood(m, codes)))[:-1]
    inverse = np.linalg.inv(jacobian)
    multinomial = (np.diag(frequency) - np.outer(frequency, frequency))[:-1, :-1] / 5000
    np.testing.assert_allclose(
        info.covariance, inverse @ multinomial @ inverse.T, rtol=1e-5, atol=1e-9
    )


def test_the_gradient_of_posteriors_is_a_derivative(noisy) -> None:
    info = information(noisy)
    codes = noisy.votes.codes[:40]
    direction = np.random.default_rng(3).normal(size=(40, 3))
    numeric = slope(info, lambda m: np.array((direction * posterior(m, codes)).sum()))
    np.testing.assert_allclose(info.posterior_gradient(codes, direction), numeric, atol=1e-7)


def test_a_flat_likelihood_is_refused_with_the_parameter_named(frequencies) -> None:
    # The third judge is a coin: two judges are left, and infinitely many models explain two judges.
    model = LatentModel(
        [0.6, 0.4], [[[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]
    )
    codes, counts = frequencies(model, 1000)
    found = fit(codes, counts, n_classes=2, options=LatentOptions(tolerance=1e-12))
    with pytest.raises(NotIdentifiable, match="information is singular"):
        information(found)


def test_a_known_judge_and_probabilities_on_the_boundary_have_no_coordinates(
    binary, frequencies
) -> None:
    codes, counts = frequencies(binary, 1000)
    free = information(fit(codes, counts, n_classes=2)).position
    known = LatentOptions(confusion={1: binary.confusion[1]})
    assert (
        len(information(fit(codes, counts, n_classes=2, options=known)).position) == len(free) - 2
    )
    constant = np.column_stack((codes, np.ones(len(codes), dtype=int)))
    assert len(information(fit(constant, counts, n_classes=2)).position) == len(free)


# Pairwise agreement against the model.


def test_z_is_the_formula_by_hand() -> None:
    codes = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0], [1, 1, 0]])
    counts = np.array([40.0, 30, 20, 10])
    # Judge 0 is the truth, so the class of every item is its vote.
    options = LatentOptions(confusion={0: np.eye(2)})
    found = fit(codes, counts, n_classes=2, options=options)
    e = 0.6 * (1.0 * (2 / 3)) + 0.4 * (1.0 * 1.0)  # judge 0 votes the truth; judge 1 has 2/3 and 1
    z = agreement_z(found)
    assert z[0, 1] == pytest.approx((0.8 - e) / np.sqrt(e * (1 - e) / 100))


def test_a_true_model_is_seldom_refuted_and_a_copying_judge_always(binary) -> None:
    alarms = 0
    for seed in range(6):
        codes, _ = simulate(binary, 600, rng=seed)
        alarms += misfit(fit(codes, np.ones(600), n_classes=2), rng=seed).refuted
        follows = np.random.default_rng(seed).random(600) < 0.7
        codes[:, 2] = np.where(follows, codes[:, 1], codes[:, 2])
        copied = misfit(fit(codes, np.ones(600), n_classes=2), rng=seed)
        assert copied.ratio > 1.7
        assert copied.refuted
    assert alarms <= 1


def test_three_binary_judges_are_saturated_and_refused(binary) -> None:
    codes, _ = simulate(binary, 600, rng=1)
    with pytest.raises(NotIdentifiable, match="fits anything"):
        misfit(fit(codes[:, :3], np.ones(600), n_classes=2), rng=1)


def test_degrees_of_freedom_count_frequencies_less_parameters(binary, ternary, frequencies) -> None:
    codes, counts = frequencies(binary)
    assert degrees_of_freedom(fit(codes, counts, n_classes=2)) == 15 - 9
    codes, counts = frequencies(ternary)
    assert (
        degrees_of_freedom(fit(codes, counts, n_classes=3, n_votes=ternary.n_votes))
        == 107 - 2 - 3 * 9
    )


def test_pairs_with_few_common_items_are_left_out() -> None:
    model = LatentModel([0.5, 0.5], [[[0.8, 0.2], [0.2, 0.8]]] * 5)
    codes, _ = simulate(model, 300, rng=5)
    codes[:295, 4] = -1
    found = fit(codes, np.ones(300), n_classes=2)
    assert np.isnan(agreement_z(found)[4]).all()
    assert np.isfinite(agreement_z(found)[:4, :4]).sum() == 12


MODEL = LatentModel([0.5, 0.5], [[[0.8, 0.2], [0.25, 0.75]]] * 5)


def fitted(codes, **more):
    return fit(codes, np.ones(len(codes)), n_classes=2, **more)


def test_z_is_counted_by_hand_for_two_judges_who_abstain():
    """Abstentions are votes of code 2, so that both cells are about rows on which both vote."""
    codes = np.array([[0, 0, 0]] * 30 + [[1, 1, 1]] * 30 + [[0, 1, 2]] * 20 + [[2, 2, 1]] * 20)
    found = fitted(codes, n_votes=3)
    b, m = found.model.balance, found.model.confusion
    z = []
    for j, k in ((0, 1), (0, 2), (1, 2)):
        for alike in (True, False):
            pairs = [(c, d) for c in (0, 1) for d in (0, 1) if (c == d) is alike]
            expected = 100 * sum(b[y] * m[j, y, c] * m[k, y, d] for y in (0, 1) for c, d in pairs)
            seen = sum(((codes[:, j] == c) & (codes[:, k] == d)).sum() for c, d in pairs)
            if expected >= 2:
                z.append((seen - expected) / np.sqrt(expected))
    assert np.sort(covote_z(found)) == pytest.approx(np.sort(z))


def test_rules_that_copy_and_seldom_fire_are_caught():
    draw = np.random.default_rng(3)
    y = draw.integers(0, 2, 1500)
    rules = [
        np.where(draw.random(1500) < 0.25, np.where(draw.random(1500) < 0.8, y, 1 - y), 2)
        for _ in range(5)
    ]
    honest = np.column_stack(rules)
    copy = np.where(draw.random(1500) < 0.4, rules[0], rules[1])
    copied = np.column_stack([rules[0], copy, *rules[2:]])
    assert not misfit(fitted(honest, n_votes=3), covotes=True, rng=7).rejected
    found = misfit(fitted(copied, n_votes=3), covotes=True, rng=7)
    assert found.rejected
    assert found.covote > found.covote_null.max()


def test_the_size_is_near_its_level():
    streams = np.random.default_rng(5).spawn(12)
    rejected = [
        misfit(fitted(simulate(MODEL, 300, rng=one)[0]), covotes=True, rng=one.spawn(1)[0]).rejected
        for one in streams
    ]
    assert sum(rejected) <= 5  # at a level of .10, 6 or more has probability .0005


# Replicas of the data.


@pytest.fixture(scope="module")
def gappy(binary):
    codes, _ = simulate(binary, 400, rng=7)
    codes[:150, 3] = -1
    codes[150:160, 0] = -1
    return fit(codes, np.ones(400), n_classes=2)


def test_a_replica_has_the_same_gaps(gappy) -> None:
    drawn = Replica.of(gappy).draw(1)
    assert drawn.n_items == 400
    for gaps in ([], [3], [0]):
        mark = np.ones(4, dtype=bool)
        mark[gaps] = False
        there, here = (
            v.counts[((v.codes >= 0) == mark).all(axis=1)].sum() for v in (drawn, gappy.votes)
        )
        assert there == here


def test_replicas_have_the_frequencies_of_the_model(binary, frequencies) -> None:
    codes, chance = frequencies(binary)
    counts = np.round(100_000 * chance)
    replica = Replica.of(fit(codes, counts, n_classes=2))
    drawn = replica.draw(3)
    assert len(replica.grids) == 1  # sixteen patterns are drawn at once
    for pattern, count in zip(drawn.codes, drawn.counts, strict=True):
        p = chance[(codes == pattern).all(axis=1)][0]
        assert abs(count - 100_000 * p) < 5 * np.sqrt(100_000 * p)
