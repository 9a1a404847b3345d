import numpy as np
import pytest
from scipy import stats

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.stats.skewed import median_intervals, skewed_board
from tallystick.verbs.compare import Board, CompareQuestion, evaluate, rank
from tallystick.verbs.compare.asks import refuse_odd_scores

D = np.array([.2, .4, -.3, .1, 1.5, .6, -.1, .3, 4.2, .5, -.4, .8])  # fmt: skip


def test_a_mean_that_is_not_settled_is_left_out_for_the_typical_ratio():
    rng = np.random.default_rng(1)
    scores = rng.lognormal(0, 1.2, (40, 1)) * rng.lognormal(0, 0.2, (40, 2)) * [1.0, 1.5]
    result = rank(
        Board(names=("new", "old"), scores=scores), question=CompareQuestion(lower_is_better=True)
    )
    pair = result.pairs[0]
    assert result.estimand == "ratio"
    assert isinstance(pair.difference, Unknown)
    assert isinstance(pair.interval, Unknown)
    assert "scores this skewed need about" in pair.difference.reason
    assert pair.ratio in pair.ratio_interval
    assert pair.ratio_interval.high < 1
    assert "typically" in result.verdict
    assert "the mean difference is not settled" in result.verdict


def test_scores_with_zeros_are_compared_by_their_signs():
    tail = np.random.default_rng(0).lognormal(0, 2, 36)
    scores = np.array([*((0.0, y) for y in tail), *[(1.0, 1.0)] * 12])
    result = rank(
        Board(names=("x", "y"), scores=scores), question=CompareQuestion(lower_is_better=True)
    )
    pair = result.pairs[0]
    assert result.estimand == "signs"
    assert (pair.a, pair.a_only, pair.b_only) == ("x", 36, 0)
    assert result.contenders == ("x",)
    assert "x is better on 36 items and y on 0 (on 48 items; exact sign test" in result.verdict


@pytest.mark.parametrize(
    "scores",
    [
        np.random.default_rng(0).normal(-2.6, 0.3, (400, 2)),
        np.random.default_rng(1).lognormal(0, 0.4, (200, 3)),
        np.random.default_rng(2).poisson(3.0, (60, 2)).astype(float),
    ],
    ids=["normal", "lognormal", "counts"],
)
@pytest.mark.parametrize(("by", "times"), [(10.0, 1.0), (-1000.0, 1.0), (0.0, 0.001), (7.5, 40.0)])
def test_shifting_and_scaling_all_scores_shifts_and_scales_the_answer(scores, by, times):
    one, other = skewed_board(scores), skewed_board(by + times * scores)
    assert (one.shown, other.shown) == ("mean", "mean")
    assert other.needed == pytest.approx(one.needed)
    assert other.levels == pytest.approx(by + times * one.levels)
    assert other.intervals.low == pytest.approx(by + times * one.intervals.low)
    assert other.table.difference == pytest.approx(times * one.table.difference, abs=1e-9)
    assert other.table.intervals.high == pytest.approx(times * one.table.intervals.high, abs=1e-9)
    assert other.table.p_value == pytest.approx(one.table.p_value, rel=1e-6)


@pytest.mark.parametrize("by", [0.0, 50.0, -50.0])
def test_a_tail_too_long_for_the_mean_stays_one_wherever_the_scale_begins(by):
    scores = np.random.default_rng(3).lognormal(0, 1.6, (60, 2))
    for turned in (scores, -scores):
        found = skewed_board(by + turned)
        assert found.shown == ("ratio" if (by + turned).min() > 0 else "signs")
        assert found.needed == pytest.approx(skewed_board(scores).needed)


def test_a_median_is_called_a_median():
    scores = -np.random.default_rng(3).lognormal(0, 1.6, (60, 2))
    result = rank(Board(names=("x", "y"), scores=scores))
    board = result.folds()[0].rows
    assert result.estimand == "signs"
    assert "median" in board[0]
    assert "score" not in board[0]


def test_scores_that_differ_little_beside_their_size_are_not_the_same():
    scores = 1e18 + 1000.0 * np.random.default_rng(0).integers(1, 10, (300, 2))
    result = rank(Board(names=("x", "y"), scores=scores))
    assert result.warnings == ()
    assert np.isfinite(result.models[0].interval.low)
    same = rank(Board(names=("x", "y"), scores=np.stack([scores[:, 0], np.full(300, 1e18)], 1)))
    assert "y: the same score on every item" in same.warnings[0]


def test_tiny_scores_are_numbers_and_not_shares():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 10, (300, 2)) * [1e-12, 2e-12]
    result = rank(Board(names=("x", "y"), scores=scores))
    assert result.unit == "number"
    assert result.contenders == ("y",)
    assert "0.0%" not in result.verdict


