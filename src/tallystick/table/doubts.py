"""Doubts about labels: one question, one level, one reaction.

*Does having a label depend on X?* X is the order of the rows, a time, a slice, a group of rows, or
what the votes say. Every interval from a few labels rests on the answer "no". So do the other
doubts here: a truth that was copied from a voter, is turned round or stands on other rows, and
rows that belong together. Whatever is found, the answer decides nothing, passes no gate, and says
why in one sentence (`with_doubt`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from shlex import quote
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval, Needed, Result, Sentences, percent
from tallystick.results.numbers import count
from tallystick.stats.urns import smaller_tail
from tallystick.table.cells import Label, identifier, is_missing, spelling
from tallystick.table.data import VOTES, Data
from tallystick.table.engine import as_numpy
from tallystick.table.reading_facts import agreement
from tallystick.table.session_rows import distinct_rows
from tallystick.table.tables import Table
from tallystick.table.tally import Tally
from tallystick.table.words import as_pass_fail, is_no_answer, number_of

LEVEL = 0.001
"""The chance of a false doubt about one table, all that is looked at together."""

_MOST_PAIRS = 20
"""Voters up to which every two of them are compared."""

_MOST_PARTS = 50
"""Values of a column that are each looked at, the most frequent first."""

_BINS = 16
"""Equal parts into which an order is cut; also their halves, quarters and eighths."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Labels = Sequence[Any] | NDArray[Any]
Kind = Literal["votes", "order", "column"]

_R = TypeVar("_R", bound=Result)


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """Why the labels, or the rows, decide nothing.

    Parameters
    ----------
    what, why
        ``labels`` or ``rows``, and why they decide nothing.
    seen, way_out
        What shows it, and what to do about it.
    assumption
        What every interval rests on because of it.
    needed
        What would settle the question.
    """

    what: Literal["labels", "rows"] = "labels"
    why: str
    seen: str
    way_out: str
    assumption: str
    needed: str = "labels that are free of this doubt"

    @property
    def first(self) -> str:
        """The answer instead of the verdict."""
        return f"The {self.what} decide nothing, because they {self.why}: {self.seen}."

    @property
    def shown(self) -> str:
        """What is so, as a clause."""
        return f"the {self.what} {self.why}: {self.seen}"

    @property
    def warning(self) -> str:
        """What a reader has to know."""
        return f"{self.shown}. {self.way_out}"


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelView:
    """One X on which having a label may depend, per row or per pattern with counts.

    Parameters
    ----------
    kind
        ``votes`` (several columns with common labels), ``order`` or ``column``.
    names
        The columns; empty for the order of the rows.
    codes
        Rows x columns: a place in *labels*, below 0 for a blank cell. Codes of an order ascend.
    labels
        How each code is written.
    known
        Which rows have a label.
    counts
        How many rows each stands for; 1 if None.
    part, parts
        The part of the table that each row belongs to, such as its system, and their names. Each
        part is looked at by itself: nobody says that all have the same share of labels, and the
        same items may stand in several.
    """

    kind: Kind
    names: tuple[str, ...]
    codes: Ints
    labels: Labels
    known: Bools
    counts: Floats | None = None
    part: Ints | None = None
    parts: tuple[str, ...] = ()

    @property
    def weights(self) -> Floats:
        """How many rows each stands for."""
        return np.ones(len(self.known)) if self.counts is None else self.counts

    def of(self, kind: Kind, names: tuple[str, ...], codes: Ints, labels: Labels) -> LabelView:
        """Return another X of the same rows."""
        held = codes if codes.ndim == 2 else codes[:, None]
        return replace(self, kind=kind, names=names, codes=held, labels=labels)

    def take(self, keep: NDArray[Any]) -> LabelView:
        """Return some of the rows."""
        part = None if self.part is None else self.part[keep]
        counts = None if self.counts is None else self.counts[keep]
        held = {"codes": self.codes[keep], "known": self.known[keep]}
        return replace(self, **held, part=part, counts=counts)


_Fact = tuple[float, str, str]
"""How likely chance makes something so extreme, what is so, and what is taken for granted then."""


def label_doubt(looks: Sequence[LabelView], *, looked: int = 1) -> Doubt | None:
    r"""Return what shows that labelled rows are no random draw; None if nothing does.

    Of N rows, m have a label. If these were drawn at random, the labels on any n rows that X picks
    out are hypergeometric, whatever the truth is: on the rows where a voter says c, where two
    voters agree, on a slice, on a sixteenth of an order. Two facts more have exact or conservative
    tails in the same urn: all labels lie within w consecutive rows, with

    .. math:: \left[(N - w) \binom{w-1}{m-1} + \binom{w}{m}\right] \Big/ \binom{N}{m},  \tag{LD1}

    and so many groups have no label. The smallest p-value of a look counts as often as the look has
    facts, and the smallest of all as often as there are looks, times *looked* for a caller that
    asks about several tables. No doubt proves nothing: what X does not show may still differ.

    Examples
    --------
    >>> known = np.arange(200) < 30
    >>> rows = np.arange(200)[:, None]
    >>> print(label_doubt([LabelView(kind="order", names=(), codes=rows, labels=rows, known=known)]).first)
    The labels decide nothing, because they were not drawn at random: all 30 are on rows 1 to 30 of 200.
    """
    found: list[_Fact] = []
    used = 0
    for look in looks:
        facts = [
            (p, f"{what} (of {part})" if part else what, rests)
            for rows, part in _by_part(look)
            for p, what, rests in _FACTS[look.kind](rows)
        ]
        used += bool(facts)
        found += [(p * len(facts), what, rests) for p, what, rests in facts]
    p, what, assumption = min(found, key=lambda fact: fact[0], default=(1.0, "", ""))
    if p * used * looked > LEVEL or not found:
        return None
    return Doubt(
        why="were not drawn at random",
        seen=what,
        way_out="Label rows that are drawn at random",
        assumption=assumption,
        needed="labels on items drawn at random",
    )


