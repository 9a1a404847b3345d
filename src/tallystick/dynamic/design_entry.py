"""What a design file may hold, and the design that it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from tallystick.dynamic.design import Design, Operation, Step
from tallystick.errors import InputError

__all__ = ["design_of"]

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
            raise ValueError(
                f"a step does exactly one of {', '.join(_OPERATIONS)}, got {given or 'none'}"
            )
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


def design_of(entries: Mapping[str, Any], *, source: str) -> Design:
    """Return the design of these entries; what is wrong with them is said by *source* and place."""
    try:
        entry = _DesignEntry.model_validate(entries)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"{source}: {place}: {first['msg'].removeprefix('Value error, ')}"
        ) from error
    return Design(
        entry.name, {name: step.step() for name, step in entry.steps.items()}, output=entry.output
    )
