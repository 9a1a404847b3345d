"""What this benchmark can show: the smallest difference between two of its models that it would notice."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from tallystick.compare.pairing import PairTable
from tallystick.compare.settings import Settings
from tallystick.errors import NotIdentifiable
from tallystick.results import Unknown
from tallystick.stats.power import detectable_difference, range_critical

__all__ = ["detectable_by_errors", "detectable_by_items"]


def detectable_by_items(table: PairTable, n: int, k: int, binary: bool, settings: Settings) -> float | Unknown:
    """Return what n items can show of a typical pair: the one with the median disagreement, or spread."""
    if not binary:
        critical = range_critical(k, settings.alpha)
        return _normal_detectable(critical, float(np.median(table.spread)) / float(np.sqrt(n)), settings.power)
    disagreement = float(np.median((table.first_only + table.second_only) / n))
    if disagreement == 0:
        return Unknown("the models never disagree, so nothing says what could be detected")
    try:
        return detectable_difference(n, disagreement, models=k, alpha=settings.alpha, power=settings.power)
    except NotIdentifiable as error:
        return Unknown(str(error))


def detectable_by_errors(table: PairTable, settings: Settings, k: int) -> float | Unknown:
    """Return the same from the standard errors of the pairs, where items are not independent."""
    return _normal_detectable(range_critical(k, settings.alpha), float(np.median(table.spread)), settings.power)


def _normal_detectable(critical: float, error: float, power: float) -> float | Unknown:
    if error == 0 or np.isinf(error):
        return Unknown("no pair varies from item to item, so nothing says what could be detected")
    return (critical + float(ndtri(power))) * error