def _by_part(look: LabelView) -> Iterator[tuple[LabelView, str]]:
    """Yield the parts in which some rows have a label and some have none."""
    part = np.zeros(len(look.known), np.int64) if look.part is None else look.part
    for k in np.unique(part[look.known]).tolist():
        own = replace(look.take((part == k) & (look.weights > 0)), part=None)
        if own.known.any() and not own.known.all():
            yield own, look.parts[k] if len(look.parts) > 1 else ""


def _tail(seen: float, whole: float, held: float, draws: float) -> float:
    """Return the two-sided p-value of the labels on some rows."""
    return min(1.0, 2 * smaller_tail(*(round(float(x)) for x in (seen, whole, held, draws))))


# What votes show: what each voter says, and who agrees.


def _vote_facts(look: LabelView) -> Iterator[_Fact]:
    counts, known = look.weights, look.known
    for event, possible, what in _events(look.codes, look.names, look.labels):
        whole, held = counts[possible].sum(), counts[event].sum()
        draws, seen = counts[possible & known].sum(), counts[event & known].sum()
        if 0 < held < whole and 0 < draws < whole:
            # Of two labels both are as telling; "says b on all" is easier to read than "a on none".
            tail = _tail(seen, whole, held, draws) * (1 + 1e-9 * (seen * whole < held * draws))
            drawn, everywhere = percent(seen / draws), percent(held / whole)
            told = f"{drawn} of the labelled rows and on {everywhere} of all"
            yield tail, f"{what} on {told}", "the labels are like a random draw, whatever the votes"


def _events(
    codes: Ints, names: Sequence[str], labels: Labels
) -> Iterator[tuple[Bools, Bools, str]]:
    """Yield what can be seen: in which rows it is so, in which it could be, and its words."""
    says = codes >= 0
    for j, name in enumerate(names):
        for c, label in enumerate(labels):
            yield codes[:, j] == c, says[:, j], f"{name} says {label}"
    if len(names) <= _MOST_PAIRS:
        for a, b in combinations(range(len(names)), 2):
            both = says[:, a] & says[:, b]
            yield both & (codes[:, a] == codes[:, b]), both, f"{names[a]} and {names[b]} agree"
    if len(names) > 2:
        some = says.sum(axis=1) > 1
        least = np.where(says, codes, np.iinfo(np.int64).max).min(axis=1)
        yield some & (codes.max(axis=1) == least), some, "all agree"


# What an order shows: all labels within a few rows, or too many of them on a part of it.


def _order_facts(look: LabelView) -> Iterator[_Fact]:
    rows, labels, codes = _grouped(look)
    n, m = float(rows.sum()), float(labels.sum())
    if not 0 < m < n:
        return
    ends, held = np.cumsum(rows), np.flatnonzero(labels)

    def told(tail: float, low: int, high: int, seen: float) -> _Fact:
        some, before, last = _some(seen, m), ends[low] - rows[low], ends[high]
        if not look.names:
            where = f"{count(round(before) + 1)} to {count(round(last))} of {count(round(n))}"
            return tail, f"{some} on rows {where}", "the table is in random order"
        cells = (look.labels[int(codes[k])] for k in (low, high))
        one, other = (f"{cell:g}" if isinstance(cell, float) else cell for cell in cells)
        where = f"from {one} to {other}, which are {percent((last - before) / n)} of the table"
        name = repr(look.names[0])
        return tail, f"{some} on rows with {name} {where}", f"nothing changes with {name}"

    low, high = int(held[0]), int(held[-1])
    width = float(ends[high] - ends[low] + rows[low])
    spans = _log_ways(width - 1, m - 1) + math.log(max(n - width, 1e-300))
    ways = np.logaddexp(spans, _log_ways(width, m)) - _log_ways(n, m)
    yield told(min(1.0, math.exp(ways)), low, high, m)  # (LD1)
    if len(rows) < _BINS:
        return

    # The middle of a value's rows says in which bin they are, so equal values stay together.
    bins = ((ends - rows / 2) / n * _BINS).astype(np.int64)
    for size in (8, 4, 2, 1):
        for k in range(0, _BINS, size):
            own = np.flatnonzero((bins >= k) & (bins < k + size))
            inside, seen = float(rows[own].sum()), float(labels[own].sum())
            if 0 < inside < n:
                yield told(_tail(seen, n, inside, m), int(own[0]), int(own[-1]), seen)


def _some(seen: float, draws: float) -> str:
    """Return how many of the labels, with the verb."""
    if seen == draws:
        return f"all {count(round(draws))} are"
    few = "none" if not seen else f"{'only ' * (2 * seen < draws)}{count(round(seen))}"
    return f"{few} of {count(round(draws))} {'is' if seen == 1 else 'are'}"


