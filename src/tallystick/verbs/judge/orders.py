"""One judge asked again: the same question twice, or with the answers in the other order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Figure, Interval, Result, Unknown
from tallystick.stats.exact_tails import binomial_up_to
from tallystick.stats.intervals import clopper_pearson
from tallystick.stats.maxt import holm
from tallystick.table import Tally
from tallystick.table.cells import Label
from tallystick.table.panel import Floats, Ints, Panel
from tallystick.table.reading_names import parts
from tallystick.verbs.judge.verdict_methods import (
    FAIR_ITEMS,
    panel_position_verdict,
    repeated_verdict,
    swapped_verdict,
)


@dataclass(frozen=True, kw_only=True)
class OrderResult(Result):
    """How often a judge agrees with itself, and what its changes of mind favour.

    Parameters
    ----------
    consistent
        Share of items with the same answer each time.
    interval
        Its exact interval.
    first_share
        Among the changed answers of a swapped pair, the share that went to whatever stood first; a
        half is no bias.
    first_interval
        Its exact interval.
    best_accuracy
        The most that the judge's mean accuracy over the askings can be, whatever the truth.
    """

    verb: ClassVar[str] = "judge"

    consistent: float
    interval: Interval
    first_share: float | Unknown
    first_interval: Interval | Unknown
    best_accuracy: float

    def rows(self) -> list[dict[str, Any]]:
        """Return one row."""
        return [
            {
                "consistent": self.consistent,
                "interval": self.interval,
                "first_share": self.first_share,
                "first_interval": self.first_interval,
                "best_accuracy": self.best_accuracy,
            }
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return both shares with their intervals."""
        lines = [("consistent", self.consistent, self.interval)]
        if isinstance(self.first_share, float) and isinstance(self.first_interval, Interval):
            lines.append(("changes that favour the first", self.first_share, self.first_interval))
        return (
            Figure(
                kind="forest",
                title="Does the judge give the same answer again?",
                columns={
                    "what": [name for name, _, _ in lines],
                    "share": [value for _, value, _ in lines],
                    "low": [ends.low for _, _, ends in lines],
                    "high": [ends.high for _, _, ends in lines],
                },
                roles={"name": "what", "x": "share", "low": "low", "high": "high"},
                unit="share",
            ),
        )


def position_bias(
    votes: Tally | Panel,
    *,
    first: str,
    second: str,
    recorded: Literal["answer", "position"] = "answer",
    alpha: float = 0.05,
) -> OrderResult:
    r"""Tell whether a judge prefers the place rather than the answer.

    Column *first* holds its choice with the answers in one order, *second* in the other. If d is
    the share of items on which it changes its answer, its mean accuracy over both orders is at most
    :math:`1 - d/2`, whatever the truth. Among the changed ones it took the first place both times
    or the second place both times; without bias that is a fair coin. Both intervals are exact.

    Parameters
    ----------
    votes
        A tally with both columns.
    first, second
        The columns. For a whole panel, or with ties, see `position_panel`.
    recorded
        ``answer``: labels name the answer, in whatever place it stood; the first label in canonical
        order is the answer that stood first in column *first*. ``position``: labels name the place,
        the first label the first place.
    alpha
        One minus the level.

    Examples
    --------
    >>> votes = Tally.of({"ab": ["A"] * 70 + ["A"] * 25 + ["B"] * 5, "ba": ["A"] * 70 + ["B"] * 25 + ["A"] * 5})
    >>> found = position_bias(votes, first="ab", second="ba")
    >>> found.consistent, round(found.first_share, 3), found.best_accuracy
    (0.7, 0.833, 0.85)
    """
    if recorded not in ("answer", "position"):
        raise InputError(f"recorded must be 'answer' or 'position', got {recorded!r}")
    panel = Panel.of(votes, voters=(first, second))
    panel.require_binary("position_bias")
    panel.require_items("position_bias")
    both = (panel.codes >= 0).all(axis=1)
    codes, counts = panel.codes[both], panel.counts[both]
    if not counts.size:
        raise InputError(
            f"no item has a vote in both {first!r} and {second!r}: nothing can be compared"
        )
    one, other = codes[:, 0], codes[:, 1] if recorded == "answer" else 1 - codes[:, 1]
    found = compared(one, other, counts, alpha)
    return OrderResult(
        verdict=swapped_verdict(
            found.changed, found.n_items, found.first_share, found.first_interval
        ),
        n_items=found.n_items,
        assumptions=(FAIR_ITEMS,),
        consistent=found.consistent,
        interval=found.interval,
        first_share=found.first_share,
        first_interval=found.first_interval,
        best_accuracy=1 - found.changed / 2,
    )


