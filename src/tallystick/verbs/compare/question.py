"""What can be asked of models: metric, direction, population, bounds, gates and stopping."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.sampling.label_accuracies import Floats as ConsensusFloats
from tallystick.sampling.label_accuracies import Ints, coded_votes
from tallystick.sampling.label_best import contest_of
from tallystick.sampling.label_differences import disagreement_strata
from tallystick.sampling.label_strata import LabelStrata, uniform_spread
from tallystick.sampling.label_task import LabelTask, Measure, votes_task_strata
from tallystick.stats.adverse_binary import Population
from tallystick.stats.exact_tails import open_unit, whole
from tallystick.stats.pairs import Bounds
from tallystick.stats.replicates import PassKind
from tallystick.table import Data, Demo, Question, option
from tallystick.table.frames import draw_answers, draw_truth
from tallystick.table.reading_names import lower_word
from tallystick.verbs.compare.board import Board


@dataclass(frozen=True, kw_only=True)
class CompareQuestion(Question):
    """What is asked of models that answered or were scored on the same items."""

    metric: str | None = option(
        None,
        "The score to compare, if the files or logs have several; also pass@5 of repeated runs.",
    )
    lower_is_better: bool = option(
        False, "A lower score is better (guessed from names such as latency, cost and loss)."
    )
    higher_is_better: bool = option(
        False, "A higher score is better, whatever the name of the metric suggests."
    )
    population: str | None = option(
        None,
        "The answer is for these items, or for new ones like them (default: these while true labels"
        " are missing, new otherwise; new clusters with --cluster).",
        choices=("these", "new"),
    )
    bounds: tuple[float, float] | None = option(
        None, "Lowest and highest possible score (not needed for scores of 0 and 1)."
    )
    certified: bool = option(
        False, "Use exact tests and intervals for scores of 0 and 1, which are somewhat wider."
    )
    power: float = option(
        0.8, "Power of the detectable difference.", within=(0.0, 1.0), hidden=True
    )
    draws: int = option(10_000, "Normal draws of max-T.", low=1, hidden=True)
    add: tuple[str, ...] = option(
        (), "Another file with models on the same items (needs --item); repeat for more."
    )
    gates: tuple[str, ...] = option(
        (),
        "Condition such as 'new >= old - 0.01'; exit code 0 if it holds, 10 if it fails, 11 if"
        " undecided; repeat for more.",
        flag="--gate",
    )
    stop_early: bool = option(
        False, "Take the items in random order and stop as soon as the answer is clear."
    )
    prices: tuple[float, float] | None = option(
        None,
        "What a new item and one more run of an item cost, to say which to buy.",
        metavar="ITEM,RUN",
    )
    scored_as: str | None = field(default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        split_metric(self.metric)
        if self.lower_is_better and self.higher_is_better:
            from tallystick.errors import InputError

            raise InputError("lower_is_better and higher_is_better exclude each other: give one")

    def reading(self) -> dict[str, Any]:
        """Return the score to read: what pass@k is made of, where that is asked for."""
        base = split_metric(self.metric)[1]
        return {} if base is None else {"metric": base}

    def number_range(self, data: Data) -> tuple[str, tuple[float, float] | None] | None:
        """Return the bounds of scores; beside a truth there are answers and no scores."""
        return None if data.roles.truth is not None else ("--bounds", self.bounds)

    def better(self, metric: str | None) -> tuple[Better, str]:
        """Return which way is better, and a note where that was guessed from the name."""
        if self.lower_is_better or self.higher_is_better:
            return ("lower" if self.lower_is_better else "higher"), ""
        if lower_word(metric) is None:
            return "higher", ""
        return "lower", (
            f"lower is better, by the name {metric!r}; add --higher-is-better if it is not so"
        )

    @property
    def labels_speak_for(self) -> str:
        """A difference needs labels where models disagree, and no others."""
        return "disagreements"

    @property
    def settings(self) -> Settings:
        """The settings of the mathematics."""
        passes, _ = split_metric(self.metric)
        return Settings(
            bounds=self.bounds,
            population=self.population,  # type: ignore[arg-type]  # one of the choices
            certified=self.certified,
            better=self.better(self.scored_as)[0],
            metric=self.scored_as,
            passes=passes,
            alpha=self.alpha,
            power=self.power,
            draws=self.draws,
        )


# What a comparison is asked for: level, bounds, population, direction.


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the caller asked for, once.

    Parameters
    ----------
    bounds
        Between what every score must lie. None: 0/1 scores are recognised, others are taken as
        unbounded.
    population
        ``these`` items, or ``new`` ones like them (new clusters, if there are any). None: these
        while true labels are missing, else new.
    certified
        Whether tests and intervals of 0/1 scores must be exact.
    better
        Whether a ``higher`` or a ``lower`` score is better.
    metric
        What the scores are called; None if nobody said.
    passes
        pass@k or pass^k of several runs per item; None for their mean.
    alpha, power
        One minus the level of intervals and the family-wise error; the power of the detectable
        difference.
    draws
        Normal draws of max-T.
    """

    bounds: Bounds | None = None
    population: Population | None = None
    certified: bool = False
    better: Better = "higher"
    metric: str | None = None
    passes: PassMetric | None = field(default=None)
    alpha: float = 0.05
    power: float = 0.8
    draws: int = 10_000

    def __post_init__(self) -> None:
        open_unit(alpha=self.alpha, power=self.power)
        whole(1, draws=self.draws)
        for name, value, kind in (
            ("population", self.population, Population),
            ("better", self.better, Better),
        ):
            words = get_args(kind)
            if value not in words and not (name == "population" and value is None):
                listed = " or ".join(map(repr, words))
                raise InputError(f"{name} must be {listed}, got {value!r}")
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise InputError(f"bounds must be two numbers, the lower first, got {self.bounds!r}")

    @property
    def sign(self) -> float:
        """1 where a higher score is better, -1 where a lower one is."""
        return 1.0 if self.better == "higher" else -1.0


