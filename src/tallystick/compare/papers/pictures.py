"""The chapter's pictures as data: two coins that look alike, and how items, difference and models
trade.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tallystick.results import Figure
from tallystick.stats.binomial import binomial_window
from tallystick.stats.distances import binomial_total_variation
from tallystick.stats.power import leaderboard_items, union_items
from tallystick.stats.ranges import closed_unit, whole

__all__ = ["coin_figure", "trade_off_figure"]


def coin_figure(n: int, p: float = 0.5, q: float = 0.51) -> Figure:
    """Draw the number of heads in *n* tosses of two coins: Figure 3.1 of [DD]_, with how far apart
    they are.

    >>> coin_figure(1000).title, coin_figure(10_000).title
    ('1,000 tosses of coins 0.5 and 0.51: TV = 0.25', '10,000 tosses of coins 0.5 and 0.51: TV = 0.68')
    """
    whole(1, n=n)
    closed_unit(p=p, q=q)
    heads: list[float] = []
    mass: list[float] = []
    coin: list[str] = []
    for rate in (p, q):
        count, probability = binomial_window(n, rate)
        seen = probability > 0.02 * probability.max()
        heads += count[seen].tolist()
        mass += probability[seen].tolist()
        coin += [f"coin {rate:g}"] * int(seen.sum())
    apart = float(binomial_total_variation(n, p, q))
    return Figure(
        kind="curve",
        title=f"{n:,} tosses of coins {p:g} and {q:g}: TV = {apart:.2f}",
        columns={"heads": heads, "probability": mass, "coin": coin},
        roles={"x": "heads", "y": "probability", "group": "coin"},
    )


def trade_off_figure(
    *,
    models: Sequence[int] = (2, 10, 100, 1000),
    disagreement: float = 0.1,
    alpha: float = 0.05,
    power: float = 0.8,
) -> Figure:
    r"""Draw items against the difference they show, for several numbers of models: [DD]_, section
    3.5.

    Quadratic in :math:`1/ε`, logarithmic in k, by Hoeffding and the union bound and by paired tests
    of all pairs.

    >>> figure = trade_off_figure(models=(2, 100))
    >>> len(figure.columns["items"]), sorted(set(figure.columns["method"]))[0]
    (32, '100 models, Hoeffding and the union bound')
    """
    gaps = np.geomspace(0.005, min(0.1, 0.99 * disagreement), 8)
    rows = [
        (float(gap), items, f"{k} models, {name}")
        for k in models
        for gap in gaps
        for name, items in (
            ("Hoeffding and the union bound", union_items(float(gap), k, alpha=alpha)),
            (
                "all pairs, paired",
                leaderboard_items(float(gap), k, disagreement, alpha=alpha, power=power),
            ),
        )
    ]
    gap_column, items_column, method = (list(column) for column in zip(*rows, strict=True))
    return Figure(
        kind="curve",
        title=f"Items needed by difference (paired: models that disagree on {disagreement:g})",
        columns={"difference": gap_column, "items": items_column, "method": method},
        roles={"x": "difference", "y": "items", "group": "method"},
    )
