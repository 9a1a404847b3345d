"""What reproduces the source of ``compare`` ([DD]_): its pictures, its rule and its bound."""

from __future__ import annotations

__all__: list[str] = []
