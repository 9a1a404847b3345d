"""Doubts about labels: one question, one test, one level, one reaction.

*Does having a label depend on X?* X is the order of the rows, a time, a slice, a group of rows, or
what the votes say. Other doubts: a truth that was copied from a voter, is turned round or stands on
other rows, and rows that belong together. Whatever is found, the answer decides nothing.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
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
        How many rows each stands for.
    part, parts
        The part of the table that each row belongs to, such as its system, and their names. Each
        part is looked at by itself: shares of labels may differ.
    """

    kind: Kind
    names: tuple[str, ...]
    codes: Ints
    labels: Sequence[Any] | NDArray[Any]
    known: Bools
    counts: Floats | float = 1.0
    part: Ints | int = 0
    parts: tuple[str, ...] = ("",)

    @property
    def weights(self) -> Floats:
        """How many rows each stands for."""
        return np.broadcast_to(np.asarray(self.counts, np.float64), self.known.shape)

    def take(self, keep: NDArray[Any]) -> LabelView:
        """Return some of the rows."""
        cut = {
            name: held[keep]
            for name in ("codes", "known", "counts", "part")
            if isinstance(held := getattr(self, name), np.ndarray)
        }
        return replace(self, **cut)

    def by_part(self) -> Iterator[LabelView]:
        """Yield the parts in which some rows have a label and some have none."""
        part = np.asarray(self.part + np.zeros(len(self.known), np.int64))
        for k in np.unique(part[self.known]).tolist():
            own = self.take((part == k) & (self.weights > 0))
            if own.known.any() and not own.known.all():
                yield replace(own, part=0, parts=(self.parts[k],) if len(self.parts) > 1 else ("",))


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
    asks about several tables.

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
            (p, f"{what} (of {part.parts[0]})" if part.parts[0] else what, rests)
            for part in look.by_part()
            for p, what, rests in _facts(part)
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


def _facts(look: LabelView) -> Iterator[_Fact]:
    """Yield what is so of every set of rows that X picks out, by the one test."""
    cells, rows = look.codes, look.weights
    labels = rows * look.known
    if look.kind != "votes":  # rows with equal cells are one set
        says = cells[:, 0] >= 0
        cells, place = np.unique(cells[says, 0], return_inverse=True)
        both = (rows, labels)
        rows, labels = (np.bincount(place, x[says], len(cells)).astype(float) for x in both)
    n, m = float(rows.sum()), float(labels.sum())
    if not 0 < m < n or (look.kind == "column" and len(rows) < 2):
        return

    for event, where, rests in _SETS[look.kind](look, cells, rows):
        held, seen = float(rows[event].sum()), float(labels[event].sum())
        if 0 < held < n:
            # Of two labels both are as telling; where the labels are is easier to read.
            tail = _tail(seen, n, held, m) * (1 + 1e-9 * (seen * n < held * m))
            yield tail, _told(look, seen, m, where, held / n), rests
    if look.kind == "order":
        place = np.flatnonzero(labels)
        low, high = int(place[0]), int(place[-1])
        width = float(rows[low : high + 1].sum())
        spans = _log_ways(width - 1, m - 1) + math.log(max(n - width, 1e-300))
        ways = np.logaddexp(spans, _log_ways(width, m)) - _log_ways(n, m)
        where, rests = _stretch(look, cells, rows, low, high)
        yield min(1.0, math.exp(ways)), _told(look, m, m, where, width / n), rests  # (LD1)
    elif look.kind == "column" and len(rows) >= 5:
        empty, name = labels == 0, repr(look.names[0])
        told = (
            f"they are on {count(int((~empty).sum()))} of the {count(len(rows))} different {name},"
            f" and {percent(float(rows[empty].sum()) / n)} of the rows belong to the others"
        )
        chance = _empty_chance(rows, m, int(empty.sum()))
        yield chance, told, _alike(name)


def _tail(seen: float, whole: float, held: float, draws: float) -> float:
    """Return the two-sided p-value of the labels on some rows."""
    return min(1.0, 2 * smaller_tail(*(round(float(x)) for x in (seen, whole, held, draws))))


