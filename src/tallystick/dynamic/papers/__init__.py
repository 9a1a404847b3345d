"""What exists to reproduce and sharpen the source, [SAH23]_: bounds and constructions.

Theory and proofs: ``docs/theory/dynamic-sharp.md``.
"""

from __future__ import annotations

from tallystick.dynamic.papers.exact_cells import ExactCells
from tallystick.dynamic.papers.sharp_bounds import (
    any_rounds_bound,
    most_overlap,
    noise_closed_floor,
    noise_floor,
    pair_factor,
    sharp_hierarchical_bound,
    three_round_lemma,
)
from tallystick.dynamic.papers.sharp_constructions import SharpConstruction, sharp_construction

__all__ = [
    "ExactCells",
    "SharpConstruction",
    "any_rounds_bound",
    "most_overlap",
    "noise_closed_floor",
    "noise_floor",
    "pair_factor",
    "sharp_construction",
    "sharp_hierarchical_bound",
    "three_round_lemma",
]
