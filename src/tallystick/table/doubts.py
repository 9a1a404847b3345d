"""Doubts about labels: one question, one level, one reaction.

*Does having a label depend on X?* X is the order of the rows, a time, a slice, a group of rows, or
what the votes say. Every interval from a few labels rests on the answer "no". So do the two other
doubts here: a truth that was copied from a voter, and rows that belong together. Whatever is found,
the answer decides nothing, passes no gate, and says why in one sentence (`with_doubt`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import combinations
from shlex import quote
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallystick.results import Needed, Result, Sentences, percent
from tallystick.results.numbers import count, p_value
from tallystick.stats.urns import smaller_tail
from tallystick.table.cautions import Caution, with_cautions
from tallystick.table.cells import identifier, is_missing
from tallystick.table.data import VOTES, Data
from tallystick.table.one_spelling import AnswerCounts, answer_counts
from tallystick.table.session_rows import distinct_rows
from tallystick.table.tables import Table
from tallystick.table.tally import Tally
from tallystick.table.words import as_pass_fail, is_no_answer

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
    first
        The answer instead of the verdict, in one sentence.
    seen, way_out
        What shows it, and what to do about it.
    assumption
        What every interval rests on because of it.
    needed
        What would settle the question.
    """

    first: str
    seen: str
    way_out: str
    assumption: str
    needed: str = "labels on items drawn at random"

    @property
    def warning(self) -> str:
        """What a reader has to know."""
        return f"{self.seen}. {self.way_out}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Look:
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


@dataclass(frozen=True)
class _Fact:
    """How likely chance makes something so extreme, and how to say it if it is what shows."""

    p: float
    told: Callable[[], tuple[str, str]]
    """What is so, and what every interval takes for granted."""


