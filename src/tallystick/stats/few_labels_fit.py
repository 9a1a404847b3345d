r"""From few labels and many grades to moments, and from moments to the two ends of an interval.

The arithmetic behind :mod:`tallystick.stats.few_labels`, in the order of the walk: what was
labelled (:class:`LabelDesign`), one linear forecast per output (:func:`features`,
:func:`solve`), what the
left-out residuals look like (:class:`ResidualMoments`), and how far an interval reaches
(:func:`reach`). Equations are tagged F1 to F10.

A *unit* is what is labelled as a whole: an item with its outputs of all systems, or with several
rows of one. All sums run over units, so repeated rows need no case of their own. Every row may
stand for ``count`` identical ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.stats.exact_tails import at_least, closed_unit, one_per, whole, zero_or_one
from tallystick.stats.intervals import Floats

Codes: TypeAlias = NDArray[np.intp]
Kind: TypeAlias = Literal["mean", "difference", "pairs"]

CONSENSUS, SINGLE = 4.0, 8.0
"""Ridge penalties, in labels, of the consensus and of every other feature (all of variance 1)."""
TINY = 1e-9
LARGEST = 1e6
"""Student's quantile with hardly a degree of freedom is cut here: the reach is then the range."""
MOST = 20
"""With more judges than this the single ones are no features: only their consensus is."""
_MOST_CELLS = 1 << 20
"""Numbers in one array of a step that leaves units out."""
UNEQUAL = 0.3
"""Weights with a larger variance leave a pass/fail score no longer near binomial."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """One row per output: what humans and judges said of it, and what it stands for.

    Parameters
    ----------
    y
        Human labels on [0, 1], NaN where there is none.
    grades
        Grades of the judges, rows x judges, on any scale (usually that of y); NaN is a blank.
    system
        Which system made the output, from 0; one system by default.
    item
        Codes that join rows that are labelled together: outputs of several systems for one item, or
        the rows of one document. None: every row is an item of its own.
    count
        How many identical rows each stands for; equal for all rows of an item.
    weight
        Sampling weights: the target is the weighted mean over all rows.
    probability
        With which probability a row was chosen for labelling; read on labelled rows only.
    classes
        The class that each row belongs to for certain (e.g. the one voted), -1 for none. It becomes
        0/1 features of the third model.
    """

    y: ArrayLike
    grades: ArrayLike
    system: ArrayLike | None = None
    item: ArrayLike | None = None
    count: ArrayLike | None = None
    weight: ArrayLike | None = None
    probability: ArrayLike | None = None
    classes: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class LabelDesign:
    """What was labelled and what it stands for: the same for every model.

    ``share``, labelled units x systems, is the part of the weight of a system's labels that one
    such unit carries; ``times`` says how many identical units each stands for, ``labelled`` which
    they are. The arrays ``system`` to ``mass`` have one entry per row, the others one per system.
    """

    share: Floats
    times: Floats
    labelled: Codes
    system: Codes
    unit: Codes
    count: Floats
    mass: Floats
    labels: Floats
    outputs: Floats
    units: Floats
    every: Floats
    fraction: Floats
    excess: Floats
    least: Floats
    most: Floats
    clustered: NDArray[np.bool_]
    equal: NDArray[np.bool_]

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Systems with two labelled units: with fewer, only logic bounds the mean."""
        return self.units > 1


@dataclass(frozen=True, eq=False)
class LabelledEntries:
    """The labelled rows of usable systems, sorted so that the rows of a unit are neighbours."""

    y: Floats
    weight: Floats
    count: Floats
    system: Codes
    rows: Codes
    place: Codes
    blocks: tuple[Codes, ...]


@dataclass(frozen=True, eq=False)
class Fit:
    """One model: the raw estimates, what every labelled unit adds to their errors, and the forecast
    of every row.
    """

    estimate: Floats
    influence: Floats
    forecast: Floats
    slope: Floats
    model: Codes


