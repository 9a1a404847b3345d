"""What exists to reproduce the source: the paper's experiments with weak labels."""

from __future__ import annotations

from tallystick.bound.papers.noise_aware import noise_aware_weights
from tallystick.bound.papers.weak_sets import WeakSetResult, choose_weak_labels

__all__ = ["WeakSetResult", "choose_weak_labels", "noise_aware_weights"]
