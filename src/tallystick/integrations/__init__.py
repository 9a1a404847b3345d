"""Tallystick inside the tools that teams use: pytest, MLflow, scikit-learn.

Each file needs its tool, and nothing else of Tallystick needs these files.
"""

from __future__ import annotations

__all__: list[str] = []