def self_consistency(votes: Tally, *, repeats: Sequence[str], alpha: float = 0.05) -> OrderResult:
    r"""Tell how often a judge gives the same answer when it is asked again.

    Its mean accuracy over the askings is at most the mean, over items, of the share of its
    commonest answer, whatever the truth.

    Examples
    --------
    >>> votes = Tally.of({"run1": [0, 0, 1, 1], "run2": [0, 0, 1, 0], "run3": [0, 0, 1, 1]})
    >>> found = self_consistency(votes, repeats=["run1", "run2", "run3"])
    >>> found.consistent, round(found.best_accuracy, 3)
    (0.75, 0.917)
    """
    if len(repeats) < 2:
        raise InputError(f"repeats must name two or more columns, got {list(repeats)}")
    panel = Panel.of(votes, voters=tuple(repeats))
    panel.require_items("self_consistency")
    whole = (panel.codes >= 0).all(axis=1)
    codes, counts = panel.codes[whole], panel.counts[whole]
    if not counts.size:
        raise InputError(
            f"no item was asked every time in {list(repeats)}: nothing can be compared"
        )
    n = int(counts.sum())
    same = int(counts @ (codes == codes[:, :1]).all(axis=1))
    commonest = np.stack([(codes == c).sum(axis=1) for c in range(len(panel.classes))]).max(axis=0)
    best = float(counts @ commonest) / (n * len(repeats))
    nothing = Unknown("answers were not swapped")
    return OrderResult(
        verdict=repeated_verdict(len(repeats), same / n, n, best),
        n_items=n,
        assumptions=(FAIR_ITEMS,),
        consistent=same / n,
        interval=clopper_pearson(same, n, alpha=alpha),
        first_share=nothing,
        first_interval=nothing,
        best_accuracy=best,
    )


# Position bias of a whole panel: every judge sees each pair of answers in both orders; ties
# count.
#
# Per item, a judge takes the first place (+1), the second (-1) or neither (0, a tie) in each order.
# Half the sum is its lean: +1 if it took the first place both times, +1/2 with one tie, 0 where it
# is consistent. Without bias a lean is as likely up as down, so the leans that are not zero are
# fair coins: an exact test.


_ORDERS = frozenset(
    [
        "ab",
        "ba",
        "first",
        "second",
        "1st",
        "2nd",
        "original",
        "swapped",
        "swap",
        "flipped",
        "flip",
        "reverse",
        "reversed",
        "given",
        "forward",
        "backward",
        "normal",
        "order",
        "order1",
        "order2",
        "one",
        "two",
    ]
)
"""Words for the order in which two answers were shown."""


def are_two_orders(first: str, second: str) -> bool:
    """Say whether two names can be one judge's answers to both orders: alike, or named by order.

    >>> are_two_orders("gpt_ab", "gpt_ba"), are_two_orders("normal", "flipped")
    (True, True)
    >>> are_two_orders("gpt", "claude")
    False
    """
    one, other = set(parts(first)), set(parts(second))
    return bool(one & other) or bool(one & _ORDERS and other & _ORDERS)


@dataclass(frozen=True, kw_only=True)
class PositionScore:
    """How one judge answers the same pairs in both orders.

    Parameters
    ----------
    name
        What both columns have in common, or the first one.
    n_items
        Items with a vote in both orders.
    consistent, interval
        Share with the same answer both times, with its exact interval.
    changed
        Share with another answer; a tie in both orders is consistent.
    first_share, first_interval
        Among items with a lean, the share that leans to the first place; a half is no bias.
    lean
        Mean lean over all items, from -1 (always the second place) to 1 (always the first).
    p_value
        Of the exact sign test, adjusted over the panel.
    ties
        Share of votes that are ties.
    """

    name: str
    n_items: int
    consistent: float
    interval: Interval
    changed: float
    first_share: float | Unknown
    first_interval: Interval | Unknown
    lean: float
    p_value: float
    ties: float


@dataclass(frozen=True, kw_only=True)
class PanelOrderResult(Result):
    """Position bias of a panel, one score per judge.

    The fields of the first judge stand beside the list, so that one judge reads as before.
    """

    verb: ClassVar[str] = "judge"

    judges: tuple[PositionScore, ...]
    consistent: float
    interval: Interval
    first_share: float | Unknown
    first_interval: Interval | Unknown
    best_accuracy: float

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per judge."""
        return [
            {
                "judge": one.name,
                "consistent": one.consistent,
                "interval": one.interval,
                "first_share": one.first_share,
                "first_interval": one.first_interval,
                "lean": one.lean,
                "p": one.p_value,
                "ties": one.ties,
                "items": one.n_items,
            }
            for one in self.judges
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the share of leans to the first place, by judge."""
        known = [one for one in self.judges if isinstance(one.first_interval, Interval)]
        if not known:
            return ()
        return (
            Figure(
                kind="forest",
                title="Of the answers that moved with the order: share that took the first place",
                columns={
                    "judge": [one.name for one in known],
                    "share": [one.first_share for one in known],
                    "low": [one.first_interval.low for one in known],  # type: ignore[union-attr]
                    "high": [one.first_interval.high for one in known],  # type: ignore[union-attr]
                },
                roles={"name": "judge", "x": "share", "low": "low", "high": "high"},
                unit="share",
            ),
        )


