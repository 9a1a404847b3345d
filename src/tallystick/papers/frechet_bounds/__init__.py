"""Maia Polo et al., *Estimating Fréchet bounds for validating programmatic weak supervision*
[MP23]_, statement by statement.

A row has features X, weak votes Z (a *pattern*) and a label Y that is never seen. The laws of (X,
Z) and of (Y, Z) are known, their joint law is not: E[g(X, Y, Z)] lies between two sharp ends. The
Fréchet dual is in ``dual.py``, its smoothing in ``smoothed_dual.py``, what the paper does with
bounds in this file. What is wrong in print is said at its line (``docs/papers/frechet_bounds.md``).

| statement of [MP23] | function | test in tests/papers/test_frechet_bounds.py |
|---|---|---|
| (1.1), A.1: the programme, any bounded loss, pattern by pattern | `dual.programme` | every_block_equals_the_programme_written_out |
| (1.1) by hand: accuracy; two labels, any loss; a pair of models | `dual.agreement`, `two_labels`, `pair_difference` | every_closed_form_equals_its_programme |
| Theorem 2.1, (2.1)-(2.2): the dual | `dual.row_values`, `outer_bound` | any_potentials_prove_an_outer_bound, closed_forms_enclose_independence_and_are_proved… |
| the set 𝒜, (B.1) | `dual.centred` | potentials_are_centred_by_their_mean_and_not_as_printed_by_their_sum |
| (2.3)-(2.4): the smoothed dual | `smoothed_dual.smoothed` | the_smoothed_dual_equals_the_programme…, as_printed_it_lies_inside… |
| (2.5)-(2.6), Lemma C.1: its estimate | `smoothed_dual.sample_end` | the_estimate_is_that_of_the_equations_written_out |
| Theorem 2.4, (2.7): its interval | `SampleEnd.interval` | the_interval_covers_the_smoothed_end_as_theorem_24_says |
| section 3.1: risk, accuracy | `dual.programme`, `agreement` | as above |
| (3.1): precision, recall, F1 | `Summary`, `dual.joint_event`, `class_joint` | the_slopes_of_every_metric_are_its_derivatives, every_closed_form_equals_its_programme |
| Corollary 3.1, (3.2) | `ratio_end`; with H and Y: `plug_in`, `plug_in_interval` | the_variance_of_f1_…, the_error_of_a_ratio_counts_its_denominator_too |
| section 4: noise-aware loss | `noise_aware_weights` | the_noise_aware_loss_is_the_expected_loss_of_the_label_model |
| section 4.1, Figures 1, 2: thresholds | `at_thresholds` | every_threshold_is_a_prediction_of_its_own |
| section 4.2, Figure 3: sets of weak labels | `choose_weak_labels`, `weak_set_ends` | a_coin_is_a_useless_weak_label_and_the_best_one_comes_first |
| sections 4.2.1, A.4: lower, upper, average, label model | `choose_model`, `independent` | each_rule_chooses_by_its_own_end, the_estimate_under_independence_… |
| section 5: statistical matching | `dual.programme` with g = 1_B | matching_two_tables_bounds_the_event_that_neither_shows |
| Theorem A.1: the width | `dual.entropy_width` | no_cost_of_the_spread_has_wider_bounds |
| Theorem A.3: wrong by δ, in every pattern, on average, for ratios | `dual.robust_end`, `budget_end`, `shifted_labels`; `moved` | shifted_labels_attain…, a_budget_on_average_equals_one_programme…, a_ratio_moves_at_least… |
| … and when a claim breaks down | `dual.breakdown`, `budget_breakdown` | an_end_moves_with_the_error_and_breaks_where_it_meets_the_target |

In this file ``counts`` are rows by (…, pattern, prediction) and ``p`` is P(Y | z), (patterns,
classes).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.papers.frechet_bounds.dual import FloatArray, Side, agreement
from tallystick.papers.frechet_bounds.smoothed_dual import BoolArray, SampleEnd

IntArray: TypeAlias = NDArray[np.int64]

# (3.1): metrics as functions of T_c = P(h = c, Y = c), H_c = P(h = c) and Y_c = P(Y = c), with
# their slopes, which is all that the delta method needs: H and Y are estimated as well.


Metric: TypeAlias = Literal[
    "accuracy",
    "precision",
    "recall",
    "f1",
    "macro-precision",
    "macro-recall",
    "macro-f1",
    "micro-f1",
]
METRICS: tuple[Metric, ...] = get_args(Metric)
_NOTHING = 1e-12
"""A class of less probability does not occur."""
_LEAST = 1e-9
"""What an error of δ leaves at least of a class: enough for its ratios to exist."""


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """A metric's value, its derivatives by T, H and Y, each (…, classes)."""

    value: FloatArray
    by_t: FloatArray
    by_h: FloatArray
    by_y: FloatArray


