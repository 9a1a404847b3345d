"""What exists to reproduce the source, [SAH23]_: constructions, gradient updates, experiments.

Import from the modules: ``constructions`` (Theorems 3.5, 4.2, C.2, C.3), ``gradient`` (Lemma A.2),
``deep`` (Section 5, many neural networks at once; extra ``[torch]``).
"""

from __future__ import annotations

__all__: list[str] = []
