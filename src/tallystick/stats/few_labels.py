r"""Means from few human labels and the grades of judges on every output: one rule for every verb.

One linear forecast per output from all judges (ridge towards their consensus, one slope for all
systems), residuals with the labelled unit left out, and a score interval whose variance grows with
the distance from the estimate. Three models are tried (labels alone, consensus, consensus and
single judges) and the one with the narrowest interval is used. All intervals are approximate;
``docs/benchmarks`` shows what they cover.

Scores, accuracies and shares of a label are the same question, so they have the same answer:
:func:`fit` for scores on [0, 1], :func:`accuracies` and :func:`prevalences` for votes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import EllipsisType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick._rng import Rng, as_rng
from tallystick.results import Guarantee
from tallystick.stats.adverse_binary import Ends, Population, check_population
from tallystick.stats.exact_tails import one_per, open_unit, positive, whole
from tallystick.stats.few_labels_fit import (
    LARGEST,
    MOST,
    TINY,
    Codes,
    Fit,
    Kind,
    LabelDesign,
    LabelTable,
    ReachRule,
    ResidualMoments,
    Sort,
    check_labels,
    features,
    growth,
    mean_moments,
    pair_moments,
    reaches,
    rule,
    solve,
)
from tallystick.stats.few_labels_fit import Rows as Rows
from tallystick.stats.intervals import Floats, Intervals, difference_ends
from tallystick.stats.maxt import adjusted_by_draws, holm, upper_quantile

Model: TypeAlias = Literal["labels", "consensus", "judges"]

MODELS: tuple[Model, ...] = ("labels", "consensus", "judges")
CHOICE = 0.05
"""The model is chosen on 95% intervals whatever level is asked for: every level then shows the
same estimate, and a wider level contains a narrower one."""
METHOD = "few labels"
HALVINGS, FORECASTS = 50, 30
"""Steps to a p-value, and to a number of labels."""
MANY = 30
"""Systems from which single pairs are not looked up among all of them."""
PSEUDO, FADED = 0.25, 30.0
"""A squared difference that is added to those of pass/fail labels where all pairs are tested, in
full up to half as many units and no more from this number on. Of few labels, that six of six differ
one way is chance, and their spread does not say so: five equal systems were ordered in .073 of runs
at 13 items, .050 with it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimates:
    """Means or differences, one entry each.

    Parameters
    ----------
    estimate
        NaN where nothing was labelled.
    interval, labels_only
        With the judges, and from the labels alone.
    labels_worth
        How many labels alone would give the width of ``interval``.
    """

    estimate: Floats
    interval: Intervals
    labels_only: Intervals
    labels_worth: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class FewPairs:
    """Every pair of systems at once, in the order (0, 1), (0, 2), (1, 2) for three.

    Parameters
    ----------
    first, second
        Positions of the two systems.
    difference
        Estimate of the first minus that of the second.
    statistic
        The t at which the pair's interval would just touch 0.
    p_value, adjusted_p
        Of this pair alone, and with the error over all pairs held. A pair is decided if its
        adjusted p is at most alpha.
    interval
        All of them hold at once.
    quantile
        The critical value of the intervals.
    method
        ``max-T`` for systems labelled on the same items, otherwise ``Holm``.
    """

    first: Codes
    second: Codes
    difference: Floats
    statistic: Floats
    p_value: Floats
    adjusted_p: Floats
    interval: Intervals
    quantile: float
    method: Literal["max-T", "Holm"]