# What a column shows: a value with too few or too many labels, and groups without any.


def _column_facts(look: LabelView) -> Iterator[_Fact]:
    rows, labels, values = _grouped(look)
    n, m, name = float(rows.sum()), float(labels.sum()), repr(look.names[0])
    if len(rows) < 2 or not 0 < m < n:
        return
    for place in np.argsort(-rows, kind="stable")[:_MOST_PARTS].tolist():
        value, held, seen = look.labels[int(values[place])], float(rows[place]), labels[place]
        where = f"{name} {value}, which are {percent(held / n)} of the table"
        some = f"{_some(float(seen), m)} on rows with {where}"
        yield _tail(float(seen), n, held, m), some, f"{name} makes no difference"
    if len(rows) >= 5:
        empty = labels == 0
        told = (
            f"they are on {count(int((~empty).sum()))} of the {count(len(rows))} different {name},"
            f" and {percent(float(rows[empty].sum()) / n)} of the rows belong to the others"
        )
        chance = _empty_chance(rows, m, int(empty.sum()))
        yield chance, told, f"rows are alike whatever their {name}"


def _empty_chance(sizes: Floats, draws: float, empty: int) -> float:
    """Return about how likely so many groups have none of the labels drawn at random.

    Whether groups are empty is negatively associated. As if it were independent, their number
    varies more, so the tail is too large rather than too small.
    """
    from scipy.special import gammaln, ndtr

    n = float(sizes.sum())
    left = np.maximum(n - sizes, 0.0)
    room = np.maximum(left - draws, 0.0)
    ways = gammaln(left + 1) - gammaln(room + 1) - gammaln(n + 1) + gammaln(n - draws + 1)
    chance = np.where(left >= draws, np.exp(np.minimum(ways, 0.0)), 0.0)
    if len(sizes) > 2_000:
        spread = math.sqrt(max(float((chance * (1 - chance)).sum()), 1e-12))
        return float(ndtr((float(chance.sum()) - empty + 0.5) / spread))
    law = np.ones(1)
    for p in chance.tolist():
        law = np.convolve(law, (1 - p, p))
    return min(1.0, float(law[empty:].sum()))


def _log_ways(n: float, k: float) -> float:
    if not 0 <= k <= n:
        return -math.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _grouped(look: LabelView) -> tuple[Floats, Floats, Ints]:
    """Return rows and labels of each code that occurs, in their order, and the codes."""
    says = look.codes[:, 0] >= 0
    codes, place = np.unique(look.codes[says, 0], return_inverse=True)
    counts = look.weights[says]
    both = (counts, counts * look.known[says])
    rows, labels = (np.bincount(place, weights=x, minlength=len(codes)) for x in both)
    return rows.astype(np.float64), labels.astype(np.float64), codes.astype(np.int64)


_FACTS: dict[Kind, Callable[[LabelView], Iterator[_Fact]]] = {
    "votes": _vote_facts,
    "order": _order_facts,
    "column": _column_facts,
}


# Rows that belong together: differences of voters correlate inside the groups of a column.


_TIMES = 999
_LEAST_EFFECT = 1.5
"""Factor on the variance from which groups matter: intervals are a fifth too narrow."""


def belong_together(values: Floats, groups: Ints) -> float | None:
    r"""Return by what factor groups raise the variance of a mean difference; None if not surely.

    Values are rows x voters. What voters have in common on a row, such as its difficulty, is taken
    off, so only differences count. With :math:`S_g` the sums of group g, :math:`\sum_g S_g^2` is
    held against its values when rows change places at random: it must exceed all of 999.

    Examples
    --------
    >>> groups = np.repeat(np.arange(30), 10)
    >>> ahead = np.random.default_rng(1).integers(0, 2, 30)[groups].astype(float)
    >>> round(belong_together(np.stack([ahead, 1 - ahead], axis=1), groups))
    10
    >>> belong_together(np.random.default_rng(1).random((300, 2)), groups) is None
    True
    """
    apart = values - values.mean(axis=1, keepdims=True)
    apart -= apart.mean(axis=0)
    noise = float((apart**2).sum())
    _, place = np.unique(groups, return_inverse=True)
    if noise <= 0:
        return None

    def squares(of: Floats) -> float:
        return sum(float((np.bincount(place, weights=column) ** 2).sum()) for column in of.T)

    found = squares(apart)
    if found < _LEAST_EFFECT * noise:
        return None
    rng = np.random.default_rng(0)
    for _ in range(_TIMES):
        if squares(apart[rng.permutation(len(apart))]) >= found:
            return None
    return found / noise


# The reaction, and what every verb asks of its data.


def with_doubt(result: _R, doubt: Doubt | None) -> _R:
    """Return the result; with a doubt it decides nothing, passes no gate and says why.

    A field that names who is best, or rests on labels for other items, is marked by its verb
    (``metadata={"doubted": None}``), and holds that value instead; a function makes it from the
    result.
    """
    if doubt is None or doubt.warning in result.warnings:
        return result
    marked = {
        one.name: one.metadata["doubted"] for one in fields(result) if "doubted" in one.metadata
    }
    claims = {name: held(result) if callable(held) else held for name, held in marked.items()}
    why = doubt.first[0].lower() + doubt.first[1:-1]
    basis = f"{result.basis} They hold only if {doubt.assumption}." if result.basis else ""
    resting: _R = _resting_on(result, doubt.assumption)
    return replace(
        resting,
        verdict=doubt.first,
        sentences=Sentences(answer=doubt.first),
        decision="unknowable" if result.decision == "unknowable" else "undecided",
        needed=Needed(None, doubt.needed),
        gates=tuple(
            gate if gate.passed is None else replace(gate, passed=None, text=f"{gate.text}; {why}")
            for gate in result.gates
        ),
        warnings=(doubt.warning, *result.warnings),
        assumptions=(*result.assumptions, doubt.assumption),
        basis=basis,
        doubt=doubt.warning,
        **claims,
    )


