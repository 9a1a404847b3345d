"""What the options of ``tallystick judge`` ask of a tally of votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.cli.reading import rests_on
from tallystick.errors import InputError

if TYPE_CHECKING:
    from tallystick.judge import JudgeResult
    from tallystick.results import Result
    from tallystick.tally import Tally
    from tallystick.tally.labels import Label

__all__ = ["GRADING", "MethodChoice", "Question", "Recorded"]


class MethodChoice(StrEnum):
    """How judges are graded, or what else is asked of their votes."""

    evaluate = "evaluate"
    majority = "majority"
    independent = "independent"
    dawid_skene = "dawid-skene"
    agreement = "agreement"
    spectral = "spectral"
    logical = "logical"
    supervised = "supervised"
    independence = "independence"
    search = "search"
    position_bias = "position-bias"
    self_consistency = "self-consistency"


class Recorded(StrEnum):
    """What a vote on a pair of answers names."""

    answer = "answer"
    position = "position"


GRADING = tuple(MethodChoice)[:8]
"""Methods that give every judge a number."""

_USES: Mapping[str, tuple[MethodChoice, ...]] = {
    "--prevalence": (MethodChoice.evaluate, MethodChoice.independent, MethodChoice.logical),
    "--known": (MethodChoice.evaluate, MethodChoice.independent, MethodChoice.dawid_skene),
    "--certified": (MethodChoice.evaluate,),
    "--recorded": (MethodChoice.position_bias,),
    "--labels": (*GRADING[:7], MethodChoice.independence, MethodChoice.search),
}


class Question:
    """What the options ask of a tally of votes."""

    def __init__(
        self,
        truth: str | None,
        prevalence: tuple[str, ...],
        known: Path | None,
        method: MethodChoice,
        certified: bool,
        recorded: Recorded | None,
        labels: tuple[str, ...],
        alpha: float,
        seed: int,
    ) -> None:
        if not 0 < alpha < 1:
            raise InputError(f"--alpha must be in (0, 1), got {alpha!r}")
        if method is MethodChoice.supervised and truth is None:
            raise InputError("--method supervised needs --truth: name the column of true labels")
        given = {
            "--prevalence": prevalence,
            "--known": known,
            "--certified": certified,
            "--recorded": recorded,
            "--labels": labels,
        }
        for option, methods in _USES.items():
            if given[option] and method not in methods:
                able = ", ".join(one.value for one in methods)
                raise InputError(
                    f"{option} says nothing to --method {method.value}; it is for {able}"
                )
        if certified and truth is None:
            raise InputError(
                "--certified makes intervals from labels exact: give --truth, a column of true"
                " labels"
            )
        self.truth, self.method, self.alpha = truth, method, alpha
        self._certified, self._seed = certified, seed
        self._recorded = recorded or Recorded.answer
        self._labels = tuple(piece for option in labels for piece in option.split(",") if piece)
        self._prevalence = dict(_range(option) for option in prevalence)
        self._known = {} if known is None else _read_known(known)

    def grade(self, votes: Tally) -> JudgeResult:
        """Answer a question that gives every judge a number."""
        from tallystick.judge import JudgeResult

        found = self.ask(votes)
        if not isinstance(found, JudgeResult):
            raise InputError(
                f"--method {self.method.value} grades no judge: use one of {', '.join(GRADING)}"
            )
        return found

    def ask(self, votes: Tally, *, alpha: float | None = None) -> Result:
        """Answer from *votes*."""
        from tallystick import judge as methods
        from tallystick.tally import unordered

        level = self.alpha if alpha is None else alpha
        labels = _labels(votes, self._labels)
        prevalence = {
            _label(text, labels, "--prevalence"): ends for text, ends in self._prevalence.items()
        }
        known = {
            name: {_label(text, labels, "--known"): value for text, value in parts.items()}
            for name, parts in self._known.items()
        }
        columns = [name for name in votes.names if name != self.truth]
        chance: dict[str, Any] = {"alpha": level, "rng": self._seed}
        shared: dict[str, Any] = {"truth": self.truth}
        if self._labels:
            shared["labels"] = [labels[text] for text in self._labels]
        more: dict[MethodChoice, dict[str, Any]] = {
            MethodChoice.evaluate: {
                "prevalence": prevalence,
                "known": known,
                "certified": self._certified,
                **chance,
            },
            MethodChoice.majority: {"alpha": level},
            MethodChoice.agreement: {"alpha": level},
            MethodChoice.spectral: {"alpha": level},
            MethodChoice.independent: {"prevalence": prevalence, "known": known, "alpha": level},
            MethodChoice.dawid_skene: {"known": known, "alpha": level},
            MethodChoice.logical: {"prevalence": prevalence},
            MethodChoice.supervised: {"alpha": level},
            MethodChoice.independence: chance,
        }
        if self.method is MethodChoice.self_consistency:
            return methods.self_consistency(votes, repeats=columns, alpha=level)
        if self.method is MethodChoice.position_bias:
            if len(columns) != 2:
                raise InputError(
                    "--method position-bias compares two columns, one for each order, got"
                    f" {columns[:6]}: name them with --judges FIRST,SECOND"
                )
            first, second = columns
            return methods.position_bias(
                votes, first=first, second=second, recorded=self._recorded.value, alpha=level
            )
        function: Callable[..., Result] = getattr(methods, self.method.value.replace("-", "_"))
        found = function(votes, **shared, **more.get(self.method, {}))
        order = unordered(label for name in votes.names for label in votes.labels[name])
        return found if order is None or order in found.assumptions else rests_on(found, order)


def _range(option: str) -> tuple[str, tuple[float, float]]:
    label, equals, ends = option.rpartition("=")
    try:
        low, high = (float(end) for end in ends.split(","))
    except ValueError:
        equals = ""
    if not (label and equals):
        raise InputError(f"--prevalence wants LABEL=LOW,HIGH with two numbers, got {option!r}")
    return label, (low, high)


def _read_known(path: Path) -> Mapping[str, Mapping[str, float]]:
    import json

    from tallystick.errors import FileError

    try:
        body = json.loads(path.read_text(encoding="utf-8"))
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


def _labels(votes: Tally, more: tuple[str, ...]) -> dict[str, Label]:
    """Return every label by its text; *more* are labels that nobody voted for, whole numbers where
    all others are.
    """
    every = [label for column in votes.labels.values() for label in column if label is not None]
    found: dict[str, Label] = {str(label): label for label in every}
    numbers = all(isinstance(label, int) and not isinstance(label, bool) for label in every)
    for text in more:
        found.setdefault(text, int(text) if numbers and text.lstrip("-").isdecimal() else text)
    return found


def _label(text: str, labels: Mapping[str, Label], option: str) -> Label:
    if text not in labels:
        raise InputError(
            f"{option} names label {text!r}, which is not one of {sorted(labels)[:12]}"
        )
    return labels[text]
