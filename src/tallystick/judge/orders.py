"""One judge asked again: the same question twice, or with the answers in the other order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from tallystick.errors import InputError
from tallystick.judge.ballots import Ballots
from tallystick.judge.position_panel import compared as _compared
from tallystick.judge.verdict_methods import FAIR_ITEMS, repeated_verdict, swapped_verdict
from tallystick.results import Figure, Interval, Result, Unknown
from tallystick.stats.intervals import clopper_pearson
from tallystick.tally import Tally

__all__ = ["OrderResult", "position_bias", "self_consistency"]


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
    votes: Tally | Ballots,
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
    ballots = Ballots.of(votes, judges=(first, second))
    ballots.require_binary("position_bias")
    ballots.require_items("position_bias")
    both = (ballots.codes >= 0).all(axis=1)
    codes, counts = ballots.codes[both], ballots.counts[both]
    if not counts.size:
        raise InputError(
            f"no item has a vote in both {first!r} and {second!r}: nothing can be compared"
        )
    one, other = codes[:, 0], codes[:, 1] if recorded == "answer" else 1 - codes[:, 1]
    found = _compared(one, other, counts, alpha)
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
    ballots = Ballots.of(votes, judges=tuple(repeats))
    ballots.require_items("self_consistency")
    whole = (ballots.codes >= 0).all(axis=1)
    codes, counts = ballots.codes[whole], ballots.counts[whole]
    if not counts.size:
        raise InputError(
            f"no item was asked every time in {list(repeats)}: nothing can be compared"
        )
    n = int(counts.sum())
    same = int(counts @ (codes == codes[:, :1]).all(axis=1))
    commonest = np.stack([(codes == c).sum(axis=1) for c in range(len(ballots.classes))]).max(
        axis=0
    )
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
