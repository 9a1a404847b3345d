"""Evaluation logs of other tools: detected by content, one column a model, aligned by item.

What is needed to detect a log stands here; ``logs.read`` and ``logs.side_by_side`` are loaded by
the one who reads.
"""

from __future__ import annotations

from tallystick.io.logs.log import Log, LogFormat, Loss
from tallystick.io.logs.sniff import sniff_archive, sniff_text

__all__ = ["Log", "LogFormat", "Loss", "sniff_archive", "sniff_text"]
