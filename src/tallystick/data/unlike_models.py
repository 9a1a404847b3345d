"""Columns of numbers beside right and wrong answers that are no model, whatever they are called.

A table of 0 and 1 often has a weight, a probability or a difference beside them. A number that
happens to be larger would otherwise be "the best model".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tallystick.data.detect.profile import Profile

__all__ = ["unlike_models"]

_FEW = 11
"""Different values up to which a share of right answers may be the mean of a few runs."""


def unlike_models(profiles: Mapping[str, Profile], numeric: Sequence[str]) -> dict[str, str]:
    """Return which columns of numbers are left out as models, each with the reason.

    A column is left out if at least two others say 0 or 1 and it says something else. The mean of a
    few runs (0, 1/3, 2/3, 1) stays.

    Examples
    --------
    >>> from tallystick.data.detect.profile import Profile
    >>> def column(name, low, high, distinct):
    ...     return Profile(
    ...         name=name, rows=99, filled=99, seen=99, distinct=distinct, nature="numbers", low=low,
    ...         high=high, numeric=1.0, counts={},
    ...     )
    >>> seen = [column("old", 0, 1, 2), column("new", 0, 1, 2), column("w", 0.2, 3, 40)]
    >>> unlike_models({one.name: one for one in seen}, ["old", "new", "w"])
    {'w': 'not 0 or 1 as the others'}
    """
    right_or_wrong = [name for name in numeric if _is_zero_one(profiles[name])]
    if len(right_or_wrong) < 2:
        return {}
    return {
        name: "not 0 or 1 as the others"
        for name in numeric
        if name not in right_or_wrong and not _is_mean_of_runs(profiles[name])
    }


def _is_zero_one(profile: Profile) -> bool:
    return profile.low in (0.0, 1.0) and profile.high in (0.0, 1.0) and profile.distinct <= 2


def _is_mean_of_runs(profile: Profile) -> bool:
    return profile.low == 0 and profile.high == 1 and profile.distinct <= _FEW
