"""What can be asked of a classifier that was never tested on true labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.bound.prepared import Fitting
from tallystick.bound.target import BoundTarget
from tallystick.bound.thresholds import edges_of
from tallystick.data import Question, option
from tallystick.errors import InputError

__all__ = ["BoundQuestion"]

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