def _resting_on(held: Any, text: str) -> Any:
    """Return what is held with every interval in it valid only under *text*."""
    if isinstance(held, Interval):
        rests = f"{held.assumption}; {text}" if held.assumption else text
        return replace(held, guarantee="under", assumption=rests)
    if dataclasses.is_dataclass(held) and not isinstance(held, type):
        own = {one.name: getattr(held, one.name) for one in fields(held) if one.init}
        made = {name: _resting_on(one, text) for name, one in own.items()}
        changed = {name: one for name, one in made.items() if one is not own[name]}
        return replace(held, **changed) if changed else held
    if isinstance(held, tuple | list):
        parts = [_resting_on(one, text) for one in held]
        same = all(new is old for new, old in zip(parts, held, strict=True))
        return held if same else type(held)(parts)
    if isinstance(held, Mapping):
        inner = {key: _resting_on(one, text) for key, one in held.items()}
        return held if all(inner[key] is held[key] for key in held) else inner
    return held


def find_doubt(
    data: Data, *, speaks: str = "all", clustered: bool = False, looked: int = 1
) -> Doubt | None:
    """Return the first doubt about the labels and rows of *data*, None if there is none.

    Parameters
    ----------
    data
        Rows or counts.
    speaks
        For which rows a few labels speak: ``all``, ``disagreements`` (labels where all voters agree
        are not needed) or ``none`` (nothing is assumed of rows without a label).
    clustered
        Whether the verb reads which rows belong together.
    looked
        How many tables, such as slices, the caller asks about.

    Examples
    --------
    >>> from tallystick.table import read
    >>> gold = [1, None, None, None] * 25 + [None] * 100
    >>> table = {"x": [0, 1] * 100, "y": [1, 1] * 100, "lang": ["en"] * 100 + ["de"] * 100}
    >>> found = find_doubt(read({**table, "gold": gold}, judges=("x", "y"), truth="gold"))
    >>> found.assumption
    "'lang' makes no difference"
    """
    roles = data.roles
    drawn = data.session is not None or roles.probability is not None
    looks = [] if roles.truth is None or drawn or speaks == "none" else _looks(data, speaks)
    return (
        label_doubt(looks, looked=looked) or _truth_doubt(data) or _together_doubt(data, clustered)
    )


_MOST_ROWS = 5_000_000
_MOST_LABELS = 20
"""Different answers above which numbers are an order, and words only agree or not."""

_MOST_TRUTHS = 1_000
"""Different cells from which the truth holds no labels."""

_MOST_COLUMNS, _MOST_VOTERS = 24, 40
_LOOKED = 100_000
"""Rows by which a column is taken for an order, or for groups; and labelled rows that are read."""

_LOOKED_AT = 20_000
_MOST_CELLS = 20_000_000
"""Cells of all patterns above which they would take more memory than a check is worth."""

_ORDERS = ("item", "time", "score", "confidence")


def _looks(data: Data, speaks: str) -> list[LabelView]:
    if isinstance(data.held, Table):
        return _row_looks(data, data.held, speaks) if data.n_rows <= _MOST_ROWS else []
    counted = data.counted(str(data.roles.truth), *_voters(data))
    if counted is None or counted.weighted or not _voters(data):
        return []
    votes = _counted_votes(data, counted)
    looks = _vote_looks(votes, speaks)
    return [*looks, *_counted_columns(data, counted, votes)] if speaks == "all" else looks


def _voters(data: Data) -> tuple[str, ...]:
    names = data.roles.columns(*VOTES)
    return tuple(name for name in names if name != data.roles.truth)[:_MOST_VOTERS]


def _is_label(data: Data, labels: Sequence[Any]) -> Bools:
    """Say which cells of the truth are labels."""
    silent = frozenset(data.rules.missing)
    return np.array([not (is_missing(x, silent) or is_no_answer(x)) for x in labels], bool)


def _counted_votes(data: Data, tally: Tally) -> LabelView:
    """Return the votes of a tally."""
    truth, votes, system = str(data.roles.truth), _voters(data), data.roles.system
    systems = [system] if system in tally.names and system is not None else []
    held = tally.marginal([truth, *votes, *systems])
    codes, labels = _coded(data, held, len(votes) + 1)
    return LabelView(
        kind="votes",
        names=votes,
        codes=codes[:, 1:],
        labels=labels,
        known=codes[:, 0] >= 0,
        counts=np.asarray(held.counts, np.float64),
        part=held.codes[:, -1].astype(np.int64) if systems else None,
        parts=tuple(map(str, held.labels[systems[0]])) if systems else (),
    )


