import numpy as np
import pytest

from benchmarks.replays import difference, observe, replay
from tallystick.errors import NotIdentifiable
from tallystick.sampling import FAILED, Plan, Strata, Uniform
from tallystick.verbs.shift import Answers, Items, design
from tallystick.verbs.shift import assess as assess_any


def assess(*known, **options):
    """Assess a deterministic API: what these tests are about. Noise has tests of its own."""
    return assess_any(*known, answers_are="deterministic", **options)


@pytest.fixture(scope="module")
def new(items, rows):
    return np.array([items.code(row["new"]) for row in rows])


def asked_by(items, new, *, strategy="ours", calls=200, seed=0):
    plan = design(items, calls=calls, strategy=strategy)
    known = (
        new
        if plan.n_outcomes == len(items.labels) + 1
        else items.truth * (len(items.labels) + 1) + new
    )
    run = replay(plan, known, runs=1, rng=seed)
    return plan, Answers.of(run.items[0], new[run.items[0]], blind=run.blind[0])


def test_asking_everything_gives_the_exact_matrix(items, new):
    answers = Answers.of(np.arange(len(items)), new)
    result = assess(items, Strata(items.truth), answers)
    table = np.zeros((3, 4))
    np.add.at(table, (items.truth, new), 1 / len(items))
    assert np.allclose(result.shift, table - items.matrix)
    for row in result.interval:
        for interval in row:
            assert interval.width == pytest.approx(0, abs=1e-12)
    recall = result.recall_change["five"].estimate
    at = items.labels.index("five")
    assert recall == pytest.approx(result.shift[at][at] / np.mean(items.truth == at))
    assert result.flip_rate.estimate == pytest.approx((new != items.old).mean())
    assert result.accuracy_change.estimate == pytest.approx(
        (new == items.truth).mean() - (items.old == items.truth).mean()
    )


@pytest.mark.parametrize("strategy", ["ours", "masa", "uniform"])
def test_every_strategy_estimates_the_same_change(items, new, strategy):
    truth = (new == items.truth).mean() - (items.old == items.truth).mean()
    found = []
    for seed in range(20):
        plan, answers = asked_by(items, new, strategy=strategy, seed=seed)
        result = assess(items, plan.strata, answers, strategy=strategy)
        found.append(result.accuracy_change.estimate)
        assert sum(map(sum, result.shift)) == pytest.approx(0, abs=1e-9)
    assert np.mean(found) == pytest.approx(truth, abs=4 * np.std(found) / np.sqrt(20) + 1e-12)


def drawn(moved, *, seed=1, n=400):
    """Items whose new answers are 0 but for a few, where they *moved*."""
    draw = np.random.default_rng(seed)
    truth, old = draw.integers(0, 3, (2, n))
    new = np.where(draw.random(n) < moved, 0, old)
    return Items.of(truth, old=old), new


@pytest.mark.parametrize("moved", [0.02, 0.3, 0.6, 0.95])
def test_as_much_of_the_old_answers_is_subtracted_as_the_new_ones_bear_out(moved):
    """The regression estimate (E3) of the paper's experiments; with few flips plain differences."""
    before, new = drawn(moved)
    strata = Strata(before.truth)
    asked = np.random.default_rng(2).permutation(400)[:100]
    flat = [before.truth * 4 + codes for codes in (before.old, new)]
    plan = Plan(strata=strata, policy=Uniform(), budget=100, n_outcomes=12, baseline=flat[0])
    seen = observe(plan, asked, flat[1][asked])
    expected = difference(seen)
    if expected.beta > 0.9:
        expected = difference(seen, beta=1.0)
    found = assess(before, strata, Answers.of(asked, new[asked]))
    assert np.ravel(found.shift) == pytest.approx(expected.value)


def test_where_strata_mix_true_labels_their_known_numbers_count():
    before, new = drawn(0.95)
    right, wrong = [], []
    for seed in range(20):
        asked = np.random.default_rng(seed).permutation(400)[:100]
        change = (new == before.truth).astype(int) - (before.old == before.truth)
        found = assess(before, Strata(np.zeros(400, int)), Answers.of(asked, new[asked]))
        right.append(found.accuracy_change.estimate - change.mean())
        wrong.append(change[asked].mean() - change.mean())
    assert np.mean(np.square(right)) < 0.2 * np.mean(np.square(wrong))


def test_too_few_answers_are_refused(items):
    with pytest.raises(NotIdentifiable, match="only 1"):
        assess(items, Strata(items.truth), Answers.of([0, 1], [0, FAILED]))


def test_answers_that_are_no_label_have_their_own_column(items, new):
    changed = np.where(items.truth == 0, 3, new)
    plan, answers = asked_by(items, changed, calls=400)
    result = assess(items, plan.strata, answers)
    assert result.shift[0][3] == pytest.approx(items.mass[0] - items.matrix[0, 3], abs=0.02)