def label_doubt(looks: Sequence[Look], *, looked: int = 1) -> Doubt | None:
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
    >>> print(label_doubt([Look(kind="order", names=(), codes=rows, labels=rows, known=known)]).first)
    The labels decide nothing, because they were not drawn at random: all 30 are on rows 1 to 30 of 200.
    """
    best: tuple[float, _Fact, str] | None = None
    used = 0
    for look in looks:
        facts = [(one, among) for part, among in _by_part(look) for one in _FACTS[look.kind](part)]
        used += bool(facts)
        for fact, among in facts:
            p = fact.p * len(facts)
            if best is None or p < best[0]:
                best = p, fact, among
    if best is None or (p := best[0] * used * looked) > LEVEL:
        return None
    what, assumption = best[1].told()
    what += f" (of {best[2]})" if best[2] else ""
    return Doubt(
        first=f"The labels decide nothing, because they were not drawn at random: {what}.",
        seen=f"the labels were not drawn at random ({p_value(p)}): {what}",
        way_out="Label rows that are drawn at random",
        assumption=assumption,
    )


def _by_part(look: Look) -> Iterator[tuple[Look, str]]:
    """Yield the parts in which some rows have a label and some have none."""
    part = np.zeros(len(look.known), np.int64) if look.part is None else look.part
    counts = np.ones(len(look.known)) if look.counts is None else look.counts
    for k in np.unique(part[look.known]).tolist():
        mine = (part == k) & (counts > 0)
        known = look.known[mine]
        if known.any() and not known.all():
            own = replace(look, codes=look.codes[mine], known=known, counts=counts[mine], part=None)
            yield own, look.parts[k] if len(look.parts) > 1 else ""


def _tail(seen: float, whole: float, held: float, draws: float) -> float:
    """Return the two-sided p-value of the labels on some rows."""
    tail = smaller_tail(*(round(float(x)) for x in (seen, whole, held, draws)))
    return min(1.0, 2 * tail)


# What votes show: what each voter says, and who agrees.


def _vote_facts(look: Look) -> Iterator[_Fact]:
    counts, known = _counts(look), look.known
    for event, possible, what in _events(look.codes, look.names, look.labels):
        whole, held = counts[possible].sum(), counts[event].sum()
        draws, seen = counts[possible & known].sum(), counts[event & known].sum()
        if 0 < held < whole and 0 < draws < whole:
            # Of two labels both are as telling; "says b on all" is easier to read than "a on none".
            tail = _tail(seen, whole, held, draws) * (1 + 1e-9 * (seen * whole < held * draws))
            shares = float(seen / draws), float(held / whole)
            yield _Fact(tail, partial(_vote_told, what, *shares))


def _vote_told(what: str, drawn: float, everywhere: float) -> tuple[str, str]:
    return (
        f"{what} on {percent(drawn)} of the labelled rows and on {percent(everywhere)} of all",
        "the labels are like a random draw, whatever the votes",
    )


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


def _order_facts(look: Look) -> Iterator[_Fact]:
    rows, labels, first = _grouped(look)
    ends = np.cumsum(rows)
    n, m = float(rows.sum()), float(labels.sum())
    if not 0 < m < n:
        return
    held = np.flatnonzero(labels)
    low, high = int(held[0]), int(held[-1])
    width = float(ends[high] - ends[low] + rows[low])
    ways = np.logaddexp(
        math.log(max(n - width, 1e-300)) + _log_ways(width - 1, m - 1), _log_ways(width, m)
    )
    yield _Fact(  # (LD1)
        min(1.0, math.exp(ways - _log_ways(n, m))),
        partial(_order_told, look, (low, high), ends, (m, m), first),
    )
    if len(rows) < _BINS:
        return

    # The middle of a value's rows says in which bin they are, so equal values stay together.
    bins = ((ends - rows / 2) / n * _BINS).astype(np.int64)
    for size in (8, 4, 2, 1):
        for k in range(0, _BINS, size):
            own = np.flatnonzero((bins >= k) & (bins < k + size))
            inside = float(rows[own].sum()) if own.size else 0.0
            if 0 < inside < n:
                seen = float(labels[own].sum())
                span = int(own[0]), int(own[-1])
                yield _Fact(
                    _tail(seen, n, inside, m),
                    partial(_order_told, look, span, ends, (seen, m), first),
                )


def _order_told(
    look: Look, span: tuple[int, int], ends: Floats, seen: tuple[float, float], first: Ints
) -> tuple[str, str]:
    before = float(ends[span[0] - 1]) if span[0] else 0.0
    some = f"all {count(round(seen[1]))}" if seen[0] == seen[1] else _of(*seen)
    are = "is" if seen[0] == 1 else "are"
    if not look.names:
        where = f"on rows {count(round(before) + 1)} to {count(round(ends[span[1]]))}"
        return f"{some} {are} {where} of {count(round(ends[-1]))}", "the table is in random order"
    cells = [look.labels[int(first[place])] for place in span]
    share = percent((float(ends[span[1]]) - before) / float(ends[-1]))
    where = f"on rows with {look.names[0]!r} from {_written(cells[0])} to {_written(cells[1])}"
    return (
        f"{some} {are} {where}, which are {share} of the table",
        f"nothing changes with {look.names[0]!r}",
    )


def _of(seen: float, draws: float) -> str:
    some = "none" if not seen else f"only {count(round(seen))}" if 2 * seen < draws else ""
    return f"{some or count(round(seen))} of {count(round(draws))}"


def _written(cell: Any) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


# What a column shows: a value with too few or too many labels, and groups without any.


def _column_facts(look: Look) -> Iterator[_Fact]:
    rows, labels, values = _grouped(look)
    n, m = float(rows.sum()), float(labels.sum())
    if len(rows) < 2 or not 0 < m < n:
        return
    for place in np.argsort(-rows, kind="stable")[:_MOST_PARTS].tolist():
        yield _Fact(
            _tail(labels[place], n, rows[place], m),
            partial(
                _slice_told,
                look,
                int(values[place]),
                (float(labels[place]), m),
                float(rows[place]) / n,
            ),
        )
    if len(rows) >= 5:
        empty = labels == 0
        share = float(rows[empty].sum()) / n
        yield _Fact(
            _empty_chance(rows, m, int(empty.sum())),
            partial(_group_told, look.names[0], int((~empty).sum()), len(rows), share),
        )


def _slice_told(look: Look, value: int, seen: tuple[float, float], share: float) -> tuple[str, str]:
    name = look.names[0]
    some = "all" if seen[0] == seen[1] else _of(*seen)
    return (
        f"{some} {'is' if seen[0] == 1 else 'are'} on rows with {name!r} {look.labels[value]},"
        f" which are {percent(share)} of the table",
        f"{name!r} makes no difference",
    )


def _group_told(name: str, labelled: int, groups: int, share: float) -> tuple[str, str]:
    return (
        f"they are on {count(labelled)} of the {count(groups)} different {name!r}, and"
        f" {percent(share)} of the rows belong to the others",
        f"rows are alike whatever their {name!r}",
    )


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
    counts = np.zeros(empty + 1)
    counts[0] = 1.0
    for p in chance.tolist():
        last = counts[-1]
        counts[1:] = counts[1:] * (1 - p) + counts[:-1] * p
        counts[-1] += last * p  # the last place means "at least so many"
        counts[0] *= 1 - p
    return float(counts[-1]) if empty else 1.0


def _log_ways(n: float, k: float) -> float:
    if not 0 <= k <= n:
        return -math.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _counts(look: Look) -> Floats:
    return np.ones(len(look.known)) if look.counts is None else look.counts


def _grouped(look: Look) -> tuple[Floats, Floats, Ints]:
    """Return rows and labels of each code that occurs, in their order, and the codes."""
    says = look.codes[:, 0] >= 0
    codes, place = np.unique(look.codes[says, 0], return_inverse=True)
    counts = _counts(look)[says]
    rows = np.bincount(place, weights=counts, minlength=len(codes)).astype(np.float64)
    held = counts * look.known[says]
    labels = np.bincount(place, weights=held, minlength=len(codes)).astype(np.float64)
    return rows, labels, codes.astype(np.int64)


_FACTS: dict[Kind, Callable[[Look], Iterator[_Fact]]] = {
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

    A field that names who is best is marked by its verb (``metadata={"doubted": None}``), and holds
    that value instead.
    """
    if doubt is None or doubt.warning in result.warnings:
        return result
    claims = {
        one.name: one.metadata["doubted"] for one in fields(result) if "doubted" in one.metadata
    }
    why = doubt.first[0].lower() + doubt.first[1:-1]
    resting = with_cautions(result, [Caution(warning=doubt.warning, assumption=doubt.assumption)])
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
        **claims,
    )


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
        label_doubt(looks, looked=looked) or _copy_doubt(data) or _together_doubt(data, clustered)
    )


