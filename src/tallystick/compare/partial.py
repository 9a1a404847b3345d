r"""Labels only where it matters: the difference of two models needs true labels only on items where
they disagree.

N items, M disagreements, of which :math:`m_L` are labelled with :math:`x_b` for the first model and
:math:`x_c` for the second (with more than two labels both may be wrong), and :math:`U = M - m_L`
are blank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tallystick.compare.exact_pair import exact_score
from tallystick.compare.pairing import PairTable
from tallystick.compare.pairs import mcnemar, tango
from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.intervals import Intervals, mover_sum, wilson
from tallystick.stats.multiplicity import holm
from tallystick.stats.power import discordant_labels
from tallystick.stats.ranges import open_unit, whole

if TYPE_CHECKING:
    from tallystick.compare.board import Board

__all__ = [
    "Blanks",
    "Disagreement",
    "disagreements",
    "labels_needed",
    "pairs_with_blanks",
    "partial_interval",
]

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

    @property
    def logical(self) -> tuple[float, float]:
        """What the difference on these very items can be, whatever the blanks hold: sharp."""
        lead = self.first_only - self.second_only
        return (lead - self.blank) / self.items, (lead + self.blank) / self.items


def partial_interval(
    counts: Disagreement,
    *,
    alpha: float = 0.05,
    blanks: Blanks = "any",
    population: Literal["new", "these"] = "new",
) -> Interval:
    r"""Bound the difference of two accuracies when some disagreements have no label.

    *Nothing assumed of the blanks*: they are all given to the second model for the lower end and
    all to the first for the upper end, each end of the exact interval (C2). Exact; without blanks
    it is :func:`exact_score` itself. For the difference on *these* items it is
    :attr:`Disagreement.logical`, which no sampling enters.

    *Labelled at random among the disagreements*, approximate. These items, with :math:`k^* = m_L
    (M-1)/(M-m_L)`: :math:`(M/N) \cdot \mathrm{Tango}(x_b k^*/m_L, x_c k^*/m_L, k^*) \mp 1/(2N)`,
    clipped to what logic allows. New items: the reaches of :math:`d = M/N` (Wilson) and of :math:`μ
    = (x_b - x_c)/m_L` (Tango), joined by MOVER with the weights :math:`μ` and :math:`d`.

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
        if population == "these":
            low, high = counts.logical
            return Interval(low, high, level=1 - alpha, guarantee="exact", method="logic")
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
    low, high = (_these if population == "these" else _new)(counts, alpha)
    assumption = "blank labels that were left out at random"
    return Interval(
        low,
        high,
        level=1 - alpha,
        guarantee="under",
        assumption=assumption,
        method="post-stratified",
    )


def _these(counts: Disagreement, alpha: float) -> tuple[float, float]:
    bottom, top = counts.logical
    if not counts.blank:
        return bottom, top
    size = counts.labelled * (counts.apart - 1) / counts.blank
    share = size / counts.labelled
    within = tango(counts.first_only * share, counts.second_only * share, size, alpha=alpha)[0]
    scale, half = counts.apart / counts.items, 0.5 / counts.items
    return max(bottom, scale * within.low - half), min(top, scale * within.high + half)


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
