"""Is another round of this benchmark worth it: theory, simulation, and the log of a real one.

| question | call |
|---|---|
| What does the log of a campaign say? | :func:`evaluate`: a panel, a path, or attempts |
| What is proved, before anything is run? | :func:`theory` |
| What would a design bring, with such a learner? | :func:`simulate` |
| How does my own classifier behave? | :func:`run_experiment` |
| What is the worst that can happen? | :func:`worst_case` |

Everything else is imported from its module: forecasts from ``panel`` and ``path_forecast``, rates
of attempt logs from ``attempt_rates``, learners from ``learners``, proved bounds from ``bounds``.
What reproduces the source is in ``papers``, neural networks on a GPU in ``papers.deep`` (extra
``[torch]``).

Source: A. Shirali, R. Abebe, M. Hardt, A Theory of Dynamic Benchmarks, 2023, cited as [SAH23]_.
Theory: ``docs/theory/dynamic.md``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tallystick.dynamic.design import hierarchical, path
from tallystick.dynamic.experiment import run_experiment
from tallystick.dynamic.learners import Correlated
from tallystick.dynamic.population import Population
from tallystick.dynamic.simulate import simulate
from tallystick.dynamic.theory import theory
from tallystick.dynamic.worst_case import worst_case

if TYPE_CHECKING:
    from tallystick.dynamic.answer import ANALYSE, THEORY, evaluate
    from tallystick.dynamic.attempt_result import AttemptResult
    from tallystick.dynamic.log_result import LogResult
    from tallystick.dynamic.simulate_answer import SIMULATE

__all__ = [
    "ANALYSE",
    "SIMULATE",
    "THEORY",
    "AttemptResult",
    "Correlated",
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

# Whatever reads tables loads on first use: networks train where only numpy and torch are installed.
_HOME = {
    "ANALYSE": "answer",
    "AttemptResult": "attempt_result",
    "LogResult": "log_result",
    "SIMULATE": "simulate_answer",
    "THEORY": "answer",
    "evaluate": "answer",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"tallystick.dynamic.{_HOME[name]}"), name)
    raise AttributeError(f"module 'tallystick.dynamic' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
