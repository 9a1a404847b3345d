"""A design as one small readable file.

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

Each step does one of ``train``, ``collect``, ``mix`` and ``vote``; ``weights`` are equal where they
are left out.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from tallystick.dynamic.design import Design
from tallystick.errors import FileError, InputError

__all__ = ["design_text", "load_design", "parse_design"]


def load_design(file: str | Path) -> Design:
    """Read a design from a TOML file."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot read the design {str(file)!r}: {error}") from error
    return parse_design(text, source=str(file))


def parse_design(text: str, *, source: str = "design") -> Design:
    r"""Read a design from the text of such a file; *source* is what errors call it.

    >>> parse_design(design_text(parse_design('name = "one"\noutput = "h"\n[steps.h]\ntrain = "initial"'))).trained
    ('h',)
    >>> parse_design('name = "none"\noutput = "h"\n[steps.h]\ntrian = "initial"')
    Traceback (most recent call last):
    tallystick.errors.InputError: design: steps.h.trian: Extra inputs are not permitted
    """
    # pydantic is not wanted where neural networks train
    from tallystick.dynamic.design_entry import design_of

    try:
        return design_of(tomllib.loads(text), source=source)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source} is not TOML: {error}") from error


def design_text(design: Design) -> str:
    """Return the TOML text of a design, to be saved and edited."""
    lines = [f"name = {_quoted(design.name)}", f"output = {_quoted(design.output)}"]
    for name, step in design.steps.items():
        inputs = ", ".join(_quoted(source) for source in step.inputs)
        lines += ["", f"[steps.{_quoted(name)}]"]
        lines += [
            f"{step.operation} = {f'[{inputs}]' if step.operation in ('mix', 'vote') else inputs}"
        ]
        if step.weights is not None:
            lines += [f"weights = [{', '.join(repr(float(weight)) for weight in step.weights)}]"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if not escaped.isprintable():
        raise InputError(f"names in a design file are printable text, got {text!r}")
    return f'"{escaped}"'