def test_a_stratum_whose_calls_all_failed_is_joined(items, new):
    plan, answers = asked_by(items, new)
    codes = np.where(plan.strata.of[answers.asked] == 0, FAILED, answers.codes)
    result = assess(items, plan.strata, Answers.of(answers.asked, codes, blind=answers.blind))
    assert result.unheard["failed"].hides == pytest.approx(plan.strata.shares[0], abs=0.01)


def test_the_top_cells_name_their_items(items, new, rows):
    plan, answers = asked_by(items, new, calls=400)
    top = assess(items, plan.strata, answers).top_cells[0]
    by_name = {row["id"]: row for row in rows}
    for name in top.examples:
        assert by_name[name]["true"] == top.true
        assert by_name[name]["old"] != by_name[name]["new"]


def test_undecided_says_how_many_calls_more(items, new):
    plan, answers = asked_by(
        items, np.where(np.arange(len(items)) % 97 == 0, 0, items.old), calls=60
    )
    result = assess(items, plan.strata, answers)
    assert result.decision == "undecided"
    assert result.needed is not None
    assert 0 < result.needed.count <= len(items) - 60


def test_no_estimate_leaves_what_is_possible():
    # Three answers, all of one label, from one stratum of two: the mean alone would take away more
    # than there was.
    items = Items.of(["no", "yes"] * 50, old=["no", "yes"] * 50)
    result = assess(items, Strata(np.zeros(100, int)), Answers.of([1, 3, 5], [0, 0, 0]))
    before = items.matrix
    for i, row in enumerate(result.interval):
        for j, interval in enumerate(row):
            assert (
                -before[i, j]
                <= interval.low
                <= result.shift[i][j]
                <= interval.high
                <= 0.5 - before[i, j] + 1e-12
            )
    assert result.recall_change["yes"].estimate == -1
    assert result.accuracy_change.estimate == pytest.approx(-0.5)
    assert result.accuracy_change.interval.high <= 0
    assert result.accuracy_change.interval.low == -1


def test_an_api_that_is_now_right_everywhere_is_assessed():
    truth = np.arange(100) % 2
    before = Items.of(truth.tolist(), old=[0] * 100)
    plan, answers = asked_by(before, truth, calls=100)
    change = assess(before, plan.strata, answers).accuracy_change
    assert (change.estimate, *change.interval) == pytest.approx((0.5, 0.5, 0.5))


@pytest.mark.parametrize("strategy", ["ours", "masa"])
def test_when_every_item_was_asked_the_change_is_a_count(items, new, strategy):
    plan, answers = asked_by(items, new, strategy=strategy, calls=len(items))
    result = assess(items, plan.strata, answers, strategy=strategy)
    gained = int((new == items.truth).sum()) - int((items.old == items.truth).sum())
    for change, share in (
        (result.accuracy_change, gained / len(items)),
        (result.flip_rate, int((new != items.old).sum()) / len(items)),
    ):
        assert (change.estimate, *change.interval) == (share, share, share)
    assert result.recall_change["four"].interval.width == 0


@pytest.mark.parametrize("strategy", ["ours", "masa", "uniform"])
def test_numbers_are_possible_together(items, new, strategy):
    for seed in range(10):
        plan, answers = asked_by(items, new, strategy=strategy, calls=60, seed=seed)
        result = assess(items, plan.strata, answers, strategy=strategy)
        shift = np.array(result.shift)
        assert abs(result.accuracy_change.estimate) <= result.flip_rate.estimate + 1e-12
        assert np.abs(shift).sum() / 2 <= result.flip_rate.estimate + 1e-12
        assert result.accuracy_change.estimate == pytest.approx(np.trace(shift))
        assert np.allclose(shift.sum(axis=1), 0)


def test_items_without_a_true_label_count_for_what_differs_alone(items, new):
    """A truth on a part of the items removed the rest from the flip rate before."""
    some = np.arange(len(items)) % 3 == 0
    names = [items.labels[t] if keep else "" for t, keep in zip(items.truth, some, strict=True)]
    part = Items.of(names, old=[items.columns[o] for o in items.old], labels=items.labels)
    plan = design(part, calls=len(part))
    result = assess(part, plan.strata, Answers.of(np.arange(len(part)), new))
    assert result.flip_rate.estimate == pytest.approx((new != items.old).mean())
    right = (new == items.truth).astype(int) - (items.old == items.truth)
    assert result.accuracy_change.estimate == pytest.approx(right[some].mean())


def test_what_is_not_known_is_shown_apart_with_what_it_could_hide(items, new):
    codes, why = new.copy(), np.zeros(len(items), int)
    codes[:4], why[:4] = 3, [1, 1, 2, 3]
    codes[5] = FAILED
    strata = Strata(np.zeros(len(items), int))
    found = assess(items, strata, Answers.of(np.arange(len(items)), codes, why=why)).unheard
    assert {kind: one.answers for kind, one in found.items()} == {
        "failed": 1,
        "unread": 2,
        "cut": 1,
        "refused": 1,
    }
    assert found["unread"].hides == pytest.approx(2 / len(items))
    assert found["refused"].hides == 0
