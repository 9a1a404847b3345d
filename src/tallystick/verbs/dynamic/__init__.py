"""The benchmark whose items were collected to fool models: what its log says, what is proved.

| question | call |
|---|---|
| How does the latest model do, and would a vote or another round help? | :func:`evaluate` |
| What is proved, before anything is run? | :func:`theory` |
| What would a design bring? | :func:`simulate` |
| How does my own classifier behave? | :func:`run_experiment` |
| What is the worst that can happen? | :func:`worst_case` |

Everything else is imported from its module: forecasts from ``forecast``, rates of attempt logs from
``attempts``. What the source defines and proves is in
:mod:`tallystick.papers.dynamic_benchmarks`.

Source: A. Shirali, R. Abebe, M. Hardt, A Theory of Dynamic Benchmarks, 2023, cited as [SAH23]_.
Theory: ``docs/theory/dynamic.md``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tallystick.papers.dynamic_benchmarks.certificates import worst_case
from tallystick.papers.dynamic_benchmarks.designs import Population, hierarchical, path
from tallystick.papers.dynamic_benchmarks.experiment import run_experiment

if TYPE_CHECKING:
    from tallystick.verbs.dynamic.analyse import LogResult
    from tallystick.verbs.dynamic.attempt_result import AttemptResult
    from tallystick.verbs.dynamic.reading import ANALYSE, evaluate
    from tallystick.verbs.dynamic.simulation import SIMULATE, THEORY, simulate, theory

__all__ = [
    "ANALYSE",
    "SIMULATE",
    "THEORY",
    "AttemptResult",
    "LogResult",
    "Population",
    "evaluate",
    "hierarchical",
    "path",
    "run_experiment",
    "simulate",
    "theory",
    "worst_case",
]

# Whatever reads tables loads on first use: learners train where only numpy is installed.
_HOME = {
    "ANALYSE": "reading",
    "AttemptResult": "attempt_result",
    "LogResult": "analyse",
    "SIMULATE": "simulation",
    "THEORY": "simulation",
    "evaluate": "reading",
    "simulate": "simulation",
    "theory": "simulation",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"tallystick.verbs.dynamic.{_HOME[name]}"), name)
    raise AttributeError(f"module 'tallystick.verbs.dynamic' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
