"""Rollouts with neural networks: many models trained at once, on a CPU or a GPU, by one code (extra
``[torch]``).
"""

from __future__ import annotations

from tallystick.dynamic.papers.deep.path import (
    DeepRollouts,
    RunControl,
    TrainingRecipe,
    path_rollouts,
)
from tallystick.dynamic.papers.deep.stacked import StackedBiLSTM, StackedCNN, StackedModel

__all__ = [
    "DeepRollouts",
    "RunControl",
    "StackedBiLSTM",
    "StackedCNN",
    "StackedModel",
    "TrainingRecipe",
    "path_rollouts",
]