@dataclass(frozen=True, slots=True)
class Summary:
    """Which number is meant: a *metric* and, for precision, recall and F1 of one class, that
    *positive* class.
    """

    metric: Metric
    positive: int | None = None

    def slopes(self, t: FloatArray, h: FloatArray, y: FloatArray) -> Slopes:
        r"""Return the value and its slopes; NaN where a denominator is 0, or rounding that is left
        of it.

        .. math:: \text{accuracy} = \sum_c T_c, \quad \text{precision}_c = T_c/H_c, \quad
                  \text{recall}_c = T_c/Y_c, \quad F_c = 2T_c/(H_c + Y_c)   \tag{3.1}
        """
        none = np.zeros_like(t)
        # with one label an item all micro averages are the accuracy
        if self.metric in ("accuracy", "micro-f1"):
            return Slopes(t.sum(axis=-1), np.ones_like(t), none, none)
        kind = self.metric.removeprefix("macro-")
        below = _below(kind, h, y)
        below = np.where(below > _NOTHING, below, np.nan)
        ratio, up = t / below, 1 / below
        down = -ratio * up
        if self.positive is None:
            share: FloatArray = np.full(t.shape[-1], 1 / t.shape[-1])
        else:
            share = np.eye(t.shape[-1])[self.positive]
        ratio, up, down = (np.where(share > 0, part, 0.0) for part in (ratio, up, down))
        by_h = {"precision": down, "recall": none, "f1": down / 2}[kind]
        by_y = {"precision": none, "recall": down, "f1": down / 2}[kind]
        return Slopes((share * ratio).sum(axis=-1), share * up, share * by_h, share * by_y)


def summary(metric: str, positive: int | None) -> Summary:
    """Check that the metric exists and that it is said of which class it is."""
    named: dict[str, Metric] = {known: known for known in METRICS}
    if metric not in named:
        raise InputError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
    single = metric in ("precision", "recall", "f1")
    if single and positive is None:
        raise InputError(
            f"{metric} is that of one class: name it with positive (or ask for macro-{metric})"
        )
    return Summary(named[metric], positive if single else None)


def _below(kind: str, h: FloatArray, y: FloatArray) -> FloatArray:
    """Return the denominators of (3.1)."""
    return {"precision": h, "recall": y, "f1": np.asarray((h + y) / 2)}[kind]


def ratio_end(
    joint: SampleEnd, metric: Literal["precision", "recall", "f1"], *, h: float, y: float
) -> SampleEnd:
    """Return an end of precision, recall or F1 from that of P(h = 1, Y = 1): Corollary 3.1.

    *h* and *y* are P(h = 1) and P(Y = 1), taken for known. :func:`plug_in` has their part too.

    >>> ratio_end(SampleEnd("upper", 0.3, 0.01), "f1", h=0.5, y=0.5)
    SampleEnd(side='upper', value=0.6, error=0.02)
    """
    # (3.2): the variance of F1 is 4σ²/(H + Y)²; its denominator is printed without the square.
    below = float(_below(metric, np.asarray(h), np.asarray(y)))
    return replace(joint, value=joint.value / below, error=joint.error / below)


def moved(
    wanted: Summary, t: FloatArray, h: FloatArray, y: FloatArray, *, side: Side, delta: float
) -> tuple[FloatArray, FloatArray]:
    r"""Let the label model be wrong by δ on average: the worst vertex of what T_c and Y_c can then
    be.

    An error that raises p by e raises T by at most e and Y by e; one that lowers it lowers Y by e
    and T by nothing, seen from above. A ratio of linear functions is largest at a vertex, (T + δ, Y
    + δ) or (T, Y - δ); below they are (T - δ, Y - δ) and (T, Y + δ). Theorem A.3 has O(δ).
    """
    if delta == 0:
        return t, y
    sign = 1.0 if side == "upper" else -1.0
    if wanted.metric in ("accuracy", "micro-f1"):
        return t + sign * delta / t.shape[-1], y  # the sum over classes moves by δ
    pairs = [
        (np.maximum(t + sign * delta, 0), np.maximum(y + sign * delta, _LEAST)),
        (t, np.maximum(y - sign * delta, _LEAST)),
    ]
    kind = wanted.metric.removeprefix("macro-")
    ratios = [a / np.maximum(_below(kind, h, b), _LEAST) for a, b in pairs]
    pick = ratios[0] >= ratios[1] if side == "upper" else ratios[0] <= ratios[1]
    return np.where(pick, pairs[0][0], pairs[1][0]), np.where(pick, pairs[0][1], pairs[1][1])


