"""Look at the columns of a table and say what each is taken for, and why."""

from __future__ import annotations

__all__: list[str] = []
