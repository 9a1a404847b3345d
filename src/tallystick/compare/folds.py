"""What a page of ``compare`` unfolds: the board, all pairs, and what each guarantee costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallystick.results import Interval, Section, Unit, Unknown

if TYPE_CHECKING:
    from tallystick.compare.result import CompareResult, PairRow

__all__ = ["folds_of"]

_OPEN = "not told apart"
_LEVELS = {"ratio": "geometric mean", "signs": "median"}
"""What is listed for each model where that is not its mean score."""


def folds_of(result: CompareResult) -> tuple[Section, ...]:
    """Return the sections of a result, the board first."""
    figures = result.figures()
    share: Unit = result.unit
    points: Unit = "points" if result.unit == "share" else "number"
    found = [
        Section(
            title="Models",
            line=_board_line(result),
            rows=_board(result),
            units={
                _LEVELS.get(result.estimand, "score"): share,
                "over all items": share,
                "against the one above": points,
                "adjusted p": "p",
            },
            figures=figures[1:2],
        )
    ]
    if result.pairs:
        found.append(
            Section(
                title="Pairs",
                line=f"{result.pairs_told:,} of {result.pairs_total:,} pairs are told apart.",
                rows=[_pair(row) for row in result.pairs],
                units={"difference": points, "adjusted p": "p"},
                figures=figures[2:],
            )
        )
    if result.per_cluster:
        found.append(
            Section(
                title="Clusters",
                line=f"{len(result.per_cluster)} clusters are too few for a verdict.",
                rows=[
                    {"cluster": row.cluster, "items": row.items, **row.scores}
                    for row in result.per_cluster
                ],
                units={row.name: share for row in result.models},
            )
        )
    if result.guarantees:
        found.append(
            Section(
                title="Guarantees",
                line="The less is assumed, the fewer pairs are told apart.",
                rows=[
                    {
                        "method": row.name,
                        "guarantee": row.guarantee,
                        "pairs told apart": row.pairs,
                        "neighbours told apart": row.adjacent,
                    }
                    for row in result.guarantees
                ],
            )
        )
    return tuple(found)


def _board_line(result: CompareResult) -> str:
    tiers = len(result.tiers)
    if tiers < 2:
        return f"{len(result.models):,} models, none surely above another group."
    return f"{len(result.models):,} models in {tiers:,} tiers."


def _board(result: CompareResult) -> list[dict[str, Any]]:
    """Return the board: score, place, and how far each model is behind the one above it."""
    pairs = {frozenset((row.a, row.b)): row for row in result.pairs}
    rows = []
    for place, row in enumerate(result.models):
        above = result.models[place - 1].name if place else None
        pair = None if above is None else pairs.get(frozenset((row.name, above)))
        rows.append(
            {
                "model": row.name,
                _LEVELS.get(result.estimand, "score"): row.score,
                "interval": row.interval,
                "place": None
                if isinstance(row.rank_interval, Unknown)
                else " to ".join(map(str, dict.fromkeys(row.rank_interval))),
                "over all items": row.item_score,
                **_behind(row.name, pair),
            }
        )
    return rows


def _behind(name: str, pair: PairRow | None) -> dict[str, Any]:
    """Return the difference to the model above, with the interval that holds for all pairs."""
    if pair is None or isinstance(pair.difference, Unknown):
        return dict.fromkeys(
            ("against the one above", "above interval", "adjusted p", "only this / only above")
        )
    ends = pair.simultaneous
    turned = pair.a != name
    difference = -pair.difference if turned else pair.difference
    if isinstance(ends, Interval) and turned:
        ends = Interval(-ends.high, -ends.low, ends.level, ends.guarantee, ends.assumption)
    own, other = (pair.b_only, pair.a_only) if turned else (pair.a_only, pair.b_only)
    known = not isinstance(own, Unknown) and not isinstance(other, Unknown)
    return {
        "against the one above": difference,
        "above interval": ends,
        "adjusted p": pair.adjusted_p,
        "only this / only above": f"{own:,} / {other:,}" if known else "",
    }


def _pair(row: PairRow) -> dict[str, Any]:
    return {
        "pair": f"{row.a} − {row.b}",
        "difference": row.difference,
        "interval": row.simultaneous,
        "adjusted p": row.adjusted_p,
        "told apart": row.verdict != _OPEN,
        "only the first right": row.a_only,
        "only the second right": row.b_only,
    }