def _counted_columns(data: Data, tally: Tally, votes: LabelView) -> list[LabelView]:
    """Return what else was counted, and what a service knows beside its counts."""
    truth, roles, looks = str(data.roles.truth), data.roles, []
    cells: dict[str, list[tuple[Any, int, int]]] = {}
    for name in set(tally.names) - (set(roles.columns()) - {roles.by}):
        held = tally.marginal([truth, name])
        known = _is_label(data, held.labels[truth])[held.codes[:, 0]]
        for code, label in enumerate(held.labels[name]):
            own = held.codes[:, 1] == code
            n, k = held.counts[own].sum(), held.counts[own & known].sum()
            cells.setdefault(name, []).append((label, int(n), int(k)))
    if data.beside is not None:
        taken = roles.columns("by", "system")
        cells |= {name: [*own] for name, own in data.beside.parts.items() if name not in taken}
    for name, own_cells in sorted(cells.items()):
        codes = np.repeat([k if one[0] is not None else -1 for k, one in enumerate(own_cells)], 2)
        counts = np.array([x for _, n, k in own_cells for x in (n - k, k)], np.float64)
        known = np.tile([False, True], len(own_cells))
        rows = replace(votes, known=known, counts=counts, part=None, parts=())
        look = rows.of("column", (name,), codes, [one[0] for one in own_cells])
        looks += [] if _is_written_by_labelling(look) else [look]
    if data.beside is not None and data.beside.labelled is not None:
        # Three places in the order: before the first label, between the ends, after the last.
        first, last = data.beside.labelled
        m, n = float(votes.weights[votes.known].sum()), float(votes.weights.sum())
        block = np.array([first - 1.0, m, last - first + 1 - m, n - last])
        known = np.array([False, True, False, False])
        rows = replace(votes, known=known, counts=block, part=None, parts=())
        looks.append(rows.of("order", (), np.array([0, 1, 1, 2]), ()))
    return looks


def _vote_looks(votes: LabelView, speaks: str) -> list[LabelView]:
    """Return the look at the votes: as labels, or, where they are many numbers, as orders."""
    votes = votes.take(_needed(votes)) if speaks == "disagreements" else votes
    if len(votes.labels) <= _MOST_LABELS:
        return [votes]
    numbers = np.array([number_of(one) for one in votes.labels], np.float64)
    if np.isnan(numbers).any():
        return [replace(votes, labels=())]
    values, rank = np.unique(numbers, return_inverse=True)
    ranks = np.append(rank, -1).astype(np.int64)[votes.codes]
    return [votes.of("order", (name,), ranks[:, j], values) for j, name in enumerate(votes.names)]


def _needed(votes: LabelView) -> Bools:
    """Say which rows are looked at where labels are needed only where voters disagree.

    All rows, if labels are as frequent where they agree: more rows show more. None, if every
    disagreement has a label, because these determine the difference.
    """
    codes, counts, known = votes.codes, votes.weights, votes.known
    least = np.where(codes >= 0, codes, np.iinfo(np.int64).max).min(axis=1)
    apart = np.asarray((codes >= 0).any(axis=1) & (codes.max(axis=1) > least) & (counts > 0))
    if known[apart].all():
        return np.zeros(len(codes), bool)
    rows = apart & known, counts > 0, apart, known
    alike = _tail(*(float(counts[one].sum()) for one in rows)) > 0.05
    return np.asarray(counts > 0) if alike else apart


def _is_written_by_labelling(look: LabelView) -> bool:
    """Say whether a column was filled when people labelled: who did, how long it took, is it done.

    It is blank, or always says the same, on all rows without a label. Two words may be two slices.
    """
    codes = look.codes[:, 0]
    without = np.unique(codes[~look.known & (look.weights > 0)])
    labelled = np.unique(codes[look.known & (look.weights > 0)])
    if len(without) != 1 or without[0] < 0 or len(labelled) != 1:
        return len(without) == 1
    words = [look.labels[k] for k in (*without, *labelled) if k >= 0]
    return as_pass_fail(words) is not None or all(isinstance(x, bool | int) for x in words)


def _row_looks(data: Data, table: Table, speaks: str) -> list[LabelView]:
    """Return the looks at a table: votes, the order of rows, and every column without a role."""
    held = _labelled_rows(data, table)
    if held is None:
        return []
    votes, keep, truth = held
    looks = []
    if votes.names:
        if speaks == "disagreements":
            apart = _needed(votes)
            votes, keep, truth = votes.take(apart), keep[apart], truth[apart]
        part = np.zeros(len(keep), np.int64) if votes.part is None else votes.part
        whole = np.column_stack((votes.codes, votes.known.astype(np.int64), part))
        if not votes.known.any():
            return []
        # Rows with equal votes are counted: a sum per pattern takes less than one per row.
        first, counts, _ = distinct_rows(whole, int(whole.max(initial=0)) + 1)
        looks = _vote_looks(replace(votes.take(first), counts=counts), "all")
    place = np.arange(len(keep))
    is_sorted = _was_sorted_by(truth[votes.known])
    for name, kind, codes, labels in _columns(data, table):
        look = votes.of(kind, (name,), codes[keep], labels)
        if _is_written_by_labelling(look):
            continue
        if kind == "order" and _has_two_orders(look):
            # Either the table was sorted by having a label, or labelling changed this column.
            if np.abs(np.diff(look.known.astype(np.int8))).sum() > 1:
                continue
            is_sorted = True
        looks.append(look)
    return looks if is_sorted else [*looks, votes.of("order", (), place, place)]


