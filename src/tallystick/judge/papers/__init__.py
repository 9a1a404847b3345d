"""What reproduces the source of `judge`: exact points, their tests, and figures of the paper.

| question | call |
|---|---|
| which votes does a point with correlated judges give? | :func:`correlated` |
| what is the smallest test that shows a point exactly? | :func:`simulate` |
| is the square root of a trio rational? | :func:`exact` |
| how far is an estimate from what the votes allow? | :func:`variety_distance` |
| which trios of judges could be independent? | :func:`search` |
| what does a small correlation do to a trio's solution? | :func:`sensitivity` |

Nothing here is needed to grade judges. Source: [CE23]_; theory: ``docs/theory/judge.md``.
"""

from __future__ import annotations

from tallystick.judge.papers.correlated import correlated
from tallystick.judge.papers.exact import ExactTrio, Surd, exact
from tallystick.judge.papers.point import Point
from tallystick.judge.papers.search import SearchResult, search
from tallystick.judge.papers.sensitivity import Sensitivity, sensitivity
from tallystick.judge.papers.simulate import Simulation, simulate
from tallystick.judge.papers.variety import Projection, variety_distance, variety_projection

__all__ = [
    "ExactTrio",
    "Point",
    "Projection",
    "SearchResult",
    "Sensitivity",
    "Simulation",
    "Surd",
    "correlated",
    "exact",
    "search",
    "sensitivity",
    "simulate",
    "variety_distance",
    "variety_projection",
]
