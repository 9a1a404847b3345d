"""Labels only where it matters: the difference of two models needs true labels only on items where
they disagree.

N items, M disagreements, of which :math:`m_L` are labelled with :math:`x_b` for the first model and
:math:`x_c` for the second (with more than two labels both may be wrong), and :math:`U = M - m_L`
are blank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.results.numbers import count
from tallystick.stats.exact_tails import open_unit, whole
from tallystick.stats.intervals import Intervals, mover_sum, wilson
from tallystick.stats.maxt import holm
from tallystick.stats.power import discordant_labels
from tallystick.table import Data, Label, Table, identity
from tallystick.table.cells import in_order
from tallystick.table.engine import how_items_differ
from tallystick.verbs.compare.pairs import PairTable, exact_score, mcnemar, tango

if TYPE_CHECKING:
    from tallystick.verbs.compare.board import Board

Floats = npt.NDArray[np.float64]
Blanks = Literal["any", "random"]
"""What is assumed of the items without a label: nothing, or that they were left out at random."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Where two models give different answers, and what the labels there say.

    Parameters
    ----------
    items
        N, all items.
    apart
        M, items with different answers.
    labelled
        Of these, how many have a true label.
    first_only, second_only
        Of these, on how many only the first, only the second is right.
    """

    items: int
    apart: int
    labelled: int
    first_only: int
    second_only: int

    def __post_init__(self) -> None:
        inside = (
            0 <= self.first_only + self.second_only <= self.labelled <= self.apart <= self.items
        )
        if not inside or min(self.first_only, self.second_only) < 0 or self.items < 1:
            raise InputError(
                f"counts must satisfy only one right <= labelled <= apart <= items, got {self}"
            )

    @property
    def blank(self) -> int:
        """U, disagreements without a label."""
        return self.apart - self.labelled


def partial_interval(
    counts: Disagreement, *, alpha: float = 0.05, blanks: Blanks = "any"
) -> Interval:
    r"""Bound the difference of two accuracies on new items when some disagreements have no label.

    *Nothing assumed of the blanks*: they are all given to the second model for the lower end and
    all to the first for the upper end, each end of the exact interval (C2). Exact; without blanks
    it is :func:`exact_score` itself.

    *Labelled at random among the disagreements*, approximate: the reaches of :math:`d = M/N`
    (Wilson) and of :math:`μ = (x_b - x_c)/m_L` (Tango), joined by MOVER with the weights :math:`μ`
    and :math:`d`.

    Examples
    --------
    >>> some = Disagreement(items=1000, apart=100, labelled=40, first_only=30, second_only=10)
    >>> print(partial_interval(some))
    [-0.060, 0.100] (95 %, exact)
    >>> print(partial_interval(some, blanks="random"))
    [0.018, 0.074] (95 %, under blank labels that were left out at random)
    """
    open_unit(alpha=alpha)
    n, u = counts.items, counts.blank
    b, c = counts.first_only, counts.second_only
    if blanks == "any":
        low = exact_score(b, c + u, n, alpha=alpha).low
        high = exact_score(b + u, c, n, alpha=alpha).high
        return Interval(
            low, high, level=1 - alpha, guarantee="exact", method="exact-score with blanks"
        )
    if blanks != "random":
        raise InputError(f"blanks must be 'any' or 'random', got {blanks!r}")
    if counts.labelled < 2:
        raise InputError(
            f"random blanks need at least 2 labelled disagreements, got {counts.labelled}"
        )
    low, high = _new(counts, alpha)
    assumption = "blank labels that were left out at random"
    return Interval(
        low,
        high,
        level=1 - alpha,
        guarantee="under",
        assumption=assumption,
        method="post-stratified",
    )


def _new(counts: Disagreement, alpha: float) -> tuple[float, float]:
    d = counts.apart / counts.items
    mu = (counts.first_only - counts.second_only) / counts.labelled
    lead = tango(counts.first_only, counts.second_only, counts.labelled, alpha=alpha)[0]
    apart = wilson(counts.apart, counts.items, alpha=alpha)
    parts, low, high = (
        np.array(pair) for pair in ((mu, d), (lead.low, apart.low), (lead.high, apart.high))
    )
    centre, down, up = mover_sum(parts, low, high, weights=np.array([d, mu]))
    return max(-1.0, d * mu - float(centre - down)), min(1.0, d * mu + float(up - centre))


def labels_needed(
    counts: Disagreement,
    *,
    blanks: Blanks = "any",
    pairs: int = 1,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int | None:
    """Return about how many more labels on disagreements would decide which model is better; 0 if
    none is blank.

    New labels are taken to fall as those so far. With nothing assumed of the blanks the decision is
    due once McNemar's test rejects although all that is still blank goes to the other model; if
    labels are drawn at random among the disagreements, once it rejects on the labelled ones.
    Without a lead yet, all blanks. None if all of them would not decide it, so that it takes more
    items.

    Parameters
    ----------
    counts
        What is labelled by now.
    blanks
        What is assumed of the blanks.
    pairs
        Among how many pairs the decision is taken (Bonferroni).
    alpha, power
        Level; probability of success, for random labels.

    Examples
    --------
    >>> some = Disagreement(items=1000, apart=300, labelled=40, first_only=25, second_only=15)
    >>> labels_needed(some), labels_needed(some, blanks="random")
    (229, 78)
    >>> labels_needed(Disagreement(items=100, apart=10, labelled=3, first_only=2, second_only=1)) is None
    True
    """
    whole(1, pairs=pairs)
    labelled, blank = counts.labelled, counts.blank
    won, lost = sorted((counts.first_only, counts.second_only), reverse=True)
    if not blank:
        return 0
    if won == lost:
        return blank if mcnemar(won + blank, lost) <= alpha / pairs else None
    more = np.arange(1, blank + 1)
    ahead, behind = won + more * won // labelled, lost - (-more * lost // labelled)
    against = behind + blank - more
    decided = (ahead > against) & (mcnemar(ahead, against) <= alpha / pairs)
    if not decided[-1]:
        return None
    if blanks == "any":
        return int(more[np.argmax(decided)])
    share, lead = (won + lost) / labelled, (won - lost) / labelled
    goal = discordant_labels(lead, decided=share, alpha=alpha / pairs, power=power)
    return min(blank, max(1, goal - labelled))


def disagreements(board: Board) -> dict[str, npt.NDArray[np.int64]]:
    """Return, for every pair of a board whose truth is partly blank, the counts of
    :class:`Disagreement`.
    """
    if board.answers is None:
        raise InputError(
            "the board holds scores, not answers: read it with a truth column that may be blank"
        )
    answers, scores, known = board.answers, board.scores, board.known
    right = np.where(known[:, None], scores, 0.0)
    found: dict[str, list[npt.NDArray[np.int64]]] = {
        "apart": [],
        "labelled": [],
        "first_only": [],
        "second_only": [],
    }
    for j in range(answers.shape[1] - 1):
        differ = answers[:, j : j + 1] != answers[:, j + 1 :]
        mine, theirs = right[:, j : j + 1], right[:, j + 1 :]
        found["apart"].append(differ.sum(axis=0))
        found["labelled"].append((differ & known[:, None]).sum(axis=0))
        found["first_only"].append((mine > theirs).sum(axis=0))
        found["second_only"].append((mine < theirs).sum(axis=0))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def pairs_with_blanks(board: Board, *, alpha: float, blanks: Blanks) -> PairTable:
    """Compare all pairs of a board whose truth is partly blank; p-values are those of the least
    favourable blanks.

    With two models the interval is that of :func:`partial_interval`; with more, Tango's ends take
    the place of the exact ones, and p-values are McNemar's exact ones adjusted by Holm.
    """
    counts = disagreements(board)
    n = board.n
    b, c, m = (counts[name].astype(float) for name in ("first_only", "second_only", "apart"))
    u = m - counts["labelled"]
    first, second = np.triu_indices(len(board.names), 1)
    if blanks == "any":
        low, high = tango(b, c + u, n, alpha=alpha).low, tango(b + u, c, n, alpha=alpha).high
        narrow = alpha / first.size
        simultaneous = tango(b, c + u, n, alpha=narrow).low, tango(b + u, c, n, alpha=narrow).high
        p_value = np.where(
            np.abs(b - c) > u, mcnemar(b + np.where(b < c, u, 0), c + np.where(b > c, u, 0)), 1.0
        )
        difference = np.where(u == 0, (b - c) / n, np.nan)
        assumption = None
    else:
        each = [_counts(board.n, counts, i) for i in range(first.size)]
        low, high = (
            np.array(ends) for ends in zip(*(_new_or_all(one, alpha) for one in each), strict=True)
        )
        ends = [_new_or_all(one, alpha / first.size) for one in each]
        simultaneous = np.array([end[0] for end in ends]), np.array([end[1] for end in ends])
        p_value = mcnemar(b, c)
        with np.errstate(invalid="ignore", divide="ignore"):
            difference = np.where(m > 0, (b - c) / counts["labelled"] * m / n, 0.0)
        assumption = "blank labels that were left out at random"
    guarantee: Literal["approximate", "under"] = "approximate" if assumption is None else "under"

    def packed(ends: tuple[Floats, Floats], method: str) -> Intervals:
        return Intervals(
            *ends, level=1 - alpha, guarantee=guarantee, assumption=assumption, method=method
        )

    return PairTable(
        first=first,
        second=second,
        difference=difference,
        first_only=b,
        second_only=c,
        spread=np.sqrt((b + c) / n),
        intervals=packed((low, high), "tango with blanks"),
        simultaneous=packed(simultaneous, "tango with blanks, bonferroni"),
        p_value=p_value,
        adjusted_p=holm(p_value),
        adjustment="Holm",
    )


def _counts(n: int, counts: dict[str, npt.NDArray[np.int64]], i: int) -> Disagreement:
    return Disagreement(items=n, **{name: int(values[i]) for name, values in counts.items()})


def _new_or_all(counts: Disagreement, alpha: float) -> tuple[float, float]:
    """Return the ends under random blanks, or the widest where too few disagreements are
    labelled.
    """
    if counts.labelled >= 2:
        return _new(counts, alpha)
    reach = wilson(counts.apart, counts.items, alpha=alpha).high
    return -reach, reach


# Models that give none of the true labels: they are never right, most often by their spelling.


_MOST_NAMED = 5
_MOST_LISTED = 5


def no_shared_label(
    truth: str, true: Iterable[Label], given: Mapping[str, Iterable[Label]]
) -> list[str]:
    """Warn of each model that gives none of the true labels.

    Whoever holds the answers, as rows or as counts, knows which labels each column holds, so both
    ways of reading ask here.

    Parameters
    ----------
    truth, true
        The column of the truth and its labels; None (blank) is no label.
    given
        The labels that each model gives.

    Examples
    --------
    >>> [note] = no_shared_label("gold", ["yes", "no"], {"x": ["si", None], "y": ["no"]})
    >>> note.partition(". ")[0]
    "'x' answers 'si' and the truth 'gold' holds 'no', 'yes': no label is shared, so it is never right"
    """
    known = {identity(label): label for label in true if label is not None}
    found = []
    for name, labels in given.items():
        said = {identity(label): label for label in labels if label is not None}
        if said and not said.keys() & known.keys():
            found.append(
                f"{name!r} answers {_listed(said.values())} and the truth {truth!r} holds"
                f" {_listed(known.values())}: no label is shared, so it is never right. If they"
                " mean the same, write them alike"
            )
    return found[:_MOST_NAMED]


def _listed(labels: Iterable[Label]) -> str:
    shown = [repr(label) for label in in_order(labels)]
    return ", ".join(shown[:_MOST_LISTED]) + (" …" if len(shown) > _MOST_LISTED else "")


# Models are compared on items that all of them answered: which models leave too few of those.


Bools = npt.NDArray[np.bool_]
Counted: TypeAlias = npt.NDArray[np.float64] | None

_MOST = 5
_SUMMARIES = frozenset(
    {"mean", "average", "avg", "median", "total", "sum", "overall", "all", "macro", "micro", "std"}
)
"""What people call the row that sums up the others."""
_WORTH = 2.0
"""A model is named if the others have at least this many times the items in common."""


def largest_in_common(answered: Bools) -> tuple[tuple[int, ...], int]:
    """Return models that have items in common, and how many: the rarest are left out one by one.

    Parameters
    ----------
    answered
        Items x models: whether there is an answer.

    Examples
    --------
    >>> answered = np.array([[1, 1, 0]] * 5 + [[1, 0, 0]] * 4 + [[0, 0, 1]], dtype=bool)
    >>> largest_in_common(answered)
    ((0, 1), 5)
    """
    left = list(range(answered.shape[1]))
    while len(left) >= 2:
        common = int(answered[:, left].all(axis=1).sum())
        if common:
            return tuple(left), common
        left.remove(min(left, key=lambda j: int(answered[:, j].sum())))
    return (), 0


def no_item_in_common(names: Sequence[str], answered: Bools) -> str:
    """Say how many items each model answered, and which of them can be compared.

    >>> no_item_in_common(["A", "B", "C"], np.array([[1, 1, 0]] * 5 + [[0, 0, 1]], dtype=bool))
    'no item has an answer of every model: A answered 5, B 5, C 1. Compare those that share items: --models A,B (5 items)'
    """
    many = answered.sum(axis=0)
    order = np.argsort(-many, kind="stable")
    shown = [*order[:_MOST], *order[_MOST:][-1:]]
    each = ", ".join(
        f"{names[j]} {'answered ' if not k else ''}{count(int(many[j]))}"
        for k, j in enumerate(shown)
    )
    head = f"no item has an answer of every model: {each}"
    left, common = largest_in_common(answered)
    if not left:
        return f"{head}. Compare models on the same items"
    chosen = ",".join(names[j] for j in left)
    return f"{head}. Compare those that share items: --models {chosen} ({count(common)} items)"


def who_costs_items(names: Sequence[str], answered: Bools, counts: Counted = None) -> str:
    """Name the one model without which at least twice as many items would be left; "" if none.

    With *counts*, each row of *answered* stands for that many items.

    >>> who_costs_items(["A", "B", "C"], np.array([[1, 1, 0]] * 5 + [[1, 1, 1]], dtype=bool))
    'without C 6 items are left, not 1: --models A,B'
    """
    if len(names) < 3:
        return ""
    each = np.ones(len(answered)) if counts is None else counts
    common = int(each[answered.all(axis=1)].sum())
    without = {
        j: int(each[np.delete(answered, j, axis=1).all(axis=1)].sum()) for j in range(len(names))
    }
    worst = max(without, key=lambda j: without[j])
    if without[worst] < _WORTH * max(common, 1):
        return ""
    rest = ",".join(name for j, name in enumerate(names) if j != worst)
    more = count(without[worst])
    return f"without {names[worst]} {more} items are left, not {count(common)}: --models {rest}"


def refuse_files_apart(data: Data) -> None:
    """Refuse several files without a common item that leave one column of scores.

    Files of the same items are runs; files without a common item are parts of one table. Two files
    whose items are only written differently look like parts.
    """
    held = data.held
    if len(data.roles.models) != 1 or data.roles.item is None or not isinstance(held, Table):
        return
    if len(held.parts) < 2:
        return
    items = list(data.cells(data.roles.item)[data.roles.item])
    first, second = held.parts[0], held.parts[1]
    differ = how_items_differ(
        items[: first.rows],
        items[first.rows : first.rows + second.rows],
        here=first.name,
        there=second.name,
    )
    raise InputError(
        f"the {len(held.parts)} files have no item in common, so they are the parts of one table"
        f" with one column of scores, {data.roles.models[0]!r}. If each file is a run of the same"
        f" items, the items must be called alike: they are {differ}"
    )


def summary_rows(items: Sequence[Label], scores: npt.NDArray[np.float64]) -> list[str]:
    """Warn of an item that is called like a summary, or that holds the means of the others.

    Parameters
    ----------
    items, scores
        The items and their scores, items x models.

    Examples
    --------
    >>> summary_rows(["1", "2", "mean"], np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 0.0]]))
    ["item 'mean' holds the means of all other items and counts as one more item: remove that row"]
    """
    named = [i for i, item in enumerate(items) if str(item).strip().casefold() in _SUMMARIES]
    # Items may be called like that everywhere: "sum" and "count" are tasks too.
    if not named or len(named) > 3 or len(items) < 3:
        return []
    rest = np.delete(scores, named, axis=0)
    found = []
    for i in named:
        means = np.allclose(scores[i], np.nanmean(rest, axis=0), rtol=5e-3, atol=1e-9)
        what = "holds the means of all other items" if means else "is called like a summary"
        found.append(
            f"item {str(items[i])!r} {what} and counts as one more item: remove that row"
            + ("" if means else " if it sums up the others")
        )
    return found
