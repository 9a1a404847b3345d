"""What can be asked of models: metric, direction, population, bounds, gates and stopping."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.results.numbers import number, points
from tallystick.stats.intervals import Bounds
from tallystick.stats.replicates import PassKind
from tallystick.table import Demo, Question, option
from tallystick.table.capability import draw_answers, draw_truth
from tallystick.table.reading_names import lower_word

# What `compare` and `plan` both take.
METRIC_HELP = "The score, if the files or logs have several; also pass@5 of repeated runs."
BOUNDS_HELP = "Lowest and highest possible score (not needed for scores of 0 and 1)."
POWER_HELP = "Probability of showing a difference that is real."


@dataclass(frozen=True, kw_only=True)
class CompareQuestion(Question):
    """What is asked of models that answered or were scored on the same items."""

    metric: str | None = option(None, METRIC_HELP)
    lower_is_better: bool | None = option(
        None,
        "Whether a lower or a higher score is better (by names such as latency and loss).",
        flag="--lower-is-better/--higher-is-better",
    )
    population: str | None = option(
        None,
        "The answer is for these items, or for new ones like them (default: these while true labels"
        " are missing, new otherwise; new clusters with --cluster).",
        choices=("these", "new"),
    )
    bounds: tuple[float, float] | None = option(None, BOUNDS_HELP)
    certified: bool = option(
        False,
        "Use exact intervals and McNemar's exact test for scores of 0 and 1, which are wider.",
    )
    power: float = option(0.8, POWER_HELP, within=(0.0, 1.0), hidden=True)
    draws: int = option(10_000, "Normal draws of max-T.", low=1, hidden=True)
    gates: tuple[str, ...] = option(
        (),
        "Condition such as 'new >= old - 0.01'; exit code 0 if it holds, 10 if it fails, 11 if"
        " undecided; repeat for more.",
        flag="--gate",
    )
    stop_early: bool = option(
        False, "Take the items in random order and stop as soon as the answer is clear."
    )
    scored_as: str | None = field(default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        split_metric(self.metric)
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise InputError(f"bounds must be two numbers, the lower first, got {self.bounds!r}")

    def reading(self) -> dict[str, Any]:
        """Return the score to read: what pass@k is made of, where that is asked for."""
        base = split_metric(self.metric)[1]
        return {} if base is None else {"metric": base}

    def direction(self, metric: str | None) -> tuple[Better, str]:
        """Return which way is better, and a note where that was guessed from the name."""
        if self.lower_is_better is not None:
            return ("lower" if self.lower_is_better else "higher"), ""
        if lower_word(metric) is None:
            return "higher", ""
        return "lower", (
            f"lower is better, by the name {metric!r}; add --higher-is-better if it is not so"
        )

    @property
    def better(self) -> Better:
        """Which way is better."""
        return self.direction(self.scored_as)[0]

    @property
    def sign(self) -> float:
        """1 where a higher score is better, -1 where a lower one is."""
        return 1.0 if self.better == "higher" else -1.0

    @property
    def passes(self) -> PassMetric | None:
        """pass@k or pass^k of several runs per item; None for their mean."""
        return split_metric(self.metric)[0]

    @property
    def measure(self) -> str | None:
        """What the scores are called, for the reader."""
        return str(self.passes) if self.passes else self.scored_as

    @property
    def labels_speak_for(self) -> str:
        """A difference needs labels where models disagree, and no others."""
        return "disagreements"


# What a score is called, and pass@k of several runs per item; `data.direction` says which way is
# better.


Better: TypeAlias = Literal["higher", "lower"]

_PASS = re.compile(r"pass(?P<sign>[@^])(?P<k>\d+)(?::(?P<base>.+))?")


@dataclass(frozen=True)
class PassMetric:
    """pass@k (at least one of k runs is right) or pass^k (all k are).

    Parameters
    ----------
    kind
        ``pass@k`` or ``pass^k``.
    k
        Attempts.
    """

    kind: PassKind
    k: int

    def __str__(self) -> str:
        return self.kind.replace("k", str(self.k))


def split_metric(metric: str | None) -> tuple[PassMetric | None, str | None]:
    """Split ``pass@5:match`` into pass@5 and the score that it is made of.

    Examples
    --------
    >>> split_metric("pass@5:match")
    (PassMetric(kind='pass@k', k=5), 'match')
    >>> split_metric("pass^2"), split_metric("exact_match")
    ((PassMetric(kind='pass^k', k=2), None), (None, 'exact_match'))
    """
    if metric is None:
        return None, None
    found = _PASS.fullmatch(metric.strip())
    if found is None:
        return None, metric
    k = int(found["k"])
    if k < 1:
        raise InputError(f"metric {metric!r} asks for {k} runs: k must be at least 1")
    return PassMetric("pass@k" if found["sign"] == "@" else "pass^k", k), found["base"]


# A table for the demonstration: four models route support tickets, and two of them are close.


_TICKETS = ("billing", "bug", "login", "refund")
_ACCURACY = {"large": 0.86, "distilled": 0.85, "medium": 0.8, "small": 0.7}


def demo(rng: Rng) -> Demo:
    """Return the answers of four models to 1,200 tickets, with the truth."""
    draw = as_rng(rng)
    n = 1200
    truth, hard = draw_truth(n, (0.4, 0.3, 0.2, 0.1), draw), draw.standard_normal(n)
    names = np.array(_TICKETS)
    answers = {
        name: names[draw_answers(truth, accuracy, 4, draw, hard=hard, shared=0.6)]
        for name, accuracy in _ACCURACY.items()
    }
    return Demo(
        story="Four models route 1,200 support tickets. Which is better?",
        table={"item": np.arange(n), "truth": names[truth], **answers},
        options={"truth": "truth"},
    )


# Which range the scores of a board have: declared, known, or taken from what they look like.


Floats = npt.NDArray[np.float64]

LEAST_SHARE = 0.05
"""Scores of which none reaches this are taken for small numbers, not for shares."""


def are_shares(scores: Floats, question: CompareQuestion) -> bool:
    """Say whether undeclared scores are shares: they reach 0 or 1 and never leave that range.

    A measurement such as a latency in seconds is not one, whatever its values; nor are scores that
    stay below .05, which percentages would round away.
    """
    low, high = scores.min(), scores.max()
    if question.better == "lower" or low < 0 or high > 1:
        return False
    return bool((low == 0 and high >= LEAST_SHARE) or high == 1)


def score_range(
    scores: Floats, question: CompareQuestion, *, binary: bool = False
) -> Bounds | None:
    """Return the range that scores have: as declared, or from 0 to 1 for right and wrong and for
    shares; None if nothing says it.

    Parameters
    ----------
    scores
        Items x models; NaN is left out.
    question
        The declared bounds, and which way is better.
    binary
        Whether the scores are known to be means of right and wrong.
    """
    if question.bounds is not None:
        return question.bounds
    seen = scores[~np.isnan(scores)]
    known = binary or question.passes is not None or bool(np.isin(seen, (0.0, 1.0)).all())
    return (0.0, 1.0) if known or are_shares(seen, question) else None


Share: TypeAlias = Literal["share", "number"]


def unit_of(bounds: Bounds | None) -> Share:
    """Return how scores are written: as percentages, or as plain numbers."""
    return "share" if bounds == (0.0, 1.0) else "number"


def sized(value: float, unit: Share) -> str:
    """Write how large a difference is, without its sign."""
    return points(value, sign=False) if unit == "share" else number(value)
