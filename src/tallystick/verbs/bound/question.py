"""What can be asked of a classifier that was never tested on true labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.results import Result
from tallystick.table import (
    Cases,
    Data,
    Demo,
    Found,
    Label,
    Question,
    Tally,
    as_pass_fail,
    gather,
    option,
)
from tallystick.table.capability import MOST_ROWS
from tallystick.table.frames import draw_answers, draw_truth
from tallystick.table.reading_names import parts
from tallystick.table.words import as_word
from tallystick.verbs.bound.forward import IntArray
from tallystick.verbs.bound.label_model_checks import Fitting
from tallystick.verbs.bound.thresholds import edges_of
from tallystick.verbs.bound.weak_votes import BoundTarget

_THRESHOLDS = ",".join(f"{k / 20:g}" for k in range(1, 20))


@dataclass(frozen=True, kw_only=True)
class BoundQuestion(Question):
    """Which metrics, under which label models, and which claim is to be proved.

    In Python *thresholds* and *class_balance* also take sequences of numbers, *cost* a matrix, and
    *label_models* fitted `LabelModel` objects.
    """

    metrics: tuple[str, ...] = option(
        ("accuracy",),
        "accuracy, precision, recall, f1, macro-…, micro-f1 or risk; repeat for more.",
        flag="--metric",
    )
    positive: str | int | float | bool | None = option(
        None, "The class that precision, recall, F1 and AUC are about."
    )
    cost: Path | Any | None = option(
        None, "For risk: a table with a column 'prediction' and one per true class."
    )
    thresholds: str | Sequence[float] = option(
        _THRESHOLDS, "With --score: T,T,… in (0, 1).", metavar="T,T,..."
    )
    label_models: tuple[Any, ...] = option(
        (),
        "labels, majority, weighted-majority, dawid-skene, triplet, or a file of probabilities;"
        " repeat for more. Default: a family of seven.",
        flag="--label-model",
    )
    classes: tuple[str, ...] = option(
        (), "All classes that the truth can take; repeat, or use commas.", metavar="C,C,..."
    )
    class_balance: str | Sequence[float] | None = option(
        None, "Known shares of the classes, in their order: .7,.3."
    )
    fit: str | None = option(None, "Fit the label models on this file instead of the input.")
    abstentions_vote: bool = option(
        False, "Count an abstention as evidence about the class, as with keyword rules."
    )
    delta: float = option(
        0.0,
        "How far the label model's probabilities may be off on average, from 0 to 1.",
        low=0.0,
        high=1.0,
    )
    at_least: float | None = option(None, "A claim to prove: the first metric is at least this.")

    def __post_init__(self) -> None:
        for name in ("metrics", "label_models"):
            held = getattr(self, name)
            object.__setattr__(self, name, (held,) if isinstance(held, str) else tuple(held))
        given = (self.classes,) if isinstance(self.classes, str) else tuple(self.classes)
        split = [x.split(",") if isinstance(x, str) else [x] for x in given]
        object.__setattr__(self, "classes", tuple(x for part in split for x in part))
        super().__post_init__()
        self.target(None)  # refuses what cannot be asked before anything is read

    def reading(self) -> dict[str, Any]:
        """Let the file for fitting hold the truth, where the table has none."""
        return {} if self.fit is None else {"truth_elsewhere": self.fit}

    def target(self, cost: Any) -> BoundTarget:
        """Return what is to be bound, with the *cost* matrix once the classes are known."""
        placeholder = [[0.0]] if self.cost is not None else None
        return BoundTarget(
            metrics=self.metrics or ("accuracy",),
            positive=self.positive,
            cost=placeholder if cost is None else cost,
            delta=self.delta,
            at_least=self.at_least,
            alpha=self.alpha,
        )

    def fitting(self) -> Fitting:
        """Return how label models are fitted."""
        balance = self.class_balance
        return Fitting(
            balance=None if balance is None else numbers_of("class_balance", balance),
            abstain="is a vote" if self.abstentions_vote else "auto",
        )

    def edges(self) -> tuple[float, ...]:
        """Return the edges at which a score is cut."""
        return edges_of(numbers_of("thresholds", self.thresholds))


def numbers_of(name: str, value: str | Sequence[float]) -> list[float]:
    """Return numbers that were given as a list, or as text with commas between them."""
    pieces = value.split(",") if isinstance(value, str) else value
    try:
        return [float(piece) for piece in pieces]
    except ValueError:
        raise InputError(
            f"{name} must be numbers with commas between them, got {value!r}"
        ) from None


# A generated table for examples: spam, weak labels that err independently, and a classifier.


_WEAK = {"links": 0.85, "words": 0.8, "sender": 0.75, "caps": 0.7}


def spam(
    n: int, *, rng: Rng, accuracy: float = 0.85, labelled: int = 0
) -> dict[str, IntArray | list[int | None]]:
    """Return *n* rows: four weak labels, a classifier and, with *labelled* > 0, the truth of so
    many of the rows.

    >>> sorted(spam(3, rng=0))
    ['caps', 'classifier', 'links', 'sender', 'words']
    """
    draw = as_rng(rng)
    truth = (draw.random(n) < 0.4).astype(np.int64)
    table: dict[str, IntArray | list[int | None]] = {
        name: np.where(draw.random(n) < right, truth, 1 - truth) for name, right in _WEAK.items()
    }
    table["classifier"] = np.where(draw.random(n) < accuracy, truth, 1 - truth)
    if labelled:
        table["truth"] = [int(y) if i < labelled else None for i, y in enumerate(truth)]
    return table


_RULES = {
    "lf_link": (0.85, 0.5),
    "lf_money": (0.9, 0.35),
    "lf_sender": (0.8, 0.7),
    "lf_length": (0.7, 0.9),
    "lf_caps": (0.78, 0.4),
}
"""Accuracy and coverage of each rule."""


def demo(rng: Rng) -> Demo:
    """Return votes of five rules on 6,000 e-mails, and the score of a classifier."""
    from scipy.special import expit

    draw = as_rng(rng)
    n = 6000
    truth = draw_truth(n, (0.65, 0.35), draw)
    names = np.array(["ham", "spam"])
    votes = {
        name: np.where(draw.random(n) < cover, names[draw_answers(truth, right, 2, draw)], "")
        for name, (right, cover) in _RULES.items()
    }
    score = expit(2 * (2 * truth - 1) + 1.7 * draw.standard_normal(n))
    return Demo(
        story=(
            "Five rules vote on 6,000 e-mails and nobody has true labels. How good is the"
            " classifier, at which threshold?"
        ),
        table={"item": np.arange(n), **votes, "score": np.round(score, 4)},
        options={"score": "score", "weak": ("lf_*",)},
    )


# The rows that a classifier got wrong; without labels, those where weak labels contradict it.


def cases_of(result: Result, data: Data, *, texts: bool = True) -> Cases | None:
    """Return the rows behind the answer about the first classifier, the clearest first."""
    del result
    if isinstance(data.held, Tally) or not data.roles.prediction or data.n_rows > MOST_ROWS:
        return None
    chosen, truth, weak = data.roles.prediction[0], data.roles.truth, data.roles.weak
    labels = data.label_lists(chosen, *weak, *([truth] if truth else []))
    if truth is not None and any(label is not None for label in labels[truth]):
        return _wrong(data, labels, chosen, truth, texts=texts)
    return _contradicted(data, labels, chosen, weak, texts=texts)


def _cast(labels: Mapping[str, Sequence[Any]], names: Sequence[str], row: int) -> dict[str, str]:
    return {name: str(labels[name][row]) for name in names if labels[name][row] is not None}


def _wrong(
    data: Data, labels: Mapping[str, Sequence[Any]], chosen: str, truth: str, *, texts: bool
) -> Cases:
    """List the labelled rows that the classifier gets wrong, by kind of error."""
    found, labelled = [], 0
    for row, (said, true) in enumerate(zip(labels[chosen], labels[truth], strict=True)):
        if true is None or said is None:
            continue
        labelled += 1
        if said != true:
            votes = _cast(labels, data.roles.weak, row)
            found.append(
                Found(
                    row=row,
                    kind=f"{true} predicted as {said}",
                    summary=f"true {true} · {chosen} says {said}",
                    votes=(("true", str(true)), (chosen, str(said)), *votes.items()),
                )
            )
    line = f"{chosen} is wrong on {len(found):,} of {labelled:,} labelled rows."
    return gather(data, found, title="Items", line=line, texts=texts)


def _contradicted(
    data: Data,
    labels: Mapping[str, Sequence[Any]],
    chosen: str,
    weak: Sequence[str],
    *,
    texts: bool,
) -> Cases:
    """List the rows on which most weak labels that vote say something else."""
    found, voted = [], 0
    for row, said in enumerate(labels[chosen]):
        votes = _cast(labels, weak, row)
        if said is None or not votes:
            continue
        voted += 1
        against = sum(vote != str(said) for vote in votes.values())
        if 2 * against <= len(votes):
            continue
        every = against == len(votes)
        found.append(
            (
                (-against, len(votes)),
                Found(
                    row=row,
                    kind="all weak labels disagree" if every else "most weak labels disagree",
                    summary=f"{chosen} says {said} · {against} of {len(votes)} weak labels differ",
                    votes=((chosen, str(said)), *votes.items()),
                ),
            )
        )
    found.sort(key=lambda one: one[0])
    line = (
        f"Most weak labels disagree with {chosen} on {len(found):,} of {voted:,} rows with a vote:"
        " look at these first."
    )
    return gather(data, [one for _, one in found], title="Items", line=line, texts=texts)


# Which of two classes is the positive one, where nobody says so.
#
# A score of ``p_fraud`` is high for fraud, whatever comes last in the alphabet.


_POSITIVE = frozenset(
    (
        "positive",
        "pos",
        "spam",
        "toxic",
        "fraud",
        "fraudulent",
        "abnormal",
        "anomaly",
        "hate",
        "sick",
    )
)
"""Words that are the positive class of a test, whatever the other is called."""


def positive_class(classes: Sequence[Label], score: str | None) -> Label:
    """Return the positive one of two classes; None where neither names nor words say it.

    Parameters
    ----------
    classes
        The classes, in order.
    score
        The column of scores: a class that it names is the one that a high score means.

    Examples
    --------
    >>> positive_class(["fraud", "legit"], "p_fraud"), positive_class([0, 1], "score")
    ('fraud', 1)
    >>> positive_class(["ham", "spam"], None), positive_class(["no", "yes"], None)
    ('spam', 'yes')
    >>> positive_class(["cat", "dog"], "score") is None
    True
    """
    if len(classes) != 2:
        return None
    if score is not None:
        words = set(parts(score))
        named = [label for label in classes if set(parts(str(label))) & words]
        if len(named) == 1 and not str(named[0]).isdigit():
            return named[0]
    marks = as_pass_fail(classes)
    if marks is not None and set(marks.values()) == {0.0, 1.0}:
        return next(label for label in classes if marks[label] == 1.0)
    if {str(label) for label in classes} in ({"0", "1"}, {"-1", "1"}):
        return next(label for label in classes if str(label) == "1")
    known = [label for label in classes if as_word(label) in _POSITIVE]
    return known[0] if len(known) == 1 else None