@dataclass(frozen=True, kw_only=True, eq=False)
class FewLabels:
    """A finished fit, which answers at any level without fitting again.

    Made by :func:`fit` and :func:`accuracies`. ``shared`` says that labels belong to items, so two
    columns of an item are labelled together even if one of them is blank. ``votes`` (codes, truth
    and the mass of each row) then says what two columns can still differ by: only items on which
    they differ and that have no label leave it open.
    """

    design: LabelDesign
    alone: Fit
    chosen: Fit
    pass_fail: bool
    population: Population
    shared: bool = False
    votes: tuple[Codes, Codes, Floats] | None = None

    @property
    def labels(self) -> Floats:
        """LabelledEntries rows of each system."""
        return self.design.labels

    @property
    def outputs(self) -> Floats:
        """All rows of each system."""
        return self.design.outputs

    @property
    def model(self) -> tuple[Model, ...]:
        """The model that was used for each system."""
        return tuple(MODELS[k] for k in self.chosen.model)

    @property
    def labels_worth(self) -> Floats:
        """How many labels alone would give intervals as narrow, at 95%."""
        return self.means().labels_worth

    def means(self, *, alpha: float = 0.05) -> Estimates:
        """Return the mean of every system."""
        open_unit(alpha=alpha)
        ends = [_mean_ends(self, of, alpha) for of in (self.chosen, self.alone)]
        return _estimates(self._shown(self.chosen), ends, self.labels, alpha)

    def difference(self, first: ArrayLike, second: ArrayLike, *, alpha: float = 0.05) -> Estimates:
        """Return how much higher the *first* systems score than the *second*, pair by pair.

        The estimate is the difference of the two means shown. Systems labelled on the same items
        are compared item by item; others by MOVER, which does not use what they have in common.
        For :func:`accuracies` each accuracy is over the items that its column voted on, and a
        column that was always right (or never) is compared by MOVER too.

        Parameters
        ----------
        first, second
            Positions of systems: two numbers, or two arrays of many pairs.
        alpha
            One minus the level.

        Examples
        --------
        >>> item = np.tile(np.arange(100), 2)
        >>> y = np.where(item < 20, np.repeat([1.0, 0.5], 100), np.nan)
        >>> rows = Rows(y=y, grades=np.zeros((200, 1)), system=np.repeat([0, 1], 100), item=item)
        >>> print(fit(rows, pass_fail=False).difference(0, 1).interval[0])
        [0.320, 0.588] (95%, approximate)
        """
        open_unit(alpha=alpha)
        a, b = self._positions(first, second)
        ends = [self._pair_ends(of, a, b, alpha) for of in (self.chosen, self.alone)]
        labels = np.minimum(self.labels[a], self.labels[b])
        return _estimates(self._gap(self.chosen, a, b), ends, labels, alpha)

    def mean_levels(self, alpha: Floats) -> Ends:
        """Return both ends of every mean, each at its own level."""
        return _mean_ends(self, self.chosen, alpha)

    def difference_levels(self, first: ArrayLike, second: ArrayLike) -> Callable[[Floats], Ends]:
        """Return both ends of the same differences as a function of their levels, one each."""
        return self._pairs_at(self.chosen, *self._positions(first, second))

    def pairs(self, *, rng: Rng, alpha: float = 0.05, draws: int = 20_000) -> FewPairs:
        r"""Tell all systems apart, with the error over all pairs held.

        For systems labelled on the same items, step-down max-T on

        .. math:: T = \frac{|\Delta| - \varepsilon}{\sqrt{(1/m - 1/N)(s^2 + g |\Delta|)}},   \tag{F7}

        against Gaussian draws with the covariance of the left-out residuals, divided by
        :math:`\sqrt{\chi^2_{m-1}/(m-1)}`. Otherwise Holm's rule on the MOVER intervals.

        Parameters
        ----------
        rng
            Seed or generator.
        alpha
            One minus the simultaneous level.
        draws
            Gaussian draws.

        Examples
        --------
        >>> item = np.tile(np.arange(100), 2)
        >>> y = np.where(item < 20, np.repeat([1.0, 0.5], 100), np.nan)
        >>> rows = Rows(y=y, grades=np.zeros((200, 1)), system=np.repeat([0, 1], 100), item=item)
        >>> pairs = fit(rows, pass_fail=False).pairs(rng=1)
        >>> pairs.method, pairs.adjusted_p.round(3).tolist()
        ('max-T', [0.002])
        """
        open_unit(alpha=alpha)
        whole(1, draws=draws)
        whole(2, systems=self.labels.size)
        first, second = np.triu_indices(self.labels.size, 1)
        if self.shared or all(
            self._same(a, b) for a, b in zip(first.tolist(), second.tolist(), strict=True)
        ):
            return _max_t(self, first, second, as_rng(rng), (alpha, draws))
        return _holm_pairs(self, first, second, alpha)

    @property
    def expected(self) -> Floats:
        """The forecast label of every row that stands for something."""
        shown = np.nan_to_num(self._shown(self.chosen), nan=0.5)
        return np.clip(shown[self.design.system] + self.chosen.forecast, 0.0, 1.0)

    def labels_for(self, half_width: float, *, alpha: float = 0.05) -> Floats:
        """Forecast how many labels in all bring each mean to this half-width; infinity for never.

        The moments per label stay as they are and the interval's own equation is solved for m.

        Examples
        --------
        >>> y = np.where(np.arange(1000) < 40, np.arange(1000) % 4 > 0, np.nan)
        >>> fit(Rows(y=y, grades=np.zeros((1000, 1))), pass_fail=True).labels_for(0.05).round()
        array([226.])
        """
        positive(half_width=half_width)
        open_unit(alpha=alpha)
        moments = self._moments

        def enough(at: ResidualMoments) -> NDArray[np.bool_]:
            down, up = reaches(at, self._rule("mean", at, alpha, self.chosen), new=self._new)
            return (down + up) / 2 <= half_width

        return self._first_enough(moments, enough) * self._rows_per_unit(...)

    def forecast_pairs(
        self,
        first: ArrayLike,
        second: ArrayLike,
        *,
        gap: ArrayLike | None = None,
        spread: float = 1.0,
        alpha: float = 0.05,
        power: float = 0.8,
    ) -> Floats:
        """Forecast how many labels per system in all show that pairs differ by *gap*.

        By default they differ as estimated; errors are *spread* times as large as they look. With
        probability *power*; infinity if no number does. All of these items settle it anyway.
        """
        a, b = self._positions(first, second)
        moments = self._of_pairs(self.chosen, a, b)
        differ = np.asarray(moments.estimate if gap is None else gap, dtype=np.float64)
        differ = np.copysign(differ, moments.estimate)
        units = self._settling("difference", moments, differ, spread, (alpha, power))
        return units * self.labels[a] / moments.units

    def forecast_against(
        self, value: float, *, spread: float = 1.0, alpha: float = 0.05, power: float = 0.8
    ) -> Floats:
        """Forecast how many labels show that each mean is not this value; see `forecast_pairs`."""
        differ = self._moments.estimate - value
        units = self._settling("mean", self._moments, differ, spread, (alpha, power))
        return units * self._rows_per_unit(...)

    def _settling(
        self,
        kind: Kind,
        moments: ResidualMoments,
        differ: Floats,
        spread: float,
        level: tuple[float, float],
    ) -> Floats:
        """Return how many units make an interval end short of a distance, with some power."""
        from scipy.special import ndtri

        alpha, power = level
        open_unit(alpha=alpha, power=power)
        positive(spread=spread)
        sure = float(ndtri(power))
        seen = replace(moments, square=moments.square * spread**2, cube=moments.cube * spread**3)

        def enough(at: ResidualMoments) -> NDArray[np.bool_]:
            down, up = reaches(at, self._rule(kind, at, alpha, self.chosen), new=self._new)
            doubt = at.left(new=self._new) * at.square / (at.units - 1) / at.units + at.chance
            return np.abs(differ) >= np.where(differ < 0, up, down) + sure * np.sqrt(doubt)

        return self._first_enough(seen, enough)

    @property
    def _new(self) -> bool:
        return self.population == "new"

    @cached_property
    def _moments(self) -> ResidualMoments:
        return mean_moments(self.design, self.chosen, self.alone, new=self._new)

    @cached_property
    def _every_pair(self) -> ResidualMoments:
        first, second = np.triu_indices(self.labels.size, 1)
        return pair_moments(self.design, self.chosen, self.alone, first, second, new=self._new)

    def _of_pairs(self, of: Fit, a: Codes, b: Codes) -> ResidualMoments:
        """Return the moments of differences; those of all pairs are summed up once."""
        k = self.labels.size
        if of is not self.chosen or k > MANY or (a >= b).any():
            return pair_moments(self.design, of, self.alone, a, b, new=self._new)
        return self._every_pair.take(a * (2 * k - a - 1) // 2 + b - a - 1)

    def _rule(
        self, kind: Kind, moments: ResidualMoments, alpha: float | Floats, of: Fit
    ) -> ReachRule:
        return rule(kind, moments, alpha, Sort(self.pass_fail, of.model, self.design.clustered))

    def _shown(self, of: Fit) -> Floats:
        """Return the estimates within what logic allows, NaN without a label."""
        within = np.clip(of.estimate, self.design.least, self.design.most)
        return np.where(self.labels > 0, within, np.nan)

    def _gap(self, of: Fit, a: Codes, b: Codes) -> Floats:
        """Return differences of the estimates shown, within what is possible."""
        shown = self._shown(of)
        return np.asarray(np.clip(shown[a] - shown[b], *self._possible(a, b)))

    def _possible(self, a: Codes, b: Codes) -> Ends:
        """Return between what each difference lies, whatever the labels that are missing are."""
        if self._new:
            return np.full(a.size, -1.0), np.full(a.size, 1.0)
        design = self.design
        low, high = design.least[a] - design.most[b], design.most[a] - design.least[b]
        for k, (i, j) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
            ends = None if self.votes is None else _left_open(*self.votes, i, j)
            if ends is not None:
                low[k], high[k] = ends
        return low, high

    def _positions(self, first: ArrayLike, second: ArrayLike) -> tuple[Codes, Codes]:
        a, b = np.broadcast_arrays(np.atleast_1d(first), np.atleast_1d(second))
        for name, at in (("first", a), ("second", b)):
            whole(0, **{name: at})
        return a.astype(np.intp), b.astype(np.intp)

    def _same(self, a: int, b: int) -> bool:
        """Say whether both systems were labelled on the same units."""
        inside = self.design.share[:, [a, b]] > 0
        return bool(
            self.shared
            or (self.design.units[[a, b]].min() > 1 and (inside[:, 0] == inside[:, 1]).all())
        )

    def _slack(self, a: Codes, b: Codes) -> Floats:
        """Return by how much a difference is widened: one output more or less in each system."""
        if self._new:
            return np.zeros(a.size)
        labels = np.maximum(self.labels[a], self.labels[b])
        return _widening(labels, np.minimum(self.outputs[a], self.outputs[b]), 2.0)

    def _pair_ends(self, of: Fit, a: Codes, b: Codes, alpha: float) -> Ends:
        return self._pairs_at(of, a, b)(np.full(a.size, alpha))

    def _pairs_at(self, of: Fit, a: Codes, b: Codes) -> Callable[[Floats], Ends]:
        """Return both ends of differences as a function of their levels."""
        same = np.array([self._same(i, j) for i, j in zip(a, b, strict=True)], dtype=bool)
        (i, j), apart = (a[same], b[same]), (a[~same], b[~same])
        moments = None
        if same.any():
            moments = self._of_pairs(of, i, j)
        common = self._in_common(of, *apart)

        def at(level: Floats) -> Ends:
            low, high = np.empty(a.size), np.empty(a.size)
            if moments is not None:
                by = self._rule("difference", moments, level[same], of)
                low[same], high[same] = self._around(of, moments, by, i, j)
            if apart[0].size:
                low[~same], high[~same] = self._mover(of, *apart, level[~same], common)
            return low, high

        return at

    def _around(self, of: Fit, moments: ResidualMoments, by: ReachRule, a: Codes, b: Codes) -> Ends:
        """Finish differences: widened, within logic, and around the estimate shown."""
        least, most = self._possible(a, b)
        down, up = reaches(moments, by, new=self._new)
        silent = self._silent(a, b)
        if silent.any():
            apart = self._apart(of, a, b, by.t)
            down, up = (
                np.where(silent, np.maximum(*both), both[0])
                for both in zip((down, up), apart, strict=True)
            )
        slack = self._slack(a, b)
        low = np.clip(moments.estimate - down - slack, least, most)
        high = np.clip(moments.estimate + up + slack, least, most)

        known = self.design.usable[a] & self.design.usable[b]
        gap = self._gap(of, a, b)
        return (
            np.fmin(np.where(known, low, least), gap),
            np.fmax(np.where(known, high, most), gap),
        )

    def _silent(self, a: Codes, b: Codes) -> NDArray[np.bool_]:
        """Say which pairs of columns cannot be trusted to err together as their residuals do.

        Each column has a slope of its own. One whose labels are all equal adds no spread to a
        difference, however few its labels are; and residuals of two different models say little of
        how the two columns go together.
        """
        still = self.design.times @ self.alone.influence**2 < TINY**2
        unlike = self.chosen.model[a] != self.chosen.model[b]
        return np.asarray((still[a] | still[b] | unlike) & self.shared)

    def _apart(self, of: Fit, a: Codes, b: Codes, t: Floats) -> Ends:
        """Return the reaches of differences from those of the two means, as MOVER does."""
        parts = []
        for at in (a, b):
            moments = mean_moments(self.design, of, self.alone, new=self._new).take(at)
            sort = Sort(self.pass_fail, of.model[at], self.design.clustered[at])
            by = replace(rule("mean", moments, CHOICE, sort), t=t)
            parts.append(reaches(moments, by, new=self._new))
        (down_a, up_a), (down_b, up_b) = parts
        return np.hypot(down_a, up_b), np.hypot(up_a, down_b)

    def _touching(self, a: Codes, b: Codes, ahead: Floats) -> Floats:
        """Return the t at which the reach of :meth:`_apart` towards 0 is *ahead*."""
        low, high = np.full(a.size, 1e-6), np.full(a.size, LARGEST)
        falls = self.chosen.estimate[a] < self.chosen.estimate[b]
        for _ in range(HALVINGS):
            middle = np.sqrt(low * high)
            toward = np.where(falls, *self._apart(self.chosen, a, b, middle)[::-1])
            low, high = (
                np.where(toward < ahead, middle, low),
                np.where(toward < ahead, high, middle),
            )
        return low

    def _in_common(self, of: Fit, a: Codes, b: Codes) -> tuple[Floats, Floats]:
        """Return which part of their units pairs share, and how their errors go together there."""
        design = self.design
        shared, correlation = np.zeros(a.size), np.zeros(a.size)
        for k, (i, j) in enumerate(zip(a, b, strict=True)):
            common = (design.share[:, i] > 0) & (design.share[:, j] > 0)
            times, x = design.times[common], of.influence[common][:, [i, j]]
            if times.sum() == 0:
                continue
            products = (x * times[:, None]).T @ x
            scale = np.sqrt(products[0, 0] * products[1, 1])
            shared[k] = times.sum() / np.sqrt(design.units[i] * design.units[j])
            # Too few common units to show a correlation: the worst one is assumed.
            correlation[k] = -1.0 if times.sum() < 5 else products[0, 1] / scale if scale else 0.0
        return shared, correlation

    def _mover(
        self, of: Fit, a: Codes, b: Codes, alpha: Floats, common: tuple[Floats, Floats]
    ) -> Ends:
        """Combine two intervals; common units count only where they widen the difference."""
        parts = []
        for at in (a, b):
            low, high = _mean_ends(self, of, alpha, at)
            parts.append((np.clip(np.nan_to_num(of.estimate[at], nan=0.5), low, high), low, high))
        return difference_ends(parts[0], parts[1], shared=common[0], correlation=common[1])

    def _rows_per_unit(self, at: Codes | EllipsisType) -> Floats:
        return np.asarray(self.labels[at] / np.maximum(self.design.units[at], 1.0))

    def _first_enough(
        self, moments: ResidualMoments, enough: Callable[[ResidualMoments], NDArray[np.bool_]]
    ) -> Floats:
        """Return the least number of units at which *enough* holds, by halving."""
        most = np.where(self._new, 1e9, moments.units / np.maximum(moments.fraction, 1e-12))
        low, high = np.full(most.size, 2.0), np.maximum(most, 2.0)
        reachable = enough(moments.at(high))
        for _ in range(FORECASTS):
            middle = np.sqrt(low * high)
            holds = enough(moments.at(middle))
            low, high = np.where(holds, low, middle), np.where(holds, middle, high)
        return np.where(reachable, high, np.inf)


def fit(rows: Rows, *, pass_fail: bool, population: Population = "these") -> FewLabels:
    r"""Estimate the mean label of every system from few labels and all grades.

    Parameters
    ----------
    rows
        What was labelled and graded.
    pass_fail
        Whether labels can only be 0 or 1. This is the declared scale, never read off the labels:
        twenty 1s say more if nothing between 0 and 1 is possible.
    population
        ``these`` outputs, or ``new`` ones like them.

    Returns
    -------
    FewLabels
        Its model is the one with the least mean width over systems at 95% (F9), one for all
        systems, so that differences of scores add up.

    Examples
    --------
    Two hundred outputs, one judge, forty labels of which three contradict it:

    >>> judge = (np.arange(200) % 10 < 7).astype(float)
    >>> y = np.where(np.arange(200) < 40, judge, np.nan)
    >>> y[[0, 9, 20]] = 1 - y[[0, 9, 20]]
    >>> found = fit(Rows(y=y, grades=judge[:, None]), pass_fail=True)
    >>> print(found.model, found.means().interval[0])
    ('consensus',) [0.580, 0.760] (95%, approximate)
    >>> print(found.means().labels_only[0], found.labels_worth.round())
    [0.535, 0.800] (95%, approximate) [87.]
    """
    check_population(population)
    whole(1, labels=np.isfinite(check_labels(rows.y, pass_fail)).sum())
    return _chosen(rows, pass_fail, population)


def each_judge(
    rows: Rows, *, pass_fail: bool, population: Population = "these"
) -> tuple[FewLabels, ...]:
    """Estimate the same from every judge alone, as :func:`fit` would from its grades."""
    table = LabelTable.of(rows, pass_fail=pass_fail)
    return tuple(
        _narrowest(replace(table, grades=table.grades[:, [j]]), pass_fail, population)
        for j in range(table.grades.shape[1])
    )


def _chosen(rows: Rows, pass_fail: bool, population: Population) -> FewLabels:
    return _narrowest(LabelTable.of(rows, pass_fail=pass_fail), pass_fail, population)


def _narrowest(table: LabelTable, pass_fail: bool, population: Population) -> FewLabels:
    """Fit every model and keep the one with the narrowest intervals."""
    design, labelled = table.design, table.labelled
    z, penalties = features(
        table.grades, table.classes, design.system, design.mass, design.labels.size
    )
    if (design.labels >= design.outputs).all():
        penalties = {0: penalties[0]}  # every label is known, so there is nothing to forecast

    best, least = None, np.inf
    for model, penalty in penalties.items():
        one = solve(design, labelled, z, penalty, model)
        one = replace(one, estimate=np.where(design.usable, one.estimate, table.first_mean))
        alone = one if best is None else best.alone
        found = FewLabels(
            design=design, alone=alone, chosen=one, pass_fail=pass_fail, population=population
        )
        low, high = _mean_ends(found, one, CHOICE)
        width = float((high - low)[design.usable].sum())
        if best is None or width < least - 1e-12:  # (F9)
            best, least = found, width
    assert best is not None
    return best


def accuracies(
    codes: ArrayLike,
    truth: ArrayLike,
    *,
    counts: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    columns: Sequence[int] | None = None,
    grades: Sequence[float] | None = None,
    population: Population = "these",
) -> FewLabels:
    """Estimate how often each column of votes is right, from the truth of few items.

    For column j the label is [vote = truth] and the other columns' grades are whether they agree
    with j; the class voted is a feature. Items on which j did not vote are not in its population. A
    row stands for ``counts`` identical items, exactly as if it were written out, so votes may be
    counted into patterns first; labelled and unlabelled items of one pattern are two rows.

    Parameters
    ----------
    codes
        Votes, rows x columns, whole numbers; -1 is a blank. A vote for a class that the truth never
        takes is always wrong.
    truth
        The true class of each row, -1 where unknown.
    counts, weight
        As in :class:`Rows`.
    columns
        Which columns are estimated; the others only forecast. Default: all.
    grades
        What the classes stand for, if they are grades in order. "Right" is then how near a vote
        comes: 1 less its distance from the truth as a share of the scale, and 0 for a vote that is
        no class.
    population
        ``these`` items, or ``new`` ones like them.

    Returns
    -------
    FewLabels
        Columns take the place of systems. A column without a labelled vote has the estimate NaN and
        the interval that logic allows.

    Examples
    --------
    >>> truth = np.arange(150) % 2
    >>> place = np.arange(150)
    >>> votes = np.stack([np.where(place % 5 == 0, 1, truth), np.where(place % 7 == 1, 1 - truth, truth),
    ...                   np.where(place % 4 == 3, 0, truth)], axis=1)
    >>> found = accuracies(votes, np.where(place < 30, truth, -1))
    >>> print(found.means().interval[0])
    [0.800, 0.980] (95%, approximate)
    """
    check_population(population)
    votes, right = _votes(codes, truth)
    whole(1, votes=votes.size)
    options = {"count": counts, "weight": weight}
    arrays = {k: np.asarray(v) for k, v in options.items() if v is not None}
    one_per("row", right.size, **arrays)

    # A row that stands for nothing is no row, for every column alike.
    real = np.ones(right.size, dtype=bool)
    for name in ("count", "weight"):
        if name in arrays:
            real &= arrays[name] != 0
    mass = real.astype(float)
    for name in ("count", "weight"):
        mass = mass * arrays.get(name, 1.0)
    wanted = np.arange(votes.shape[1]) if columns is None else np.asarray(columns)
    shown = (votes[:, wanted], right, mass)
    inside = (votes >= 0) & real[:, None]
    if grades is None and votes.shape[1] > MOST and inside[:, wanted].any(axis=0).all():
        return replace(
            _crowd(votes, right, inside[:, wanted], wanted, arrays, population), votes=shown
        )

    alike = _alike if grades is None else _nearness(grades)
    found = []
    for j in wanted.tolist():
        at = np.flatnonzero(inside[:, j])
        own, others = votes[at, j], np.delete(votes[at], j, axis=1)
        agrees = np.where(others >= 0, alike(others, own[:, None]), np.nan)
        y = np.where(right[at] >= 0, alike(own, right[at]), np.nan)
        rows = Rows(
            y=y, grades=agrees, classes=own, item=at, **{k: v[at] for k, v in arrays.items()}
        )
        found.append((_chosen(rows, grades is None, population), at))
    stacked = replace(_stacked(found, population), pass_fail=grades is None)
    return stacked if grades is not None else replace(stacked, votes=shown)


def prevalences(
    codes: ArrayLike,
    truth: ArrayLike,
    *,
    n_classes: int,
    counts: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    probability: ArrayLike | None = None,
    population: Population = "these",
) -> tuple[FewLabels, ...]:
    """Estimate the share of each class: the mean of [truth = class], graded by [vote = class].

    With two classes this is :func:`fit` on pass/fail grades of the same judges.

    Parameters
    ----------
    codes, truth, counts, weight, population
        As in :func:`accuracies`.
    probability
        As in :class:`Rows`.
    n_classes
        Classes that the truth can take.

    Examples
    --------
    >>> votes = (np.arange(200) % 10 < 7).astype(int)[:, None]
    >>> truth = np.where(np.arange(200) < 40, votes[:, 0], -1)
    >>> [str(one.means().interval[0]) for one in prevalences(votes, truth, n_classes=2)]
    ['[0.245, 0.360] (95%, approximate)', '[0.640, 0.755] (95%, approximate)']
    """
    whole(1, n_classes=n_classes)
    votes, right = _votes(codes, truth)
    crowd = _Crowd.of(votes) if votes.shape[1] > MOST else None
    found = []
    for c in range(n_classes):
        said = np.where(votes >= 0, votes == c, np.nan) if crowd is None else crowd.share(c)
        rows = Rows(
            y=np.where(right >= 0, right == c, np.nan),
            grades=said,
            count=counts,
            weight=weight,
            probability=probability,
        )
        found.append(fit(rows, pass_fail=True, population=population))
    return tuple(found)


# Accuracies: one fit per column, put side by side.


def _alike(a: Codes, b: Codes) -> NDArray[Any]:
    return np.asarray(a == b)


def _nearness(grades: Sequence[float]) -> Callable[[Codes, Codes], Floats]:
    """Return how near two codes are: 1 less their distance as a share of the scale."""
    scale = np.asarray(grades, dtype=np.float64)
    table = 1 - np.abs(scale[:, None] - scale) / np.ptp(scale)
    table = np.pad(table, (0, 1))  # a vote beyond the classes is near to nothing

    def near(a: Codes, b: Codes) -> Floats:
        return np.asarray(table[np.clip(a, -1, scale.size), np.clip(b, -1, scale.size)])

    return near


@dataclass(frozen=True, eq=False)
class _Crowd:
    """How many columns gave each vote on each row, copies counted once.

    With many columns only the mean of what the others say is a feature, so nobody needs the others
    one by one: their cost would grow with the square of the columns.
    """

    cast: Floats
    total: Floats

    @classmethod
    def of(cls, votes: Codes) -> _Crowd:
        first = {column.tobytes(): j for j, column in enumerate(np.ascontiguousarray(votes.T))}
        entry, column = np.nonzero(votes[:, sorted(first.values())] >= 0)
        said = votes[:, sorted(first.values())][entry, column]
        size = int(votes.max(initial=0)) + 1
        cast = _counted(entry * size + said, len(votes) * size).reshape(-1, size)
        return cls(cast, cast.sum(axis=1))

    def agreement(self, at: Codes, own: Codes) -> Floats:
        """Return which share of the others agree with a vote; NaN where there are none."""
        others, same = self.total[at] - 1, self.cast[at, own] - 1
        share = np.divide(same, others, out=np.full(at.size, np.nan), where=others > 0)
        return np.asarray(share[:, None])

    def share(self, c: int) -> Floats:
        """Return the share of votes for a class; NaN where there are none."""
        nothing = np.full(self.total.size, np.nan)
        if c >= self.cast.shape[1]:
            return np.where(self.total > 0, 0.0, nothing)[:, None]
        share = np.divide(self.cast[:, c], self.total, out=nothing, where=self.total > 0)
        return np.asarray(share[:, None])


def _counted(codes: Codes, size: int) -> Floats:
    return np.bincount(codes, minlength=size).astype(np.float64)


def _crowd(
    votes: Codes,
    right: Codes,
    inside: NDArray[np.bool_],
    wanted: Codes,
    arrays: dict[str, NDArray[Any]],
    population: Population,
) -> FewLabels:
    """Fit all columns of a crowd at once: they are systems that share one slope.

    A worker of a crowd has too few labels for a slope of its own.
    """
    at, system = np.nonzero(inside)
    own = votes[at, wanted[system]]
    rows = Rows(
        y=np.where(right[at] >= 0, own == right[at], np.nan),
        grades=_Crowd.of(votes).agreement(at, own),
        classes=own,
        system=system,
        item=at,
        **{k: v[at] for k, v in arrays.items()},
    )
    return replace(_chosen(rows, True, population), shared=True)


def _left_open(
    votes: Codes, truth: Codes, mass: Floats, a: int, b: int
) -> tuple[float, float] | None:
    """Return what labels can still make of the difference of two columns; None if their items
    differ.
    """
    first, second = votes[:, a], votes[:, b]
    inside = (first >= 0) & (mass > 0)
    if not np.array_equal(inside, (second >= 0) & (mass > 0)):
        return None
    known, total = truth >= 0, float(mass[inside].sum())
    right = [float(mass @ ((votes[:, j] == truth) & known)) for j in (a, b)]
    open_ = float(mass @ ((first != second) & ~known & inside))
    ahead = right[0] - right[1]
    return (ahead - open_) / total, (ahead + open_) / total


def _votes(codes: ArrayLike, truth: ArrayLike) -> tuple[Codes, Codes]:
    whole(-1, codes=codes, truth=truth)
    votes, right = np.asarray(codes).astype(np.intp), np.asarray(truth).astype(np.intp)
    one_per("row", len(votes), truth=right)
    return votes, right


def _stacked(found: list[tuple[FewLabels, Codes]], population: Population) -> FewLabels:
    """Put the fits of single columns side by side, joined by their units."""
    designs = [one.design for one, _ in found]
    labelled = [units[one.design.labelled] for one, units in found]
    joint = np.unique(np.concatenate(labelled))
    places = [np.searchsorted(joint, units) for units in labelled]

    def beside(columns: list[Floats]) -> Floats:
        out = np.zeros((joint.size, len(columns)))
        for j, (place, column) in enumerate(zip(places, columns, strict=True)):
            out[place, j] = column[:, 0]
        return out

    def joined(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(design, name) for design in designs])

    def fits(parts: list[Fit]) -> Fit:
        return Fit(
            estimate=np.concatenate([part.estimate for part in parts]),
            influence=beside([part.influence for part in parts]),
            forecast=np.concatenate([part.forecast for part in parts]),
            slope=np.zeros(0),
            model=np.concatenate([part.model for part in parts]),
        )

    times = np.ones(joint.size)
    for place, design in zip(places, designs, strict=True):
        times[place] = design.times
    design = LabelDesign(
        **{name: joined(name) for name in LabelDesign.__dataclass_fields__}
        | {
            "share": beside([design.share for design in designs]),
            "times": times,
            "labelled": joint,
            "system": np.repeat(np.arange(len(found)), [d.system.size for d in designs]),
            "unit": np.concatenate([units[one.design.unit] for one, units in found]),
        }
    )
    return FewLabels(
        design=design,
        alone=fits([one.alone for one, _ in found]),
        chosen=fits([one.chosen for one, _ in found]),
        pass_fail=True,
        population=population,
        shared=True,
    )


