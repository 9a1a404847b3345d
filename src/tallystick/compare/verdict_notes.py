"""The sentences beside a verdict of ``compare``: what it rests on, warnings, what to buy next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tallystick.compare.result import MOST_DRAWN
from tallystick.compare.score_range import LEAST_SHARE
from tallystick.results import Unknown
from tallystick.results.numbers import count, number, points

if TYPE_CHECKING:
    from tallystick.compare.pairing import PairTable
    from tallystick.compare.result import CompareResult
    from tallystick.compare.settings import Settings

__all__ = [
    "INDEPENDENT",
    "SHARES",
    "cluster_assumptions",
    "flat_models",
    "no_true_label",
    "purchase",
    "shown_levels",
    "undeclared_bounds",
    "unlisted_pairs",
    "without_spread",
    "would_be_seen",
]

SHARES = (
    "scores are shares between 0 and 1: they reach an end of that range and never leave it (give"
    " --bounds if they can)"
)
INDEPENDENT = "items are independent draws from the population that the answer is about"


def shown_levels(estimand: str) -> tuple[str, ...]:
    """Say which level of each model is listed, where it is not the mean."""
    levels = {"ratio": "geometric means", "signs": "medians"}
    return (f"the scores listed are {levels[estimand]}, not means",) if estimand in levels else ()


def cluster_assumptions(clusters: int, settings: Settings, *, bounded: bool) -> list[str]:
    """Return what a comparison on new clusters rests on."""
    once = "cluster" if settings.cluster_weight == "equal" else "item"
    found = [
        "clusters are independent draws from the population that the answer is about",
        f"every {once} counts once (--cluster-weight)",
    ]
    if bounded:
        found.append(
            "differences are about symmetric over clusters, and no model collapses on clusters"
            f" rarer than 1 in {max(2, clusters // 3)}"
        )
    return found


def would_be_seen(detectable: float, power: float, unit: str) -> str:
    """Say which differences these items would show."""
    size = points(detectable, sign=False) if unit == "share" else number(detectable)
    return f"differences of {size} or more would be seen with probability {power:g}"


def no_true_label(blank: int, n: int) -> str:
    """Return what hides the scores of models whose true labels are partly blank."""
    return f"{blank} of {n} true labels are blank"


def without_spread(names: tuple[str, ...], table: PairTable) -> list[str]:
    """Name a pair of unbounded scores that differ by the same amount on every item."""
    ends = table.intervals if table.ratio_intervals is None else table.ratio_intervals
    lacking = np.isinf(ends.high) & ~np.isnan(table.spread)
    [found] = np.nonzero(lacking if not table.unsettled or table.ratio is not None else [])
    if not found.size:
        return []
    a, b = names[table.first[found[0]]], names[table.second[found[0]]]
    more = f" (and {found.size - 1} more pairs)" if found.size > 1 else ""
    return [
        f"{a} and {b}{more} differ by the same amount throughout, so nothing says how much that"
        " varies: declare the range of scores (--bounds LO,HI)"
    ]


def unlisted_pairs(listed: int, pairs: int) -> list[str]:
    """Say which pairs of a very large board are listed."""
    if listed == pairs:
        return []
    return [
        f"{listed:,} of {pairs:,} pairs are listed: those of the leader, of neighbours and among"
        f" the first {MOST_DRAWN}; all count in the verdict, the ranks and the tiers"
    ]


def flat_models(names: tuple[str, ...], flat: np.ndarray, binary: bool) -> list[str]:
    """Name models whose score never varies."""
    found = [name for name, one in zip(names, flat, strict=True) if one]
    if not found:
        return []
    shown = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    why = "all right or all wrong" if binary else "the same score on every item: is it a score?"
    return [f"{shown}: {why}"]


def undeclared_bounds(scores: np.ndarray) -> list[str]:
    """Say that bounds would help where scores look like shares, and name what breaks [0, 1]."""
    outside = scores[(scores < 0) | (scores > 1)]
    if outside.size > 0.01 * scores.size or scores.max() < LEAST_SHARE:
        return []
    if not outside.size:
        return [
            "scores look like shares in [0, 1]: if they are, declare it (--bounds 0,1), and the"
            " answer needs no assumption on their shape"
        ]
    odd = outside[np.argmax(np.abs(outside))]
    return [
        f"scores look like shares in [0, 1], but {count(int(outside.size))} of"
        f" {count(int(scores.size))} lie outside, such as {odd:g}. If that is a code for no score,"
        f" read it as one (--missing {odd:g}) and declare the range (--bounds 0,1)"
    ]


def purchase(result: CompareResult) -> str | None:
    """Say what the next money should buy where items were run several times."""
    held = result.replicates
    if held is None or isinstance(held.within, Unknown) or isinstance(held.between, Unknown):
        return None
    if held.between <= 0:
        return "items hardly differ from one another: more runs help as much as more items"
    floor = held.floor
    text = (
        "new items help more than new runs of these items: at equal numbers of runs, one run each"
        " of more items varies least"
    )
    if not isinstance(held.runs_per_item, Unknown):
        text = f"at these prices, about {max(1, round(held.runs_per_item))} runs per item buy most"
    if not isinstance(floor, Unknown):
        text += (
            f"; with runs alone the standard error of the difference stays above {100 * floor:.1f}"
            " points"
        )
    return text
