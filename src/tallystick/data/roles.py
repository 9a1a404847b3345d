"""Which column is what: the one record of roles that every verb, audit and the service share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from tallystick.errors import InputError

__all__ = ["ALL_ROLES", "GROUPS", "ROLE_HELP", "Roles"]


@dataclass(frozen=True, kw_only=True)
class Roles:
    """What each column of a table is.

    A role that names several columns takes names, commas and globs (``lr_*``) when it is given,
    and holds plain names once the table has been read. Every other role is one column or None.

    Parameters
    ----------
    item
        The thing that was judged, answered or scored. Other tables are joined by it.
    system
        Long tables of outputs: which system made the output.
    truth
        True labels or human grades; blank where nobody knows.
    judges
        Columns that vote: judges, annotators, models that answer.
    models
        Columns that hold one model each: its scores, or its answers where there is a truth.
    systems
        Wide tables of outputs: the systems.
    weak
        Columns of weak labels: rules, other models, cheap votes.
    prediction
        Columns of a classifier's answers.
    score
        A classifier's score in [0, 1].
    old, new
        What an API answered before, and what it answers now.
    confidence
        Any score whose ranking predicts which answers will change.
    cluster
        What items belong to, such as a document.
    replicate
        Which run of the same item and model a row is.
    round
        The round of a dynamic benchmark.
    model
        Long logs: which model a row is about.
    correct
        Long logs: whether the model was right.
    fooled
        Attempt logs: whether the model in the loop gave a wrong answer.
    validators
        What validators said of the label.
    validated
        Attempt logs: whether validators confirmed the label.
    held_out
        Which items belong to the fixed random set that no round was built on.
    annotator
        Who wrote the item or made the attempt.
    cost
        What a row cost.
    time
        When a row was made.
    weight
        How many items a row stands for, or its sampling weight.
    probability
        The known probability with which an item was chosen for labelling.
    covariate
        Numbers on which a judge's error may depend, such as the length.
    criterion
        Which of several questions a row answers.
    by
        The column of slices.
    """

    item: str | None = None
    system: str | None = None
    truth: str | None = None
    judges: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    prediction: tuple[str, ...] = ()
    score: str | None = None
    old: str | None = None
    new: str | None = None
    confidence: str | None = None
    cluster: str | None = None
    replicate: str | None = None
    round: str | None = None
    model: str | None = None
    correct: str | None = None
    fooled: str | None = None
    validators: str | None = None
    validated: str | None = None
    held_out: str | None = None
    annotator: str | None = None
    cost: str | None = None
    time: str | None = None
    weight: str | None = None
    probability: str | None = None
    covariate: tuple[str, ...] = ()
    criterion: str | None = None
    by: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Roles:
        """Make roles of what a caller gives: one name or several, None for nothing.

        >>> Roles.of({"judges": "gpt", "truth": "gold"}).judges
        ('gpt',)
        """
        held: dict[str, Any] = {}
        for role, value in given.items():
            if role not in GROUPS:
                if value is not None and not isinstance(value, str):
                    raise InputError(f"{role} names one column by its text, got {value!r}")
                held[role] = value
            elif isinstance(value, str):
                held[role] = (value,)
            else:
                held[role] = tuple(value or ())
        return cls(**held)

    def columns(self, *roles: str) -> tuple[str, ...]:
        """Return the columns of *roles* (of all roles if none is named), each once, in that order.

        >>> Roles(truth="gold", judges=("a", "b")).columns("judges", "truth")
        ('a', 'b', 'gold')
        """
        return tuple(dict.fromkeys(column for _, column in self._pairs(roles or ALL_ROLES)))

    def holders(self) -> dict[str, str]:
        """Return the role of each column, the first one where a column has two."""
        found: dict[str, str] = {}
        for role, column in self._pairs(ALL_ROLES):
            found.setdefault(column, role)
        return found

    def with_columns(self, role: str, columns: Sequence[str]) -> Roles:
        """Return the same roles with *columns* in the group *role*."""
        changed: dict[str, Any] = {role: tuple(columns)}
        return replace(self, **changed)

    def _pairs(self, roles: Sequence[str]) -> Iterator[tuple[str, str]]:
        for role in roles:
            held = getattr(self, role)
            for column in held if role in GROUPS else (held,):
                if column is not None:
                    yield role, column


ALL_ROLES = tuple(one.name for one in fields(Roles))
"""Every role, in the order of the record."""

GROUPS = frozenset({"judges", "models", "systems", "weak", "prediction", "covariate"})
"""Roles that several columns can have."""

ROLE_HELP: Mapping[str, str] = {
    "item": "Column that identifies the item.",
    "system": "Long tables: column that names the system that made the output.",
    "truth": "Column of true labels or human grades; it may be mostly blank.",
    "judges": "Columns with the judges' votes; repeat, or use commas and globs.",
    "models": "Columns with the models' answers or scores (commas, globs), or the one column that"
    " names the model.",
    "systems": "Wide tables: the systems; repeat, or use commas and globs.",
    "weak": "Columns of weak labels; repeat, or use commas and globs.",
    "prediction": "Column of the classifier's answers; repeat to compare classifiers.",
    "score": "Column of the classifier's scores in [0, 1].",
    "old": "Column with the old answers.",
    "new": "Column with the new answers, if the table already has them.",
    "confidence": "Column whose ranking predicts which answers will change.",
    "cluster": "Column that groups items that belong together, such as a document.",
    "replicate": "Column that numbers repeated runs of an item.",
    "round": "Column that numbers the rounds.",
    "model": "Long logs: column that names the model.",
    "correct": "Long logs: column that says whether the model was right.",
    "fooled": "Attempt logs: column that says whether the model was fooled.",
    "validators": "Column with the validators' verdicts on the label.",
    "validated": "Attempt logs: column that says whether the label was confirmed.",
    "held_out": "Column that marks the random items that no round was built on.",
    "annotator": "Column that names who wrote the item or made the attempt.",
    "cost": "Column with the cost of each row.",
    "time": "Column that says when a row was made.",
    "weight": "Column of row weights.",
    "probability": "Column with the known probability that the row was chosen for labelling.",
    "covariate": "Column that may affect the judges' errors, such as the length of the answer.",
    "criterion": "Column that says which criterion (helpful, safe, …) a row grades.",
    "by": "Answer separately for each value of this column too.",
}
"""What the command line says of each role."""