# Ends and tests.


def _mean_ends(found: FewLabels, of: Fit, alpha: float | Floats, at: Codes | None = None) -> Ends:
    """Return both finished ends of the means, of all systems or of those *at* these places."""
    design, new = found.design, found.population == "new"
    at = np.arange(design.labels.size) if at is None else at
    every = found._moments if of is found.chosen else mean_moments(design, of, of, new=new)
    moments = every.take(at)
    sort = Sort(found.pass_fail, of.model[at], design.clustered[at])
    down, up = reaches(moments, rule("mean", moments, alpha, sort), new=new)
    low, high = moments.estimate - down, moments.estimate + up

    least, most = np.zeros(at.size), np.ones(at.size)
    if not new:
        # Whole outputs pass or fail; other means may be off by one output.
        least, most, size = design.least[at], design.most[at], np.maximum(design.outputs[at], 1.0)
        by = _widening(design.labels[at], design.outputs[at], 1.0)
        exact = design.equal[at] & found.pass_fail
        low = np.where(exact, np.floor(size * low + TINY) / size, low - by)
        high = np.where(exact, np.ceil(size * high - TINY) / size, high + by)
    low, high = np.clip(low, least, most), np.clip(high, least, most)
    known = design.usable[at]
    return np.where(known, low, least), np.where(known, high, most)


