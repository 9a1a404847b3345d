"""One self-contained HTML page a result: no script, no network, everything from the data escaped."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tallystick
from tallystick.report.plot import Plot
from tallystick.report.shorten import shorten
from tallystick.results import Figure, Result, to_json

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["Provenance", "page", "picture_page", "write_page"]

MOST_TABLE_ROWS = 300
MOST_PICTURES = 4
MOST_JSON = 700_000
"""Bytes of JSON that the page carries; a longer one is asked for by ``--json``."""


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How to make a page again: the command, the version, the seed and the fingerprints of the inputs."""

    command: str = ""
    digests: dict[str, str] = field(default_factory=dict)


def page(result: Result, *, provenance: Provenance | None = None, slices: Sequence[Any] = ()) -> str:
    """Return *result* as one HTML page of less than two megabytes.

    The verdict comes first, then one picture, the table, what it rests on, how to make it again, and the JSON twin to
    download. The page holds no script at all, and its Content-Security-Policy forbids any.

    Examples
    --------
    >>> from tallystick.tally import Tally, describe
    >>> text = page(describe(Tally.of({"<script>": ["x", "y"]})))
    >>> "<script>" in text
    False
    """
    rows = result.to_frame().slice(0, MOST_TABLE_ROWS).to_pylist()
    total = len(result.rows())
    twin = to_json({**result.to_dict(), **({"slices": [part.to_dict() for part in slices]} if slices else {})})
    encoded = base64.b64encode(twin.encode("utf-8")).decode("ascii") if len(twin) <= MOST_JSON else ""
    figures = result.figures()[:MOST_PICTURES]
    return _template("page.html").render(
        result=result,
        pictures=[_picture(figure) for figure in figures],
        names=list(rows[0]) if rows else [],
        rows=[[_cell(value) for value in row.values()] for row in rows],
        total=total,
        shown=len(rows),
        slices=[str(part) for part in slices],
        twin=encoded,
        provenance=provenance or Provenance(),
        version=tallystick.__version__,
    )


def picture_page(figure: Figure) -> str:
    """Return one picture as an HTML page of its own, light and dark."""
    return _template("picture.html").render(picture=_picture(figure))


def write_page(
    path: str | Path, result: Result, *, provenance: Provenance | None = None, slices: Sequence[Any] = ()
) -> None:
    """Write the page of *result* to *path*, whole or not at all: an old report survives a full disk."""
    from tallystick.io import atomic

    content = page(result, provenance=provenance, slices=slices).encode("utf-8")
    with atomic(Path(path)) as stream:
        stream.write(content)


def _picture(figure: Figure) -> dict[str, str]:
    """Both looks as data addresses: an SVG inside an image element can neither run nor load anything."""
    looks = {mode: Plot(figure, mode).svg().encode("utf-8") for mode in ("light", "dark")}
    return {
        "title": shorten(figure.title, 160),
        **{mode: "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii") for mode, svg in looks.items()},
    }


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else shorten(str(value), 400)


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("tallystick.report", "templates")
    environment = Environment(autoescape=True, loader=loader, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template(name)