# The table: every argument is checked here, once.


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Checked rows with the design that they make; ``first_mean`` is the mean label."""

    design: LabelDesign
    labelled: LabelledEntries
    grades: Floats
    classes: Floats
    first_mean: Floats

    @classmethod
    def of(cls, rows: Rows, *, pass_fail: bool) -> LabelTable:
        """Check the rows and say what was labelled."""
        y, grades = check_labels(rows.y, pass_fail), np.asarray(rows.grades, dtype=np.float64)
        if grades.ndim != 2 or len(grades) != y.size or np.isinf(grades).any():
            raise InputError(
                f"grades must be {y.size} rows x judges, finite or NaN, got shape {grades.shape}"
            )
        size, system = y.size, _codes("system", rows.system, y.size)
        n_systems = int(system.max(initial=0)) + 1
        count = _column("count", rows.count, y.size)
        whole(0, count=count)
        weight = _column("weight", rows.weight, y.size)
        at_least(0, weight=weight)

        # A row that stands for nothing is no row.
        keep = np.flatnonzero((count > 0) & (weight > 0))
        y, grades, count, weight = (part[keep] for part in (y, grades, count, weight))
        system = system[keep]
        unit = _units(rows, keep)
        copies = np.zeros(int(unit.max(initial=-1)) + 1)
        copies[unit] = count
        if (copies[unit] != count).any():
            raise InputError("count must be equal for all rows of an item")
        chosen = ~np.isnan(y)
        odds = _column("probability", rows.probability, chosen.size, keep)[chosen]
        if not ((odds > 0) & (odds <= 1)).all():
            raise InputError("probability must be in (0, 1] for every labelled row")

        # Weights count only against each other; dividing by the largest keeps equal ones exactly 1.
        weight = weight / weight.max(initial=0.0) if weight.size else weight
        heavy = weight[chosen] / odds
        heavy = heavy / heavy.max(initial=0.0) if heavy.size else heavy
        columns = _Columns(y, system, unit, count, weight, n_systems)
        design, labelled, mean = _designed(columns, np.flatnonzero(chosen), heavy)
        classes = np.zeros((y.size, 0))
        if rows.classes is not None:
            classes = class_columns(_codes("classes", rows.classes, size, -1)[keep])
        return cls(design, labelled, grades, classes, mean)


class _Columns(NamedTuple):
    """The columns of a table that say what stands for what."""

    y: Floats
    system: Codes
    unit: Codes
    times: Floats
    weight: Floats
    n_systems: int


def _designed(
    table: _Columns, rows: Codes, heavy: Floats
) -> tuple[LabelDesign, LabelledEntries, Floats]:
    """Return the design, the labelled rows, and the weighted mean label of each system."""
    y, system, unit, count, weight, k = table
    order = np.argsort(unit[rows], kind="stable")
    rows, heavy = rows[order], heavy[order]
    s, t = system[rows], count[rows]
    labels = _sums(s, t, k)
    w = heavy * (labels / np.maximum(_sums(s, t * heavy, k), 1e-300))[s]
    mean = _sums(s, t * w * y[rows], k) / np.where(labels > 0, labels, np.nan)

    labelled, local = np.unique(unit[rows], return_inverse=True)
    place = local * k + s
    share = _sums(place, w / labels[s], labelled.size * k).reshape(labelled.size, k)
    times = np.zeros(labelled.size)
    times[local] = t
    units = times @ (share > 0)

    # What a system holds of a unit: one row, or the several rows of a document.
    _, first, held, size = np.unique(
        unit * k + system, return_index=True, return_inverse=True, return_counts=True
    )
    of, copies = system[first], count[first]
    every = _sums(of, copies, k)
    clustered = _sums(of, size > 1, k) > 0
    outputs = _sums(system, count, k)
    fraction, excess = units / np.maximum(every, 1.0), np.ones(k)
    mass = count * weight
    total = _sums(system, mass, k)
    if clustered.any():
        seen = _sums(held[rows], None, size.size)
        partly = _sums(of, (seen > 0) & (seen < size), k) > 0
        part = np.minimum(fraction, labels / np.maximum(outputs, 1.0))
        fraction = np.where(clustered & partly, part, fraction)
        share_of = weight / total[system]
        whole, known = (
            _sums(held[at], share_of[at], size.size) for at in (np.arange(held.size), rows)
        )
        left = _sums(of, copies * (whole**2 - known**2), k)
        open_part = 1 - _sums(s, t * share_of[rows], k)
        excess = _excess(left, open_part, times @ share**2, units, fraction)

    known = _sums(s, mass[rows] * y[rows], k)
    rest = np.where(labels >= outputs, 0.0, total - _sums(s, mass[rows], k))
    safe = np.where(total > 0, total, 1.0)
    top, bottom = extremes(weight, system, k)
    design = LabelDesign(
        share=share,
        times=times,
        labelled=labelled,
        system=system,
        unit=unit,
        count=count,
        mass=mass,
        labels=labels,
        outputs=outputs,
        units=units,
        every=every,
        fraction=fraction,
        excess=excess,
        least=known / safe,
        most=np.where(total > 0, np.minimum((known + rest) / safe, 1.0), 1.0),
        clustered=clustered,
        equal=top == bottom,
    )
    inside = np.flatnonzero((units > 1)[s])
    entries = LabelledEntries(
        y=y[rows][inside],
        weight=w[inside],
        count=t[inside],
        system=s[inside],
        rows=rows[inside],
        place=place[inside],
        blocks=_blocks(local[inside]),
    )
    return design, entries, mean


def _excess(
    left: Floats, open_part: Floats, squares: Floats, units: Floats, fraction: Floats
) -> Floats:
    r"""Return how much more the unlabelled units leave open than units of equal size would.

    With M_c the part of the target that unit c holds, and u the part that is unlabelled, the mean
    of a system is off by

    .. math:: \sigma^2 \Bigl(\sum_{unlabelled} M_c^2 + u^2 \sum_{labelled} w_c^2\Bigr),   \tag{F11}

    which is :math:`\sigma^2 (1/n - 1/C)` for equal units, and more if a large one is missing.
    """
    needed = (left + open_part**2 * squares) / np.maximum(units * squares, 1e-300)  # (F11)
    usual = (1 - fraction) / np.maximum(units, 1.0)
    some = (usual > TINY) & (units > 1)
    return np.maximum(1.0, np.divide(needed, usual, out=np.ones_like(units), where=some))


def _blocks(unit: Codes) -> tuple[Codes, ...]:
    """Group neighbours of one unit: one array, units x rows, for each size of a unit."""
    _, start, size = np.unique(unit, return_index=True, return_counts=True)
    return tuple(start[size == one][:, None] + np.arange(one) for one in np.unique(size))


def check_labels(y: ArrayLike, pass_fail: bool) -> Floats:
    """Return the labels, or refuse what is not on the declared scale."""
    values = np.asarray(y, dtype=np.float64)
    given = values[~np.isnan(values)]
    one_per("row", values.size, y=values)
    (zero_or_one if pass_fail else closed_unit)(y=given)
    return values


def _column(name: str, values: ArrayLike | None, size: int, keep: Codes | None = None) -> Floats:
    if values is None:
        return np.ones(size)
    found = np.asarray(values, dtype=np.float64)
    found = found if keep is None or found.ndim != 1 else found[keep[keep < found.size]]
    one_per("row", size, **{name: found})
    return found


def _codes(name: str, values: ArrayLike | None, size: int, least: int = 0) -> Codes:
    found = np.zeros(size) if values is None else _column(name, values, size)
    whole(least, **{name: found})
    return found.astype(np.intp)


def _units(rows: Rows, keep: Codes) -> Codes:
    """Return codes from 0 of the units, for the rows that are kept."""
    if rows.item is None:
        return np.arange(keep.size)
    array, size = np.asarray(rows.item), np.asarray(rows.y).size
    one_per("row", size, item=array)
    return np.asarray(np.unique(array[keep], return_inverse=True)[1])


# Features: the judges that say anything, in an order of their own, as consensus and deviations.


def informative(grades: Floats, system: Codes, n_systems: int) -> Floats:
    """Drop judges that are constant within every system, or copies, and sort the others.

    The order is that of the columns' bytes, so neither names nor places of judges matter, to the
    last bit.
    """
    blank = np.isnan(grades)
    keep: dict[bytes, int] = {}
    for j in range(grades.shape[1]):
        given = ~blank[:, j]
        values, where = grades[given, j], system[given]
        top, bottom = extremes(values, where, n_systems)
        if np.any(top - bottom >= TINY):
            column = np.where(given, grades[:, j] + 0.0, np.inf)
            keep.setdefault(column.astype(">f8").tobytes(), j)
    return np.asarray(grades[:, [keep[column] for column in sorted(keep)]])


def class_columns(classes: Codes) -> Floats:
    """Return one 0/1 column for each class that occurs; two classes need one column, one none."""
    found = np.unique(classes[classes >= 0])
    found = found[: 1 if found.size == 2 else found.size if found.size > 2 else 0]
    return np.asarray(classes[:, None] == found, dtype=np.float64)


def features(
    grades: Floats, classes: Floats, system: Codes, mass: Floats, n_systems: int
) -> tuple[Floats, dict[int, Floats]]:
    """Return the features of all rows, and the penalties of models 0 (none), 1 (consensus), 2."""
    grades = informative(grades, system, n_systems)
    judges = grades.shape[1]
    parts = []
    if judges:
        # A blank grade is the mean of the output's other grades, or else of its system's.
        given = ~np.isnan(grades)
        filled, votes = np.where(given, grades, 0.0), given.sum(axis=1)
        per_system = _sums(system, mass * votes, n_systems)
        own = _sums(system, mass * filled.sum(axis=1), n_systems)
        own = np.divide(own, per_system, out=np.zeros(n_systems), where=per_system > 0)
        consensus = np.where(votes > 0, filled.sum(axis=1) / np.maximum(votes, 1), own[system])
        parts.append(consensus[:, None])
        if 1 < judges <= MOST:
            parts.append(np.where(given, grades - consensus[:, None], 0.0))
    z = np.hstack([*parts, classes])
    parts.clear()

    # Centred at the mean of its own system, so that a judge's bias towards a system cancels.
    total = np.maximum(_sums(system, mass, n_systems), 1e-300)
    # In place, a column at a time: these are the largest arrays of a verdict on many judges.
    for column, means in zip(
        z.T, (by_system(z, mass, system, n_systems) / total[:, None]).T, strict=True
    ):
        column -= means[system]
    scale = np.sqrt(mass @ z**2 / np.maximum(mass.sum(), 1e-300))
    z /= np.where(scale < TINY, 1.0, scale)
    z[:, scale < TINY] = 0.0

    penalties = {0: np.zeros(0)}
    lead = [CONSENSUS] * min(judges, 1)
    if lead:
        penalties[1] = np.array(lead)
    if z.shape[1] > len(lead):
        penalties[2] = np.array(lead + [SINGLE] * (z.shape[1] - len(lead)))
    return z, penalties


def _sums(codes: Codes, values: Floats | None, size: int) -> Floats:
    """Sum values, or count rows, by code."""
    return np.bincount(codes, values, size).astype(np.float64, copy=False)


def by_system(values: Floats, mass: Floats, system: Codes, n_systems: int) -> Floats:
    """Sum the columns of *values*, each row times its mass, within systems: systems x columns."""
    sums = [_sums(system, mass * column, n_systems) for column in values.T]
    return np.stack(sums, axis=1) if sums else np.zeros((n_systems, 0))


def extremes(values: Floats, system: Codes, n_systems: int) -> tuple[Floats, Floats]:
    """Return the largest and the smallest value of each system; both 0 where there is none."""
    top, bottom = np.full(n_systems, -np.inf), np.full(n_systems, np.inf)
    np.maximum.at(top, system, values)
    np.minimum.at(bottom, system, values)
    return np.where(top >= bottom, top, 0.0), np.where(top >= bottom, bottom, 0.0)


# The forecast: one slope for all systems, an intercept for each, and residuals with the unit left
# out.


def solve(
    design: LabelDesign, labelled: LabelledEntries, z: Floats, penalty: Floats, model: int
) -> Fit:
    r"""Fit one model by ridge regression and leave out one unit at a time.

    With bars for weighted means over the labelled rows of a system, and :math:`z^\circ = z - \bar
    z_s`, :math:`y^\circ = y - \bar y_s`,

    .. math:: A = \sum w z^\circ z^{\circ\top} + \mathrm{diag}\,\lambda, \quad
              \beta = A^{-1} \sum w z^\circ y^\circ, \quad
              \hat\mu_s = \bar y_s - \bar z_s \beta   \tag{F1}

    .. math:: x_c = \frac{n_s}{m_s} \Bigl(1 - \frac{w_c}{m_s}\Bigr)
              \sqrt{1 + m_s \bar z_s A^{-1} \bar z_s^\top} \sum_{i \in c} w_i e_{(i)}   \tag{F2}

    for a unit c of total weight :math:`w_c`. The estimate uses all labels and only the spread comes
    from left-out residuals: a mean of left-out residuals counts a rare failure twice.
    """
    one, s, n_systems = labelled, labelled.system, design.labels.size
    z = z[:, : penalty.size]
    inside, heavy = z[one.rows], one.count * one.weight
    m = np.where(design.usable, design.labels, 1.0)

    mean_y = _sums(s, heavy * one.y, n_systems) / m
    mean_z = by_system(inside, heavy, s, n_systems) / m[:, None]
    z0, y0 = inside - mean_z[s], one.y - mean_y[s]
    normal = (z0 * heavy[:, None]).T @ z0 + np.diag(penalty)
    inverse = np.linalg.inv(normal).astype(np.float64, copy=False)
    slope = inverse @ (z0.T @ (heavy * y0))  # (F1)

    left_out = _left_out(one, z0, inverse, y0 - z0 @ slope, m)
    within = _sums(one.place, one.weight * left_out, design.share.size)
    stretch = np.sqrt(1 + m * np.einsum("sp,pq,sq->s", mean_z, inverse, mean_z))
    influence = within.reshape(design.share.shape) * (1 - design.share) * stretch / m  # (F2)
    return Fit(
        estimate=mean_y - mean_z @ slope,
        influence=influence,
        forecast=z @ slope,
        slope=slope,
        model=np.full(n_systems, model),
    )


def _left_out(one: LabelledEntries, z0: Floats, inverse: Floats, e: Floats, m: Floats) -> Floats:
    r"""Return :math:`(I - H)^{-1} e` unit by unit, H with 1/m between rows of one system (F2)."""
    found = np.empty(e.size)
    # Some units at a time: 163 judges on a thousand items are 26 million cells in each array below.
    wide = z0.shape[1] + m.size
    parts = (np.array_split(units, 1 + units.size * wide // _MOST_CELLS) for units in one.blocks)
    for block in chain.from_iterable(parts):
        z, w, s = z0[block], one.weight[block], one.system[block]
        if block.shape[1] == 1:
            lever = np.einsum("ip,pq,iq->i", z[:, 0], inverse, z[:, 0]) + 1 / m[s[:, 0]]
            found[block[:, 0]] = e[block[:, 0]] / (1 - w[:, 0] * lever)
            continue
        same = s[:, :, None] == np.arange(m.size)
        left = np.concatenate([z @ inverse, same / m], axis=2)
        right = np.concatenate([z, same.astype(np.float64)], axis=2) * w[:, :, None]
        right, rest = right.transpose(0, 2, 1), e[block][:, :, None]
        # Long units are solved through the few features (Woodbury), short ones directly.
        if block.shape[1] > left.shape[2]:
            inner = np.linalg.solve(np.eye(left.shape[2]) - right @ left, right @ rest)
            found[block] = (rest + left @ inner)[:, :, 0]
        else:
            found[block] = np.linalg.solve(np.eye(block.shape[1]) - left @ right, rest)[:, :, 0]
    return found


# ResidualMoments of the left-out residuals, of means and of differences.


@dataclass(frozen=True, eq=False)
class ResidualMoments:
    """All that the reach needs to know, one entry per mean or difference.

    ``square`` and ``cube`` are Σx² and Σx³; ``down`` and ``up`` say how far the range lets a label
    lie from its forecast, ``seen_down`` and ``seen_up`` how far one was seen to lie; ``w2`` and
    ``w3`` means of powers of the units' weights; ``chance`` the variance that new items
    add.
    """

    estimate: Floats
    square: Floats
    cube: Floats
    down: Floats
    up: Floats
    seen_down: Floats
    seen_up: Floats
    units: Floats
    fraction: Floats
    excess: Floats
    w2: Floats
    w3: Floats
    chance: Floats

    def left(self, *, new: bool) -> Floats:
        """Return 1 - m/N, the part of the variance that is left: all of it for new items."""
        return np.ones_like(self.units) if new else (1 - self.fraction) * self.excess

    def far(self, *, upper: bool) -> Floats:
        """Return D: the farthest that a label can lie, by the range or by what was seen."""
        if upper:
            return np.maximum(self.up, self.seen_up)
        return np.maximum(self.down, self.seen_down)

    def take(self, at: Codes) -> ResidualMoments:
        """Return the entries *at* these places."""
        return ResidualMoments(*(getattr(self, name)[at] for name in _FIELDS))

    def at(self, units: Floats) -> ResidualMoments:
        """Return what they would be with this many labelled units of the same kind."""
        more = units / self.units
        return replace(
            self,
            square=self.square * more,
            cube=self.cube * more,
            units=units,
            fraction=np.minimum(1.0, self.fraction * more),
        )


def mean_moments(design: LabelDesign, fit: Fit, alone: Fit, *, new: bool) -> ResidualMoments:
    """Sum up each system."""
    n = np.maximum(design.units, 2.0)
    top, bottom = extremes(fit.forecast, design.system, design.units.size)
    chance = np.zeros(n.size)
    if new:
        chance = _chance(
            np.diag(_forecast_products(design, fit)),
            design.times @ (alone.influence**2 - fit.influence**2) * n**2,
            (n, design.every, fit.model),
        )
    return _moments(
        fit.influence * n,
        design.share * n,
        design.times,
        estimate=fit.estimate,
        bounds=(0.0, 1.0),
        forecasts=(top, bottom),
        sizes=(n, design.fraction, design.excess, chance),
    )


def pair_moments(
    design: LabelDesign, fit: Fit, alone: Fit, first: Codes, second: Codes, *, new: bool
) -> ResidualMoments:
    """Sum up differences first - second of systems labelled on the same units.

    A unit of which only one of the two systems has a row (a judge that did not vote) adds that
    system's part alone.
    """
    member = np.zeros((int(design.unit.max(initial=-1)) + 1, design.units.size))
    member[design.unit, design.system] = 1.0
    copies = np.zeros(len(member))
    copies[design.unit] = design.count
    inside = (design.share > 0).astype(np.float64)
    n_both, both = (
        inside.T @ (inside * design.times[:, None]),
        member.T @ (member * copies[:, None]),
    )
    high, low = _by_item(design, fit)
    spread = _forecast_products(design, fit) if new else np.zeros_like(both)

    found = []
    for a in np.unique(first):
        b = second[first == a]
        n = np.maximum(design.units[a] + design.units[b] - n_both[a, b], 2.0)
        every = np.maximum(design.every[a] + design.every[b] - both[a, b], 1.0)
        # Units labelled only in part leave more open than their number says.
        whole = (design.fraction * design.every >= design.units - TINY)[[a, *b]].all()
        part = np.minimum(design.fraction[a], design.fraction[b])
        fraction = n / every if whole else np.minimum(n / every, part)
        x = (fit.influence[:, [a]] - fit.influence[:, b]) * n
        top = np.max(high[:, [a]] - low[:, b], axis=0, initial=-np.inf)
        bottom = np.min(low[:, [a]] - high[:, b], axis=0, initial=np.inf)
        chance = np.zeros(n.size)
        if new:
            x0 = (alone.influence[:, [a]] - alone.influence[:, b]) * n
            f2 = spread[a, a] + spread[b, b] - 2 * spread[a, b]
            chance = _chance(
                f2, design.times @ (x0**2 - x**2), (n, every, fit.model[a] + fit.model[b])
            )
        found.append(
            _moments(
                x,
                (design.share[:, [a]] + design.share[:, b]) / 2 * n,
                design.times,
                estimate=fit.estimate[a] - fit.estimate[b],
                bounds=(-1.0, 1.0),
                forecasts=(np.where(top < bottom, 0.0, top), np.where(top < bottom, 0.0, bottom)),
                sizes=(
                    n,
                    np.minimum(fraction, 1.0),
                    np.maximum(design.excess[a], design.excess[b]),
                    chance,
                ),
            )
        )
    order = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    return ResidualMoments(
        *(np.concatenate([getattr(part, name) for part in found])[order] for name in _FIELDS)
    )


_FIELDS = tuple(ResidualMoments.__dataclass_fields__)


def _moments(
    x: Floats,
    w: Floats,
    times: Floats,
    *,
    estimate: Floats,
    bounds: tuple[float, float],
    forecasts: tuple[Floats, Floats],
    sizes: tuple[Floats, Floats, Floats, Floats],
) -> ResidualMoments:
    n, fraction, excess, chance = sizes
    top, bottom = forecasts
    ratio = np.divide(x, w, out=np.zeros_like(x), where=w > 0)
    centre = np.nan_to_num(estimate, nan=0.5)
    return ResidualMoments(
        estimate=centre,
        square=times @ x**2,
        cube=times @ x**3,
        down=centre - bounds[0] + top,
        up=bounds[1] - centre - bottom,
        seen_down=np.max(-ratio, axis=0, initial=-np.inf),
        seen_up=np.max(ratio, axis=0, initial=-np.inf),
        units=n,
        fraction=fraction,
        excess=excess,
        w2=np.where(times @ w > 0, times @ w**2 / n, 1.0),
        w3=np.where(times @ w > 0, times @ w**3 / n, 1.0),
        chance=chance,
    )


def _by_item(design: LabelDesign, fit: Fit) -> tuple[Floats, Floats]:
    """Return the largest and smallest forecast of each item and system; -inf, inf: no row."""
    shape = (int(design.unit.max(initial=-1)) + 1, design.units.size)
    high, low = np.full(shape, -np.inf), np.full(shape, np.inf)
    at = (design.unit, design.system)
    np.maximum.at(high, at, fit.forecast)
    np.minimum.at(low, at, fit.forecast)
    return high, low


def _forecast_products(design: LabelDesign, fit: Fit) -> Floats:
    """Return the products of systems' forecasts over all units: the variance of their means."""
    total = np.maximum(_sums(design.system, design.mass, design.units.size), 1e-300)
    weight = design.mass / design.count
    shape = (int(design.unit.max(initial=-1)) + 1, design.units.size)
    part = _sums(
        design.unit * shape[1] + design.system,
        weight * fit.forecast / total[design.system],
        shape[0] * shape[1],
    ).reshape(shape)
    copies = np.zeros(shape[0])
    copies[design.unit] = design.count
    return np.asarray(part.T @ (part * copies[:, None]))


