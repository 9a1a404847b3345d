"""A score instead of a prediction: the bounds at every threshold, holding together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import InputError
from tallystick.papers.frechet_bounds import Summary, at_thresholds
from tallystick.papers.frechet_bounds.dual import Side
from tallystick.results import Interval, Unknown
from tallystick.stats.maxt import sup_t_critical
from tallystick.table import Label, Tally
from tallystick.verbs.bound.forward import (
    BLOCKS,
    Evidence,
    FloatArray,
    ForwardEnd,
    IntArray,
    Scheme,
    draw,
    forward,
    label_bins,
    slopes_of,
)
from tallystick.verbs.bound.label_model_checks import (
    Family,
    Fitting,
    ModelLike,
    Prepared,
    audit,
    family_of,
    fitted,
    prepared,
)
from tallystick.verbs.bound.label_models import consensus_of
from tallystick.verbs.bound.metric_bounds import bound_of
from tallystick.verbs.bound.result import Bound, BoundResult, GoldEstimate, ReliabilityBin, RocPoint
from tallystick.verbs.bound.robust import ASSUMPTION, robust_bound, votes_contradict
from tallystick.verbs.bound.verdict import (
    ENOUGH,
    LabelledRows,
    assumptions_of,
    conclude_thresholds,
    warnings_of,
)
from tallystick.verbs.bound.weak_votes import BoundTarget, WeakTable, weak_summary, weak_table


def edges_of(thresholds: Sequence[float]) -> tuple[float, ...]:
    """Return the edges with which a score in [0, 1] has to be cut to be swept over *thresholds*.

    >>> edges_of([0.5, 0.25])
    (0.0, 0.25, 0.5, 1.0)
    """
    held = sorted({float(t) for t in thresholds})
    if not held or not all(0 < t < 1 for t in held):
        raise InputError(f"thresholds must be numbers in (0, 1), got {list(thresholds)!r}")
    return (0.0, *held, 1.0)


def sweep(
    tally: Tally,
    *,
    score: str,
    weak: Sequence[str] | None = None,
    truth: str | None = None,
    label_models: Sequence[ModelLike] = (),
    target: BoundTarget | None = None,
    fitting: Fitting | None = None,
    rng: Rng = 0,
) -> BoundResult:
    """Bound metrics of ``score ≥ threshold`` for two classes, simultaneously for all thresholds.

    Without labels the robust range over seven label models comes first, as in
    :func:`~tallystick.verbs.bound.bound`; from 20 random labels each threshold has its own
    interval.

    The tally has counted *score* cut at the thresholds: ``cut={score: edges_of(thresholds)}``. A
    row predicts the positive class where its score is at least the threshold; all thresholds come
    from one table, by cumulative counts. The bands of one metric and label model hold together: the
    critical value is that of the largest of all deviations, drawn from the correlation of the rows.
    [MP23]_, Figures 1 and 2, have pointwise ones.

    Examples
    --------
    >>> from tallystick.verbs.bound.question import spam
    >>> rows = spam(1000, rng=1)
    >>> rows["score"] = [0.2 + 0.5 * int(h) for h in rows.pop("classifier")]
    >>> tally = Tally.of(rows, cut={"score": edges_of([0.25, 0.5])})
    >>> result = sweep(tally, score="score")
    >>> [b.threshold for b in result.bounds if b.method == "robust"]
    [0.25, 0.5]
    """
    target = BoundTarget() if target is None else target
    fitting = Fitting() if fitting is None else fitting
    columns = (
        tuple(weak)
        if weak is not None
        else tuple(n for n in tally.names if n not in (score, truth))
    )
    table, edges = _score_table(tally, target, columns, (score, truth), fitting.classes)
    positive = 1 if target.positive is None else table.class_of(target.positive, role="positive")
    band = Band(edges=edges, positive=positive, target=target, table=table)
    generator = as_rng(rng)
    for_family, for_tests, for_surprise = generator.spawn(3)

    # Labels decide, where there are enough; otherwise the family of label models.
    estimates = band.from_labels()
    family = _family(table, fitting, label_models, bool(estimates))
    members = _distinct(family, table, max(target.delta, family.distance)) if family else []
    named = [
        prepared(fitted(model, table, fitting), table, delta=target.delta) for model in label_models
    ]
    bounds: list[Bound] = []
    wanted = target.summaries(table)
    if not estimates:
        for one in wanted:
            bounds += band.robust([band.bounds(member, one, for_family) for member in members])
    shown = named or _distinct(family, table, target.delta) if family or named else []
    for model in shown:
        for one in wanted:
            bounds += band.bounds(model, one, generator)
    roc, reliability = band.curves(members, for_family)

    test = votes_contradict(family.independence, fitting, for_tests) if family else None
    audits = tuple(
        audit(one.model, table, one.p[: len(table.votes)], test=test, rng=for_surprise)
        for one in shown
    )
    conclusion = conclude_thresholds(score, bounds, estimates, table.n, target.alpha)
    return BoundResult(
        verdict=conclusion.verdict,
        sentences=conclusion.sentences,
        decision=conclusion.decision,
        needed=conclusion.needed,
        n_items=table.n,
        assumptions=assumptions_of(
            named,
            labelled=truth is not None,
            robust=None if estimates or family is None else ASSUMPTION,
        ),
        warnings=warnings_of(table, named, audits, band.labels),
        seed=seed_of(rng),
        prediction=score,
        weak=table.weak,
        classes=table.classes,
        bounds=tuple(bounds),
        label_models=audits,
        breakdown_delta=Unknown(
            "a breakdown is that of one threshold: choose it and bound its prediction"
        ),
        label_model_distance=(
            Unknown("no family of label models was fitted") if family is None else family.distance
        ),
        gold=estimates,
        weak_labels=weak_summary(table, alpha=target.alpha),
        roc=roc,
        reliability=reliability,
        singleton_share=table.singletons,
        delta=target.delta,
        entropy_width=Unknown("it is that of one threshold"),
    )


def _score_table(
    tally: Tally,
    target: BoundTarget,
    weak: Sequence[str],
    columns: tuple[str, str | None],
    classes: Sequence[Label] | None,
) -> tuple[WeakTable, tuple[float, ...]]:
    """Check the question and return the table of a score with the edges of its bins."""
    score, truth = columns
    if "risk" in target.metrics:
        raise InputError(
            "a sweep over thresholds knows no risk: choose other metrics, or one prediction"
        )
    if target.at_least is not None:
        raise InputError(
            f"at_least ({target.at_least:g}) is a claim on one prediction, and a score has one per"
            " threshold: choose the threshold and bound its prediction, or leave the claim out"
        )
    table = weak_table(tally, weak=weak, score=score, truth=truth, classes=classes)
    if len(table.classes) != 2:
        raise InputError(
            f"a score decides between two classes, got {len(table.classes)}: give predictions"
            " instead"
        )
    edges = tuple(float(edge) for edge in tally.cut[score])
    if len(edges) < 3:
        raise InputError(
            f"column {score!r} was cut at no threshold inside its range: use edges_of(thresholds)"
        )
    return table, edges


def _family(
    table: WeakTable, fitting: Fitting, named: Sequence[ModelLike], labelled: bool
) -> Family | None:
    if not fitting.family or (labelled and named):
        return None
    return family_of(replace(table, gold=None), balance=fitting.balance)


def _distinct(family: Family | None, table: WeakTable, delta: float) -> list[Prepared]:
    """Prepare the members of the family that differ, by votes alone."""
    if family is None:
        return []
    laws = [law.tobytes() for law in family.laws]
    return [
        prepared(model, replace(table, gold=None), delta=delta)
        for i, model in enumerate(family.models)
        if laws[i] not in laws[:i]
    ]


# The AUC of a score without labels: between what it lies, given only P(Y | Z).
#
# Given the class balance :math:`\pi` the AUC is linear in the labels:
#
# .. math:: \mathrm{AUC} = \frac{E[Y\,G(s)] - \pi^2/2}{\pi (1 - \pi)}, \qquad
#           \pi = \sum_z P(z)\, p_z   \tag{B9}
#
# with G the mid-rank share of a score among all rows. The sharp ends give, within each pattern z,
# the positives to the highest, or to the lowest, :math:`p_z` share of the scores.


_OWN_ROWS = 30
"""Earlier rows from which a pattern has a cut of its own; otherwise it takes that of its bin."""


@dataclass(frozen=True, kw_only=True)
class AucEnds:
    """Both ends of the AUC under one label model, each with its standard error.

    Parameters
    ----------
    lower, upper
        Outer bounds, by cuts that earlier rows chose for later ones.
    lower_error, upper_error
        Standard errors; the label model is taken for known.
    sharp
        The sharp ends of the observed scores: too narrow where patterns are many.
    independent
        The AUC if score and label were independent given the votes.
    """

    lower: float
    upper: float
    lower_error: float
    upper_error: float
    sharp: tuple[float, float]
    independent: float

    def edges(self, critical: float) -> tuple[float, float]:
        """Return the ends moved outward by so many standard errors, within [0, 1]."""
        low, high = (
            self.lower - critical * self.lower_error,
            self.upper + critical * self.upper_error,
        )
        return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))


def mid_ranks(score: FloatArray) -> FloatArray:
    """Return G: the share of all scores below each one, ties counted one half.

    >>> mid_ranks(np.array([0.2, 0.9, 0.2])).round(4)
    array([0.3333, 0.8333, 0.3333])
    """
    order = np.sort(score)
    left, right = (np.searchsorted(order, score, side=side) for side in ("left", "right"))
    return np.asarray((left + right) / (2 * score.size), dtype=np.float64)


def frechet_auc(score: FloatArray, place: IntArray, p: FloatArray) -> tuple[float, float]:
    """Return the sharp ends (B9) of the AUC for the observed scores; NaN if π is 0 or 1.

    Parameters
    ----------
    score
        One per row.
    place
        The pattern of each row.
    p
        P(Y = 1 | z) of each pattern.

    Examples
    --------
    >>> scores = np.array([0.1, 0.4, 0.35, 0.8, 0.5, 0.6, 0.7, 0.9, 0.2, 0.95])
    >>> pattern = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    >>> [round(end, 4) for end in frechet_auc(scores, pattern, np.array([0.25, 0.7]))]
    [0.2676, 0.9968]
    """
    rank = mid_ranks(score)
    pi = float(p[place].mean())
    if not 0 < pi < 1:
        return float("nan"), float("nan")

    # In each pattern the positives fill the scores from one end up to its share, the last in part.
    order = np.lexsort((rank, place))
    size = np.bincount(place, minlength=len(p))
    first = np.concatenate(([0], size.cumsum()[:-1]))
    within = np.arange(len(rank)) - first[place[order]]
    quota = (size * p)[place[order]]
    lowest = np.clip(quota - within, 0, 1)
    highest = np.clip(quota - (size[place[order]] - 1 - within), 0, 1)
    low, high = (float((part * rank[order]).mean()) for part in (lowest, highest))
    return _auc(low, pi), _auc(high, pi)


def auc_ends(
    score: FloatArray, place: IntArray, p: FloatArray, weight: FloatArray, *, rng: Rng
) -> AucEnds | None:
    r"""Bound the AUC so that it holds where patterns are many: cuts from earlier rows, for later
    ones.

    For any cut :math:`t_z` a row counts

    .. math:: u = (G - t_z)_+ + p_z t_z, \qquad l = p_z t_z - (t_z - G)_+   \tag{B10}

    towards the ends of E[Y G]. The best cuts are the :math:`1 - p_z` quantile of G in the pattern
    and its :math:`p_z` quantile. The standard error allows for the estimated ranks and balance.

    Parameters
    ----------
    score, place, p
        As in :func:`frechet_auc`.
    weight
        Rows per pattern.
    rng
        For the random order of the rows.

    Returns
    -------
    AucEnds
        None if the label model gives one class no probability: the AUC does not exist.
    """
    law = p[place]
    pi = float(law.mean())
    if not 0 < pi < 1:
        return None
    rank = mid_ranks(score)
    bins = label_bins(np.column_stack([1 - p, p]), weight)
    block = as_rng(rng).integers(0, BLOCKS, len(rank))
    found: dict[str, tuple[float, float]] = {}
    for side in ("lower", "upper"):
        cut = _cuts(rank, place, bins, 1 - p if side == "upper" else p, block)
        later = block > 0
        if side == "upper":
            value = np.maximum(rank - cut, 0) + law * cut  # (B10)
            slope = rank > cut
        else:
            value = law * cut - np.maximum(cut - rank, 0)
            slope = rank < cut
        found[side] = _end(value, slope, law, score, later)
    return AucEnds(
        lower=found["lower"][0],
        upper=found["upper"][0],
        lower_error=found["lower"][1],
        upper_error=found["upper"][1],
        sharp=frechet_auc(score, place, p),
        independent=_auc(float((law * rank).mean()), pi),
    )


def _auc(mean: float, pi: float) -> float:
    """Return (B9), within [0, 1] up to rounding."""
    return float(np.clip((mean - pi**2 / 2) / (pi * (1 - pi)), 0, 1))


def _cuts(
    rank: FloatArray, place: IntArray, bins: IntArray, level: FloatArray, block: IntArray
) -> FloatArray:
    """Return the cut of each row: a quantile of the earlier rows of its pattern, or of its bin."""
    cut = np.full(len(rank), 0.5)
    for b in range(1, BLOCKS):
        earlier, now = block < b, np.flatnonzero(block == b)
        own, own_size = _quantiles(rank[earlier], place[earlier], level)
        share = np.bincount(bins, weights=level) / np.maximum(np.bincount(bins), 1)
        pooled, pooled_size = _quantiles(rank[earlier], bins[place[earlier]], share)
        z = place[now]
        common = np.where(pooled_size[bins[z]] > 0, pooled[bins[z]], 0.5)
        cut[now] = np.where(own_size[z] >= _OWN_ROWS, own[z], common)
    return cut


def _quantiles(
    value: FloatArray, group: IntArray, level: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Return the quantile of each group at its own level, and how many values it rests on."""
    size = np.bincount(group, minlength=len(level))
    order = np.lexsort((value, group))
    first = np.concatenate(([0], size.cumsum()[:-1]))
    at = np.clip(np.ceil(size * level).astype(np.int64) - 1, 0, np.maximum(size - 1, 0))
    held = np.append(value[order], 0.5)
    return np.where(size > 0, held[np.minimum(first + at, len(held) - 1)], 0.5), size


