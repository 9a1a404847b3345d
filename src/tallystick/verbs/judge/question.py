"""What can be asked of judges: the method, what is known beforehand, and the window of a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import FileError, InputError
from tallystick.table import Demo, Label, Question, option
from tallystick.table.capability import draw_answers, draw_truth
from tallystick.table.panel import Panel

Ranges: TypeAlias = Mapping[Label, tuple[float, float]]
"""Known ranges of prevalence, label to (low, high)."""

Known: TypeAlias = Mapping[str, Mapping[Label, float]]
"""Judge to label to its known accuracy there."""

GRADING = ("evaluate", "majority", "independent", "dawid-skene", "logical")
"""Methods that give every judge a number."""

METHODS = (*GRADING, "position-bias", "self-consistency")
"""All methods; the last two are diagnostics."""

_USES: Mapping[str, tuple[str, ...]] = {
    "prevalence": ("evaluate", "independent", "logical"),
    "known": ("evaluate", "dawid-skene"),
    "population": ("evaluate",),
    "recorded": ("position-bias",),
    "window": GRADING,
    "follow": GRADING,
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
        "How to grade the judges, or a diagnostic such as position-bias.",
        choices=METHODS,
    )
    prevalence: tuple[str, ...] | Ranges = option(
        (),
        "Known range for the share of a label, e.g. fail=.05,.2; repeat for more.",
        metavar="L=LO,HI",
    )
    known: Path | Known | None = option(
        None, "JSON file with the accuracy of judges that you know: {judge: {label: accuracy}}."
    )
    population: str | None = option(
        None,
        "Speak of these items, or of new items like them. Default: these, and new once every vote"
        " is labelled.",
        choices=("these", "new"),
    )
    recorded: str | None = option(
        None,
        "For --method position-bias: whether votes name the answer or its position.",
        choices=("answer", "position"),
    )
    window: int | None = option(
        None, "Also evaluate every N items in order, and watch for changes.", low=1
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

    @property
    def labels_speak_for(self) -> str:
        """Most methods read the votes alone, so labels cannot mislead them."""
        return "all" if self.method == "evaluate" else "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, methods in _USES.items():
            if getattr(self, name) and self.method not in methods:
                raise InputError(
                    f"{name} has no effect with method {self.method}: it is for"
                    f" {', '.join(methods)}"
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
        raise no_range(text)
    return label, (low, high)


def no_range(given: str) -> InputError:
    """Refuse what is no range of a prevalence."""
    return InputError(f"prevalence must be LABEL=LOW,HIGH, a range within (0, 1), got {given!r}")


def _read_known(path: Path) -> Mapping[str, Mapping[str, float]]:
    try:
        body = json.loads(Path(path).read_text(encoding="utf-8"))
        return {
            name: {str(label): float(value) for label, value in parts.items()}
            for name, parts in body.items()
        }
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise FileError(
            f"--known {path}: write one JSON object {{judge: {{label: accuracy}}}} ({error})"
        ) from error


def check_ranges(prevalence: Ranges | None, panel: Panel) -> dict[int, tuple[float, float]]:
    """Return prevalence ranges by label code; refuse what is no range, no label, or impossible
    together.
    """
    found: dict[int, tuple[float, float]] = {}
    for label, (low, high) in (prevalence or {}).items():
        code = _code(label, panel.keys, "prevalence")
        if not 0 <= low <= high <= 1 or high == 0 or low == 1:
            raise no_range(f"{label}={low},{high}")
        found[code] = (float(low), float(high))
    every = [found.get(c, (0.0, 1.0)) for c in range(len(panel.classes))]
    if sum(low for low, _ in every) > 1 + 1e-12 or sum(high for _, high in every) < 1 - 1e-12:
        raise InputError(f"prevalence ranges {dict(prevalence or {})!r} cannot add up to 1")
    return found


def known_confusions(known: Known, panel: Panel) -> dict[int, np.typing.NDArray[np.float64]]:
    """Return what is known as matrices by judge: a wrong vote falls evenly on the other labels."""
    found = {}
    for judge, parts in known.items():
        j = _code(judge, panel.names, "known")
        given = {_code(label, panel.keys, "known"): value for label, value in parts.items()}
        right = np.array([given.get(c, np.nan) for c in range(panel.n_classes)])
        if not ((right >= 0) & (right <= 1)).all():
            raise InputError(
                f"known: give the accuracy of {judge!r} on every label of {list(panel.classes)},"
                f" from 0 to 1, got {dict(parts)!r}"
            )
        wrong = (1 - right) / (panel.n_classes - 1)
        found[j] = np.where(np.eye(panel.n_classes) > 0, right[:, None], wrong[:, None])
    return found


def _code(given: Any, names: tuple[str, ...], option: str) -> int:
    """Return the place of a name, which may be a label that is no text."""
    if str(given) not in names:
        raise InputError(
            f"{option} names {given!r}, which is not one of {', '.join(sorted(names)[:12])}"
        )
    return names.index(str(given))


# A table for the demonstration: five language models judge the answers of a chat bot.


_ACCURACY = {"gpt": 0.91, "claude": 0.9, "llama": 0.82, "gemini": 0.86, "mistral": 0.74}


def demo(rng: Rng) -> Demo:
    """Return votes of five judges on 3,000 answers, of which people checked 150."""
    draw = as_rng(rng)
    n = 3000
    truth = draw_truth(n, (0.7, 0.3), draw)
    names = np.array(["good", "bad"])
    gold = np.full(n, "", dtype=object)
    known = draw.choice(n, 150, replace=False)
    gold[known] = names[truth[known]]
    votes = {name: names[draw_answers(truth, a, 2, draw)] for name, a in _ACCURACY.items()}
    return Demo(
        story=(
            "Five language models judge 3,000 answers of a chat bot; people checked 150 of them."
            " How good are the judges?"
        ),
        table={"item": np.arange(n), "gold": gold, **votes},
        options={"truth": "gold"},
    )
