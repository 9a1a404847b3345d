"""What this benchmark can show: the smallest difference between two of its models that it would
notice.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from tallystick.compare.pairing import PairTable
from tallystick.compare.settings import Settings
from tallystick.errors import NotIdentifiable
from tallystick.results import Unknown
from tallystick.stats.power import detectable_difference, range_critical

__all__ = ["detectable_by_errors", "detectable_by_items"]


def detectable_by_items(
    table: PairTable, n: int, k: int, binary: bool, settings: Settings
) -> float | Unknown:
    """Return what n items can show of a typical pair: the one with the median disagreement, or
    spread.
    """
    if not binary:
        return _normal_detectable(float(np.median(table.spread)) / float(np.sqrt(n)), k, settings)
    disagreement = float(np.median((table.first_only + table.second_only) / n))
    if disagreement == 0:
        return Unknown("the models never disagree, so nothing says what could be detected")
    try:
        return detectable_difference(
            n, disagreement, models=k, alpha=settings.alpha, power=settings.power
        )
    except NotIdentifiable as error:
        return Unknown(str(error))


def detectable_by_errors(table: PairTable, settings: Settings, k: int) -> float | Unknown:
    """Return the same from the standard errors of the pairs, where items are not independent."""
    return _normal_detectable(float(np.median(table.spread)), k, settings)


def _normal_detectable(error: float, k: int, settings: Settings) -> float | Unknown:
    if error == 0 or np.isinf(error):
        return Unknown("no pair varies from item to item, so nothing says what could be detected")
    found = (range_critical(k, settings.alpha) + float(ndtri(settings.power))) * error
    if settings.bounds is not None and found > settings.bounds[1] - settings.bounds[0]:
        return Unknown(
            "so few items would not show even the largest difference that the bounds allow"
        )
    return found
