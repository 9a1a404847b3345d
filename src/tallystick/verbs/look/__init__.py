"""Looks at a table: what each column can be, what was read, and which commands it can answer."""

from __future__ import annotations

from tallystick.verbs.look.answer import LookResult, look

__all__ = ["LookResult"]