# What a score is called, and pass@k of several runs per item; `data.direction` says which way is
# better.


Better: TypeAlias = Literal["higher", "lower"]

_PASS = re.compile(r"pass(?P<sign>[@^])(?P<k>\d+)(?::(?P<base>.+))?")
_RATINGS = frozenset(
    {"elo", "bradley-terry", "bradley_terry", "bt", "rating", "glicko", "trueskill"}
)


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

    A rating model is refused: it claims an order that the battles of a pair do not show.

    Examples
    --------
    >>> split_metric("pass@5:match")
    (PassMetric(kind='pass@k', k=5), 'match')
    >>> split_metric("pass^2"), split_metric("exact_match")
    ((PassMetric(kind='pass^k', k=2), None), (None, 'exact_match'))
    """
    if metric is None:
        return None, None
    if metric.strip().lower() in _RATINGS:
        raise InputError(
            f"metric {metric!r} is a rating model, which Tallystick does not fit: a rating assumes"
            " that strength is one number. Compare the battles pair by pair: leave out --metric"
        )
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


def are_shares(scores: Floats, settings: Settings) -> bool:
    """Say whether undeclared scores are shares: they reach 0 or 1 and never leave that range.

    A measurement such as a latency in seconds is not one, whatever its values; nor are scores that
    stay below .05, which percentages would round away.
    """
    low, high = scores.min(), scores.max()
    if settings.better == "lower" or low < 0 or high > 1:
        return False
    return bool((low == 0 and high >= LEAST_SHARE) or high == 1)


def score_range(scores: Floats, settings: Settings, *, binary: bool = False) -> Bounds | None:
    """Return the range that scores have: as declared, or from 0 to 1 for right and wrong and for
    shares; None if nothing says it.

    Parameters
    ----------
    scores
        Items x models; NaN is left out.
    settings
        The declared bounds, and which way is better.
    binary
        Whether the scores are known to be means of right and wrong.
    """
    if settings.bounds is not None:
        return settings.bounds
    seen = scores[~np.isnan(scores)]
    known = binary or settings.passes is not None or bool(np.isin(seen, (0.0, 1.0)).all())
    return (0.0, 1.0) if known or are_shares(seen, settings) else None


def unit_of(bounds: Bounds | None) -> Literal["share", "number"]:
    """Return how scores are written: as percentages, or as plain numbers."""
    return "share" if bounds == (0.0, 1.0) else "number"


def check_bounds(board: Board, bounds: Bounds | None) -> None:
    """Refuse a score outside the declared range, by its item."""
    if bounds is None:
        return
    outside = (board.scores < bounds[0]) | (board.scores > bounds[1])
    if outside.any():
        row, column = (int(i[0]) for i in np.nonzero(outside))
        item = f"item {board.items[row]!r}" if board.items is not None else f"row {row + 1}"
        raise InputError(
            f"{item}: the score {board.scores[row, column]:g} of {board.names[column]!r} is outside"
            f" the bounds [{bounds[0]:g}, {bounds[1]:g}]: widen the bounds or correct the score"
        )


def check_size(names: tuple[str, ...], n: int) -> None:
    """Refuse fewer than two models or two items."""
    if len(names) < 2:
        raise InputError(
            f"compare needs at least two models, got {list(names)}: name another column or file"
        )
    if n < 2:
        raise InputError(f"compare needs at least two items that all models answered, got {n}")


# What to label in order to compare models: only items on which they disagree.


def labelling(data: Data, question: CompareQuestion, strata: Ints | None = None) -> LabelTask:
    """Return the task: which of two models is better, or which of k is within epsilon of the best.

    Items on which all models agree say nothing of their difference and are never asked for.

    Examples
    --------
    >>> from tallystick.table import read
    >>> answers = {"old": ["a", "b", "a", "b"] * 20, "new": ["a", "b", "b", "a"] * 20}
    >>> task = labelling(read(answers, models=("old", "new")), CompareQuestion())
    >>> task.claim, task.strata.n_items
    ('classifiers', 40)
    """
    models = data.roles.models
    if len(models) < 2:
        raise InputError("compare needs at least two models: name their columns (--models)")
    votes = coded_votes(data, models)
    n, classes = votes.codes.shape[0], len(votes.classes)
    apart = (votes.codes != votes.codes[:, :1]).any(axis=1)
    if not apart.any():
        raise InputError(
            f"{data.source}: the models never disagree, so no label can tell them apart"
        )
    made, posterior = votes_task_strata(votes.codes, classes, None)
    rows = np.arange(n)[:, None]
    shared: dict[str, Any] = {"classes": votes.classes, "rows": rows, "columns": models}
    if len(models) > 2:
        of = made.of.astype(np.int64) if strata is None else np.asarray(strata, dtype=np.int64)
        contest = contest_of(votes.codes, of, guess=made.guess)
        return LabelTask(
            claim="best-of",
            strata=LabelStrata(of=of, side=made.side, guess=made.guess),
            measures=(),
            names=models,
            contest=contest,
            disagree=apart,
            **shared,
        )
    first, second = votes.codes.T
    if strata is None:
        parts, guess = disagreement_strata(first, second, posterior)
    else:
        parts, guess = _kept(np.asarray(strata, dtype=np.int64), first, second, posterior)
    share = int(apart.sum()) / n  # all disagreements, also those whose label is known already

    def value(units: Ints, answers: ConsensusFloats) -> ConsensusFloats:
        a, b = answers[:, 0] == first[units], answers[:, 0] == second[units]
        return np.asarray(0.5 + 0.5 * (a.astype(np.float64) - b), dtype=np.float64)

    lead = Measure(
        name=f"{models[0]} - {models[1]}",
        value=value,
        guess=guess,
        offset=-share,
        scale=2 * share,
    )
    return LabelTask(
        claim="classifiers",
        strata=parts,
        measures=(lead,),
        names=models,
        rule=uniform_spread,
        disagree=apart,
        **shared,
    )


def _kept(
    of: Ints, first: Ints, second: Ints, posterior: ConsensusFloats
) -> tuple[LabelStrata, ConsensusFloats]:
    """Return strata that a session keeps, and the guess in each of them from today's votes."""
    inside = of >= 0
    items = np.flatnonzero(inside)
    right = [
        np.where(codes[items] >= 0, posterior[items, np.maximum(codes[items], 0)], 0.0)
        for codes in (first, second)
    ]
    guess = right[0] + (1 - right[0] - right[1]) / 2
    sizes = np.bincount(of[items])
    mean = np.clip(np.bincount(of[items], weights=guess) / np.maximum(sizes, 1), 0.02, 0.98)
    rows = np.column_stack((1 - mean, mean))
    return LabelStrata(of=of, side=(mean > 0.5).astype(np.int64), guess=rows), mean