# The plug-in: sharp bounds of the observed shares, Theorem 2.4 and Corollary 3.1 at ε → 0. To be
# shown, not to be trusted: with many patterns it collapses, since the best potentials of few rows
# fit their noise, so that the upper end is too low and the lower one too high (Jensen).


@dataclass(frozen=True, eq=False, kw_only=True)
class DualRows:
    """Rows by (blocks, …, pattern, prediction), what the dual makes of them, and its choices.

    *p* is P(Y | z), and 0 where *known* is: patterns of which the label model says nothing.
    """

    rows: FloatArray
    p: FloatArray
    known: FloatArray

    @cached_property
    def of_pattern(self) -> FloatArray:
        """Rows of each pattern, (blocks, …, patterns, 1)."""
        return over_classes(self.rows)

    @cached_property
    def expected(self) -> FloatArray:
        """Rows of each pattern and class, if the label model is right."""
        return np.asarray(self.of_pattern * self.p)

    @cached_property
    def n(self) -> FloatArray:
        """Rows that count, (…, 1)."""
        return over_rows(self.of_pattern)

    def best(self, q: FloatArray, side: Side) -> FloatArray:
        r"""Return the best choices m in {0, 1} if P(h | z) is *q*: Theorem 2.1 for all T_c at once.

        A row (z, h) counts :math:`m_c p_c + (1 - m_c) 1[h = c]` towards the upper end of
        :math:`T_c` and :math:`m_c (p_c + 1[h = c] - 1)` towards the lower one, whatever m is.
        """
        if side == "upper":
            return np.asarray((q > self.p) * self.known)
        both = q + self.p
        top = both.argmax(axis=-1)[..., None]
        on = np.take_along_axis(both, top, axis=-1) > 1
        return np.asarray((np.arange(both.shape[-1]) == top) * on * self.known)

    def joint(self, m: FloatArray, side: Side) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return an end of T, and H and Y, each (…, classes)."""
        h = over_rows(self.rows) / self.n
        if side == "upper":
            t = h + over_rows(m * (self.expected - self.rows)) / self.n
        else:
            t = over_rows(m * (self.expected + self.rows - self.of_pattern)) / self.n
        y = over_rows(self.expected) / self.n
        if not self.known.all():
            # Where nothing is known of Y, the worst case for a ratio is Y = h above, Y ≠ h below.
            free = self.rows * (1 - self.known)
            y = y + over_rows(free if side == "upper" else over_classes(free) - free) / self.n
        return t, h, y

    def values(self, m: FloatArray, slopes: Slopes, side: Side) -> FloatArray:
        """Return the linearised value of a row that shows (z, h), (blocks, …, patterns,
        predictions).
        """
        by_t, by_h, by_y = (part[..., None, :] for part in (slopes.by_t, slopes.by_h, slopes.by_y))
        chosen = by_t * m
        of_z = over_classes((chosen + by_y * self.known) * self.p)
        own = by_t - chosen if side == "upper" else chosen - over_classes(chosen)
        value = own + (of_z + by_h)
        if not self.known.all():
            free = by_y if side == "upper" else over_classes(by_y) - by_y
            value = value + (1 - self.known) * free
        return np.asarray(value)

    def spread(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean of the rows' values and its variance."""
        n, weighted = self.n[..., 0], self.rows * values
        mean = over_rows(weighted).sum(axis=-1) / n
        return mean, np.asarray(over_rows(weighted * values).sum(axis=-1) / n**2 - mean**2 / n)


def plug_in(
    counts: ArrayLike, p: FloatArray, wanted: Summary, side: Side
) -> tuple[FloatArray, FloatArray]:
    r"""Return an end of the observed shares and its standard error.

    [MP23]_, Theorem 2.4 and Corollary 3.1 at ε = 0, the corollary corrected: the denominator of F1
    is squared, and the parts of P(h = c) and P(Y = c) are in it. The label model is taken for
    known; a row of *p* that is NaN is one of which it says nothing.

    >>> counts, p = np.array([[50, 10], [10, 30]]), np.array([[0.9, 0.1], [0.25, 0.75]])
    >>> [round(float(plug_in(counts, p, Summary("f1", 1), side)[0]), 3) for side in ("lower", "upper")]
    [0.526, 0.947]
    """
    known = known_rows(p)[..., None].astype(np.float64)
    rows = np.asarray(counts, dtype=np.float64)
    q = rows / np.maximum(rows.sum(axis=-1, keepdims=True), 1)
    held = DualRows(rows=rows[None], p=np.where(known > 0, p, 0.0), known=known)
    m = held.best(q[None], side)
    slopes = wanted.slopes(*held.joint(m, side))
    _, variance = held.spread(held.values(m, slopes, side))
    return slopes.value, np.sqrt(np.maximum(variance, 0.0))


