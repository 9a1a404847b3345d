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

Each step does one of ``train``, ``collect``, ``mix`` and ``vote``; ``weights`` are equal where they are left out.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from tallystick.dynamic.design import Design, Operation, Step
from tallystick.errors import FileError, InputError

__all__ = ["design_text", "load_design", "parse_design"]

_OPERATIONS: tuple[Operation, ...] = ("train", "collect", "mix", "vote")


class _StepEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    train: str | None = None
    collect: str | None = None
    mix: list[str] | None = None
    vote: list[str] | None = None
    weights: list[float] | None = None

    @model_validator(mode="after")
    def _one_operation(self) -> _StepEntry:
        given = [name for name in _OPERATIONS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"a step does exactly one of {', '.join(_OPERATIONS)}, got {given or 'none'}")
        if self.weights is not None and given[0] in ("train", "collect"):
            raise ValueError(f"{given[0]} has no weights: only mix and vote do")
        return self

    def step(self) -> Step:
        operation = next(name for name in _OPERATIONS if getattr(self, name) is not None)
        inputs = getattr(self, operation)
        weights = None if self.weights is None else tuple(self.weights)
        return Step(operation, (inputs,) if isinstance(inputs, str) else tuple(inputs), weights)


class _DesignEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    output: str
    steps: dict[str, _StepEntry]


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
    try:
        entry = _DesignEntry.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source} is not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{source}: {place}: {first['msg'].removeprefix('Value error, ')}") from error
    return Design(entry.name, {name: step.step() for name, step in entry.steps.items()}, output=entry.output)


def design_text(design: Design) -> str:
    """Return the TOML text of a design, to be saved and edited."""
    lines = [f"name = {_quoted(design.name)}", f"output = {_quoted(design.output)}"]
    for name, step in design.steps.items():
        inputs = ", ".join(_quoted(source) for source in step.inputs)
        lines += ["", f"[steps.{_quoted(name)}]"]
        lines += [f"{step.operation} = {f'[{inputs}]' if step.operation in ('mix', 'vote') else inputs}"]
        if step.weights is not None:
            lines += [f"weights = [{', '.join(repr(float(weight)) for weight in step.weights)}]"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if not escaped.isprintable():
        raise InputError(f"names in a design file are printable text, got {text!r}")
    return f'"{escaped}"'
