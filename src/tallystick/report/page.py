"""One self-contained HTML page a result: no script, no network, everything from the data
escaped.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import tallystick
from tallystick.report.grid import Grid, grid
from tallystick.report.parts import Composed
from tallystick.report.picture import Picture, picture
from tallystick.report.twin import twin
from tallystick.results import Figure, Result

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["Provenance", "page", "picture_page", "write_page"]

_DIRECTION = {
    code: f"\\u{code:04x}"
    for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""Marks that turn the direction of all text after them: written out, as in the terminal."""

MOST_TABLE_ROWS = 300
MOST_PICTURES = 4
MOST_PICTURES_OF_A_PART = 2


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How to make a page again: the command, the version, the seed and the fingerprints of the
    inputs.
    """

    command: str = ""
    digests: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _View:
    """What the template shows of one result; *name* and *heading* are those of a part."""

    result: Result | None
    name: str
    heading: str
    short: str
    pictures: tuple[Picture, ...] = ()
    table: Grid | None = None


def page(result: Result, *, provenance: Provenance | None = None) -> str:
    """Return *result* as one HTML page of less than two megabytes.

    The verdict comes first, then one picture, the table, what it rests on, how to make it again,
    and the JSON twin to download. A composed result (an audit) has an answer a question on top, and
    then all of that for each of them. The page holds no script at all, and its
    Content-Security-Policy forbids any.

    Examples
    --------
    >>> from tallystick.tally import Tally, describe
    >>> text = page(describe(Tally.of({"<script>": ["x", "y"]})))
    >>> "<script>" in text
    False
    """
    whole = result if isinstance(result, Composed) else None
    data = twin(result)
    text = _template("page.html").render(
        result=result,
        whole=whole,
        views=_views(result, whole),
        slices=[str(part) for part in result.slices],
        twin=base64.b64encode(data.encode("utf-8")).decode("ascii"),
        provenance=provenance or Provenance(),
        version=tallystick.__version__,
    )
    return text.translate(_DIRECTION)


def picture_page(figure: Figure) -> str:
    """Return one picture as an HTML page of its own, light and dark."""
    return _template("picture.html").render(picture=picture(figure)).translate(_DIRECTION)


def write_page(
    path: str | Path,
    result: Result,
    *,
    provenance: Provenance | None = None,
) -> None:
    """Write the page of *result* to *path*, whole or not at all: an old report survives a full
    disk.
    """
    from tallystick.io import atomic

    content = page(result, provenance=provenance).encode("utf-8")
    with atomic(Path(path)) as stream:
        stream.write(content)


def _views(result: Result, whole: Composed | None) -> list[_View]:
    if whole is None:
        return [_view(result, name="answer", heading="", short="", most=MOST_PICTURES)]
    return [
        (
            _View(result=None, name=part.name, heading=part.heading, short=part.short)
            if part.result is None
            else _view(
                part.result,
                name=part.name,
                heading=part.heading,
                short=part.short,
                most=MOST_PICTURES_OF_A_PART,
            )
        )
        for part in whole.parts()
    ]


def _view(result: Result, *, name: str, heading: str, short: str, most: int) -> _View:
    return _View(
        result=result,
        name=name,
        heading=heading,
        short=short,
        pictures=tuple(map(picture, result.figures()[:most])),
        table=grid(result, most=MOST_TABLE_ROWS),
    )


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("tallystick.report", "templates")
    environment = Environment(
        autoescape=True,
        loader=loader,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
