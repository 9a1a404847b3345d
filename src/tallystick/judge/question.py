"""What can be asked of judges: the method, what is known beforehand, and the window of a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.data import Question, option
from tallystick.errors import FileError, InputError
from tallystick.values import Label

__all__ = ["GRADING", "METHODS", "JudgeQuestion"]

GRADING = (
    "evaluate",
    "majority",
    "independent",
    "dawid-skene",
    "agreement",
    "spectral",
    "logical",
    "supervised",
)
"""Methods that give every judge a number."""

METHODS = (*GRADING, "independence", "search", "position-bias", "self-consistency")
"""All methods; the last four are diagnostics."""

_USES: Mapping[str, tuple[str, ...]] = {
    "prevalence": ("evaluate", "independent", "logical"),
    "known": ("evaluate", "independent", "dawid-skene"),
    "certified": ("evaluate",),
    "recorded": ("position-bias",),
}
"""Which methods an option says something to."""


@dataclass(frozen=True, kw_only=True)
class JudgeQuestion(Question):
    """What is asked of judges.

    In Python *prevalence* is a mapping from label to (low, high), and *known* a mapping from judge
    to label to accuracy; the command line gives both as text.
    """

    method: str = option(
        "evaluate",
        "How to grade the judges, or a diagnostic such as independence.",
        choices=METHODS,
    )
    prevalence: tuple[str, ...] | Mapping[Label, tuple[float, float]] = option(
        (),
        "Known range for the share of a label, e.g. fail=.05,.2; repeat for more.",
        metavar="L=LO,HI",
    )
    known: Path | Mapping[str, Mapping[Label, float]] | None = option(
        None, "JSON file with the accuracy of judges that you know: {judge: {label: accuracy}}."
    )
    certified: bool = option(
        False, "Exact intervals from labels instead of shorter approximate ones."
    )
    recorded: str | None = option(
        None,
        "For --method position-bias: whether votes name the answer or its position.",
        choices=("answer", "position"),
    )
    window: int | None = option(
        None, "Also evaluate every N items in order, and watch for changes.", low=1
    )
    block: int = option(
        25,
        "Items per block of the change test; at least four times the length of bursts.",
        low=2,
    )
    state: Path | None = option(
        None,
        "File that keeps the state of the stream: continue from it, and update it after each"
        " window.",
        writes=True,
    )
    follow: bool = option(
        False, "Read standard input as it arrives, and print one JSON line per window."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, methods in _USES.items():
            if getattr(self, name) and self.method not in methods:
                raise InputError(
                    f"{name} has no effect with method {self.method}: it is for"
                    f" {', '.join(methods)}"
                )
        if self.method not in GRADING and (self.window is not None or self.follow):
            raise InputError(
                f"method {self.method} grades no judge, so it has no window and cannot follow a"
                " stream"
            )

        if self.state is not None and self.window is None:
            raise InputError("state keeps a stream of windows: add --window N")

    def ranges(self) -> dict[Any, tuple[float, float]]:
        """Return the known ranges of prevalence by label, as the caller wrote the label."""
        if isinstance(self.prevalence, Mapping):
            return {label: (low, high) for label, (low, high) in self.prevalence.items()}
        return dict(_range(text) for text in self.prevalence)

    def known_accuracies(self) -> Mapping[str, Mapping[Any, float]]:
        """Return judges of known quality, from the mapping or from the file."""
        if isinstance(self.known, Mapping):
            return self.known
        return {} if self.known is None else _read_known(self.known)


def _range(text: str) -> tuple[str, tuple[float, float]]:
    label, equals, ends = text.rpartition("=")
    try:
        low, high = (float(end) for end in ends.split(","))
    except ValueError:
        equals = ""
    if not (label and equals):
        raise InputError(f"prevalence must be LABEL=LOW,HIGH with two numbers, got {text!r}")
    return label, (low, high)


def _read_known(path: Path) -> Mapping[str, Mapping[str, float]]:
    try:
        body = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"--known {path}: {error.strerror}") from error
    except ValueError as error:
        raise FileError(
            f"--known {path} is not JSON ({error}): write {{judge: {{label: accuracy}}}}"
        ) from error
    good = isinstance(body, dict) and all(
        isinstance(parts, dict) and all(isinstance(value, int | float) for value in parts.values())
        for parts in body.values()
    )
    if not good:
        raise FileError(f"--known {path}: write one JSON object {{judge: {{label: accuracy}}}}")
    return {
        name: {str(label): float(value) for label, value in parts.items()}
        for name, parts in body.items()
    }