def plug_in_interval(
    counts: ArrayLike, p: FloatArray, wanted: Summary, *, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return [L - z s, U + z s], the interval that the paper draws: (2.7) at both ends."""
    z = NormalDist().inv_cdf(1 - alpha / 2)
    low, low_error = plug_in(counts, p, wanted, "lower")
    high, high_error = plug_in(counts, p, wanted, "upper")
    return low - z * low_error, high + z * high_error


def independent(counts: ArrayLike, p: FloatArray, wanted: Summary) -> FloatArray:
    """Return the metric if prediction and label are independent given z: one point inside the
    bounds, by which the paper selects as "label model" (A.4.2).

    Patterns of which nothing is known are left out; NaN where the metric does not exist.
    """
    known = known_rows(p)
    law = np.where(known[..., None], p, 0.0)
    rows = np.asarray(counts, dtype=np.float64) * known[:, None]
    n = np.maximum(rows.sum(axis=(-2, -1)), 1e-300)[..., None]
    t = (rows * law).sum(axis=-2) / n
    y = (rows.sum(axis=-1, keepdims=True) * law).sum(axis=-2) / n
    return wanted.slopes(t, rows.sum(axis=-2) / n, y).value


def known_rows(p: FloatArray) -> BoolArray:
    """Say of which patterns the label model knows something: their row of P(Y | z) is not NaN."""
    return np.asarray(np.isfinite(p).all(axis=-1))


def over_classes(table: FloatArray) -> FloatArray:
    """Return sums over the last axis, kept as an axis of length one.

    A matrix product: NumPy's own sum over an axis of two or three entries takes several times as
    long.
    """
    return np.asarray((table @ np.ones(table.shape[-1]))[..., None])


def over_rows(table: FloatArray) -> FloatArray:
    """Return sums over blocks, the first axis, and patterns, the last but one: (…, labels).

    >>> over_rows(np.ones((9, 4, 2))).tolist()
    [36.0, 36.0]
    """
    return np.asarray((np.ones(table.shape[-2]) @ table).sum(axis=0))


# Sections 4.1, 4.2 and A.4: thresholds, models and weak labels, chosen by their bounds.


def at_thresholds(counts: IntArray, *, positive: int = 1) -> IntArray:
    """Turn rows by (…, patterns, bins of a score) into (…, thresholds, patterns, 2): Figures 1, 2.

    A row predicts the class *positive* from the threshold on; the thresholds are the inner edges of
    the bins, and all of them come from cumulative counts. :func:`plug_in` takes what is returned.

    >>> at_thresholds(np.array([[5, 3, 2]])).tolist()
    [[[5, 5]], [[8, 2]]]
    """
    above = counts[..., ::-1].cumsum(axis=-1)[..., ::-1][..., 1:]
    both = [counts.sum(axis=-1, keepdims=True) - above, above]
    return np.moveaxis(np.stack(both if positive == 1 else both[::-1], axis=-1), -2, -3)


def choose_model(
    lower: ArrayLike, upper: ArrayLike, label_model: ArrayLike
) -> dict[Literal["lower bound", "upper bound", "average", "label model"], int]:
    """Return which model each rule of A.4 chooses, from their bounds and :func:`independent` value.

    By the largest lower bound (safe: distributionally robust), upper bound (hopeful), average of
    the two, or what the label model expects. The first of equal ones is taken.

    >>> choose_model([0.5, 0.6, 0.4], [0.9, 0.7, 0.95], [0.7, 0.68, 0.72])
    {'lower bound': 1, 'upper bound': 2, 'average': 0, 'label model': 2}
    """
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    return {
        "lower bound": int(low.argmax()),
        "upper bound": int(high.argmax()),
        "average": int(((low + high) / 2).argmax()),
        "label model": int(np.argmax(label_model)),
    }


@dataclass(frozen=True, kw_only=True)
class WeakSetStep:
    """One weak label added, and the bounds with it."""

    added: str
    lower: float
    upper: float
    useful: bool

    @property
    def width(self) -> float:
        """How far the bounds are apart."""
        return self.upper - self.lower


def choose_weak_labels(
    ends: Callable[[Sequence[str]], tuple[float, float]],
    *,
    start: Sequence[str],
    candidates: Sequence[str],
    least_gain: float = 0.005,
) -> tuple[tuple[float, float], tuple[WeakSetStep, ...]]:
    """Add weak labels one by one, each time the one that makes the bounds shortest.

    [MP23]_, section 4.2 and Figure 3, which compares two sets. *ends* returns the bounds that a set
    gives, for instance :func:`weak_set_ends`; a label that shortens them by no more than
    *least_gain* is not useful. Returned are the bounds at the start, then the steps.
    """
    if not candidates:
        raise InputError("candidates must name at least one weak label")
    held, left = list(start), list(candidates)
    first = ends(held)
    width = first[1] - first[0]
    steps: list[WeakSetStep] = []
    while left:
        found = {name: ends([*held, name]) for name in left}
        best = min(left, key=lambda name: found[name][1] - found[name][0])
        low, high = found[best]
        useful = width - (high - low) > least_gain
        steps.append(WeakSetStep(added=best, lower=low, upper=high, useful=useful))
        width = min(width, high - low)
        held.append(best)
        left.remove(best)
    return first, tuple(steps)


def weak_set_ends(
    votes: IntArray, counts: ArrayLike, p: FloatArray, kept: Sequence[int]
) -> tuple[float, float]:
    """Return the sharp bounds of accuracy if only the weak labels in the columns *kept* are seen.

    *votes* are (patterns, weak labels). More weak labels can only shorten the bounds, and one that
    says nothing of label and prediction leaves them as they are.

    >>> votes, p = np.array([[0], [1]]), np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> [np.round(weak_set_ends(votes, [[9, 1], [1, 9]], p, kept), 2).tolist() for kept in ([], [0])]
    [[0.05, 0.95], [0.75, 0.95]]
    """
    left, place = coarser(votes, kept)
    rows = np.zeros((len(left), np.shape(counts)[1]))
    np.add.at(rows, place, np.asarray(counts, dtype=np.float64))
    law = coarser_law(p, np.sum(counts, axis=1), place)
    seen = rows.sum(axis=1)
    return agreement(rows / seen[:, None], law).mean(seen)


def coarser(votes: IntArray, kept: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Return the patterns that are left of *votes* in these columns, and which of them each pattern
    becomes: a coarser z, for which every bound stays valid.
    """
    if not len(kept):
        return np.zeros((1, 0), dtype=np.int64), np.zeros(len(votes), dtype=np.int64)
    left, place = np.unique(votes[:, list(kept)], axis=0, return_inverse=True)
    return left, np.asarray(place, dtype=np.int64).reshape(-1)


def coarser_law(p: FloatArray, weight: ArrayLike, place: IntArray) -> FloatArray:
    """Return P(Y | coarser z): the average of P(Y | z) over the rows, *weight* by pattern."""
    out = np.zeros((int(place.max()) + 1, p.shape[1]))
    np.add.at(out, place, p * np.asarray(weight, dtype=np.float64)[:, None])
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def noise_aware_weights(predict: Callable[[IntArray], ArrayLike], votes: ArrayLike) -> FloatArray:
    r"""Return P(Y = y | votes) for every row, n x classes: the noise-aware loss of section 4.

    The loss :math:`\sum_i \sum_y P(y \mid z_i)\,\ell(h(x_i), y)` is a weighted loss on the rows
    repeated once a class: repeat X, give repetition y the label y, and use ``weights.T.ravel()`` as
    ``sample_weight``. Rows of which the label model knows nothing weigh nothing.

    Parameters
    ----------
    predict
        From patterns of votes to P(Y | Z): ``LabelModel.predict`` of ``bound``, or any other.
    votes
        n x weak columns, index of the class or -1 for an abstention.

    Examples
    --------
    >>> share = lambda votes: np.column_stack([(votes == 0).mean(axis=1), (votes == 1).mean(axis=1)])
    >>> noise_aware_weights(share, [[1, 1], [0, 1]]).tolist()
    [[0.0, 1.0], [0.5, 0.5]]
    """
    held = np.asarray(votes)
    if held.ndim != 2 or held.dtype.kind not in "iu":
        raise InputError(
            f"votes must be integers of shape (rows, weak labels), got {held.dtype} {held.shape}"
        )
    patterns, place = np.unique(held.astype(np.int64), axis=0, return_inverse=True)
    law = np.asarray(predict(patterns), dtype=np.float64)
    return np.nan_to_num(law, nan=0.0)[place.reshape(-1)]
