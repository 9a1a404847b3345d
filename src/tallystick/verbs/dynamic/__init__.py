"""The benchmark whose items were collected to fool models: what its log says, what is proved.

| question | call |
|---|---|
| How does the latest model do, and would a vote or another round help? | :func:`evaluate` |
| What is proved, before anything is run? | :func:`theory` |
| What would a design bring? | :func:`simulate` |

What the source defines and proves, and the experiment with a learner of your own, are in
:mod:`tallystick.papers.dynamic_benchmarks`.

Source: A. Shirali, R. Abebe, M. Hardt, A Theory of Dynamic Benchmarks, 2023, cited as [SAH23]_.
Theory: ``docs/theory/dynamic.md``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tallystick.errors import no_attribute

if TYPE_CHECKING:
    from tallystick.verbs.dynamic.analyse import LogResult
    from tallystick.verbs.dynamic.attempt_result import AttemptResult
    from tallystick.verbs.dynamic.reading import ANALYSE, evaluate
    from tallystick.verbs.dynamic.simulation import SIMULATE, THEORY, simulate, theory

__all__ = ["LogResult", "evaluate", "simulate", "theory"]

# Whatever reads tables loads on first use.
_HOME = dict.fromkeys(("SIMULATE", "THEORY", "simulate", "theory"), "simulation")
_HOME |= {"ANALYSE": "reading", "evaluate": "reading"}
_HOME |= {"AttemptResult": "attempt_result", "LogResult": "analyse"}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"tallystick.verbs.dynamic.{_HOME[name]}"), name)
    raise no_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
