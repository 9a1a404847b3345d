"""What a page of ``score`` unfolds: systems, pairs and judges, each with its answer in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallystick.results import Interval, Section, Unit, Unknown, points_interval
from tallystick.score.units import Units

if TYPE_CHECKING:
    from tallystick.score.result import ScoreResult, SystemPairRow

__all__ = ["folds_of"]


def folds_of(result: ScoreResult) -> tuple[Section, ...]:
    """Return the sections of a result, in the order in which a reader asks."""
    found = [_systems(result)]
    if not isinstance(result.pairs, Unknown) and result.pairs:
        found.append(_pairs(result, result.pairs))
    if result.judges:
        found.append(_judges(result))
    return tuple(found)


def _share(result: ScoreResult) -> Unit:
    return "share" if Units(result.scale).share else "number"


def _points(result: ScoreResult) -> Unit:
    return "points" if Units(result.scale).share else "number"


def _systems(result: ScoreResult) -> Section:
    rows = [
        {
            "system": row.name,
            "corrected": row.score,
            "interval": row.interval,
            "judges alone": row.judge_only,
            "judges' bias": row.bias,
            "bias interval": row.bias_interval,
            "human grades": row.n_labels,
            "worth with judges": None
            if isinstance(row.labels_worth, Unknown)
            else round(row.labels_worth),
            "rank": None
            if isinstance(row.rank_interval, Unknown)
            else " to ".join(map(str, dict.fromkeys(row.rank_interval))),
        }
        for row in result.systems
    ]
    return Section(
        title="Systems",
        line=_bias_line(result),
        rows=rows,
        units={
            "corrected": _share(result),
            "judges alone": _share(result),
            "judges' bias": _points(result),
        },
    )


def _bias_line(result: ScoreResult) -> str:
    """Name the system on which the judges are most surely off."""
    if not result.n_labels:
        return "No human grade says how far the judges are off."
    off = [
        (row.name, row.bias, row.bias_interval)
        for row in result.systems
        if isinstance(row.bias, float)
        and isinstance(row.bias_interval, Interval)
        and 0 not in row.bias_interval
    ]
    if not off:
        return "No bias of the judges is settled."
    name, bias, interval = max(off, key=lambda one: abs(one[1]))
    word = "too kind" if bias > 0 else "too strict"
    if bias < 0:
        bias, interval = -bias, Interval(-interval.high, -interval.low)
    size = (
        points_interval(bias, interval, sign=False)
        if Units(result.scale).share
        else Units(result.scale).difference(bias, interval)
    )
    rest = len(result.systems) - len(off)
    more = "" if not rest else " On the others, no bias is settled."
    return f"The judges are {size} {word} to {name}.{more}"


def _pairs(result: ScoreResult, pairs: tuple[SystemPairRow, ...]) -> Section:
    wrong = [
        f"{row.a} against {row.b}"
        for row in pairs
        if row.settled
        and not isinstance(row.judge_only_difference, Unknown)
        and row.judge_only_difference < 0
    ]
    line = f"{sum(row.settled for row in pairs)} of {len(pairs)} settled."
    if wrong:
        line += f" The judges point the wrong way on {wrong[0]}."
    return Section(
        title="Pairs",
        line=line,
        figures=result.figures()[1:],
        rows=[
            {
                "pair": f"{row.a} − {row.b}",
                "difference": row.difference,
                "interval": row.interval,
                "judges alone": row.judge_only_difference,
                "adjusted p": row.adjusted_p,
                "settled": row.settled,
                "graded for both": row.common_labels,
            }
            for row in pairs
        ],
        units={
            "difference": _points(result),
            "judges alone": _points(result),
            "adjusted p": "p",
        },
    )


def _judges(result: ScoreResult) -> Section:
    rows: list[dict[str, Any]] = [
        {
            "judge": row.name,
            "passes good outputs": row.tpr.estimate,
            "good interval": row.tpr.interval,
            "fails bad outputs": row.tnr.estimate,
            "bad interval": row.tnr.interval,
            "kappa": row.kappa.estimate,
            "kappa interval": row.kappa.interval,
            "kinder than people by": row.bias.estimate,
            "bias interval": row.bias.interval,
            "graded by both": row.n_labels,
        }
        for row in result.judges
    ]
    known = [row for row in result.judges if isinstance(row.kappa.estimate, float)]
    line = "No judge can be compared with people yet."
    if known:
        best = max(known, key=lambda row: float(row.kappa.estimate))  # type: ignore[arg-type]
        line = f"{best.name} agrees most with people."
    if result.enough:
        line += f" Corrected by people, {result.enough} alone tells as much as all of them."
    return Section(
        title="Judges",
        line=line,
        rows=rows,
        units={
            "passes good outputs": "share",
            "fails bad outputs": "share",
            "kinder than people by": _points(result),
        },
    )
