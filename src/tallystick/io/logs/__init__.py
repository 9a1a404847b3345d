"""Evaluation logs of other tools: detected by content, one column per model, aligned by item.

One file per format; `registry` lists them, and is the only place that does.
"""

from __future__ import annotations

from tallystick.io.logs.log import Log, Loss
from tallystick.io.logs.registry import LogReader, log_readers, sniff_archive, sniff_text

__all__ = ["Log", "LogReader", "Loss", "log_readers", "sniff_archive", "sniff_text"]