def position_panel(
    votes: Tally,
    *,
    pairs: Sequence[tuple[str, str]],
    ties: Sequence[Label] = (),
    recorded: Literal["answer", "position"] = "answer",
    alpha: float = 0.05,
) -> PanelOrderResult:
    """Tell which judges of a panel prefer a place rather than an answer.

    Parameters
    ----------
    votes
        A tally with all columns.
    pairs
        For every judge its column in one order and its column in the other.
    ties
        Votes for neither answer.
    recorded
        ``answer``: labels name the answer, and the first label in canonical order is the one that
        stood first in the first column of a pair. ``position``: labels name the place.
    alpha
        One minus the level; p-values are adjusted over the judges (Holm).

    Examples
    --------
    >>> votes = Tally.of({
    ...     "gpt_ab": ["A"] * 95 + ["B"] * 5, "gpt_ba": ["A"] * 70 + ["B"] * 25 + ["A"] * 5,
    ...     "llm_ab": ["A", "B"] * 50, "llm_ba": ["A", "B"] * 49 + ["tie", "B"],
    ... })
    >>> found = position_panel(votes, pairs=[("gpt_ab", "gpt_ba"), ("llm_ab", "llm_ba")], ties=["tie"])
    >>> [(one.name, round(one.lean, 3)) for one in found.judges]
    [('gpt', 0.2), ('llm', 0.005)]
    """
    if recorded not in ("answer", "position"):
        raise InputError(f"recorded must be 'answer' or 'position', got {recorded!r}")
    names = [column for pair in pairs for column in pair]
    panel = Panel.of(votes, voters=names, never_true=ties)
    panel.require_binary("position_bias")
    panel.require_items("position_bias")
    scores = [_score(panel, pair, recorded, alpha) for pair in pairs]
    adjusted = holm([one.p_value for one in scores]).tolist()
    scores = [_with_p(one, p) for one, p in zip(scores, adjusted, strict=True)]
    first = scores[0]
    return PanelOrderResult(
        verdict=panel_position_verdict(scores, alpha=alpha),
        n_items=max(one.n_items for one in scores),
        assumptions=(FAIR_ITEMS,),
        judges=tuple(scores),
        consistent=first.consistent,
        interval=first.interval,
        first_share=first.first_share,
        first_interval=first.first_interval,
        best_accuracy=1 - first.changed / 2,
    )


def _score(panel: Panel, pair: tuple[str, str], recorded: str, alpha: float) -> PositionScore:
    """Compare both orders of one judge."""
    first, second = (panel.codes[:, panel.names.index(name)] for name in pair)
    both = (first >= 0) & (second >= 0)
    if not both.any():
        raise InputError(
            f"no item has a vote in both {pair[0]!r} and {pair[1]!r}: nothing can be compared"
        )
    one, other, counts = first[both], second[both], panel.counts[both]
    if recorded == "position":
        other = np.where(other < 2, 1 - other, other)
    name = _in_common(*pair) if len(panel.names) > 2 else pair[0]
    return compared(one, other, counts, alpha, name=name or pair[0])


def _in_common(first: str, second: str) -> str:
    """Return how both column names begin: gpt for gpt_ab and gpt_ba."""
    alike = 0
    while alike < min(len(first), len(second)) and first[alike] == second[alike]:
        alike += 1
    return first[:alike].rstrip("_-. ")


def compared(
    one: Ints, other: Ints, counts: Floats, alpha: float, *, name: str = ""
) -> PositionScore:
    """Compare answers in both orders: 0 and 1 name the answer, anything above is a tie."""
    place = np.array([1.0, -1.0, 0.0])
    here = place[np.minimum(one, 2)]
    there = -place[np.minimum(other, 2)]  # in the other order the first answer stands second
    lean = (here + there) / 2
    n = int(counts.sum())
    same = int(counts @ (one == other))
    up, down = int(counts @ (lean > 0)), int(counts @ (lean < 0))
    share: float | Unknown = Unknown("no answer moved with the order")
    ends: Interval | Unknown = Unknown("no answer moved with the order")
    p = 1.0
    if up + down:
        share = up / (up + down)
        ends = clopper_pearson(up, up + down, alpha=alpha)
        p = min(1.0, 2 * float(binomial_up_to(min(up, down), up + down, 0.5)))
    return PositionScore(
        name=name,
        n_items=n,
        consistent=same / n,
        interval=clopper_pearson(same, n, alpha=alpha),
        changed=1 - same / n,
        first_share=share,
        first_interval=ends,
        lean=float(counts @ lean) / n,
        p_value=p,
        ties=float(counts @ ((one > 1).astype(float) + (other > 1))) / (2 * n),
    )


def _with_p(score: PositionScore, p: float) -> PositionScore:
    from dataclasses import replace

    return replace(score, p_value=p)
