"""What can be asked of judges: the method, what is known beforehand, and the window of a stream."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import FileError, InputError
from tallystick.results import Result
from tallystick.table import Cases, Data, Demo, Found, Label, Question, Tally, gather, option
from tallystick.table.capability import MOST_ROWS
from tallystick.table.frames import draw_answers, draw_truth
from tallystick.verbs.judge.result import JudgeResult

GRADING = (
    "evaluate",
    "majority",
    "independent",
    "dawid-skene",
    "logical",
)
"""Methods that give every judge a number."""

METHODS = (*GRADING, "position-bias", "self-consistency")
"""All methods; the last two are diagnostics."""

_USES: Mapping[str, tuple[str, ...]] = {
    "prevalence": ("evaluate", "independent", "logical"),
    "known": ("evaluate", "independent", "dawid-skene"),
    "certified": ("evaluate",),
    "population": ("evaluate",),
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
        "How to grade the judges, or a diagnostic such as position-bias.",
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


# The items that judges got wrong; without labels, those on which they are most divided.


def cases_of(result: Result, data: Data, *, texts: bool = True) -> Cases | None:
    """Return labelled items that at least one judge got wrong, those most got wrong first."""
    if not isinstance(result, JudgeResult) or isinstance(data.held, Tally):
        return None
    judges, truth = data.roles.judges, data.roles.truth
    if len(judges) < 1 or data.n_rows > MOST_ROWS:
        return None
    labels = data.label_lists(*judges, *([truth] if truth else []))
    if truth is not None and any(label is not None for label in labels[truth]):
        return _wrong(data, labels, judges, truth, texts=texts)
    return _divided(data, labels, judges, texts=texts) if len(judges) > 1 else None


def _votes(labels: Mapping[str, Sequence[Any]], names: Sequence[str], row: int) -> Any:
    return tuple((name, str(labels[name][row])) for name in names if labels[name][row] is not None)


def _wrong(
    data: Data,
    labels: Mapping[str, Sequence[Any]],
    judges: Sequence[str],
    truth: str,
    *,
    texts: bool,
) -> Cases:
    found, labelled = [], 0
    for row, true in enumerate(labels[truth]):
        if true is None:
            continue
        labelled += 1
        cast = [name for name in judges if labels[name][row] is not None]
        wrong = [name for name in cast if labels[name][row] != true]
        if not wrong:
            continue
        most = 2 * len(wrong) > len(cast)
        found.append(
            (
                -len(wrong),
                Found(
                    row=row,
                    kind="most judges wrong" if most else "some judges wrong",
                    summary=f"true {true} · {len(wrong)} of {len(cast)} judges wrong",
                    votes=(("true", str(true)), *_votes(labels, judges, row)),
                ),
            )
        )
    found.sort(key=lambda one: one[0])
    listed = [one for _, one in found]
    worst = sum(one.kind == "most judges wrong" for one in listed)
    line = (
        f"At least one judge is wrong on {len(listed):,} of {labelled:,} labelled items,"
        f" most judges on {worst:,}."
    )
    return gather(data, listed, title="Items", line=line, texts=texts)


def _divided(
    data: Data, labels: Mapping[str, Sequence[Any]], judges: Sequence[str], *, texts: bool
) -> Cases:
    found = []
    for row in range(len(labels[judges[0]])):
        counts = Counter(str(labels[name][row]) for name in judges if labels[name][row] is not None)
        if len(counts) < 2:
            continue
        (label, most), *_ = counts.most_common()
        total = counts.total()
        close = 3 * most <= 2 * total
        found.append(
            (
                most / total,
                Found(
                    row=row,
                    kind="nearly even" if close else "a few differ",
                    summary=f"{most} of {total} judges say {label}",
                    votes=_votes(labels, judges, row),
                ),
            )
        )
    found.sort(key=lambda one: one[0])
    line = f"The judges differ on {len(found):,} of {len(labels[judges[0]]):,} items."
    return gather(data, [one for _, one in found], title="Items", line=line, texts=texts)
