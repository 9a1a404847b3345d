"""Looks at a table, says what its columns are taken for, and runs all that applies."""

from __future__ import annotations

from tallystick.audit.detect import detect
from tallystick.audit.reading import Named, Question, Reading, Taken

__all__ = ["Named", "Question", "Reading", "Taken", "detect"]
