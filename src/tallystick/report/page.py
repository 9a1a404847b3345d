"""One self-contained HTML page per result: no network, and everything from the data escaped.

The answer, one picture and the next step come first. The rest is folded, and each fold gives its
answer in one line. The one script sorts and filters tables; the page works without it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import tallystick
from tallystick.report.chart import Chart, chart
from tallystick.report.grid import MOST_ROWS, Grid, grid, html_table
from tallystick.report.svg import element, script, style
from tallystick.report.terminal import remarks, terms_in
from tallystick.results import (
    Figure,
    Result,
    ResultPart,
    Section,
    Sentences,
    harmless,
    shorten,
    to_json,
)

if TYPE_CHECKING:
    from jinja2 import Template

    from tallystick.table import Cases

_DIRECTION = {
    code: f"\\u{code:04x}"
    for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""Marks that turn the direction of all text after them: written out, as in the terminal."""

MOST_TABLE_ROWS = 300
MOST_PICTURES = 4
"""Charts in one fold."""
MOST_PAIRS = 3
"""Differences of pairs that stand below the scores; all of them are in a fold."""
LONG = 100
"""A longer answer is set in smaller type."""


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How to make a page again.

    Parameters
    ----------
    command
        The command that made it.
    digests
        The fingerprint of each input, by path.
    """

    command: str = ""
    digests: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Fold:
    """One section, drawn."""

    title: str
    line: str
    pictures: tuple[Chart, ...]
    table: Grid
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _View:
    """What the template shows of one result."""

    result: Result | None
    name: str = "answer"
    heading: str = ""
    short: str = ""
    opening: Sentences | None = None
    pictures: tuple[Chart, ...] = ()
    folds: tuple[_Fold, ...] = ()


def page_of(
    result: Result, *, provenance: Provenance | None = None, cases: Cases | None = None
) -> str:
    """Return *result* as one HTML page of less than two megabytes.

    Parameters
    ----------
    result
        Any result; a composed one (an audit) has an answer per question on top, and then all of
        them, folded.
    provenance
        How to make it again.
    cases
        The items behind its claim, where the data was at hand.

    Examples
    --------
    >>> from tallystick.table import Tally, describe
    >>> text = page_of(describe(Tally.of({"<b>": ["x", "y"]})))
    >>> "<b>x" in text
    False
    """
    data = twin(result)
    views = [_of_part(part) for part in result.result_parts()]
    text = _template("page.html").render(
        result=result,
        whole=bool(views),
        remarks=remarks(result),
        folds=tuple(map(_fold, result.folds())) if views else (),
        views=views or [_view(result)],
        cases=cases,
        terms=terms_in(_all_text(views or [_view(result)])),
        twin=base64.b64encode(data.encode("utf-8")).decode("ascii"),
        provenance=provenance or Provenance(),
        version=tallystick.__version__,
        long=LONG,
        **_code(),
    )
    return text.translate(_DIRECTION)


def notebook(result: Result) -> str:
    """Return *result* for a notebook."""
    opening, figures = result.opening, result.figures()
    said = [one for one in (opening.contrast, opening.open, opening.next) if one]
    drawn = chart(figures[0]).svg() if figures else ""
    table = grid(result.rows(), result.units(), most=MOST_ROWS)
    if table.total > len(table.rows):
        said.append(f"The first {len(table.rows)} of {table.total:,} rows are shown.")
    return "".join(
        [
            *(element("p", element("small", line)) for line in result.read_line()),
            element("p", element("strong", harmless(opening.answer))),
            *(element("p", harmless(one)) for one in (*said, *result.warnings)),
            drawn,
            html_table(table) if table.rows else "",
            element("p", element("small", result.basis or result.rests_on())),
        ]
    )


def write_page(
    path: str | Path,
    result: Result,
    *,
    provenance: Provenance | None = None,
    cases: Cases | None = None,
) -> None:
    """Write the page of *result* to *path*, whole or not at all: an old report survives a full
    disk.
    """
    from tallystick.table import atomic

    content = page_of(result, provenance=provenance, cases=cases).encode("utf-8")
    with atomic(Path(path)) as stream:
        stream.write(content)


def _of_part(part: ResultPart) -> _View:
    if part.result is None:
        return _View(result=None, name=part.name, heading=part.heading, short=part.short)
    return _view(part.result, name=part.name, heading=part.heading, short=part.short)


def _view(result: Result, *, name: str = "answer", heading: str = "", short: str = "") -> _View:
    first, *others = result.figures() or (None,)
    # The verdict rests on differences, so those of the leader stand below the scores.
    apart = [one for one in others if one is not None and _is_of_pairs(one)][:1]
    shown = [
        one
        for one in (first, *(one.rows(range(min(MOST_PAIRS, one.size))) for one in apart))
        if one
    ]
    return _View(
        result=result,
        name=name,
        heading=heading,
        short=short,
        opening=result.opening,
        pictures=tuple(map(chart, shown)),
        folds=tuple(map(_fold, result.folds())),
    )


def _is_of_pairs(figure: Figure) -> bool:
    return figure.kind == "forest" and figure.unit == "points"


def _fold(section: Section) -> _Fold:
    return _Fold(
        title=section.title,
        line=section.line,
        pictures=tuple(map(chart, section.figures[:MOST_PICTURES])),
        table=grid(section.rows, section.units, most=MOST_TABLE_ROWS),
        notes=section.notes,
    )


def _all_text(views: list[_View]) -> str:
    """Return the words of the page in which terms are looked for."""
    found: list[str] = []
    for view in views:
        if view.result is not None:
            found += [view.result.verdict, view.result.basis, *view.result.assumptions]
        for fold in view.folds:
            found += [fold.title, fold.line, fold.table.promise, *fold.table.names, *fold.notes]
    return " ".join(found)


def _code() -> dict[str, str]:
    """Return the style sheet and the script."""
    return {
        "style": style(),
        "script": script(),
        "style_hash": _hash(style()),
        "script_hash": _hash(script()),
    }


@cache
def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("tallystick.report", "templates")
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Drawings and our own style and script are markup already; nothing else is.
    made.filters["drawn"] = Markup
    made.filters["plain"] = _sentence
    made.filters["short"] = shorten
    return made.get_template(name)


def _sentence(text: str) -> str:
    """Return a sentence in which no name steers what follows and no interval breaks.

    >>> _sentence("86% [84.9, 87.6] (95% interval)").count("\u00a0")
    2
    """
    kept = re.sub(r"\[([^\s,\[\]]+), ([^\s,\[\]]+)\]", "[\\1,\u00a0\\2]", harmless(text))
    return kept.replace("% interval", "%\u00a0interval")


# The JSON twin that a page carries: all of the result, or nothing if it would make the page too
# long.


MOST_JSON = 700_000
"""Bytes of JSON that a page carries; a longer one is asked for by ``--json``."""


def twin(result: Result) -> str:
    """Return *result* as JSON, or nothing if that is longer than `MOST_JSON`."""
    text = to_json(result.to_dict())
    return text if len(text.encode("utf-8")) <= MOST_JSON else ""
