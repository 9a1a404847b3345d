"""Pages and services on this machine; they need the extra ``serve``."""

from __future__ import annotations

__all__: list[str] = []