_MOST_ROWS = 5_000_000
_MOST_LABELS = 20
"""Different answers above which numbers are an order, and words only agree or not."""

_MOST_TRUTHS = 1_000
"""Different cells from which the truth holds no labels."""

_MOST_COLUMNS = 24
_GLANCE = 100_000
_MOST_VOTERS = 40
_NUMBERS_OF_ROLES = ("item", "time", "score", "confidence", "covariate")


def _looks(data: Data, speaks: str) -> list[Look]:
    if isinstance(data.held, Table):
        return _row_looks(data, data.held, speaks) if data.n_rows <= _MOST_ROWS else []
    roles, votes = data.roles, _voters(data)
    truth = str(roles.truth)
    counted = data.counted(truth, *votes)
    if counted is None:
        return []
    looks = _counted_looks(data, counted, votes, speaks)
    if data.beside is not None and speaks == "all":
        looks += _looks_beside(data, looks)
    return looks


def _voters(data: Data) -> tuple[str, ...]:
    names = data.roles.columns(*VOTES)
    return tuple(name for name in names if name != data.roles.truth)[:_MOST_VOTERS]


def _is_label(data: Data, labels: Sequence[Any]) -> Bools:
    """Say which cells of the truth are labels."""
    silent = frozenset(data.rules.missing)
    return np.array([not (is_missing(x, silent) or is_no_answer(x)) for x in labels], bool)


