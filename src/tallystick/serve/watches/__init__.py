"""Watches: an API measured once, and then asked again every few hours, for a limited sum."""

from __future__ import annotations

__all__: list[str] = []
