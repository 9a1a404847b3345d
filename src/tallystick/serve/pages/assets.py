"""What pages load besides themselves: one stylesheet, one script, one icon, all from here."""

from __future__ import annotations

from pathlib import Path

from tallystick.report.theme import page_style

__all__ = ["ASSETS", "asset"]

_HERE = Path(__file__).parent

ASSETS = (
    ("style.css", "text/css"),
    ("script.js", "text/javascript"),
    ("icon.svg", "image/svg+xml"),
)
"""Everything that a page loads, and its media type."""


def asset(name: str) -> bytes:
    """Return a file of `ASSETS`.

    The look of a page is owned by report/; the file here adds what only the service has.

    >>> b"--blue" in asset("style.css"), asset("icon.svg")[:4]
    (True, b'<svg')
    """
    content = (_HERE / name).read_text(encoding="utf-8")
    return (page_style(content) if name == "style.css" else content).encode()
