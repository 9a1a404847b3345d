"""What can be asked of a classifier that was never tested on true labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.papers.frechet_bounds import Summary, summary
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
from tallystick.table.reading_names import parts
from tallystick.table.words import as_word
from tallystick.verbs.bound.forward import IntArray
from tallystick.verbs.bound.votes import WeakVotes

MODELS = ("majority", "dawid-skene")
# With one label per row all micro averages are the accuracy.
MEANS = ("accuracy", "micro-f1")


@dataclass(frozen=True, kw_only=True)
class BoundQuestion(Question):
    """Which metrics, and which claim is to be proved.

    In Python *thresholds* also takes a sequence of numbers, and *label_model* anything with
    ``predict_proba``, or a function: from votes (class indices in order, -1 for an abstention) to
    probabilities.
    """

    metrics: tuple[str, ...] = option(
        ("accuracy",),
        "accuracy, precision, recall, f1, macro-…, or micro-f1; repeat for more.",
        flag="--metric",
    )
    positive: str | int | float | bool | None = option(
        None, "The class that precision, recall, F1 and AUC are about."
    )
    thresholds: str | Sequence[float] = option(
        "0.5", "With --score: T,T,… in (0, 1).", metavar="T,T,..."
    )
    label_model: str | Any | None = option(
        None,
        "majority, dawid-skene, or a file of probabilities. Default without labels: both.",
    )
    at_least: float | None = option(None, "A claim to prove: the first metric is at least this.")
    population: str | None = option(
        None,
        "Accuracy of these rows, or of new rows like them. Default: these, and new once every row"
        " is labelled.",
        choices=("these", "new"),
    )

    def __post_init__(self) -> None:
        held = self.metrics
        object.__setattr__(self, "metrics", (held,) if isinstance(held, str) else tuple(held))
        super().__post_init__()
        # What cannot be asked is refused before anything is read.
        for name in self.metrics or ("",):
            summary(name, 0)
        if self.population == "new" and not set(self.metrics) <= set(MEANS):
            raise InputError(
                "population 'new' is for accuracy: precision, recall and F1 are those of these"
                " rows; leave --population out"
            )

    def summaries(self, votes: WeakVotes) -> list[Summary]:
        """Return the metrics, checked against the classes."""
        positive: int | None = None
        if self.positive is not None:
            positive = votes.class_of(self.positive, role="positive")
        elif len(votes.classes) == 2:
            positive = votes.class_of(votes.panel.classes[1], role="positive")
        return [summary(name, positive) for name in self.metrics]

    def edges(self) -> tuple[float, ...]:
        """Return the edges at which a score in [0, 1] is cut.

        >>> BoundQuestion(thresholds=[0.5, 0.25]).edges()
        (0.0, 0.25, 0.5, 1.0)
        """
        given = self.thresholds
        try:
            pieces = given.split(",") if isinstance(given, str) else given
            held = sorted({float(piece) for piece in pieces})
        except ValueError:
            held = []
        if not held or not all(0 < t < 1 for t in held):
            raise InputError(f"thresholds must be numbers in (0, 1) with commas, got {given!r}")
        return (0.0, *held, 1.0)


# A generated table for examples: spam, weak labels that err independently, and a classifier.


_WEAK = {"links": 0.85, "words": 0.8, "sender": 0.75, "caps": 0.7}


def spam(
    n: int, *, rng: Rng, accuracy: float = 0.85, labelled: int = 0
) -> dict[str, IntArray | list[int | None]]:
    """Return *n* rows: four weak labels, a classifier and, with *labelled* > 0, the truth of so
    many of the rows, drawn at random.

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
        known = set(draw.choice(n, size=labelled, replace=False).tolist())
        table["truth"] = [int(y) if i in known else None for i, y in enumerate(truth)]
    return table


def demo(rng: Rng) -> Demo:
    """Return votes of four rules on 2,000 messages, a classifier, and labels of 80 of them."""
    table = spam(2000, rng=rng, labelled=2000)
    table["truth"] = [int(y or 0) if i % 25 == 0 else None for i, y in enumerate(table["truth"])]
    return Demo(
        story=(
            "Four rules vote on 2,000 messages, and somebody has read 80 of them. How good is the"
            " classifier?"
        ),
        table={
            "item": np.arange(2000),
            **{f"lf_{name}" if name in _WEAK else name: column for name, column in table.items()},
        },
        options={
            "prediction": "classifier",
            "weak": tuple(f"lf_{name}" for name in _WEAK),
            "truth": "truth",
        },
    )


# The rows that a classifier got wrong; without labels, those where weak labels contradict it.


def cases_of(result: Result, data: Data) -> Cases | None:
    """Return the rows behind the answer about the first classifier, the clearest first."""
    del result
    if isinstance(data.held, Tally) or not data.roles.prediction or data.n_rows > MOST_ROWS:
        return None
    chosen, truth, weak = data.roles.prediction[0], data.roles.truth, data.roles.weak
    labels = data.label_lists(chosen, *weak, *([truth] if truth else []))
    if truth is not None and any(label is not None for label in labels[truth]):
        return _wrong(data, labels, chosen, truth)
    return _contradicted(data, labels, chosen, weak)


def _cast(labels: Mapping[str, Sequence[Any]], names: Sequence[str], row: int) -> dict[str, str]:
    return {name: str(labels[name][row]) for name in names if labels[name][row] is not None}


def _wrong(data: Data, labels: Mapping[str, Sequence[Any]], chosen: str, truth: str) -> Cases:
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
    return gather(data, found, title="Items", line=line)


def _contradicted(
    data: Data,
    labels: Mapping[str, Sequence[Any]],
    chosen: str,
    weak: Sequence[str],
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
        found.append(
            (
                (-against, len(votes)),
                Found(
                    row=row,
                    kind="most weak labels disagree",
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
    return gather(data, [one for _, one in found], title="Items", line=line)


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
