"""Search many judges for trios that could be independent, and say how each of the others fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tallystick.judge.ballots import Ballots
from tallystick.judge.independent import solve, trio_alarms, trio_counts
from tallystick.judge.papers.sensitivity import derivatives
from tallystick.judge.parts import Alarm
from tallystick.judge.verdict_grounds import INDEPENDENCE, SENSIBLE, SHARED_BIAS
from tallystick.judge.verdict_methods import search_verdict
from tallystick.results import Figure, Result
from tallystick.tally import Tally
from tallystick.values.label import Label

__all__ = ["SearchResult", "search"]


@dataclass(frozen=True, kw_only=True)
class SearchResult(Result):
    """Every trio of judges, solved; the best-conditioned sensible ones are shown.

    Parameters
    ----------
    trios
        How many ended how.
    found
        One mapping a sensible trio: judges, prevalence of the first label, accuracies, condition
        number.
    by_judge
        Judge to the share of its trios that are sensible.
    alarms
        What the failures prove.
    """

    verb: ClassVar[str] = "judge"

    trios: Mapping[str, int]
    found: tuple[dict[str, Any], ...]
    by_judge: Mapping[str, float]
    alarms: tuple[Alarm, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a trio shown; accuracies in the order of judges, by label."""
        return [
            {
                "judges": ", ".join(row["judges"]),
                "prevalence": row["prevalence"],
                "accuracy": ", ".join(
                    "/".join(f"{value:.3f}" for value in parts.values())
                    for parts in row["accuracy"].values()
                ),
                "condition": row["condition"],
            }
            for row in self.found
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the share of sensible trios by judge."""
        return (
            Figure(
                kind="forest",
                title="Share of each judge's trios with a sensible solution",
                columns={"judge": list(self.by_judge), "share": list(self.by_judge.values())},
                roles={"name": "judge", "x": "share"},
            ),
        )


def search(
    votes: Tally | Ballots,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    limit: int = 20,
) -> SearchResult:
    """Solve every trio, reject those that cannot be independent, and rank the rest by how little
    correlation could do.

    [CE23]_, section 4: a trio without a sensible solution is too correlated. The ranking is by the
    condition number of `sensitivity`. That a trio is sensible is no evidence that it is
    independent: in four of five real data sets the sensible trios were as correlated as the
    rejected ones.

    Examples
    --------
    >>> from tallystick.judge.papers import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={"w": ("9/10", "4/5"), "x": ("3/4", "3/4"), "y": ("2/3", "4/5")})
    >>> result = search(simulate(point).tally, truth="truth")
    >>> result.trios["sensible"], result.found[0]["judges"]
    (1, ('w', 'x', 'y'))
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels).answered.blind
    trios = solve(ballots)
    counts = trio_counts(trios, ballots)
    _, condition = derivatives(trios)
    good = trios.status == "sensible"
    order = np.argsort(np.where(good, condition, np.inf), kind="stable")[
        : min(limit, int(good.sum()))
    ]
    found = tuple(
        {
            "judges": tuple(ballots.names[j] for j in trios.judges[t]),
            "prevalence": float(trios.balance[t]),
            "accuracy": {
                ballots.names[j]: {
                    key: float(trios.accuracy[t, a, c]) for c, key in enumerate(ballots.keys)
                }
                for a, j in enumerate(trios.judges[t].tolist())
            },
            "condition": float(condition[t]),
        }
        for t in order.tolist()
    )
    members = np.stack([(trios.judges == j).any(axis=1) for j in range(len(ballots.names))])
    shares = members @ good / members.sum(axis=1)
    return SearchResult(
        verdict=search_verdict(int(good.sum()), len(good)),
        decision="undecided",
        n_items=round(ballots.n),
        assumptions=(INDEPENDENCE,),
        warnings=(SHARED_BIAS, SENSIBLE),
        trios=counts,
        found=found,
        by_judge=dict(zip(ballots.names, shares.tolist(), strict=True)),
        alarms=trio_alarms(counts),
    )