def _labelled_rows(data: Data, table: Table) -> tuple[LabelView, Ints, Ints] | None:
    """Return the votes of all items, the row of each, and its label as a number.

    Rows of one item (and system) are labelled together, and so are clusters that are labelled as a
    whole: each counts once.
    """
    roles, votes = data.roles, _voters(data)
    truth = roles.truth
    if truth is None or truth not in table.columns:
        return None
    [(different,)] = table.query(f"select count(distinct {identifier(truth)}) from rows")
    coded = data.words(truth) if different < _MOST_TRUTHS else None
    if coded is None:
        return None
    known = np.append(_is_label(data, coded.labels), False)[coded.codes[:, 0]]
    if known.all() or not known.any():
        return None
    said = data.words(*votes) if votes else coded
    codes = said.codes.astype(np.int64)
    rows = LabelView(kind="votes", names=votes, codes=codes, labels=said.labels, known=known)
    systems = [one for one in (roles.system, *roles.systems) if one in table.columns]
    if systems:
        told = data.words(*systems)
        first, _, place = distinct_rows(told.codes, len(told.labels))
        words = (*told.labels, None)
        parts = tuple(" and ".join(str(words[k]) for k in row) for row in told.codes[first])
        rows = replace(rows, part=place.astype(np.int64), parts=parts)
    keep = np.arange(len(known))
    if roles.item is not None and len(known) <= 1_000_000:
        rows, keep = _once(rows, keep, data.groups(roles.item))
    if roles.cluster is not None:
        groups = data.groups(roles.cluster)[keep]
        size, held = np.bincount(groups + 1), np.bincount(groups + 1, weights=rows.known)
        if ((held == 0) | (held == size)).all():
            rows, keep = _once(rows, keep, groups)
    return rows, keep, coded.codes[keep, 0]


def _once(rows: LabelView, keep: Ints, groups: NDArray[Any]) -> tuple[LabelView, Ints]:
    """Return each group of each part once; it has a label if one of its rows has."""
    part = 0 if rows.part is None else rows.part
    keys = np.where(groups < 0, -1 - np.arange(len(groups)), part * (len(groups) + 1) + groups)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == len(groups):
        return rows, keep
    known, order = np.bincount(place, weights=rows.known) > 0, np.argsort(first)
    return replace(rows.take(first[order]), known=known[order]), keep[first[order]]


def _was_sorted_by(labels: Ints) -> bool:
    """Say whether the labels stand in a block because the table was sorted by them."""
    _, sizes = np.unique(labels, return_counts=True)
    return len(sizes) > 1 and sizes.min() >= 3 and (np.diff(labels) != 0).sum() == len(sizes) - 1


def _has_two_orders(look: LabelView) -> bool:
    """Say whether rows with a label are in order, and rows without, but not all together."""
    codes, known = look.codes[:, 0], look.known
    parts = (codes[(codes >= 0) & one] for one in (codes >= 0, known, ~known))
    steps = [np.diff(one) for one in parts]
    whole, with_label, without = (bool((x >= 0).all() or (x <= 0).all()) for x in steps)
    return not whole and with_label and without


def _columns(data: Data, table: Table) -> Iterator[tuple[str, Kind, Ints, Labels]]:
    """Yield the columns without a role: as orders (times, many numbers) and as repeated values."""
    roles, kinds = data.roles, table.kinds
    used = set(roles.columns()) - set(roles.columns("by", *_ORDERS))
    names = [name for name in table.columns if name not in used][:_MOST_COLUMNS]
    cells = [identifier(name) for name in names]
    few = f"(select * from rows limit {_LOOKED})"
    counts = ", ".join(f"count(distinct {cell}), count({cell})" for cell in cells)
    [found] = table.query(f"select {counts} from {few}") if names else [()]
    for name, cell, different, filled in zip(names, cells, found[::2], found[1::2], strict=True):
        kind, is_free = kinds[name], name not in roles.columns(*_ORDERS)
        if is_free and kind not in ("other", "float") and filled >= 2 * different >= 4:
            coded = data.words(name)
            yield name, "column", coded.codes[:, 0].astype(np.int64), coded.labels
        ways = [f"try_cast({cell} as bigint)::double", f"epoch(try_cast({cell} as timestamp))"]
        if kind in ("integer", "float"):
            ways = [f"{cell}::double"] if different > _MOST_PARTS or different == filled else []
        for way in ways if different >= _BINS and kind != "boolean" else ():
            [(read,)] = table.query(f"select count({way}) from {few}")
            if read == filled:
                column = table.arrow(f"select {way} as x from rows")["x"]
                values, codes = np.unique(as_numpy(column), return_inverse=True)
                codes = np.where(np.isnan(values), -1, np.arange(len(values)))[codes]
                shown = values.astype("datetime64[s]") if "epoch" in way else values
                yield name, "order", codes.astype(np.int64), shown
                break


# What voters and the truth say together: a copy, the opposite, or nothing at all.


_LEAST_COPIES = 30
"""Rows with a label and an answer below which equal columns say little."""

_OPPOSITE = 0.3
"""Kappa below minus which a column of two labels says the opposite of the truth."""

_SHOWS, _CHANCE = 4.0, 2.0
"""Standard errors at which a truth would show, and below which a column shows nothing."""


