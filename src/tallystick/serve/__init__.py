"""The service that a team leaves running, and pages on this machine (extra ``serve``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.serve.client import ServeClient as Client

__all__ = ["Client"]


def __getattr__(name: str) -> Any:
    if name == "Client":
        from tallystick.serve.client import ServeClient

        return ServeClient
    raise AttributeError(f"module 'tallystick.serve' has no attribute {name!r}")
