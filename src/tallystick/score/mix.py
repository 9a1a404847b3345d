r"""Another mix of slices than the table has, such as the traffic of production.

Each slice is estimated on its own, and the estimates are put together with the shares w of the
target mix. The ends follow MOVER,

.. math:: L = \hat\theta - \sqrt{\sum_s w_s^2 (\hat\theta_s - L_s)^2}, \qquad
          \hat\theta = \sum_s w_s \hat\theta_s,   \tag{SC3}

with U alike. G. Zou and A. Donner, *Construction of confidence limits about effect measures*,
Statistics in Medicine 27 (2008). Derived from intervals whose coverage is measured; not measured
itself.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.score.outputs import Floats, Outputs
from tallystick.score.question import ScoreQuestion
from tallystick.score.systems import System, estimate_systems, judge_only, score_levels
from tallystick.stats.adverse import AdverseEstimate, LevelEnds, Levels

__all__ = ["check_mix", "mixed_judges", "mixed_levels", "mixed_systems"]


def check_mix(outputs: Outputs, mix: Mapping[str, float], column: str) -> Floats:
    """Return the share of each slice of the table; refuse a mix that does not fit it."""
    absent = [name for name, share in mix.items() if share > 0 and name not in outputs.slices]
    if absent:
        raise InputError(
            f"target_mix gives a share to {absent[0]!r}, and {column!r} never says that: it says"
            f" {', '.join(outputs.slices[:8])}"
        )
    silent = [name for name in outputs.slices if name not in mix]
    if silent:
        raise InputError(
            f"target_mix gives no share to {silent[0]!r} of {column!r}: write 0 if it does not"
            " occur in the target"
        )
    if outputs.slice is not None and (outputs.slice < 0).any():
        raise InputError(
            f"column {column!r} is blank in some rows, so they belong to no slice of target_mix:"
            " name their slice, or remove them"
        )
    return np.array([mix[name] for name in outputs.slices])


def mixed_systems(
    outputs: Outputs, values: Floats, question: ScoreQuestion, shares: Floats, alpha: float
) -> list[System]:
    """Estimate every system under the target mix (SC3)."""
    parts = []
    for h, share in enumerate(shares):
        inside = np.asarray(outputs.slice == h)
        if share > 0:
            held = outputs.part(inside)
            parts.append((share, estimate_systems(held, values[inside], question, alpha=alpha)))
    found = []
    for s, name in enumerate(outputs.systems):
        rows = [(share, systems[s]) for share, systems in parts]
        inside = outputs.of(s)
        found.append(
            System(
                name=name,
                found=_together([(share, one.found) for share, one in rows], alpha),
                outlook=None,
                n=round(float(outputs.counts[inside].sum())),
                n_labels=round(float(outputs.counts[inside & outputs.known].sum())),
            )
        )
    return found


def mixed_levels(
    outputs: Outputs, values: Floats, question: ScoreQuestion, shares: Floats
) -> list[Levels | None]:
    """Return every system's score under the target mix (SC3) as a function of the level."""
    parts = []
    for h, share in enumerate(shares):
        inside = np.asarray(outputs.slice == h)
        if share > 0:
            parts.append((share, score_levels(outputs.part(inside), values[inside], question)))

    def of(s: int) -> Levels | None:
        held = [(share, one) for share, levels in parts if (one := levels[s]) is not None]
        if len(held) < len(parts):
            return None

        def at(alpha: Floats) -> LevelEnds:
            found = [(share, one(alpha)) for share, one in held]
            zero = np.zeros(alpha.size)
            centre = sum((share * value for share, (value, _, _) in found), zero)
            down = sum(((w * np.maximum(0.0, v - low)) ** 2 for w, (v, low, _) in found), zero)
            up = sum(((w * np.maximum(0.0, high - v)) ** 2 for w, (v, _, high) in found), zero)
            low, high = centre - np.sqrt(down), centre + np.sqrt(up)  # (SC3)
            return centre, np.maximum(0.0, low), np.minimum(1.0, high)

        return at

    return [of(s) for s in range(len(outputs.systems))]


def _together(
    parts: list[tuple[float, AdverseEstimate | None]], alpha: float
) -> AdverseEstimate | None:
    """Add estimates up with their shares; None if a slice with a share has no labels."""
    held = [(share, one) for share, one in parts if one is not None]
    if len(held) < len(parts):
        return None
    values = [one.estimate for _, one in held if not isinstance(one.estimate, Unknown)]
    if len(values) < len(held):
        return None
    centre = float(sum(share * value for (share, _), value in zip(held, values, strict=True)))

    def ends(intervals: list[Interval]) -> Interval:
        down = up = 0.0
        for (share, _), value, interval in zip(held, values, intervals, strict=True):
            down += (share * max(0.0, value - interval.low)) ** 2  # (SC3)
            up += (share * max(0.0, interval.high - value)) ** 2
        low, high = max(0.0, centre - down**0.5), min(1.0, centre + up**0.5)
        return Interval(low, high, 1 - alpha, "approximate", None, "target mix, MOVER")

    interval = ends([one.interval for _, one in held])
    plain = ends([one.labels_only for _, one in held])
    labels = sum(one.n_labels for _, one in held)
    ratio = plain.width / interval.width if interval.width > 0 else 1.0
    return AdverseEstimate(
        estimate=centre,
        interval=interval,
        labels_only=plain,
        n_labels=labels,
        worth=labels * ratio**2,
    )


def mixed_judges(outputs: Outputs, shares: Floats) -> Floats:
    """Return each system's judge-only mean under the target mix."""
    total = np.zeros(len(outputs.systems))
    for h, share in enumerate(shares):
        if share > 0:
            total += share * judge_only(outputs.part(np.asarray(outputs.slice == h)))
    return total