def _counted_looks(data: Data, tally: Tally, votes: tuple[str, ...], speaks: str) -> list[Look]:
    """Return the looks at counts: the votes, and every other column that was counted."""
    roles = data.roles
    truth = str(roles.truth)
    system = [roles.system] if roles.system in tally.names else []
    names = [truth, *votes, *(name for name in system if name is not None)]
    if tally.weighted or not votes:
        return []
    held = tally.marginal(names)
    known = _is_label(data, held.labels[truth])[held.codes[:, 0]]
    place: dict[str, int] = {}
    codes = np.empty((len(held.codes), len(votes)), np.int64)
    for j, name in enumerate(votes):
        own = [
            -1 if is_missing(one) else place.setdefault(str(one), len(place))
            for one in held.labels[name]
        ]
        codes[:, j] = np.array(own, np.int64)[held.codes[:, 1 + j]]
    part = held.codes[:, -1].astype(np.int64) if system else np.zeros(len(codes), np.int64)
    parts = tuple(map(str, held.labels[names[-1]])) if system else ()
    counts = np.asarray(held.counts, np.float64)
    looks = _vote_looks(votes, codes, list(place), _Rows(known, part, parts, counts), speaks)
    for name in tally.names if speaks == "all" else ():
        if name not in roles.columns() or name == roles.by:
            own_tally = tally.marginal([truth, name])
            own_known = _is_label(data, own_tally.labels[truth])[own_tally.codes[:, 0]]
            words = own_tally.labels[name]
            cells = np.array(
                [-1 if is_missing(one) else k for k, one in enumerate(words)], np.int64
            )
            rows = _Rows(own_known, None, (), np.asarray(own_tally.counts, np.float64))
            looks += _column_look(name, cells[own_tally.codes[:, 1]], words, rows)
    return looks


def _looks_beside(data: Data, looks: Sequence[Look]) -> list[Look]:
    """Return the looks at what a service knows beside its counts: slices, and where labels stand."""
    found: list[Look] = []
    beside = data.beside
    if beside is None:
        return found
    for name, cells in beside.parts.items():
        if name in data.roles.columns("by", "system"):
            continue
        codes = np.repeat([k if one[0] is not None else -1 for k, one in enumerate(cells)], 2)
        counts = np.array([x for _, n, k in cells for x in (n - k, k)], np.float64)
        rows = _Rows(np.tile([False, True], len(cells)), None, (), counts)
        found += _column_look(name, codes, [one[0] for one in cells], rows)
    if beside.labelled is not None and looks:
        votes = looks[0]
        counts = np.ones(len(votes.known)) if votes.counts is None else votes.counts
        m, n = float(counts[votes.known].sum()), float(counts.sum())
        first, last = beside.labelled
        # Three places in the order: before the first label, between the ends, after the last.
        block = [first - 1.0, m, last - first + 1 - m, n - last]
        known = np.array([False, True, False, False])
        codes = np.array([[0], [1], [1], [2]])
        found.append(
            Look(
                kind="order", names=(), codes=codes, labels=(), known=known, counts=np.array(block)
            )
        )
    return found


@dataclass(frozen=True, eq=False)
class _Rows:
    """Which rows have a label, and the parts that they belong to."""

    known: Bools
    part: Ints | None
    parts: tuple[str, ...]
    counts: Floats | None = None

    def take(self, keep: Any) -> _Rows:
        part = None if self.part is None else self.part[keep]
        counts = None if self.counts is None else self.counts[keep]
        return _Rows(self.known[keep], part, self.parts, counts)

    def look(self, kind: Kind, names: tuple[str, ...], codes: Ints, labels: Labels) -> Look:
        held = codes if codes.ndim == 2 else codes[:, None]
        return Look(
            kind=kind,
            names=names,
            codes=held,
            labels=labels,
            known=self.known,
            counts=self.counts,
            part=self.part,
            parts=self.parts,
        )