def _told(look: LabelView, seen: float, draws: float, where: str, share: float) -> str:
    """Say how many of the labels are on some rows."""
    few = "none" if not seen else f"{'only ' * (2 * seen < draws)}{count(round(seen))}"
    some = f"{few} of {count(round(draws))} {'is' if seen == 1 else 'are'}"
    some = f"all {count(round(draws))} are" if seen == draws else some
    return f"{some} on {where}" + (f", which are {percent(share)} of the table" * bool(look.names))


# The sets of rows that X picks out: which they are, where that is, what is taken for granted.


_Sets = Iterator[tuple[NDArray[Any], str, str]]


def _vote_sets(look: LabelView, codes: Ints, _: Floats) -> _Sets:
    for what, event in _events(look.names, look.labels, codes):
        yield event, f"rows where {what}", "the labels are like a random draw, whatever the votes"


def _events(
    names: Sequence[str], labels: Sequence[Any] | NDArray[Any], codes: Ints
) -> Iterator[tuple[str, Bools]]:
    says = codes >= 0
    for j, name in enumerate(names):
        for c, label in enumerate(labels):
            yield f"{name} says {label}", codes[:, j] == c
    if len(names) <= _MOST_PAIRS:
        for a, b in combinations(range(len(names)), 2):
            same = says[:, a] & (codes[:, a] == codes[:, b])
            yield f"{names[a]} and {names[b]} agree", same
    if len(names) > 2:
        yield "all agree", (says.sum(axis=1) > 1) & ~_apart(codes)


def _apart(codes: Ints) -> Bools:
    """Say on which rows two columns say different things."""
    least = np.where(codes >= 0, codes, np.iinfo(np.int64).max).min(axis=1)
    return np.asarray((codes >= 0).any(axis=1) & (codes.max(axis=1) > least))


def _order_sets(look: LabelView, codes: Ints, rows: Floats) -> _Sets:
    # The middle of a value's rows says in which bin they are, so equal values stay together.
    bins = ((np.cumsum(rows) - rows / 2) / rows.sum() * _BINS).astype(np.int64)
    for size in (8, 4, 2, 1) if len(rows) >= _BINS else ():
        for k in range(0, _BINS, size):
            own = np.flatnonzero((bins >= k) & (bins < k + size))
            if own.size:
                yield own, *_stretch(look, codes, rows, int(own[0]), int(own[-1]))


def _stretch(look: LabelView, codes: Ints, rows: Floats, low: int, high: int) -> tuple[str, str]:
    """Return where a stretch of an order is, and what it rests on."""
    if not look.names:
        first, last, n = (round(float(rows[:k].sum())) for k in (low, high + 1, len(rows)))
        where = f"rows {count(first + 1)} to {count(last)} of {count(n)}"
        return where, "the table is in random order"
    cells = (look.labels[int(codes[k])] for k in (low, high))
    one, other = (f"{cell:g}" if isinstance(cell, float) else cell for cell in cells)
    name = repr(look.names[0])
    return f"rows with {name} from {one} to {other}", _alike(name)


def _column_sets(look: LabelView, codes: Ints, rows: Floats) -> _Sets:
    name = repr(look.names[0])
    for place in np.argsort(-rows, kind="stable")[:_MOST_PARTS]:
        value = look.labels[int(codes[place])]
        yield np.array([place]), f"rows with {name} {value}", _alike(name)


def _alike(name: str) -> str:
    return f"rows are alike whatever their {name}"


