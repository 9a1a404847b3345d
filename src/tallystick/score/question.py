"""What can be asked of systems that judges grade: scale, labels, population, precision, gates."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from tallystick.data import Data, Question, option
from tallystick.errors import FileError, InputError
from tallystick.values import Label

__all__ = ["DRAWS", "LabelDraw", "ScoreQuestion"]

LabelDraw: TypeAlias = Literal["random", "all", "unknown"]
"""How the outputs that people graded were chosen."""

DRAWS = ("random", "all", "unknown")


@dataclass(frozen=True, kw_only=True)
class ScoreQuestion(Question):
    """What is asked of systems.

    In Python *target_mix* is a mapping from slice to share; the command line names a file.
    """

    scale: tuple[float, float] | None = option(
        None,
        "Grades are numbers from LO to HI. By default they are read off the table if the judges"
        " use both ends.",
        metavar="LO,HI",
    )
    judge_scale: tuple[float, float] | None = option(
        None, "The judges' grades go from LO to HI, if not as the human ones.", metavar="LO,HI"
    )
    lower_is_better: bool = option(
        False, "Less is better, as of errors (guessed from names): grades are turned round."
    )
    higher_is_better: bool = option(
        False, "More is better, whatever the names of the columns suggest."
    )
    label_draw: str = option(
        "random",
        "How the outputs with human grades were chosen: at random, all of them, or unknown.",
        choices=DRAWS,
    )
    population: str | None = option(
        None,
        "Score these items, or new items like them. Default: these, and new where every output has"
        " a human grade.",
        choices=("these", "new"),
    )
    certified: bool = option(
        False, "Exact intervals instead of shorter approximate ones (see --anytime)."
    )
    anytime: bool = option(
        False, "With --certified: exact even if you look at the result and then go on labelling."
    )
    precision: float = option(
        0.03, "Forecast how many labels are needed to know each score to ± this.", within=(0.0, 0.5)
    )
    target_mix: Path | Mapping[Label, float] | None = option(
        None,
        "CSV file with the columns slice and share: reweight the answer to this mix of the --by"
        " column.",
    )
    goal: str = option(
        "mean",
        "For label: the score of each system, which of two is better, or the best of several.",
        choices=("mean", "difference", "best"),
        hidden=True,
    )
    gates: tuple[str, ...] = option(
        (),
        "Condition such as 'new >= old - 0.02' or 'score(new) > 0.8'; repeat for more.",
        flag="--gate",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.gates, str):
            object.__setattr__(self, "gates", (self.gates,))
        if self.lower_is_better and self.higher_is_better:
            raise InputError("lower_is_better and higher_is_better exclude each other: give one")
        if self.anytime and not self.certified:
            raise InputError("anytime makes certified intervals hold while you look: add certified")
        for name in ("scale", "judge_scale"):
            low, high = getattr(self, name) or (0.0, 1.0)
            if not (low < high and abs(low) < float("inf") and abs(high) < float("inf")):
                raise InputError(f"{name} must be LO,HI with LO < HI, got {low:g},{high:g}")

    def number_range(self, data: Data) -> tuple[str, tuple[float, float] | None] | None:
        """Return the scale of the grades."""
        return "--scale", self.scale

    def about(self, *, complete: bool) -> ScoreQuestion:
        """Return the question about these items, or about new ones if nothing is left to infer."""
        if self.population is not None:
            return self
        return replace(self, population="new" if complete else "these")

    def of_part(self, alpha: float) -> ScoreQuestion:
        """Return what is asked of one slice: it has no mix of slices."""
        return replace(self, alpha=alpha, target_mix=None)

    def settled(self, data: Data) -> tuple[ScoreQuestion, tuple[str, ...]]:
        """Return the question with the scales and the direction that the columns show.

        What the user names is left alone. Preferences have neither.
        """
        from tallystick.score.turned import (
            less_is_better,
            turned_note,
            unclear_measure,
            unclear_note,
        )
        from tallystick.score.usual_scale import scale_note, usual_scales
        from tallystick.score.word_grades import word_scale

        if len(data.roles.systems) == 2:
            return self, ()
        found, notes = self, []
        scales = None if self.scale or self.judge_scale else usual_scales(data)
        steps = None if self.scale else word_scale(data.rules.labels)
        if steps is not None:
            found = replace(found, scale=steps)
            notes.append(f"the {steps[1]:g} words of --labels are grades from 1 to {steps[1]:g}")
        elif scales is not None:
            human, judges = scales
            found = replace(found, scale=human, judge_scale=None if judges == human else judges)
            notes.append(scale_note(human, judges))
        if not self.higher_is_better and data.session is None:
            word = less_is_better(data)
            if word is not None or self.lower_is_better:
                found = replace(found, lower_is_better=True)
                notes.append(turned_note(None if self.lower_is_better else word))
            elif (measure := unclear_measure(data)) is not None:
                notes.append(unclear_note(measure))
        return found, tuple(notes)

    def mix(self) -> Mapping[str, float] | None:
        """Return the share of each slice, by the text of its label; None without a target mix.

        Shares are divided by their sum, so counts of requests do as well.
        """
        if self.target_mix is None:
            return None
        given = (
            {str(label): share for label, share in self.target_mix.items()}
            if isinstance(self.target_mix, Mapping)
            else _read_mix(self.target_mix)
        )
        total = sum(given.values())
        if (
            not given
            or not all(0 <= share < float("inf") for share in given.values())
            or total <= 0
        ):
            raise InputError(
                f"target_mix must give each slice a share of at least 0, not all 0, got {given}"
            )
        return {label: share / total for label, share in given.items()}


def _read_mix(path: Path) -> dict[str, float]:
    """Read ``slice,share`` lines; a first line without a number is a heading."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as stream:
            lines = [line for line in csv.reader(stream) if any(map(str.strip, line))]
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"--target-mix {path} cannot be read: {error}") from error
    found: dict[str, float] = {}
    for number, line in enumerate(lines, start=1):
        try:
            label, share = line
            value = float(share.strip().rstrip("%"))
        except ValueError:
            if number == 1 and len(line) == 2:
                continue
            raise FileError(
                f"--target-mix {path}, line {number}: write slice,share with a number, got"
                f" {','.join(line)!r}"
            ) from None
        if label.strip() in found:
            raise FileError(f"--target-mix {path}, line {number}: {label.strip()!r} stands twice")
        found[label.strip()] = value
    return found