def _vote_looks(
    names: tuple[str, ...], codes: Ints, labels: Sequence[Any], rows: _Rows, speaks: str
) -> list[Look]:
    """Return the look at the votes: as labels, or, where they are many numbers, as orders."""
    if speaks == "disagreements":
        apart = _needed(codes, rows)
        codes, rows = codes[apart], rows.take(apart)
    if len(labels) <= _MOST_LABELS:
        return [rows.look("votes", names, codes, labels)]
    numbers = [_number(one) for one in labels]
    if any(math.isnan(one) for one in numbers):
        return [rows.look("votes", names, codes, ())]
    values, rank = np.unique(numbers, return_inverse=True)
    ranks = np.append(rank, -1).astype(np.int64)
    return [rows.look("order", (name,), ranks[codes[:, j]], values) for j, name in enumerate(names)]


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


def _needed(codes: Ints, rows: _Rows) -> Bools:
    """Say which rows are looked at where labels are needed only where voters disagree.

    All rows, if labels are as frequent where they agree: more rows show more. None, if every
    disagreement has a label, because these determine the difference.
    """
    counts = np.ones(len(codes)) if rows.counts is None else rows.counts
    least = np.where(codes >= 0, codes, np.iinfo(np.int64).max).min(axis=1)
    apart = np.asarray((codes >= 0).any(axis=1) & (codes.max(axis=1) > least) & (counts > 0))
    if rows.known[apart].all():
        return np.zeros(len(codes), bool)
    parts = apart & rows.known, counts > 0, apart, rows.known
    alike = _tail(*(float(counts[one].sum()) for one in parts)) > 0.05
    return np.asarray(counts > 0) if alike else apart


def _column_look(name: str, codes: Ints, labels: Sequence[Any], rows: _Rows) -> list[Look]:
    """Return the look at a column, unless labelling itself wrote it.

    A column that is blank, or always says the same, on all rows without a label was filled when
    people labelled: who labelled, how long it took, whether it is done. Two different words may
    still be two slices.
    """
    counts = np.ones(len(codes)) if rows.counts is None else rows.counts
    without = np.unique(codes[~rows.known & (counts > 0)])
    if len(without) == 1:
        labelled = np.unique(codes[rows.known & (counts > 0)])
        words = [labels[k] for k in (*without, *labelled) if k >= 0]
        flags = as_pass_fail(words) is not None or all(isinstance(x, bool | int) for x in words)
        if without[0] < 0 or len(labelled) != 1 or flags:
            return []
    return [rows.look("column", (name,), codes.astype(np.int64), labels)]


def _row_looks(data: Data, table: Table, speaks: str) -> list[Look]:
    """Return the looks at a table: votes, the order of rows, and every column without a role."""
    rows, keep, truth = _labelled_rows(data, table) or (None, None, None)
    if rows is None or keep is None or truth is None or rows.known.all() or not rows.known.any():
        return []
    votes = _voters(data)
    looks = []
    if votes:
        coded = data.words(*votes)
        codes = coded.codes[keep].astype(np.int64)
        if speaks == "disagreements":
            apart = _needed(codes, rows)
            codes, keep, rows, truth = codes[apart], keep[apart], rows.take(apart), truth[apart]
            if not rows.known.any():
                return []
        looks = _vote_looks(votes, *_patterns(codes, rows, coded.labels), "all")
    place = np.arange(len(rows.known))
    in_order = rows.look("order", (), place, place)
    is_sorted = _was_sorted_by(truth, rows.known)
    for name, values, is_time in _orders(data, table):
        here = values[keep]
        says = ~np.isnan(here)
        if len(np.unique(here[says & ~rows.known])) < 2:
            continue  # labelling itself wrote it, as in `_column_look`
        if _has_two_orders(here, rows.known):
            # Either the table was sorted by having a label, or labelling changed this column.
            if not _is_block(rows.known):
                continue
            is_sorted = True
        cells, codes = np.unique(here[says], return_inverse=True)
        shown = cells.astype("datetime64[s]") if is_time else cells
        looks.append(rows.take(says).look("order", (name,), codes, shown))
    for name, codes, labels in _columns(data, table):
        looks += _column_look(name, codes[keep], labels, rows)
    return looks if is_sorted else [*looks, in_order]