def _end(
    value: FloatArray,
    slope: np.ndarray,
    law: FloatArray,
    score: FloatArray,
    later: np.ndarray,
) -> tuple[float, float]:
    """Return one end of (B9) and its standard error, from the influence of each row."""
    n = int(later.sum())
    mean, pi = float(value[later].mean()), float(law.mean())
    scale = pi * (1 - pi)
    end = (mean - pi**2 / 2) / scale

    # A row also moves the ranks of all others: by the share of counted rows above it.
    above = _share_above(score, slope & later) / max(n, 1)
    by_pi = -pi / scale - end * (1 - 2 * pi) / scale
    influence = (value + above) / scale + by_pi * law
    return float(end), float(influence[later].std() / np.sqrt(n))


def _share_above(score: FloatArray, counted: np.ndarray) -> FloatArray:
    """Return how many counted scores exceed each score, ties counted one half."""
    order = np.sort(score[counted])
    left, right = (np.searchsorted(order, score, side=side) for side in ("left", "right"))
    return np.asarray(order.size - (left + right) / 2, dtype=np.float64)


# A metric along a score: bounds at every threshold that hold together, the ROC curve,
# reliability.
#
# The score was cut at the thresholds when it was counted, so every threshold, and every bin of the
# score, comes from one table by sums over bins.


