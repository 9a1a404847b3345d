"""Judge: grade noisy judges with no labels, or with a few.

| question | call | rests on |
|---|---|---|
| all that applies, side by side | :func:`evaluate` | what it names |
| what holds whatever the truth is | :func:`logical` | nothing |
| a few labels | :func:`few_labels` | labels drawn at random |
| all labels | :func:`supervised`, :func:`supervised_point` | nothing |
| no labels | :func:`dawid_skene`, :func:`independent`, :func:`spectral` | independent errors given the label |
| no labels, baselines | :func:`majority`, :func:`agreement` | a majority that is always right; worse |
| can I believe that? | :func:`independence`, :func:`search`, :func:`sensitivity` | a pass proves nothing |
| votes that arrive one by one | :func:`windows` | as above, window by window |

Theory: ``docs/theory/judge.md``.
"""

from __future__ import annotations

from tallystick.judge.agreement import agreement, agreement_gap
from tallystick.judge.answer import CAPABILITY, evaluate
from tallystick.judge.papers.correlated import correlated
from tallystick.judge.dawid_skene import dawid_skene
from tallystick.judge.papers.exact import ExactTrio, Surd, exact
from tallystick.judge.few_labels import few_labels
from tallystick.judge.grade import grade
from tallystick.judge.independence import IndependenceResult, independence
from tallystick.judge.independent import independent
from tallystick.judge.logical import LogicalResult, logical
from tallystick.judge.majority import majority
from tallystick.judge.orders import OrderResult, position_bias, self_consistency
from tallystick.judge.papers.point import Point
from tallystick.judge.question import JudgeQuestion
from tallystick.judge.result import (
    Alarm,
    Estimate,
    JudgeResult,
    JudgeScore,
    LabelScore,
    Share,
    Solution,
    Statement,
)
from tallystick.judge.papers.search import SearchResult, search
from tallystick.judge.papers.sensitivity import Sensitivity, sensitivity
from tallystick.judge.papers.simulate import Simulation, simulate
from tallystick.judge.spectral import spectral
from tallystick.judge.supervised import Supervised, supervised, supervised_point
from tallystick.judge.papers.variety import Projection, variety_distance, variety_projection
from tallystick.judge.windows import Window, Windows, windows

__all__ = [
    "CAPABILITY",
    "Alarm",
    "Estimate",
    "ExactTrio",
    "IndependenceResult",
    "JudgeQuestion",
    "JudgeResult",
    "JudgeScore",
    "LabelScore",
    "LogicalResult",
    "OrderResult",
    "Point",
    "Projection",
    "SearchResult",
    "Sensitivity",
    "Share",
    "Simulation",
    "Solution",
    "Statement",
    "Supervised",
    "Surd",
    "Window",
    "Windows",
    "agreement",
    "agreement_gap",
    "correlated",
    "dawid_skene",
    "evaluate",
    "exact",
    "few_labels",
    "grade",
    "independence",
    "independent",
    "logical",
    "majority",
    "position_bias",
    "search",
    "self_consistency",
    "sensitivity",
    "simulate",
    "spectral",
    "supervised",
    "supervised_point",
    "variety_distance",
    "variety_projection",
    "windows",
]