def _patterns(codes: Ints, rows: _Rows, labels: Sequence[Any]) -> tuple[Ints, Sequence[Any], _Rows]:
    """Return rows with equal votes, labelled or not, once, with their counts."""
    part = np.zeros(len(codes), np.int64) if rows.part is None else rows.part
    whole = np.column_stack((codes, rows.known.astype(np.int64), part))
    first, counts, _ = distinct_rows(whole, int(whole.max(initial=0)) + 1)
    return codes[first], labels, replace(rows.take(first), counts=counts)


def _labelled_rows(data: Data, table: Table) -> tuple[_Rows, Ints, Ints] | None:
    """Return which items have a label, the row of each, and its label as a number.

    Rows of one item (and system) are labelled together, and so are clusters that are labelled as a
    whole: each counts once.
    """
    roles = data.roles
    truth = roles.truth
    if truth is None or truth not in table.columns:
        return None
    name = identifier(truth)
    [(different,)] = table.query(f"select count(distinct {name}) from rows")
    if different >= _MOST_TRUTHS:
        return None
    coded = data.words(truth)
    known = np.append(_is_label(data, coded.labels), False)[coded.codes[:, 0]]
    if known.all() or not known.any():
        return None
    part = np.zeros(len(known), np.int64)
    parts: tuple[str, ...] = ()
    systems = [one for one in (roles.system, *roles.systems) if one in table.columns]
    if systems:
        told = data.words(*systems)
        first, _, place = distinct_rows(told.codes, len(told.labels))
        part = place.astype(np.int64)
        words = (*told.labels, None)
        parts = tuple(" and ".join(str(words[k]) for k in row) for row in told.codes[first])
    rows, keep = _Rows(known, part, parts), np.arange(len(known))
    if roles.item is not None and len(known) <= 1_000_000:
        rows, keep = _once(rows, keep, data.groups(roles.item))
    if roles.cluster is not None:
        groups = data.groups(roles.cluster)[keep]
        size, held = np.bincount(groups + 1), np.bincount(groups + 1, weights=rows.known)
        if np.isin(held, (0,)).any() and ((held == 0) | (held == size)).all():
            rows, keep = _once(rows, keep, groups)
    return rows, keep, coded.codes[keep, 0]


def _once(rows: _Rows, keep: Ints, groups: NDArray[Any]) -> tuple[_Rows, Ints]:
    """Return each group of each part once; it has a label if one of its rows has."""
    part = np.zeros(len(groups), np.int64) if rows.part is None else rows.part
    keys = np.where(groups < 0, -1 - np.arange(len(groups)), part * (len(groups) + 1) + groups)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == len(groups):
        return rows, keep
    known = np.bincount(place, weights=rows.known) > 0
    order = np.argsort(first)
    return replace(rows.take(first[order]), known=known[order]), keep[first[order]]


def _was_sorted_by(truth: Ints, known: Bools) -> bool:
    """Say whether the labels stand in a block because the table was sorted by them."""
    labels, sizes = np.unique(truth[known], return_counts=True)
    changes = int((np.diff(truth[known]) != 0).sum())
    return len(labels) > 1 and sizes.min() >= 3 and changes == len(labels) - 1


def _has_two_orders(values: Floats, known: Bools) -> bool:
    """Say whether rows with a label are in order, and rows without, but not all together."""
    return not _ascends(values) and _ascends(values[known]) and _ascends(values[~known])


def _ascends(values: Floats) -> bool:
    steps = np.diff(values[~np.isnan(values)])
    return bool((steps >= 0).all() or (steps <= 0).all())


def _is_block(known: Bools) -> bool:
    return int(np.abs(np.diff(known.astype(np.int8))).sum()) == 1


