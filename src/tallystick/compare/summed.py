"""Numeric scores added up in the engine that holds them, where the rows do not fit into memory.

Right/wrong scores are counted as patterns (`tallystick.compare.patterns`). Other scores have too
many patterns, but a comparison of independent items, or of clusters, needs only their sums and
products. What sums cannot tell is how skewed the scores are, so rows are preferred where they fit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tallystick._rng import Rng
from tallystick.compare.ranking import leaderboard
from tallystick.compare.settings import Settings
from tallystick.compare.verdict import left_out_warning, with_left_out
from tallystick.data import Data
from tallystick.data.frames import first_repeat_in, lazily, rows_fit
from tallystick.errors import InputError
from tallystick.tally import Moments

if TYPE_CHECKING:
    from tallystick.compare.result import CompareResult

__all__ = ["SUMS_ONLY", "rank_summed"]

SUMS_ONLY = (
    "the scores were added up where they are stored: intervals rest on their sums and products, not"
    " on their skewness"
)


def rank_summed(data: Data, *, settings: Settings, rng: Rng = 0) -> CompareResult | None:
    """Rank models from sums that the engine returns; None where rows are used.

    Rows are used where they fit into memory, and needed for a truth, weights, replicates, repeated
    items and new items of the same clusters.

    Parameters
    ----------
    data
        What was read.
    settings, rng
        As in `tallystick.compare.ranking.rank`.
    """
    roles = data.roles
    if not data.in_engine or roles.truth or roles.weight or roles.replicate:
        return None
    if settings.population == "items" and roles.cluster is not None:
        return None
    if rows_fit(data.held, roles.columns()):
        return None
    if roles.item is not None and first_repeat_in(data.held, roles.item) is not None:
        return None

    if settings.bounds is not None:
        _check_bounds(data, settings.bounds)
    moments = Moments.of(
        data.held, columns=roles.models, by=roles.cluster, missing=data.rules.missing
    )
    result = leaderboard(moments, settings=settings, rng=rng)
    lost = moments.dropped
    warnings = result.warnings
    if lost:
        warnings = (
            left_out_warning(lost, lost + int(moments.n)),
            *warnings,
        )
        result = with_left_out(result, lost)
    return replace(result, assumptions=(*result.assumptions, SUMS_ONLY), warnings=warnings)


def _check_bounds(data: Data, bounds: tuple[float, float]) -> None:
    """Refuse scores outside the bounds that the caller declared."""
    import narwhals as nw

    frame = lazily(data.held)
    for name in data.roles.models:
        cell = nw.col(name)
        [low], [high] = (
            frame.select(end.alias("end")).collect()["end"].to_list()
            for end in (cell.min(), cell.max())
        )
        for found in (low, high):
            if found is not None and not bounds[0] <= found <= bounds[1]:
                raise InputError(
                    f"{data.source}: column {name!r} holds {found!r}, outside {bounds[0]:g} to"
                    f" {bounds[1]:g}: correct the cell, or declare other bounds (--bounds)"
                )