def _widening(labels: Floats, outputs: Floats, width: float) -> Floats:
    rest = np.maximum(outputs - labels, TINY)
    return np.asarray(np.minimum(1.0, labels / rest) * width / np.maximum(outputs, 1.0))


def _estimates(
    estimate: Floats, ends: list[tuple[Floats, Floats]], labels: Floats, alpha: float
) -> Estimates:
    used, alone = (Intervals(*end, level=1 - alpha, method=METHOD) for end in ends)
    ratio = np.divide(alone.width, used.width, out=np.ones(labels.size), where=used.width > 0)
    return Estimates(
        estimate=estimate, interval=used, labels_only=alone, labels_worth=labels * ratio**2
    )


def _max_t(
    found: FewLabels,
    first: Codes,
    second: Codes,
    generator: np.random.Generator,
    options: tuple[float, int],
) -> FewPairs:
    """Test all pairs of systems that were labelled on the same items."""
    from scipy.special import stdtr, stdtrit

    alpha, draws = options
    design, of = found.design, found.chosen
    moments = found._of_pairs(of, first, second)
    # Two systems are one difference: nothing has to be held over several pairs.
    if first.size > 1 and found.pass_fail:
        few = np.clip(2 - 2 * moments.units / FADED, 0.0, 1.0)
        moments = replace(moments, square=moments.square + PSEUDO * few)
    by = found._rule("pairs" if first.size > 1 else "difference", moments, alpha, of)
    gap = np.abs(moments.estimate)

    # (F7): the interval's own equation, solved for t at the end that points to 0.
    down, up = (growth(moments, by.a, upper=end)[0] for end in (False, True))
    doubt = moments.square / (moments.units - 1) + np.where(moments.estimate > 0, down, up) * gap
    left = moments.left(new=found._new)
    doubt = np.maximum(left / moments.units * doubt + moments.chance, 0.0)
    ahead = np.maximum(gap - found._slack(first, second), 0.0)
    certain = np.where(gap > TINY, LARGEST, 0.0)  # every item is labelled
    statistic = np.divide(ahead, np.sqrt(doubt), out=certain, where=doubt > 0)
    silent = np.flatnonzero(found._silent(first, second) & (doubt > 0))
    if silent.size:
        touching = found._touching(first[silent], second[silent], ahead[silent])
        statistic[silent] = np.minimum(statistic[silent], touching)
    known = design.usable[first] & design.usable[second]
    statistic = np.where(known, np.minimum(statistic, LARGEST), 0.0)
    freedom = np.maximum(moments.units / moments.w2 - 1, 0.1)
    p_value = np.where(statistic >= LARGEST, 0.0, 2 * stdtr(freedom, -statistic))

    # What no missing label could change is certain.
    least, most = found._possible(first, second)
    apart, alike = (least > TINY) | (most < -TINY), most - least <= TINY
    p_value = np.where(apart, 0.0, np.where(alike, 1.0, p_value))
    ends = partial(found._around, of, moments)
    single = FewPairs(
        first=first,
        second=second,
        difference=found._gap(of, first, second),
        statistic=np.where(apart, LARGEST, statistic),
        p_value=p_value,
        adjusted_p=p_value,
        interval=Intervals(*ends(by, first, second), level=1 - alpha, method=METHOD),
        quantile=float(np.max(by.t)),
        method="max-T",
    )
    if first.size == 1:
        return single

    # Westfall and Young's step-down, with one χ² per draw for the unknown spread. Pairs with fewer
    # labels than others are put on the scale of the others by their own p-values.
    common = float(np.max(freedom))
    bar = np.where(freedom == common, statistic, -stdtrit(common, np.maximum(p_value, 1e-300) / 2))
    off = of.influence - design.times @ of.influence / max(design.times.sum(), 1.0)
    covariance = off.T @ (off * design.times[:, None])
    adjusted, largest = adjusted_by_draws(
        covariance,
        (first, second),
        bar,
        p_value,
        draws,
        generator,
        stretch=1 / np.sqrt(generator.chisquare(common, size=draws) / common),
    )
    adjusted = np.where(p_value == 0, 0.0, np.where(alike & ~apart, 1.0, adjusted))

    quantile = upper_quantile(largest, alpha)
    own = np.where(freedom == common, quantile, -stdtrit(freedom, stdtr(common, -quantile)))
    by = replace(by, t=np.minimum(np.maximum(own, by.t), LARGEST))
    interval = ends(by, first, second)
    return replace(
        single,
        adjusted_p=adjusted,
        interval=Intervals(*interval, level=1 - alpha, method=f"{METHOD}, simultaneous"),
        quantile=float(quantile),
    )


