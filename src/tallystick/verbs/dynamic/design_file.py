"""A design written down: as a small readable file, and as a picture (Figures 1 and 2 of [SAH23]_).

::

    name = "two rounds, the first one counted twice"
    output = "best"

    [steps.h1]
    train = "initial"

    [steps.e1]
    collect = "h1"

    [steps.D2]
    mix = ["initial", "e1"]
    weights = [0.7, 0.3]

    [steps.h2]
    train = "D2"

    [steps.best]
    vote = ["h1", "h2"]
    weights = [2, 1]

Each step does one of ``train``, ``collect``, ``mix`` and ``vote``. Weights that are left out are
equal.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from tallystick.errors import FileError, InputError
from tallystick.papers.dynamic_benchmarks.designs import INITIAL, Design, Operation, Step

_OPERATIONS: tuple[Operation, ...] = ("train", "collect", "mix", "vote")
_SIGN = {"train": "A", "collect": "H", "mix": "⊕", "vote": "M"}
_FILL = {
    "train": "#dbe9f6",
    "collect": "#fde0d2",
    "mix": "#ffffff",
    "vote": "#d9f0d3",
    "start": "#eeeeee",
}
_STEP_X, _STEP_Y, _RADIUS, _MARGIN = 84, 64, 17, 44


def load_design(file: str | Path) -> Design:
    """Read a design from a TOML file."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot read the design {str(file)!r}: {error}") from error
    return parse_design(text, source=str(file))


def parse_design(text: str, *, source: str = "design") -> Design:
    r"""Read a design from the text of such a file; *source* is what errors call it.

    >>> parse_design('name = "one"\noutput = "h"\n[steps.h]\ntrain = "initial"').trained
    ('h',)
    >>> parse_design('name = "none"\noutput = "h"\n[steps.h]\ntrian = "initial"')
    Traceback (most recent call last):
    tallystick.errors.InputError: design: steps.h.trian is not known: a step holds train, collect, ...
    """
    try:
        entries = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source} is not TOML: {error}") from error
    _refuse_others(entries, ("name", "output", "steps"), f"{source}: ", "a design")
    for name, kind in (("name", str), ("output", str), ("steps", dict)):
        if not isinstance(entries.get(name), kind):
            wanted = "a table of steps" if kind is dict else "a text"
            raise InputError(f"{source}: {name} must be {wanted}, got {entries.get(name)!r}")
    steps = {
        name: _step(entry, f"{source}: steps.{name}") for name, entry in entries["steps"].items()
    }
    return Design(entries["name"], steps, output=entries["output"])


def _refuse_others(
    entries: Mapping[str, Any], known: tuple[str, ...], where: str, what: str
) -> None:
    for name in entries:
        if name not in known:
            raise InputError(f"{where}{name} is not known: {what} holds {', '.join(known)}")


def _step(entry: Any, where: str) -> Step:
    """Return one step of a file; an error names its place, *where*."""
    if not isinstance(entry, dict):
        raise InputError(f"{where} must be a table, got {entry!r}")
    _refuse_others(entry, (*_OPERATIONS, "weights"), f"{where}.", "a step")
    given = [name for name in _OPERATIONS if name in entry]
    if len(given) != 1:
        wanted = ", ".join(_OPERATIONS)
        raise InputError(f"{where}: a step does exactly one of {wanted}, got {given or 'none'}")

    operation, weights = given[0], entry.get("weights")
    single = operation in ("train", "collect")
    if single and weights is not None:
        raise InputError(f"{where}: {operation} has no weights: only mix and vote do")
    inputs = [entry[operation]] if single else entry[operation]
    if not isinstance(inputs, list) or not all(isinstance(one, str) for one in inputs):
        wanted = "one name" if single else "a list of names"
        raise InputError(f"{where}.{operation} must be {wanted}, got {entry[operation]!r}")
    if weights is None:
        return Step(operation, tuple(inputs))
    if not isinstance(weights, list) or any(type(one) not in (int, float) for one in weights):
        raise InputError(f"{where}.weights must be a list of numbers, got {weights!r}")
    return Step(operation, tuple(inputs), tuple(float(one) for one in weights))


def draw_design(design: Design) -> str:
    """Return the graph of *design* as one SVG image.

    Time runs to the right, one column per depth of operations. Models stand below the data that
    they are trained on, and votes below the models. A is model building, H data collection, ⊕
    mixing and M a majority vote, as in the paper.

    >>> from tallystick.papers.dynamic_benchmarks.designs import path
    >>> image = draw_design(path(3))
    >>> image.count("<circle"), image.count("⊕")
    (9, 2)
    """
    column, row = _places(design)
    at = {
        name: (_MARGIN + _STEP_X * column[name], _MARGIN + _STEP_Y * row[name])
        for name in (INITIAL, *design.order)
    }
    parts = []
    for name in design.order:
        for source in design.steps[name].inputs:
            (x1, y1), (x2, y2) = at[source], at[name]
            length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
            dx, dy = (x2 - x1) / length * _RADIUS, (y2 - y1) / length * _RADIUS
            # Long edges bow upwards, so that they do not run through the nodes between.
            bend = -0.16 * length if y1 == y2 and abs(x2 - x1) > _STEP_X else 0.0
            parts.append(
                f'<path d="M{x1 + dx:.1f},{y1 + dy:.1f}'
                f' Q{(x1 + x2) / 2:.1f},{(y1 + y2) / 2 + bend:.1f} {x2 - dx:.1f},{y2 - dy:.1f}"'
                ' fill="none" stroke="#888" marker-end="url(#tip)"/>'
            )
    for name, (x, y) in at.items():
        operation = "start" if name == INITIAL else design.steps[name].operation
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" fill="{_FILL[operation]}" stroke="#444"/>'
            f'<text x="{x}" y="{y + 5}" text-anchor="middle">{_SIGN.get(operation, "D₀")}</text>'
            f'<text x="{x}" y="{y + _RADIUS + 13}" text-anchor="middle" font-size="11" fill="#555">'
            f"{escape(name)}</text>"
        )
    width = 2 * _MARGIN + _STEP_X * max(column.values())
    height = 2 * _MARGIN + _STEP_Y * max(row.values())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" font-family="sans-serif" font-size="14"'
        f' role="img"><title>{escape(design.name)}</title><defs><marker id="tip" viewBox="0 0 8 8"'
        ' refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8'
        ' z" fill="#888"/></marker></defs>' + "".join(parts) + "</svg>"
    )


def _places(design: Design) -> tuple[dict[str, int], dict[str, int]]:
    """Column: longest way from the start. Row: data on top, trained models next, a vote below its
    lowest voter.
    """
    column, row = {INITIAL: 0}, {INITIAL: 0}
    for name in design.order:
        step = design.steps[name]
        column[name] = 1 + max(column[source] for source in step.inputs)
        row[name] = {"mix": 0, "collect": 1, "train": 1}.get(step.operation, 0)
        if step.operation == "vote":
            row[name] = 1 + max(row[source] for source in step.inputs)
    return column, row