_CELLS = 20_000_000
"""Rows of the correlation of all thresholds that are held at once; beyond it Bonferroni, which is a
little wider."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Band:
    """A score that was cut at *edges*, and what is asked of it.

    Parameters
    ----------
    edges
        Of the bins; the inner ones are the thresholds.
    positive
        The class of high scores.
    target
        Metrics and level.
    table
        Patterns x bins.
    """

    edges: tuple[float, ...]
    positive: int
    target: BoundTarget
    table: WeakTable

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The inner edges."""
        return self.edges[1:-1]

    @property
    def labels(self) -> int:
        """Labelled rows."""
        return 0 if self.table.gold is None else int(self.table.gold.sum())

    def bounds(self, one: Prepared, wanted: Summary, generator: np.random.Generator) -> list[Bound]:
        """Return one metric at every threshold under one label model, holding together."""
        view = partial(at_thresholds, positive=self.positive)
        evidence = replace(one.evidence, view=view)
        critical = _critical(evidence, wanted, self.target.alpha, generator)
        return self._bounds(one, evidence, wanted, critical, generator)

    def _bounds(
        self,
        one: Prepared,
        evidence: Evidence,
        wanted: Summary,
        critical: float,
        generator: np.random.Generator,
    ) -> list[Bound]:
        if evidence.view is None:
            raise TypeError("a band has a view")
        scheme = Scheme.fitting(self.table.n)
        [(low, high)] = forward(evidence, [wanted], rng=generator, scheme=scheme)
        seen = evidence.view(one.table.counts[None])[0]
        out = []
        for t in range(len(seen)):
            at = replace(one, evidence=replace(one.evidence, counts=seen[t]))
            ends = tuple(ForwardEnd(e.side, e.estimate[t], e.error[t]) for e in (low, high))
            where = self.edges[t + 1]  # a threshold, or the upper edge of a bin
            pair = (ends[0], ends[1])
            out.append(bound_of(at, wanted, pair, self.target.alpha, critical, where))
        return out

    def robust(self, members: Sequence[Sequence[Bound]]) -> list[Bound]:
        """Return the robust range at every threshold, from the bounds of the family's members."""
        return [robust_bound(same) for same in zip(*members, strict=True)]

    def from_labels(self) -> tuple[GoldEstimate, ...]:
        """Return every metric at every threshold from labels, one threshold at a time."""
        if self.labels < ENOUGH:
            return ()
        found = []
        for wanted in self.target.summaries(self.table):
            label = None if wanted.positive is None else self.table.classes[wanted.positive]
            for t, threshold in enumerate(self.thresholds):
                rows = self._labelled(t)
                one = rows.estimate(wanted, alpha=self.target.alpha)
                found.append(
                    GoldEstimate(
                        metric=wanted.metric,
                        positive=label,
                        threshold=threshold,
                        labels=rows.labels,
                        estimate=one.estimate,
                        interval=one.interval,
                        worth=one.worth,
                    )
                )
        return tuple(found)

    def _labelled(self, t: int) -> LabelledRows:
        """Return the labelled rows with "score ≥ threshold" as the prediction."""
        counts = at_thresholds(self.table.counts[None], positive=self.positive)[0][t]
        held = self.table.gold
        if held is None:
            raise TypeError("no labels")
        by_class = np.moveaxis(held, -1, 0)  # (classes, patterns, bins)
        gold = at_thresholds(by_class, positive=self.positive)[:, t]
        return LabelledRows.of(counts, np.moveaxis(gold, 0, -1), consensus_of(self.table))

    def curves(
        self, members: Sequence[Prepared], generator: np.random.Generator
    ) -> tuple[tuple[RocPoint, ...], tuple[ReliabilityBin, ...]]:
        """Return the ROC curve and the reliability of the score: from labels, else robustly.

        The points of each rate hold together, and so do the bins.
        """
        if self.labels >= ENOUGH:
            return self._roc_from_labels(), self._reliability_from_labels()
        if not members:
            return (), ()
        return self._roc(members, generator), self._reliability(members, generator)

    def _roc(
        self, members: Sequence[Prepared], generator: np.random.Generator
    ) -> tuple[RocPoint, ...]:
        rates = []
        for c in (self.positive, 1 - self.positive):
            wanted = Summary("recall", c)
            rates.append(self.robust([self.bounds(one, wanted, generator) for one in members]))
        return tuple(
            RocPoint(
                threshold=threshold,
                true_positive_rate=_interval(tpr),
                false_positive_rate=_mirrored(_interval(tnr)),
                method="robust",
            )
            for threshold, tpr, tnr in zip(self.thresholds, *rates, strict=True)
        )

    def _roc_from_labels(self) -> tuple[RocPoint, ...]:
        alpha = self.target.alpha / (2 * len(self.thresholds))
        out = []
        for t, threshold in enumerate(self.thresholds):
            rows = self._labelled(t)
            tpr, tnr = (
                rows.estimate(Summary("recall", c), alpha=alpha).interval
                for c in (self.positive, 1 - self.positive)
            )
            out.append(
                RocPoint(
                    threshold=threshold,
                    true_positive_rate=tpr,
                    false_positive_rate=_mirrored(tnr),
                    method="labels",
                )
            )
        return tuple(out)

    def _reliability(
        self, members: Sequence[Prepared], generator: np.random.Generator
    ) -> tuple[ReliabilityBin, ...]:
        """Bound P(Y = positive | score in a bin): the precision of "the score lies in it"."""
        view = partial(_in_bins, positive=self.positive)
        wanted = Summary("precision", self.positive)
        critical = NormalDist().inv_cdf(1 - self.target.alpha / (2 * self.table.counts.shape[1]))
        ranges = self.robust(
            [
                self._bounds(one, replace(one.evidence, view=view), wanted, critical, generator)
                for one in members
            ]
        )
        return self._reliability_bins([_interval(one) for one in ranges], "robust")

    def _reliability_from_labels(self) -> tuple[ReliabilityBin, ...]:
        bins = self.table.counts.shape[1]
        held, consensus = self.table.gold, consensus_of(self.table)
        if held is None:
            raise TypeError("no labels")
        counts = _in_bins(self.table.counts[None], positive=self.positive)[0]
        gold = _in_bins(np.moveaxis(held, -1, 0), positive=self.positive)
        shares: list[Interval | Unknown] = []
        for t in range(bins):
            rows = LabelledRows.of(counts[t], np.moveaxis(gold[:, t], 0, -1), consensus)
            wanted = Summary("precision", self.positive)
            shares.append(rows.estimate(wanted, alpha=self.target.alpha / bins).interval)
        return self._reliability_bins(shares, "labels")

    def _reliability_bins(
        self, shares: Sequence[Interval | Unknown], method: str
    ) -> tuple[ReliabilityBin, ...]:
        rows = self.table.counts.sum(axis=0)
        return tuple(
            ReliabilityBin(
                low=self.edges[b],
                high=self.edges[b + 1],
                rows=int(rows[b]),
                share=share if rows[b] else Unknown("no score lies here"),
                method=method,
            )
            for b, share in enumerate(shares)
        )


