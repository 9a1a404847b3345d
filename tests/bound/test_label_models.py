"""P(Y | Z) from votes, and the tests that may contradict it."""

import numpy as np
import pytest

from tallystick.table import Tally
from tallystick.verbs.bound.label_models import (
    consensus,
    dawid_skene,
    majority,
    surprise,
    unmirrored,
    vote_weights,
)
from tallystick.verbs.bound.question import spam
from tallystick.verbs.bound.votes import WeakVotes

WEAK = ["links", "words", "sender", "caps"]


def votes_of(patterns, counts, classes):
    """Return votes with class c of the text as class c of the panel; "-" abstains."""
    rows = [row for row, n in zip(patterns, counts, strict=True) for _ in range(n)]
    columns = {
        f"w{j}": [None if row[j] == "-" else int(row[j]) for row in rows]
        for j in range(len(patterns[0]))
    }
    columns["h"] = [0] * len(rows)
    votes = WeakVotes.of(
        Tally.of(columns), weak=list(columns)[:-1], predictions=["h"], classes=range(classes)
    )
    names = ["".join("-" if v < 0 else str(votes.classes[v]) for v in z) for z in votes.votes]
    return votes, {name: z for z, name in enumerate(names)}


def in_order(votes, law):
    return law[:, [votes.classes.index(c) for c in votes.panel.classes]]


def test_the_vector_of_the_methods_page():
    votes, at = votes_of(["001", "111", "1-1", "00-", "101"], [3, 4, 2, 5, 1], 2)
    p = in_order(votes, consensus(votes))[:, 1]
    found = [p[at[z]] for z in ("001", "111", "1-1", "00-", "101")]
    assert found == pytest.approx([0.0980, 0.9623, 0.8861, 0.0612, 0.7030], abs=5e-5)


def test_the_vector_of_the_corrections_with_three_classes_and_a_row_without_a_vote():
    votes, at = votes_of(["001", "111", "22-", "202", "--1", "---"], [4, 3, 2, 1, 2, 1], 3)
    accuracy, _ = vote_weights(votes.votes, votes.weight, 3)
    assert accuracy == pytest.approx([0.7083, 0.6667, 0.4500], abs=5e-5)
    p = in_order(votes, consensus(votes))
    assert p[at["001"]] == pytest.approx([0.8805, 0.0742, 0.0453], abs=5e-5)
    assert p[at["202"]] == pytest.approx([0.3089, 0.0772, 0.6138], abs=5e-5)
    assert p[at["---"]] == pytest.approx(1 / 3)


def test_a_mirrored_fit_is_turned_round():
    tally = Tally.of(spam(1500, rng=1))
    votes = WeakVotes.of(tally, weak=WEAK, predictions=["classifier"])
    fit = dawid_skene(votes).fit
    upside_down = type(fit)(
        **{**vars(fit), "model": fit.model.permuted([1, 0]), "posterior": fit.posterior[:, ::-1]}
    )
    right = unmirrored(upside_down, votes.votes, votes.weight)
    assert right.posterior == pytest.approx(fit.posterior)
    assert right.model.confusion == pytest.approx(fit.model.confusion)
    assert unmirrored(fit, votes.votes, votes.weight) is fit


def exact(p):
    """Return mean and standard deviation of the null, by hand."""
    p = np.maximum(np.asarray(p), 0.001)
    p = p / p.sum(axis=1, keepdims=True)
    mean = (p * np.log(p)).sum(axis=1)
    spread = (p * np.log(p) ** 2).sum(axis=1) - mean**2
    return mean.sum(), np.sqrt(spread.sum())


@pytest.mark.parametrize(
    ("p", "y", "statistic", "mean", "sd"),
    [
        ([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]], [1, 0, 1, 1], -3.7987, -2.1094, 0.9655),
        ([[0.5, 0.3, 0.2], [1, 0, 0], [0.1, 0.1, 0.8]], [2, 1, 2], -8.7423, -1.6845, 0.9591),
    ],
)
def test_the_vectors_of_the_surprise_test(p, y, statistic, mean, sd):
    p = np.array(p, dtype=float)
    found = surprise(p, np.eye(p.shape[1], dtype=int)[y], draws=100_000, rng=1)
    assert found.statistic == pytest.approx(statistic, abs=5e-5)
    assert exact(p) == pytest.approx((mean, sd), abs=5e-5)
    assert found.null.mean() == pytest.approx(mean, abs=0.02)
    assert found.null.std() == pytest.approx(sd, abs=0.03)


def test_a_wrong_model_is_refuted_and_the_right_one_seldom():
    draw = np.random.default_rng(1)
    p = draw.dirichlet([1, 1], 50)
    wrong, right = 0, 0
    for seed in range(200):
        gold = draw.multinomial(1, p)
        right += surprise(p, gold, rng=seed).p_value <= 0.05
        wrong += surprise(p[:, ::-1], gold, rng=seed).p_value <= 0.05
    assert right <= 20  # .07 was measured; 20 of 200 is four standard errors above
    assert wrong == 200


def test_agreement_is_cut_so_that_no_vote_counts_for_nothing_or_everything():
    votes = np.array([[0, 0, 0, 1], [1, 1, 1, 0]])
    agreement, weights = vote_weights(votes, np.array([500.0, 500.0]), 2)
    assert agreement[0] == 0.98
    assert agreement[3] == 0.51
    assert (weights > 0).all()


def test_the_majority_is_the_smoothed_share_of_the_votes():
    votes, at = votes_of(["01-", "11-", "---"], [1, 2, 1], 2)
    law = in_order(votes, majority(votes).law)
    assert law[at["01"]] == pytest.approx([0.5, 0.5])
    assert law[at["11"]] == pytest.approx([1 / 6, 5 / 6])
