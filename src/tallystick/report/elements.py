"""Write one HTML or SVG element; everything from the data is escaped here and nowhere else."""

from __future__ import annotations

from html import escape

__all__ = ["element", "words"]


class _Safe(str):
    """Markup that was written here."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | float | None) -> str:
    """Return an element. Children that `element` or `words` made are kept, other text is escaped.

    A trailing underscore is dropped from the name of an attribute, and other underscores become
    hyphens. An attribute that is None or "" is left out; numbers lose useless digits.

    >>> print(element("b", "a < b", class_="x"), element("p", element("i", "&")))
    <b class="x">a &lt; b</b> <p><i>&amp;</i></p>
    """
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None and value != ""
    )
    inside = "".join(one if isinstance(one, _Safe) else escape(one) for one in children)
    if not children and tag in ("line", "circle", "path", "rect", "br"):
        return _Safe(f"<{tag}{named}/>" if tag != "br" else "<br>")
    return _Safe(f"<{tag}{named}>{inside}</{tag}>")


def words(*texts: str) -> str:
    """Return texts in a row, each escaped unless it is markup already."""
    return _Safe("".join(one if isinstance(one, _Safe) else escape(one) for one in texts))


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return escape(value)
    return f"{value:.2f}".rstrip("0").rstrip(".")