def _interval(one: Bound) -> Interval | Unknown:
    """Return what a bound leaves possible, as an interval."""
    if isinstance(one.lower_interval, Unknown) or isinstance(one.upper_interval, Unknown):
        return one.lower_interval if isinstance(one.lower_interval, Unknown) else Unknown("unknown")
    return replace(one.lower_interval, high=one.upper_interval.high)


def _mirrored(interval: Interval | Unknown) -> Interval | Unknown:
    """Return one minus a rate."""
    if isinstance(interval, Unknown):
        return interval
    return replace(interval, low=1 - interval.high, high=1 - interval.low)


def _in_bins(parts: IntArray, *, positive: int) -> IntArray:
    """Turn blocks of (patterns, bins) into blocks of (bins, patterns, classes): in the bin, or
    not.
    """
    inside = np.moveaxis(parts, -1, 1)
    both = [parts.sum(axis=-1)[:, None] - inside, inside]
    return np.stack(both if positive == 1 else both[::-1], axis=-1)


def _critical(
    evidence: Evidence, wanted: Summary, alpha: float, generator: np.random.Generator
) -> float:
    """Return the critical value for the ends of all thresholds at once."""
    if evidence.view is None:
        raise TypeError("a sweep has a view")
    bins = evidence.counts.shape[-1]
    ends = 2 * (bins - 1)
    if evidence.counts.size * ends > _CELLS:
        return NormalDist().inv_cdf(1 - alpha / (2 * ends))
    run = draw(evidence, Scheme(), generator)
    # One unit of mass in each bin says which prediction a bin means at each threshold.
    says = evidence.view(np.eye(bins, dtype=np.int64)[None])[0].argmax(axis=-1)
    weight = evidence.counts.reshape(-1) / evidence.counts.sum()
    sides: tuple[Side, Side] = ("lower", "upper")
    values = []
    for side in sides:
        m = run.choose(side)
        table = run.values(m, slopes_of(run, m, wanted, side, evidence.delta), side)[-1]
        values += [table[t][:, says[t]].reshape(-1) for t in range(bins - 1)]
    rows = np.nan_to_num(np.stack(values))
    rows -= (rows @ weight)[:, None]
    return max(
        sup_t_critical((rows * weight) @ rows.T, rng=generator, alpha=alpha),
        NormalDist().inv_cdf(1 - alpha / 2),
    )