def _chance(forecast: Floats, gained: Floats, sizes: tuple[Floats, Floats, Codes]) -> Floats:
    """Return the variance that the choice of the items adds for new ones (F8).

    It is that of the forecasts, or what the forecast took from the spread of the labels: shrinkage
    makes the second larger.
    """
    n, every, model = sizes
    seen = gained / (n - 1) / np.maximum(every, 1.0)
    return np.where(model > 0, np.maximum(forecast, seen), 0.0)


# The reach.


@dataclass(frozen=True, eq=False)
class Sort:
    """What kind of numbers the means are: declared pass/fail, the model used, labelled in units of
    several rows.
    """

    pass_fail: bool
    model: Codes
    clustered: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ReachRule:
    """ω, how far the residuals are from two values; a, the weight of the pseudo error; Student's t
    quantile with (m/w2 - 1)/ω degrees of freedom; the squared quantile for errors never seen.
    """

    omega: Floats
    a: Floats
    t: Floats
    unseen: Floats


def rule(kind: Kind, moments: ResidualMoments, alpha: float | Floats, sort: Sort) -> ReachRule:
    """Return the constants of a mean, a difference, or all pairs at once (F5)."""
    from scipy.special import ndtri, stdtrit

    size, omega = moments.units / moments.w2, np.ones_like(moments.units)
    unseen = np.zeros_like(omega)
    if kind == "mean":
        judged = sort.pass_fail & (sort.model > 0) & ~sort.clustered
        binomial = sort.pass_fail & (sort.model == 0) & ~sort.clustered
        # With few labels even slightly unequal weights hide what the rare heavy ones would say.
        even = moments.w2 - 1 <= np.minimum(UNEQUAL, size / 100)
        omega = np.where(binomial & even, 0.15, 1.0)
        # A kind judge leaves residuals that are only shrinkage until its first error is labelled,
        # so the pseudo error grows faster with judges than without.
        a = np.minimum(0.15, size / np.where(judged, 100, 300))
        # From 40 labels on the pseudo error alone is enough, and better judges pay nothing.
        fade = np.clip((40 - size) / 15, 0.0, 1.0)
        unseen = np.where(judged, fade * ndtri(1 - np.asarray(alpha) / 2) ** 2, 0.0)
    else:
        a = np.minimum(0.1 if kind == "difference" else 0.03, size / 500)
    t = stdtrit(np.maximum(size - 1, 0.1) / omega, 1 - np.asarray(alpha) / 2)
    return ReachRule(omega, a, np.minimum(t, LARGEST), unseen)


