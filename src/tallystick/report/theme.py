"""Colours and type: two hues, safe for colour-blind readers, light and dark, on paper too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal, TypeAlias

__all__ = ["TOKENS", "Mode", "contrast", "page_style", "script", "style", "svg_style"]

Mode: TypeAlias = Literal["light", "dark", "auto"]
"""``auto`` follows the reader's system."""

TOKENS: Mapping[str, Mapping[str, str]] = {
    "light": {
        "bg": "#ffffff",
        "raise": "#f6f7f9",
        "line": "#e4e7eb",
        "rule": "#89919c",
        "text": "#15181c",
        "muted": "#59616c",
        "blue": "#0b5cad",
        "orange": "#a84b00",
        "orange-soft": "#fcf5eb",
        "on-blue": "#ffffff",
    },
    "dark": {
        "bg": "#0f1215",
        "raise": "#181c21",
        "line": "#2a3037",
        "rule": "#67717e",
        "text": "#e9ebee",
        "muted": "#a3abb6",
        "blue": "#7db7fb",
        "orange": "#f4a25d",
        "orange-soft": "#1f1a16",
        "on-blue": "#0f1215",
    },
}
"""Blue is what the evidence says, orange what needs attention; never red against green."""

_SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'


def _tokens(mode: str) -> str:
    return " ".join(
        f"--{name}: {value};" for name, value in {**TOKENS[mode], "sans": _SANS}.items()
    )


@cache
def _file(name: str) -> str:
    held = resources.files("tallystick.report") / "templates" / name
    return held.read_text(encoding="utf-8")


@cache
def style() -> str:
    """Return the style sheet of reports."""
    return page_style(_file("style.css"))


def page_style(own: str) -> str:
    """Return the style sheet of a kind of page: the look that all pages share, and its *own* rules.

    Colours come first and phones and paper last, so that each overrides what stands before it.
    """
    return (
        f":root {{ color-scheme: light dark; {_tokens('light')} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_tokens('dark')} }} }}\n"
        f"{_file('marks.css')}{_file('shared.css')}{own}{_file('narrow.css')}"
    )


def script() -> str:
    """Return the one script of a page: it sorts and filters, and the page works without it."""
    return _file("script.js")


@cache
def svg_style(mode: Mode = "light") -> str:
    """Return the style sheet of an SVG file, with its colours inside."""
    if mode == "auto":
        dark = f"@media (prefers-color-scheme: dark) {{ svg {{ {_tokens('dark')} }} }}"
        return f"svg {{ {_tokens('light')} }}\n{dark}\n{_file('marks.css')}"
    # Drawing programs know no variables, so a file of one look names its colours.
    text = _file("marks.css")
    for name, value in {**TOKENS[mode], "sans": _SANS}.items():
        text = text.replace(f"var(--{name})", value)
    return text


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as the Web Content Accessibility Guidelines count it: 1 to
    21.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