def _free(data: Data, table: Table, besides: Sequence[str]) -> list[str]:
    """Return the first columns without a role, and those of the roles *besides*."""
    kept = data.roles.columns(*besides)
    used = set(data.roles.columns()) - set(kept)
    free = [name for name in table.columns if name not in used and name not in kept]
    return [*(name for name in kept if name in table.columns), *free][:_MOST_COLUMNS]


def _different(table: Table, names: Sequence[str]) -> list[tuple[int, int]]:
    """Return how many different cells each column has, of how many that are not blank."""
    if not names:
        return []
    parts = ", ".join(f"count(distinct {identifier(n)}), count({identifier(n)})" for n in names)
    [found] = table.query(f"select {parts} from (select * from rows limit {_GLANCE})")
    return list(zip(found[::2], found[1::2], strict=True))


def _orders(data: Data, table: Table) -> Iterator[tuple[str, Floats, bool]]:
    """Yield the columns of times and of many different numbers, NaN where blank."""
    names = _free(data, table, _NUMBERS_OF_ROLES)
    kinds = table.kinds
    for name, (different, cells) in zip(names, _different(table, names), strict=True):
        cell, kind = identifier(name), kinds[name]
        if different < _BINS or kind == "boolean":
            continue
        if kind in ("integer", "float"):
            if different > _MOST_PARTS or different == cells:
                yield name, _floats(table, f"try_cast({cell} as double)"), False
            continue
        ways = (f"try_cast({cell} as bigint)::double", f"epoch(try_cast({cell} as timestamp))")
        for way in ways:
            [(read,)] = table.query(
                f"select count({way}) from (select * from rows limit {_GLANCE})"
            )
            if read == cells:
                yield name, _floats(table, way), way == ways[1]
                break


def _floats(table: Table, cell: str) -> Floats:
    column = table.arrow(f"select {cell} as x from rows")["x"]
    return np.asarray(column.to_numpy(), np.float64)


def _columns(data: Data, table: Table) -> Iterator[tuple[str, Ints, Sequence[Any]]]:
    """Yield the columns whose values repeat: codes of their rows, and the values."""
    names = _free(data, table, ("by",))
    kinds = table.kinds
    for name, (different, cells) in zip(names, _different(table, names), strict=True):
        if kinds[name] in ("other", "float") or different < 2 or cells < 2 * different:
            continue
        coded = data.words(name)
        yield name, coded.codes[:, 0].astype(np.int64), coded.labels


# A truth that was copied from a voter, or made with it in view.


_LEAST_COPIES = 30
"""Rows with a label and an answer below which equal columns say little."""


@dataclass(frozen=True, kw_only=True)
class CopiedTruth:
    """A column that the truth equals on every labelled row.

    Parameters
    ----------
    truth, column
        The truth and the column.
    rows
        How many rows have both.
    other, agreement
        The next best column, and on which share of its labelled rows it equals the truth.
    """

    truth: str
    column: str
    rows: int
    other: str
    agreement: float


def copied_truth(counts: AnswerCounts) -> CopiedTruth | None:
    """Return the column that the truth may have been copied from, None if no column stands out.

    Examples
    --------
    >>> from tallystick.table import read
    >>> table = {"gold": [0, 1] * 40, "gpt": [0, 1] * 40, "claude": [0, 1, 0, 0] * 20}
    >>> copied_truth(answer_counts(read(table, truth="gold", judges=("gpt", "claude")))).column
    'gpt'
    """
    # A column that always says the one label is no copy.
    if counts.labels < 2 or len(counts.columns) < 2:
        return None
    return likely_copy(counts.truth, counts.agreements())


