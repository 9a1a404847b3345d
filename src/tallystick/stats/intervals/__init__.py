"""Intervals for shares and means, each with its promise: exact, anytime or approximate.

| question | call | guarantee |
|---|---|---|
| a share, from independent draws | :func:`clopper_pearson` | exact |
| the same, shorter | :func:`wilson`, :func:`jeffreys` | approximate |
| a share of *these* N items | :func:`hypergeometric` | exact |
| the same, labelled in two strata | :func:`hypergeometric_strata` | exact |
| a share of one class of these | :func:`hypergeometric_subgroup` | exact |
| a mean of bounded values | :func:`betting`, :func:`empirical_bernstein`, :func:`hoeffding` | exact |
| the same, stopping at will | :func:`betting` with ``anytime=True``, :func:`betting_sequence` | anytime |
| the same, shorter | :func:`pseudo_t` | approximate |
| a sum or ratio of parts | :func:`mover_sum`, :func:`mover_ratio` | as the parts, approximately |

Scalars in, an ``Interval`` out; arrays in, ``Intervals`` out (one sequence of values is one row).
Theory: ``docs/theory/intervals.md``.
"""

from __future__ import annotations

from tallystick.stats.intervals.array import Intervals
from tallystick.stats.intervals.betting import betting, betting_sequence
from tallystick.stats.intervals.bounds import Bounds
from tallystick.stats.intervals.clopper_pearson import clopper_pearson
from tallystick.stats.intervals.empirical_bernstein import empirical_bernstein
from tallystick.stats.intervals.hoeffding import hoeffding
from tallystick.stats.intervals.hypergeometric import (
    hypergeometric,
    hypergeometric_strata,
    hypergeometric_subgroup,
)
from tallystick.stats.intervals.jeffreys import jeffreys
from tallystick.stats.intervals.mover import mover_ratio, mover_sum
from tallystick.stats.intervals.pseudo_t import pseudo_t
from tallystick.stats.intervals.side import Side
from tallystick.stats.intervals.wilson import score_ends, wilson

__all__ = [
    "Bounds",
    "Intervals",
    "Side",
    "betting",
    "betting_sequence",
    "clopper_pearson",
    "empirical_bernstein",
    "hoeffding",
    "hypergeometric",
    "hypergeometric_strata",
    "hypergeometric_subgroup",
    "jeffreys",
    "mover_ratio",
    "mover_sum",
    "pseudo_t",
    "score_ends",
    "wilson",
]
