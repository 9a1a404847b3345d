"""How far raters agree: raw agreement, chance-corrected coefficients, and grades on a scale.

| question | call |
|---|---|
| how often do two raters give the same label? | :func:`raw_agreement` |
| how far do two raters agree beyond chance? | :func:`cohen_kappa` (also weighted, for grades) |
| the same for several raters | :func:`fleiss_kappa`, :func:`krippendorff_alpha` |
| the same, when one label is rare | :func:`gwet_ac1` |
| are grades within one step of each other? | :func:`within_one` |
| does one rater grade higher than the other? | :func:`mean_bias` |

All functions take label codes (items or patterns x raters, -1 for a missing rating) and return an
:class:`Agreement`: the exact number for these items, and an interval for new items of the same
kind.
"""

from __future__ import annotations

from tallystick.stats.agreement.cohen import KappaWeights, cohen_kappa
from tallystick.stats.agreement.fleiss import fleiss_kappa
from tallystick.stats.agreement.gwet import gwet_ac1
from tallystick.stats.agreement.jackknife import jackknife_hull
from tallystick.stats.agreement.krippendorff import Metric, krippendorff_alpha
from tallystick.stats.agreement.ordinal import mean_bias, within_one
from tallystick.stats.agreement.ratings import Ratings, as_ratings
from tallystick.stats.agreement.raw import raw_agreement
from tallystick.stats.agreement.result import Agreement

__all__ = [
    "Agreement",
    "KappaWeights",
    "Metric",
    "Ratings",
    "as_ratings",
    "cohen_kappa",
    "fleiss_kappa",
    "gwet_ac1",
    "jackknife_hull",
    "krippendorff_alpha",
    "mean_bias",
    "raw_agreement",
    "within_one",
]