def likely_copy(truth: str, agreements: Mapping[str, tuple[int, int]]) -> CopiedTruth | None:
    r"""Return the column whose agreement with the truth is too good, given the next best.

    With *n* labelled rows and a next best column that errs on a share *e* of its rows, a column
    that errs half as often agrees everywhere with probability

    .. math:: (1 - e/2)^n .    \tag{CP1}

    Parameters
    ----------
    truth
        The column of true labels.
    agreements
        For each column, the rows that have both, and those on which the two are equal.

    Examples
    --------
    >>> likely_copy("gold", {"gpt": (61, 61), "claude": (61, 45)}).column
    'gpt'
    >>> likely_copy("gold", {"gpt": (61, 61), "claude": (61, 59)}) is None  # easy items
    True
    """
    shares = {
        name: same / rows for name, (rows, same) in agreements.items() if rows >= _LEAST_COPIES
    }
    whole = [name for name, share in shares.items() if share == 1.0]
    others = {name: share for name, share in shares.items() if share < 1.0}
    if not whole or not others:
        return None
    column = max(whole, key=lambda name: agreements[name][0])
    other = max(others, key=others.__getitem__)
    rows = agreements[column][0]
    if (1 - 0.5 * (1 - others[other])) ** rows > LEVEL:  # (CP1)
        return None
    return CopiedTruth(truth=truth, column=column, rows=rows, other=other, agreement=others[other])


def _copy_doubt(data: Data) -> Doubt | None:
    counts = answer_counts(data)
    # Readers of a labelling session did not see the votes.
    copy = copied_truth(counts) if counts is not None and data.session is None else None
    if copy is None:
        return None
    same = (
        f"{copy.truth!r} equals {copy.column!r} on all {count(copy.rows)} rows that have both, while"
        f" {copy.other!r} equals it on {percent(copy.agreement)}"
    )
    return Doubt(
        first=f"The labels decide nothing, because they look like a copy: {same}.",
        seen=same,
        way_out=(
            f"If {copy.truth!r} was copied from {copy.column!r}, made with it in view, or"
            f" only rows were kept where {copy.column!r} is right, it says nothing about the errors"
            f" of {copy.column!r} and makes all others look worse"
        ),
        assumption=f"{copy.truth!r} was made without {copy.column!r}",
        needed=f"labels that were made without {copy.column!r}",
    )


_LEAST_ROWS, _LEAST_GROUPS, _MOST_TOGETHER = 20, 10, 20_000


def _together_doubt(data: Data, clustered: bool) -> Doubt | None:
    """Return the doubt about rows that belong together, by the first column that shows it."""
    table, roles = data.held, data.roles
    declared = roles.cluster or roles.replicate or roles.weight or roles.system or roles.systems
    if not isinstance(table, Table) or declared or data.n_rows > _MOST_ROWS:
        return None
    names = _voters(data)
    found = None
    for column, codes, _ in _columns(data, table) if len(names) > 1 else ():
        if column == roles.by or len(np.unique(codes)) < _LEAST_GROUPS:
            continue
        found = _differences(data, names) if found is None else found
        values, rows = found
        here = codes[rows] >= 0
        groups = codes[rows][here]
        different = len(np.unique(groups))
        if here.sum() < max(_LEAST_ROWS, 2 * different) or different < _LEAST_GROUPS:
            continue
        effect = belong_together(values[here], groups)
        if effect is not None:
            return _alike_doubt(column, (int(here.sum()), different), effect, clustered)
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
    numbers = np.array([_number(one) for one in coded.labels])
    if np.isnan(numbers).any():
        numbers = np.arange(len(numbers), dtype=np.float64) if len(numbers) == 2 else numbers * 0
    return np.nan_to_num(numbers)[codes[rows]], rows


def _alike_doubt(column: str, seen: tuple[int, int], effect: float, clustered: bool) -> Doubt:
    way_out = f"add --cluster {quote(column)}" if clustered else "keep one row of each"
    alike = f"rows with the same {column!r} are alike"
    return Doubt(
        first=f"The rows decide nothing, because they belong together: {alike}.",
        seen=(
            f"{count(seen[0])} rows have {count(seen[1])} different cells in {column!r}, and {alike}"
            f" in who is right: intervals are too narrow, by about {math.sqrt(effect):.1f} times"
        ),
        way_out=f"To count each as one, {way_out}",
        assumption=f"rows with the same {column!r} are as good as new ones",
        needed=f"values of {column!r}; {way_out}",
    )
