"""From a point to the votes: the generating set of arbitrarily correlated judges."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import prod

from tallystick.errors import InputError
from tallystick.judge.papers.point import Point
from tallystick.values.label import Label

__all__ = ["correlated"]

_MOST = 12


def correlated(point: Point) -> dict[tuple[Label, ...], Fraction]:
    r"""Return the share of every vote pattern that *point* implies: the votes that such judges
    would give.

    With :math:`c_i` = "judge i is right", :math:`c_i = p_i + z_i`, and :math:`\Gamma_S` the mean of
    :math:`\prod_{i \in S} z_i` over the items of a label (1 for no judge, 0 for one), the judges in
    A alone are right on a share

    .. math:: \sum_S \Gamma_S (-1)^{|S \setminus A|} \prod_{i \in A \setminus S} p_i
              \prod_{i \notin A \cup S} (1 - p_i)   \tag{J3}

    of the items of that label; the two labels add with their prevalences. [CE23]_, Theorem 3
    (Theorem 1 without correlations). Exact.

    Raises
    ------
    InputError
        No votes have these correlations: a pattern would have a negative share.

    Examples
    --------
    >>> from tallystick.judge.papers import Point
    >>> votes = correlated(Point(prevalence="1/2", accuracy={"ann": ("3/4", "3/4"), "bob": (1, 1)}))
    >>> votes["a", "a"], votes["b", "a"], sum(votes.values())
    (Fraction(3, 8), Fraction(1, 8), Fraction(1, 1))
    """
    if len(point.names) > _MOST:
        raise InputError(
            f"{len(point.names)} judges have 2^{len(point.names)} patterns: give at most {_MOST}"
        )
    return {
        pattern: sum(by_label.values(), Fraction(0))
        for pattern, by_label in shares_by_truth(point).items()
    }


def shares_by_truth(point: Point) -> dict[tuple[Label, ...], dict[Label, Fraction]]:
    """Return, for every vote pattern, the share of items with that pattern and each true label."""
    alpha, beta = point.labels
    names = point.names
    out: dict[tuple[Label, ...], dict[Label, Fraction]] = {}
    for pattern in itertools.product(point.labels, repeat=len(names)):
        out[pattern] = {}
        for side, label, weight in ((0, alpha, point.prevalence), (1, beta, 1 - point.prevalence)):
            right = tuple(vote == label for vote in pattern)
            accuracies = tuple(point.accuracy[name][side] for name in names)
            share = _chance(right, accuracies)
            for (where, judges), gamma in point.correlations.items():
                if where == label:
                    chosen = {names.index(name) for name in judges}
                    rest = [i for i in range(len(names)) if i not in chosen]
                    sign = (-1) ** sum(not right[i] for i in chosen)
                    share += (
                        sign
                        * gamma
                        * _chance([right[i] for i in rest], [accuracies[i] for i in rest])
                    )
            if share < 0:
                raise InputError(
                    f"correlations: no items can have them, since the votes {pattern} on {label!r}"
                    f" would have the share {share}: make them smaller"
                )
            out[pattern][label] = weight * share
    return out


def _chance(
    right: tuple[bool, ...] | list[bool], accuracy: tuple[Fraction, ...] | list[Fraction]
) -> Fraction:
    return prod(
        (p if ok else 1 - p for ok, p in zip(right, accuracy, strict=True)), start=Fraction(1)
    )
