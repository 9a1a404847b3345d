"""The service that a team leaves running, and pages on this machine (extra ``serve``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallystick.errors import MissingExtra, no_attribute

if TYPE_CHECKING:
    from tallystick.serve.client import ServeClient as Client

__all__ = ["Client"]


def serve_labels(work: Any, **more: Any) -> None:
    """Serve the labelling page of a session; ``--terminal`` and ``--next`` need no extra."""
    try:
        from tallystick.serve.pages import label

        label.serve_labels(work, **more)
    except ImportError as error:
        raise MissingExtra(error.name or "starlette", "serve") from error


def __getattr__(name: str) -> Any:
    if name == "Client":
        from tallystick.serve.client import ServeClient

        return ServeClient
    raise no_attribute(__name__, name)