_SETS = {"votes": _vote_sets, "order": _order_sets, "column": _column_sets}


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
    """
    roles, looks = data.roles, list[LabelView]()
    drawn = data.session is not None or roles.probability is not None
    if roles.truth is not None and not drawn and speaks != "none":
        rows = isinstance(data.held, Table)
        looks = _row_looks(data, speaks) if rows else _counted_looks(data, speaks)
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


def _voters(data: Data) -> tuple[str, ...]:
    names = data.roles.columns(*VOTES)
    return tuple(name for name in names if name != data.roles.truth)[:_MOST_VOTERS]


def _is_label(data: Data, labels: Sequence[Any]) -> Bools:
    """Say which cells of the truth are labels."""
    silent = frozenset(data.rules.missing)
    return np.array([not (is_missing(x, silent) or is_no_answer(x)) for x in labels], bool)


def _vote_looks(votes: LabelView) -> list[LabelView]:
    """Return the look at the votes: as labels, or many numbers as orders."""
    if len(votes.labels) <= _MOST_LABELS:
        return [votes]
    numbers = np.array([number_of(one) for one in votes.labels], np.float64)
    if np.isnan(numbers).any():
        return [replace(votes, labels=())]
    values, rank = np.unique(numbers, return_inverse=True)
    ranks = np.append(rank, -1).astype(np.int64)[votes.codes]
    return [
        replace(votes, kind="order", names=(name,), codes=ranks[:, [j]], labels=values)
        for j, name in enumerate(votes.names)
    ]


def _needed(votes: LabelView) -> Bools:
    """Say which rows are looked at where labels are needed only where voters disagree.

    All rows, if labels are as frequent where they agree: more rows show more. None, if every
    disagreement has a label, because these determine the difference.
    """
    counts, known = votes.weights, votes.known
    apart = _apart(votes.codes) & (counts > 0)
    if known[apart].all():
        return np.zeros(len(known), bool)
    rows = apart & known, counts > 0, apart, known
    alike = _tail(*(float(counts[one].sum()) for one in rows)) > 0.05
    return np.asarray(counts > 0) if alike else apart


def _is_written_by_labelling(look: LabelView) -> bool:
    """Say whether a column was filled by labelling: it says the same on all rows without a label.

    Two words may be two slices.
    """
    codes = look.codes[:, 0]
    without = np.unique(codes[~look.known & (look.weights > 0)])
    labelled = np.unique(codes[look.known & (look.weights > 0)])
    if len(without) != 1 or without[0] < 0 or len(labelled) != 1:
        return len(without) == 1
    words = [look.labels[k] for k in (*without, *labelled) if k >= 0]
    return as_pass_fail(words) is not None or all(isinstance(x, bool | int) for x in words)


def _counted_looks(data: Data, speaks: str) -> list[LabelView]:
    """Return the looks at counts, and at what a service knows beside them."""
    truth, roles, names = str(data.roles.truth), data.roles, _voters(data)
    tally = data.counted(truth, *names)
    if tally is None or tally.weighted or not names:
        return []
    systems = roles.columns("system")
    held = tally.marginal([truth, *names, *systems])
    codes, labels = _coded(data, held, len(names) + 1)
    votes = LabelView(
        kind="votes",
        names=names,
        codes=codes[:, 1:],
        labels=labels,
        known=codes[:, 0] >= 0,
        counts=np.asarray(held.counts, np.float64),
        part=held.codes[:, -1].astype(np.int64) if systems else 0,
        parts=tuple(map(str, held.labels[systems[0]])) if systems else ("",),
    )
    if speaks == "disagreements":
        return _vote_looks(votes.take(_needed(votes)))

    cells: dict[str, list[tuple[Any, int, int]]] = {}
    for name in set(tally.names) - (set(roles.columns()) - {roles.by}):
        held = tally.marginal([truth, name])
        known = held.counts * _is_label(data, held.labels[truth])[held.codes[:, 0]]
        sums = (np.bincount(held.codes[:, 1], one).astype(int) for one in (held.counts, known))
        cells[name] = list(zip(held.labels[name], *sums, strict=True))
    if data.beside is not None:
        taken = roles.columns("by", "system")
        cells |= {name: [*own] for name, own in data.beside.parts.items() if name not in taken}
    looks = _vote_looks(votes)
    for name, own in sorted(cells.items()):
        look = LabelView(
            kind="column",
            names=(name,),
            codes=np.repeat([-1 if one[0] is None else k for k, one in enumerate(own)], 2)[:, None],
            labels=[one[0] for one in own],
            known=np.tile([False, True], len(own)),
            counts=np.array([x for _, n, k in own for x in (n - k, k)], np.float64),
        )
        looks += [] if _is_written_by_labelling(look) else [look]
    if data.beside is not None and data.beside.labelled is not None:
        # Three places in the order: before the first label, between the ends, after the last.
        first, last = data.beside.labelled
        m, n = float(votes.weights[votes.known].sum()), float(votes.weights.sum())
        look = LabelView(
            kind="order",
            names=(),
            codes=np.array([[0], [1], [1], [2]]),
            labels=(),
            known=np.array([False, True, False, False]),
            counts=np.array([first - 1.0, m, last - first + 1 - m, n - last]),
        )
        looks.append(look)
    return looks


def _row_looks(data: Data, speaks: str) -> list[LabelView]:
    """Return the looks at votes, the order of rows, and columns without a role."""
    held = _labelled_rows(data) if data.n_rows <= _MOST_ROWS else None
    if held is None:
        return []
    votes, keep, truth = held
    looks = []
    if votes.names:
        if speaks == "disagreements":
            apart = _needed(votes)
            votes, keep, truth = votes.take(apart), keep[apart], truth[apart]
        if not votes.known.any():
            return []
        # Rows with equal votes are counted: a sum per pattern takes less than one per row.
        part = votes.part + np.zeros(len(keep), np.int64)
        whole = np.column_stack((votes.codes, votes.known.astype(np.int64), part))
        first, counts, _ = distinct_rows(whole, int(whole.max(initial=0)) + 1)
        looks = _vote_looks(replace(votes.take(first), counts=counts))
    place = np.arange(len(keep))
    is_sorted = _was_sorted_by(truth[votes.known])
    for name, kind, codes, labels in _columns(data):
        look = replace(votes, kind=kind, names=(name,), codes=codes[keep][:, None], labels=labels)
        if _is_written_by_labelling(look):
            continue
        if kind == "order" and _has_two_orders(look):
            # Either the table was sorted by having a label, or labelling changed this column.
            if np.abs(np.diff(look.known.astype(np.int8))).sum() > 1:
                continue
            is_sorted = True
        looks.append(look)
    whole_order = replace(votes, kind="order", names=(), codes=place[:, None], labels=place)
    return looks if is_sorted else [*looks, whole_order]


def _labelled_rows(data: Data) -> tuple[LabelView, Ints, Ints] | None:
    """Return the votes of all items, the row of each, and its label as a number."""
    roles, votes, table = data.roles, _voters(data), data.table
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
    keys = rows.part * (len(groups) + 1) + groups
    keys = np.where(groups < 0, -1 - np.arange(len(groups)), keys)
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
    """Say whether rows with a label are in order, and those without, but not all."""
    codes, known = look.codes[:, 0], look.known
    parts = (codes[(codes >= 0) & one] for one in (codes >= 0, known, ~known))
    steps = [np.diff(one) for one in parts]
    whole, with_label, without = (bool((x >= 0).all() or (x <= 0).all()) for x in steps)
    return not whole and with_label and without


def _columns(data: Data) -> Iterator[tuple[str, Kind, Ints, Any]]:
    """Yield the columns without a role: as orders and as repeated values."""
    roles, table, kinds = data.roles, data.table, data.table.kinds
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


def _labelled(data: Data) -> tuple[Ints, Ints]:
    """Return patterns of labelled rows x (truth, voters), and how often each occurs.

    What the answer has counted is used again; else some labelled rows are counted.
    """
    truth, names, none = data.roles.truth, _voters(data), np.zeros((0, 1), np.int64)
    if truth is None or not names:
        return none, none[:, 0]
    counted = data.counted(truth, *names)
    if counted is None and isinstance(data.held, Table) and truth in data.held.columns:
        some = data.held.relation.filter(f"{identifier(truth)} is not null").limit(_LOOKED)
        try:
            part = replace(data, held=replace(data.held, relation=some))
            rules = replace(data.rules, coerce=True)
            counted = replace(part, rules=rules).count_words(truth, *names)
        except InputError:  # a column of so many values that they are no labels
            return none, none[:, 0]
    if counted is None or counted.patterns * len(names) > _MOST_CELLS:
        return none, none[:, 0]
    held = counted.marginal([truth, *names])
    codes, _ = _coded(data, held, len(names) + 1)
    known, counts = codes[:, 0] >= 0, np.asarray(held.counts, dtype=np.int64)
    return codes[known], counts[known]


def _coded(data: Data, tally: Tally, columns: int) -> tuple[Ints, list[Label]]:
    """Return the first columns of a tally as codes, the truth first, and what the codes mean.

    A column without the labels of the truth is read in its words, if both say right and wrong.
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
    """Return 1 for the label that means right and 0 for wrong, if two do."""
    if words and words <= {0, 1}:
        return {word: float(word) for word in words if isinstance(word, int)}
    found = as_pass_fail(words) if words else None
    return found if found is not None and set(found.values()) <= {0.0, 1.0} else {}