def growth(moments: ResidualMoments, a: Floats, *, upper: bool) -> tuple[Floats, Floats]:
    r"""Return g, how fast the variance grows towards one end, and the farthest D there (F4).

    .. math:: g = \min\Bigl(\frac{\max(q_3, 0) + a w_3 P^3}{q_2 + a w_2 P^2},\ .95\,
              \bigl(w_2 D - \tfrac{q_2}{m D}\bigr)\Bigr), \qquad P = \min(D, 1)   \tag{F4}
    """
    far = np.maximum(moments.far(upper=upper), TINY)
    cube = np.maximum(moments.cube if upper else -moments.cube, 0.0)
    cut = np.minimum(far, 1.0)
    top = moments.w2 * far - moments.square / (moments.units * far)
    seen = (cube + a * moments.w3 * cut**3) / (moments.square + a * moments.w2 * cut**2)
    return np.minimum(seen, np.where(top > 0, 0.95 * top, top)), far  # (F4)


def reaches(moments: ResidualMoments, by: ReachRule, *, new: bool) -> tuple[Floats, Floats]:
    """Return how far the interval reaches down and up from the estimate."""
    return reach(moments, by, upper=False, new=new), reach(moments, by, upper=True, new=new)


def reach(moments: ResidualMoments, by: ReachRule, *, upper: bool, new: bool) -> Floats:
    r"""Return how far the interval reaches to one side.

    The root h of a score equation whose variance grows with the distance,

    .. math:: h^2 = \tau (s^2 + g h - k h^2), \qquad \tau = t^2 (1/m - 1/N), \quad
              s^2 = \frac{q_2}{m - \omega}, \quad k = (1 - \omega) w_2   \tag{F3}
    """
    n, square, omega = moments.units, moments.square, by.omega
    g, far = growth(moments, by.a, upper=upper)
    tau = by.t**2 / n * moments.left(new=new)
    bend = 1 + (1 - omega) * moments.w2 * tau
    root = np.sqrt((tau * g) ** 2 + 4 * bend * tau * square / (n - omega))
    h = (tau * g + root) / (2 * bend)  # (F3)

    # (F10): without any label that contradicts its forecast, errors may be as frequent as Wilson's
    # rule allows; the residuals show only shrinkage and cannot say so.
    none = by.unseen * moments.w2 / n * moments.left(new=new)
    seen = moments.seen_up if upper else moments.seen_down
    h = np.where(seen < 0.5, np.maximum(h, np.minimum(far, 1.0) * none / (1 + none)), h)

    # (F6): the short end of rare failures, where the labels spread more than the range there.
    spread = np.divide(square, n * moments.w2, out=np.zeros_like(square), where=n > 0)
    short = np.clip(1 - far**2 / np.maximum(spread, 1e-300), 0.0, 1.0)
    r = np.minimum(h / far, 1.0)
    h = np.minimum(h * (1 + 1.2 * short * r**2 * (1 - r)), far)
    h = np.where(moments.far(upper=upper) <= TINY, 0.0, h)
    return np.sqrt(h**2 + by.t**2 * moments.chance) if new else h  # (F8)
