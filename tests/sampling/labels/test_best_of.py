from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.sampling.contest import (
    Contest,
    advance,
    best_of,
    contest_of,
    contested_draws,
    judged_contest,
    start,
)


@pytest.fixture
def page():
    """N = 100, |C| = 40: on 10 only a votes 1, on 6 only b, on 24 both do and a third does not."""
    answers = np.zeros((100, 3), int)
    answers[:10, 0] = 1
    answers[10:16, 1] = 1
    answers[16:40, 2] = 1
    return contest_of(answers, np.zeros(100, int), guess=[[0.4, 0.6]])


def _run(answers, truth, rng, *, size=10, **options):
    strata = np.zeros(len(truth), int)
    state = start(contest_of(answers, strata, guess=[[0.5, 0.5]]), **options)
    batches = []
    while state.named is None:
        batch = contested_draws(state, size=size, rng=rng)
        batches.append(batch)
        state = advance(state, batch, truth[batch])
    return state, batches


def test_the_journal_gives_the_same_answer_as_batch_by_batch():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 300)
    answers = np.where(rng.random((300, 3)) < [0.9, 0.8, 0.8], truth[:, None], 1 - truth[:, None])
    state, batches = _run(answers, truth, rng)
    order = np.concatenate(batches)
    number = np.repeat(np.arange(len(batches)), [len(one) for one in batches])
    again = best_of(state.contest, order, truth[order], number)
    assert again.named == state.named
    assert (again.live == state.live).all()
    assert again.log_e == pytest.approx(state.log_e)


def test_identical_models_are_settled_without_a_label():
    state = start(contest_of(np.zeros((20, 2), int), np.zeros(20, int), guess=[[0.5, 0.5]]))
    assert state.named is not None


def test_when_nothing_is_left_the_counts_decide():
    truth = np.zeros(12, int)
    answers = np.zeros((12, 2), int)
    answers[:1, 0] = 1
    answers[1:3, 1] = 1
    contest = contest_of(answers, np.zeros(12, int), guess=[[0.5, 0.5]])
    state = start(contest, epsilon=0.0)
    batch = contested_draws(state, size=10, rng=0)
    assert sorted(batch.tolist()) == [0, 1, 2]
    assert advance(state, batch, truth[batch]).named == 0


def test_an_item_outside_the_contest_is_refused(page):
    with pytest.raises(InputError, match="contested"):
        advance(start(page), [99], [0])


def test_naming_a_model_that_is_not_within_epsilon_is_rare():
    """Two models far apart and one near the best: 60 runs, none may name the bad one."""
    rng = np.random.default_rng(4)
    truth = np.repeat([0, 1], 100)
    answers = np.tile(truth[:, None], (1, 3))
    answers[:20, 0] ^= 1
    answers[20:41, 1] ^= 1
    answers[:60, 2] ^= 1
    named = [_run(answers, truth, rng)[0].named for _ in range(40)]
    assert set(named) <= {0, 1}


def test_cells_of_many_models_do_not_need_a_small_code():
    answers = np.random.default_rng(5).integers(-1, 3, (30, 40))
    contest = contest_of(answers, np.zeros(30, int), guess=[[0.3, 0.3, 0.4]])
    assert contest.sizes.sum() == 30
    assert (contest.answers[contest.cell] == answers).all()
    assert (contest.chance(contest.guess)[contest.answers < 0] == 0).all()


def judged(
    n: int = 400, rates=(0.85, 0.7, 0.6), seed: int = 0
) -> tuple[Contest, judged_contest, np.ndarray]:
    """Return systems that one judge of accuracy .9 has graded, and what people would say."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((n, len(rates))) < rates).astype(float)
    if len(set(rates)) == 1:  # exact ties: every system passes on the same number of items
        truth = np.array([np.roll([1.0, 1.0, 0.0], i) for i in range(n)])
    votes = np.where(rng.random(truth.shape) < 0.9, truth, 1 - truth).astype(int)
    strata = votes + 2 * np.arange(len(rates))
    guess = np.array([[0.9, 0.1], [0.1, 0.9]] * len(rates))
    return judged_contest(strata, guess=guess), truth


def test_the_mean_over_all_draws_is_the_true_difference(page):
    systems, passed = judged(30)
    label = np.random.default_rng(0).integers(0, 2, 100)
    right = page.answers[page.cell] == label[:, None]
    for contest, truth, values in ((systems, passed, passed), (page, label, right)):
        first = contest.items(np.ones(3, bool), np.empty(0, int))[[4, 9]]
        state = advance(start(contest, epsilon=0.0), first, truth[first])
        draws = [
            advance(state, [i], truth[[i]]).total - state.total
            for i in contest.items(state.live, first)
        ]
        mean = values.mean(axis=0)
        gaps = mean[:, None] - mean[None, :]
        np.testing.assert_allclose(np.mean(draws, axis=0), gaps, atol=1e-12)


def test_no_pair_can_lose_more_than_three_quarters_on_one_draw():
    """However good the bet looks: 20 draws one way, and then one the other way."""
    answers = np.tile([[0, 1]], (400, 1))
    state = start(contest_of(answers, np.zeros(400, int), guess=[[0.98, 0.02]]), alpha=1e-9)
    drawn = [state]
    for item in range(12):
        drawn.append(advance(drawn[-1], [item], [int(item == 11)]))
    lost = np.exp(drawn[-1].log_e[0, 0, 1] - drawn[-2].log_e[0, 0, 1])
    assert 0.25 - 1e-12 <= lost < 0.5


def test_the_best_of_three_judged_systems_is_named_with_few_items():
    contest, truth = judged()
    state = start(contest, epsilon=0.02)
    while state.named is None:
        batch = contested_draws(state, size=10, rng=state.drawn.size)
        # People grade the outputs of live systems only.
        state = advance(state, batch, np.where(state.live, truth[batch], np.nan))
    assert state.named == 0
    assert state.drawn.size < 200


def test_a_skipped_item_speaks_against_everybody():
    contest, truth = judged(50)
    batch = np.arange(10)
    labels = truth[batch]
    skips = labels.copy()
    skips[3] = -1.0
    told, silent = (advance(start(contest), batch, given) for given in (labels, skips))
    assert (silent.total <= told.total + 1e-12)[~np.eye(3, dtype=bool)].all()
    assert silent.skipped == 1