def test_many_pairs_are_adjusted_by_holm():
    rng = np.random.default_rng(2)
    scores = rng.lognormal(0, 0.4, (100, 4)) * [1, 1, 1.4, 2]
    found = skewed_board(scores)
    assert (found.shown, found.table.adjustment) == ("mean", "Holm")
    assert (found.table.simultaneous.width > found.table.intervals.width).all()


def test_the_median_lies_between_two_order_statistics():
    levels, ends = median_intervals(np.arange(1.0, 11.0)[:, None])
    assert (levels[0], ends.low[0], ends.high[0]) == (5.5, 2.0, 9.0)
    assert median_intervals(np.arange(3.0)[:, None])[1].low[0] == -np.inf


def test_one_odd_cell_among_many_shares_is_asked_about():
    """It moved the headline from the mean to the median of 80,500 scores."""
    scores = np.random.default_rng(0).uniform(0.1, 0.9, (40_250, 2))
    scores[7, 0] = -2.0
    table = {"x": scores[:, 0], "y": scores[:, 1]}
    with pytest.raises(InputError, match="-2"):
        evaluate(table, models=("x", "y"))
    with pytest.raises(InputError, match=r"row 8: the score of 'x' is -2, and 80,499 of 80,500"):
        refuse_odd_scores(Board(names=("x", "y"), scores=scores))
    read = evaluate(table, models=("x", "y"), missing=["-2", "-2.0"])
    assert (read.estimand, read.n_items) == ("mean", 40_249)


def test_shares_that_reach_their_ends_are_taken_as_bounded():
    scores = np.random.default_rng(0).choice([0.0, 0.3, 0.7, 1.0], (30, 2))
    result = rank(Board(names=("x", "y"), scores=scores))
    assert (result.estimand, result.unit) == ("mean", "share")
    assert any("shares between 0 and 1" in text for text in result.assumptions)
    # A measurement is none, whatever its values.
    timed = rank(
        Board(names=("x", "y"), scores=scores), question=CompareQuestion(lower_is_better=True)
    )
    assert timed.unit == "number"


@pytest.mark.parametrize("sigma", [0.3, 1.5])
def test_equal_means_of_skewed_scores_are_rarely_told_apart(sigma):
    """Lognormal against normal, n = 40, equal means: the mean is hardly ever claimed to differ."""
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(300):
        x = rng.lognormal(0, sigma, 40)
        y = np.abs(rng.normal(np.exp(sigma**2 / 2), 0.3, 40)) + 1e-9
        found = skewed_board(np.stack([x, y], axis=1))
        wrong += found.shown == "mean" and found.table.p_value[0] <= 0.05
    assert wrong <= 29  # the 1e-3 quantile of Binomial(300, .06)


FOLDS = np.array([.812, .795, .83, .801, .788, .822, .809, .815, .798, .806])  # fmt: skip


def test_folds_are_compared_by_paired_t_with_the_sign_test_beside():
    other = FOLDS - [.02, .011, .008, .025, .016, .005, .019, .012, -.002, .021]  # fmt: skip
    t = stats.ttest_rel(FOLDS, other)
    plain = evaluate({"new": FOLDS, "old": other})
    bounded = evaluate({"new": FOLDS, "old": other}, bounds=(0, 1))
    for found in (plain, bounded):
        pair = found.pairs[0]
        assert (found.estimand, pair.ratio) == ("mean", None)
        assert pair.p_value == pytest.approx(t.pvalue)
        assert tuple(pair.interval) == pytest.approx(tuple(t.confidence_interval(0.95)))
        assert pair.signs == (9, 1, pytest.approx(0.021484, abs=1e-6))
        assert "new ahead in 9 rows and behind in 1, exact sign test p = 0.02" in found.verdict
        assert "need about 40" not in " ".join((found.verdict, *found.warnings))


def test_declared_bounds_hardly_change_a_clear_answer():
    """``--bounds 0,1`` turned p = .0022 into .71."""
    rng = np.random.default_rng(0)
    base = rng.normal(0.8, 0.02, 12)
    table = {"new": base, "old": base - 0.012 + rng.normal(0, 0.01, 12)}
    assert evaluate(table).pairs[0].p_value == pytest.approx(
        evaluate(table, bounds=(0, 1)).pairs[0].p_value
    )


def test_few_skewed_rows_come_with_a_caution():
    scores = np.random.default_rng(3).lognormal(0, 2, (20, 2))
    found = rank(
        Board(names=("x", "y"), scores=scores), question=CompareQuestion(lower_is_better=True)
    )
    assert found.estimand == "mean"
    assert any("one of 20 items can move their mean" in text for text in found.warnings)


def test_scores_that_mostly_tie_keep_their_pseudo_item():
    scores = np.full((20, 2), 0.5)
    scores[:3, 0] += [0.1, 0.1, 0.1]
    found = evaluate({"x": scores[:, 0], "y": scores[:, 1]}, models=("x", "y"), bounds=(0, 1))
    assert found.pairs[0].interval.method == "pseudo-t"
    assert any("one pseudo-item" in text for text in found.assumptions)
