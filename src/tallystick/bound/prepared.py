"""A label model and a table, made ready: P(Y | Z), the labels that rectify it, the doubt left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.bound import label_models as known_models
from tallystick.bound.blocks import FloatArray, known_rows, label_bins
from tallystick.bound.forward import Evidence, LabelDoubt
from tallystick.bound.label_models import LabelModel
from tallystick.bound.label_models.dawid_skene import Abstain
from tallystick.bound.weak_votes import WeakTable
from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.latent import information
from tallystick.values import Label

__all__ = ["Fitting", "ModelLike", "Prepared", "fitted", "prepared"]

ModelLike: TypeAlias = "str | LabelModel"
_LEAST_ROWS = 20
_FEW_LABELS = 30
_REFITS = 19
NAMES = ("labels", "majority", "weighted-majority", "dawid-skene", "triplet")


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitting:
    """How label models are fitted and tested.

    Parameters
    ----------
    classes
        The labels that Y can take; by default all that occur.
    balance
        The class balance, where it is known.
    abstain
        What an abstention means.
    family
        Whether the family of seven is fitted, for the robust range.
    refits
        Refits of the misfit test: 0 for no test, otherwise at least 19.
    """

    classes: Sequence[Label] | None = None
    balance: npt.ArrayLike | None = None
    abstain: Abstain = "auto"
    family: bool = True
    refits: int = 19

    def __post_init__(self) -> None:
        if self.refits != 0 and self.refits < _REFITS:
            raise InputError(f"refits must be 0 or at least {_REFITS}, got {self.refits!r}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared:
    """One label model on one table.

    ``evidence.p`` is None where P(Y | Z) is learnt from labels block by block; ``p`` is what it is
    overall.
    """

    model: LabelModel
    table: WeakTable
    p: FloatArray
    evidence: Evidence
    method: str
    assumption: str | None
    warnings: tuple[str, ...]


def fitted(model: ModelLike, table: WeakTable, fitting: Fitting) -> LabelModel:
    """Return the label model that a name means, fitted on *table*; a label model is returned as it
    is.
    """
    if isinstance(model, LabelModel):
        return model
    if model == "labels":
        return known_models.from_labels(table)
    if model == "majority":
        return known_models.majority(table, balance=fitting.balance)
    if model == "weighted-majority":
        return known_models.weighted_majority(table)
    if model == "dawid-skene":
        return known_models.dawid_skene(table, balance=fitting.balance, abstain=fitting.abstain)
    if model == "triplet":
        return known_models.triplet(table, balance=fitting.balance)
    raise InputError(
        f"label model must be one of {', '.join(NAMES)}, a file or a LabelModel, got {model!r}"
    )


def prepared(model: LabelModel, table: WeakTable, *, delta: float = 0.0) -> Prepared:
    """Decide what the intervals rest on: labels where there are any, otherwise the information in
    the fit, otherwise the model's word.
    """
    if table.n < _LEAST_ROWS:
        raise InputError(
            f"{table.n} rows are too few to bound anything with confidence: at least {_LEAST_ROWS}"
        )
    gold = table.gold_labels
    if model.labelled is not None:
        votes, labelled = model.labelled
        table, place = table.extended(votes)
        gold = np.zeros((len(table.votes), len(table.classes)), dtype=np.int64)
        np.add.at(gold, place, labelled)
    p = model.probabilities(table)
    warnings: list[str] = []
    doubt, assumption, method = None, None, "forward dual"
    if gold is not None:
        method = "forward dual, rectified by labels"
        few = int(gold.sum())
        if few < _FEW_LABELS:
            warnings.append(
                f"only {few} labelled rows correct the label model {model.name}: its bounds are"
                " rough"
            )
    elif model.fit is not None:
        try:
            doubt = LabelDoubt(
                information(model.fit), _codes(model, table), _same_rows(model, table)
            )
            assumption = model.rests_on
            method = "forward dual, with the label model's own error"
        except NotIdentifiable as error:
            assumption = f"the label model {model.name} is right"
            warnings.append(
                f"the error of the label model {model.name} could not be estimated and is left out:"
                f" {error}"
            )
    else:
        assumption = f"the label model {model.name} is right"
        warnings.append(
            f"P(Y | Z) of {model.name} is taken for known: its bounds do not allow for an error of"
            " its own"
        )
    silent = ~known_rows(p)
    mass = float(table.weight[silent].sum() / table.n)
    if mass > 0:
        warnings.append(
            f"{model.name} says nothing about {100 * mass:.1f} % of the rows: they are bounded by"
            " logic only"
        )
    shown = np.where(silent[:, None], 1 / len(table.classes), p)
    # Bins may rest on votes and label model only; if the latter comes from labels, on votes alone.
    steady = (
        known_models.majority(table).probabilities(table) if model.labelled is not None else shown
    )
    evidence = Evidence(
        counts=table.counts,
        p=None if model.labelled is not None else p,
        bins=label_bins(steady, table.weight),
        gold=gold,
        doubt=doubt,
        delta=delta,
    )
    return Prepared(
        model=model,
        table=table,
        p=p,
        evidence=evidence,
        method=method,
        assumption=assumption,
        warnings=tuple(warnings),
    )


def _codes(model: LabelModel, table: WeakTable) -> npt.NDArray[np.int64]:
    return table.votes if model.votes_of is None else model.votes_of(table.votes)


def _same_rows(model: LabelModel, table: WeakTable) -> bool:
    if model.fit is None:
        return False
    votes = model.fit.votes
    return np.array_equal(votes.codes, _codes(model, table)) and np.array_equal(
        votes.counts, table.weight
    )
