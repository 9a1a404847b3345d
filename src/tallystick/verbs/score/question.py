"""What can be asked of systems that judges grade: scale, labels, population, gates."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import FileError, InputError
from tallystick.table import Data, Demo, Label, Question, option
from tallystick.table.grades import (
    less_is_better,
    scale_note,
    turned_note,
    usual_scales,
    word_worth,
)

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
    lower_is_better: bool | None = option(
        None,
        "Whether less or more is better (guessed from names): of errors, grades are turned round.",
        flag="--lower-is-better/--higher-is-better",
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
    certified: bool = option(False, "Exact intervals instead of shorter approximate ones.")
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
    judge_scale: tuple[float, float] | None = None
    """The judges' own scale, as `settled` reads it off the table."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.gates, str):
            object.__setattr__(self, "gates", (self.gates,))
        low, high = self.scale or (0.0, 1.0)
        if not (low < high and abs(low) < float("inf") and abs(high) < float("inf")):
            raise InputError(f"scale must be LO,HI with LO < HI, got {low:g},{high:g}")

    @property
    def labels_speak_for(self) -> str:
        """Under a target mix every slice speaks for itself, however many labels it has."""
        return "all" if self.target_mix is None else "none"

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
        if len(data.roles.systems) == 2:
            return self, ()
        found, notes = self, []
        words = word_worth(data.rules.labels)
        scales = None if self.scale else usual_scales(data)
        if len(words) > 2 and not self.scale:  # two are fail and pass
            found = replace(found, scale=(1.0, float(len(words))))
            notes.append(f"the {len(words)} words of --labels are grades from 1 to {len(words)}")
        elif scales is not None:
            human, judges = scales
            found = replace(found, scale=human, judge_scale=None if judges == human else judges)
            notes.append(scale_note(human, judges))
        if self.lower_is_better is not False and data.session is None:
            word = None if self.lower_is_better else less_is_better(data)
            if word is not None or self.lower_is_better:
                found = replace(found, lower_is_better=True)
                notes.append(turned_note(word))
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
            label, share = (cell.strip() for cell in line)
            value = float(share.rstrip("%"))
        except ValueError:
            if number == 1 and len(line) == 2:
                continue
            label = ""
        if not label or label in found:
            raise FileError(
                f"--target-mix {path}, line {number}: write slice,share with a number, each slice"
                f" once, got {','.join(line)!r}"
            )
        found[label] = value
    return found


# A table for the demonstration: three systems, three judges who like the wrong one, 60 grades.


QUESTIONS = 667
GRADED = 20
"""Questions on which people graded all three systems."""

PASSES = {"system-a": 0.50, "system-b": 0.88, "system-c": 0.66}
"""How many outputs are good."""

JUDGES = {
    "gpt": {"system-a": (0.97, 0.90), "system-b": (0.90, 0.20), "system-c": (0.88, 0.25)},
    "claude": {"system-a": (0.97, 0.80), "system-b": (0.93, 0.15), "system-c": (0.92, 0.20)},
    "llama": {"system-a": (0.95, 0.85), "system-b": (0.88, 0.35), "system-c": (0.85, 0.35)},
}
"""How often each judge passes good outputs and bad ones: all three fall for system-a."""


def demo(rng: Rng) -> Demo:
    """Return 2,001 outputs of three systems, of which people graded 60."""
    return judged_outputs(rng)[0]


def judged_outputs(rng: Rng) -> tuple[Demo, list[str]]:
    """Return the same with what a person would say about every output, which the table hides."""
    from scipy.special import ndtri

    draw = as_rng(rng)
    truth: list[str] = []
    names = np.array(["fail", "pass"])
    columns: dict[str, list[object]] = {
        name: [] for name in ("question", "system", "topic", *JUDGES, "human")
    }
    topics = draw.choice(["billing", "delivery", "returns"], QUESTIONS, p=[0.5, 0.3, 0.2])
    hard = draw.standard_normal(QUESTIONS)
    graded = set(draw.choice(QUESTIONS, GRADED, replace=False).tolist())
    for question in range(QUESTIONS):
        for system, rate in PASSES.items():
            # Part of the luck is the question's own, so systems fail on the same questions.
            luck = 0.4 * hard[question] + 0.917 * draw.standard_normal()
            good = bool(luck < ndtri(rate))
            columns["question"].append(f"q{question:03d}")
            columns["system"].append(system)
            columns["topic"].append(str(topics[question]))
            for judge, rates in JUDGES.items():
                passed = draw.random() < rates[system][0 if good else 1]
                columns[judge].append(str(names[int(passed)]))
            truth.append(str(names[int(good)]))
            columns["human"].append(truth[-1] if question in graded else "")
    shown = Demo(
        story=(
            "Three language models grade every answer of three support bots; people graded 60"
            " answers. Which bot is best, and how good is it really?"
        ),
        table=columns,
        options={
            "item": "question",
            "system": "system",
            "judges": tuple(JUDGES),
            "truth": "human",
        },
    )
    return shown, truth