def labelled(data: Data) -> tuple[tuple[str, ...], Ints, Ints] | None:
    """Return the voters, patterns of labelled rows x (truth, voters) and how often each occurs.

    Equal codes mean the same label, -1 none. What the answer has counted is used again; of a table
    that was not counted, some labelled rows are.
    """
    truth, names = data.roles.truth, _voters(data)
    if truth is None or not names:
        return None
    counted = data.counted(truth, *names)
    if counted is None and isinstance(data.held, Table) and truth in data.held.columns:
        some = data.held.relation.filter(f"{identifier(truth)} is not null").limit(_LOOKED)
        try:
            part = replace(data, held=replace(data.held, relation=some))
            rules = replace(data.rules, coerce=True)
            counted = replace(part, rules=rules).count_words(truth, *names)
        except InputError:  # a column of so many values that they are no labels
            return None
    if counted is None or counted.patterns * len(names) > _MOST_CELLS:
        return None
    held = counted.marginal([truth, *names])
    codes, _ = _coded(data, held, len(names) + 1)
    known, counts = codes[:, 0] >= 0, np.asarray(held.counts, dtype=np.int64)
    return (names, codes[known], counts[known]) if known.any() else None


def _coded(data: Data, tally: Tally, columns: int) -> tuple[Ints, list[Label]]:
    """Return the first columns of a tally as codes, the truth first, and what the codes mean.

    Labels that read alike have one code. A column that shares no label with the truth, while both
    say right and wrong, is read in the words of the truth.
    """
    tokens = frozenset(data.rules.missing)
    words = [
        [None if is_missing(x, tokens) or is_no_answer(x) else spelling(x) for x in tally.labels[n]]
        for n in tally.names[:columns]
    ]
    true: set[Label] = {word for word in words[0] if word is not None}
    by_worth = {worth: word for word, worth in _right_wrong(true).items()}
    place: dict[Label, int] = {}
    codes = np.empty((tally.patterns, columns), np.int64)
    for j, column in enumerate(words):
        own: set[Label] = {word for word in column if word is not None}
        worth = {} if own & true else _right_wrong(own)
        read = [by_worth.get(worth[word], word) if word in worth else word for word in column]
        found = [-1 if one is None else place.setdefault(one, len(place)) for one in read]
        codes[:, j] = np.array(found, np.int64)[tally.codes[:, j]]
    return codes, list(place)


def _right_wrong(words: set[Label]) -> Mapping[Label, float]:
    """Return 1 for the label that means right and 0 for the one that means wrong, if two do."""
    if words and words <= {0, 1}:
        return {word: float(word) for word in words if isinstance(word, int)}
    found = as_pass_fail(words) if words else None
    return found if found is not None and set(found.values()) <= {0.0, 1.0} else {}


def _agreements(names: tuple[str, ...], codes: Ints, counts: Ints) -> dict[str, tuple[int, int]]:
    votes = codes[:, 1:]
    rows, same = counts @ (votes >= 0), counts @ (votes == codes[:, :1])
    return {name: (int(n), int(k)) for name, n, k in zip(names, rows, same, strict=True)}


def is_unrelated(codes: Ints, counts: Ints) -> bool:
    r"""Say whether the first column agrees with no other, while the others agree.

    Two columns that are right with independent errors and agree with kappa :math:`\kappa` each
    agree with the truth with about :math:`\sqrt\kappa`, which *n* rows show at
    :math:`\sqrt{n \kappa}` standard errors.
    """
    if codes.shape[1] < 3 or codes.max(initial=-1) >= _MOST_LABELS:
        return False
    rows = _some_rows(codes, counts)
    kappa, z = agreement(rows)
    pairs = kappa[1:, 1:][np.triu_indices(codes.shape[1] - 1, 1)]
    pairs = pairs[np.isfinite(pairs)]
    if not pairs.size or np.isnan(z[0, 1:]).any():
        return False
    # Columns that only seem to agree prove nothing: two standard errors are taken off.
    common = max(float(pairs.mean()) - _CHANCE / math.sqrt(len(rows)), 0.0)
    return math.sqrt(len(rows) * common) >= _SHOWS and bool(np.abs(z[0, 1:]).max() < _CHANCE)


def is_opposite(codes: Ints, counts: Ints) -> bool:
    """Say whether every column agrees with a first one of two labels far less than by chance.

    Columns that say one label everywhere are as good as chance, however seldom they are right.
    """
    true = np.unique(codes[:, 0])
    if len(true) != 2:
        return False
    # A tie or a refusal takes neither side.
    kappa, z = agreement(_some_rows(np.where(np.isin(codes, true), codes, -1), counts))
    return bool(((kappa[0, 1:] < -_OPPOSITE) & (z[0, 1:] <= -_SHOWS)).all())


def _some_rows(codes: Ints, counts: Ints) -> NDArray[np.int32]:
    """Return rows of their own, not too many of them."""
    if int(counts.sum()) > _LOOKED_AT:
        drawn = np.random.default_rng(0).multivariate_hypergeometric
        counts = drawn(counts, _LOOKED_AT, method="marginals")
    return np.repeat(codes, counts, axis=0).astype(np.int32)