def copied_from(agreements: Mapping[str, tuple[int, int]]) -> tuple[str, str] | None:
    r"""Return the column that agrees with the truth too well, and the next best; None if none does.

    With *n* labelled rows and a next best column that errs on a share *e* of its rows, a column
    that errs half as often agrees everywhere with probability

    .. math:: (1 - e/2)^n .    \tag{CP1}

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
    r"""Return the doubt about a truth that is a copy, is turned round, or stands on other rows.

    Two columns that are right with independent errors and agree with kappa :math:`\kappa` each
    agree with the truth with about :math:`\sqrt\kappa`, which *n* rows show at
    :math:`\sqrt{n \kappa}` standard errors.
    """
    codes, counts = _labelled(data)
    true = np.unique(codes[:, 0])
    if not true.size:
        return None
    truth, votes = repr(data.roles.truth), codes[:, 1:]
    both = zip(counts @ (votes >= 0), counts @ (votes == codes[:, :1]), strict=True)
    held = {name: (int(n), int(k)) for name, (n, k) in zip(_voters(data), both, strict=True)}
    # Readers of a session did not see the votes; who always says the one label is no copy.
    found = copied_from(held) if data.session is None and len(true) > 1 else None
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
    if codes.max() >= _MOST_LABELS:
        return None

    if int(counts.sum()) > _LOOKED_AT:
        drawn = np.random.default_rng(0).multivariate_hypergeometric
        counts = drawn(counts, _LOOKED_AT, method="marginals")
    rows = np.repeat(codes, counts, axis=0).astype(np.int32)
    # Of two labels a tie or a refusal takes neither side. A column that says one label everywhere
    # is as good as chance, however seldom it is right.
    kappa, z = agreement(np.where(np.isin(rows, true), rows, -1) if len(true) == 2 else rows)
    if len(true) == 2 and ((kappa[0, 1:] < -_OPPOSITE) & (z[0, 1:] <= -_SHOWS)).all():
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
    pairs = kappa[1:, 1:][np.triu_indices(len(held), 1)]
    pairs = pairs[np.isfinite(pairs)]
    if paired or data.session is not None or not pairs.size or np.isnan(z[0, 1:]).any():
        return None
    # Columns that only seem to agree prove nothing: two standard errors are taken off.
    common = max(float(pairs.mean()) - _CHANCE / math.sqrt(len(rows)), 0.0)
    if math.sqrt(len(rows) * common) < _SHOWS or np.abs(z[0, 1:]).max() >= _CHANCE:
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


# Rows that belong together: differences of voters correlate inside the groups of a column.


_TIMES = 999
_LEAST_EFFECT = 1.5
"""Factor on the variance from which groups matter: intervals are a fifth too narrow."""

_LEAST_ROWS, _LEAST_GROUPS, _MOST_TOGETHER = 20, 10, 20_000


def _together_doubt(data: Data, clustered: bool) -> Doubt | None:
    """Return the doubt about rows that belong together."""
    roles, names = data.roles, _voters(data)
    declared = roles.cluster or roles.replicate or roles.weight or roles.system or roles.systems
    is_asked = isinstance(data.held, Table) and not declared and len(names) > 1
    if not is_asked or data.n_rows > _MOST_ROWS:
        return None
    # Voters are compared on rows on which all of them say something: by right or wrong where a
    # truth is known, else by numbers, or by one label of two.
    coded = data.words(*names, *roles.columns("truth"))
    codes = coded.codes[:_MOST_TOGETHER]
    rows = np.flatnonzero((codes >= 0).all(axis=1))
    numbers = np.array([number_of(one) for one in coded.labels], np.float64)
    if np.isnan(numbers).any():
        numbers = np.arange(len(numbers), dtype=np.float64) * (len(numbers) == 2)
    values = numbers[codes[rows]]
    if roles.truth is not None:
        values = (codes[rows, :-1] == codes[rows, -1:]).astype(np.float64)

    for name, kind, cells, _ in _columns(data):
        here = cells[rows] >= 0
        groups = cells[rows][here]
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


def belong_together(values: Floats, groups: Ints) -> float | None:
    r"""Return by what factor groups raise the variance of a mean difference; None if not surely.

    Values are rows x voters. What voters have in common on a row, such as its difficulty, is taken
    off, so only differences count. With :math:`S_g` the sums of group g, :math:`\sum_g S_g^2` is
    held against its values when rows change places at random: it must exceed all of 999.
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