def _holm_pairs(found: FewLabels, first: Codes, second: Codes, alpha: float) -> FewPairs:
    """Test all pairs of systems that were labelled on different items."""
    shown, ends_at = found._shown(found.chosen), found._pairs_at(found.chosen, first, second)
    method = f"{METHOD}, Bonferroni"
    return holm_pairs(ends_at, first, second, shown[first] - shown[second], alpha, method=method)


def holm_pairs(
    ends_at: Callable[[Floats], Ends],
    first: Codes,
    second: Codes,
    difference: Floats,
    alpha: float,
    *,
    method: str,
    guarantee: Guarantee = "approximate",
    halvings: int = HALVINGS,
) -> FewPairs:
    """Test pairs by their intervals: p-values invert them, Holm adjusts, Bonferroni widens.

    *ends_at* returns both ends of all differences, each at its own level.
    """
    from scipy.special import ndtri

    p_value = least_alpha(ends_at, 0.0, first, halvings=halvings)
    low, high = ends_at(np.full(first.size, alpha / first.size))
    low, high = np.minimum(low, difference), np.maximum(high, difference)
    return FewPairs(
        first=first,
        second=second,
        difference=difference,
        statistic=-ndtri(p_value / 2),
        p_value=p_value,
        adjusted_p=holm(p_value),
        interval=Intervals(low, high, level=1 - alpha, guarantee=guarantee, method=method),
        quantile=float(-ndtri(alpha / first.size / 2)),
        method="Holm",
    )


def least_alpha(
    ends_at: Callable[[Floats], Ends], value: float, like: NDArray[Any], *, halvings: int = HALVINGS
) -> Floats:
    """Return the level at which each interval just touches a value: its p-value.

    >>> least_alpha(lambda level: (level - 0.1, np.ones(1)), 0.1, np.ones(1)).round(6).tolist()
    [0.2]
    """
    low, p_value = np.full(like.size, 1e-12), np.ones(like.size)
    for _ in range(halvings):
        middle = np.sqrt(low * p_value)
        ends = ends_at(np.minimum(middle, 1 - TINY))
        excluded = (ends[0] > value) | (ends[1] < value)
        low, p_value = np.where(excluded, low, middle), np.where(excluded, middle, p_value)
    return p_value