def copied_from(agreements: Mapping[str, tuple[int, int]]) -> tuple[str, str] | None:
    r"""Return the column that agrees with the truth too well, and the next best; None if none does.

    With *n* labelled rows and a next best column that errs on a share *e* of its rows, a column
    that errs half as often agrees everywhere with probability

    .. math:: (1 - e/2)^n .    \tag{CP1}

    *agreements* are, for each column, the rows that have both and those on which they are equal.

    Examples
    --------
    >>> copied_from({"gpt": (61, 61), "claude": (61, 45)})
    ('gpt', 'claude')
    >>> copied_from({"gpt": (61, 61), "claude": (61, 59)}) is None  # easy items
    True
    """
    shares = {name: k / n for name, (n, k) in agreements.items() if n >= _LEAST_COPIES}
    whole = [name for name, share in shares.items() if share == 1.0]
    others = {name: share for name, share in shares.items() if share < 1.0}
    if not whole or not others:
        return None
    column = max(whole, key=lambda name: agreements[name][0])
    other = max(others, key=others.__getitem__)
    chance = (1 - 0.5 * (1 - others[other])) ** agreements[column][0]  # (CP1)
    return (column, other) if chance <= LEVEL else None


def _truth_doubt(data: Data) -> Doubt | None:
    """Return the doubt about a truth that is a copy, is turned round, or stands on other rows."""
    told = labelled(data)
    if told is None:
        return None
    truth, (_, codes, counts), held = repr(data.roles.truth), told, _agreements(*told)
    # Readers of a session did not see the votes; who always says the one label is no copy.
    said = np.unique(codes[:, 0])
    found = copied_from(held) if data.session is None and len(said) > 1 else None
    if found is not None:
        column, other = found
        return Doubt(
            why="look like a copy",
            seen=(
                f"{truth} equals {column!r} on all {count(held[column][0])} rows that have both,"
                f" while {other!r} equals it on {percent(held[other][1] / held[other][0])}"
            ),
            way_out=(
                f"If {truth} was copied from {column!r}, made with it in view, or only rows were"
                f" kept where {column!r} is right, it says nothing about the errors of {column!r}"
                " and makes all others look worse"
            ),
            assumption=f"{truth} was made without {column!r}",
        )
    if is_opposite(codes, counts):
        share = max(k / n for n, k in held.values())
        return Doubt(
            why="look turned round",
            seen=f"no column equals {truth} on more than {percent(share)} of the labelled rows",
            way_out=(
                "If the labels of one side are written the other way round (0 for pass here, 1 for"
                " pass there), turn one side round"
            ),
            assumption=f"{truth} and the votes mean the same by the same label",
        )
    # The answers of one API agree with one another whatever the truth is.
    paired = data.roles.old is not None or len(data.roles.systems) == 2
    if paired or data.session is not None or not is_unrelated(codes, counts):
        return None
    return Doubt(
        why="look misplaced",
        seen=f"{truth} agrees with no column more than by chance, while the columns agree",
        way_out=(
            "Check the names of the items, and whether the labels were sorted apart from them: are"
            " they on the right rows?"
        ),
        assumption=f"the labels of {truth} stand on the right rows",
    )


_LEAST_ROWS, _LEAST_GROUPS, _MOST_TOGETHER = 20, 10, 20_000


def _together_doubt(data: Data, clustered: bool) -> Doubt | None:
    """Return the doubt about rows that belong together, by the first column that shows it."""
    table, roles, names = data.held, data.roles, _voters(data)
    declared = roles.cluster or roles.replicate or roles.weight or roles.system or roles.systems
    if not isinstance(table, Table) or declared or data.n_rows > _MOST_ROWS or len(names) < 2:
        return None
    values, rows = _differences(data, names)
    for name, kind, codes, _ in _columns(data, table):
        here = codes[rows] >= 0
        groups = codes[rows][here]
        different = len(np.unique(groups))
        many = len(groups) >= max(_LEAST_ROWS, 2 * different) and different >= _LEAST_GROUPS
        effect = belong_together(values[here], groups) if many and kind == "column" else None
        if effect is not None and name != roles.by:
            way_out = f"add --cluster {quote(name)}" if clustered else "keep one row of each"
            return Doubt(
                what="rows",
                why="belong together",
                seen=(
                    f"{count(len(groups))} rows have {count(different)} different cells in"
                    f" {name!r} and are alike within them, so that intervals are too narrow, by"
                    f" about {math.sqrt(effect):.1f} times"
                ),
                way_out=f"To count each as one, {way_out}",
                assumption=f"rows with the same {name!r} are as good as new ones",
                needed=f"values of {name!r}; {way_out}",
            )
    return None


def _differences(data: Data, names: tuple[str, ...]) -> tuple[Floats, Ints]:
    """Return what voters are compared by, for rows on which all of them say something.

    Right or wrong where a truth is known, else numbers, or one label of two.
    """
    truth = data.roles.truth
    coded = data.words(*names, *(() if truth is None else (truth,)))
    codes = coded.codes[:_MOST_TOGETHER]
    rows = np.flatnonzero((codes >= 0).all(axis=1))
    if truth is not None:
        return (codes[rows, :-1] == codes[rows, -1:]).astype(np.float64), rows
    numbers = np.array([number_of(one) for one in coded.labels], np.float64)
    if np.isnan(numbers).any():
        numbers = np.arange(len(numbers), dtype=np.float64) * (len(numbers) == 2)
    return numbers[codes[rows]], rows
