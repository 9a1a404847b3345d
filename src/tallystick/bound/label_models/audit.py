"""Is the label model any good? What it implies, against what is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick._rng import Rng
from tallystick.bound.blocks import BoolArray, FloatArray, known_rows, label_bins
from tallystick.bound.label_models.model import LabelModel
from tallystick.bound.label_models.surprise import surprise
from tallystick.bound.weak_votes import WeakTable
from tallystick.results import Unknown
from tallystick.stats.latent import CoVotes, agreement_z
from tallystick.stats.latent.covotes import covote_rms

__all__ = ["LabelModelAudit", "audit"]

_CERTAIN = 1e-3
_REFUTED = 0.05


@dataclass(frozen=True, kw_only=True)
class LabelModelAudit:
    """What is known of one label model.

    Parameters
    ----------
    name, rests_on
        Which it is, and what has to be true.
    class_balance
        P(Y) that it implies for these rows.
    weak_accuracy
        By weak column: the share of its votes that are right, if the model is.
    unknown_mass
        Share of the rows for whose pattern it says nothing.
    certain_mass
        Share of the rows with a class that is nearly impossible (p < .001): Assumption 2.2 of the
        paper asks for none.
    agreement_misfit
        Root mean square of (observed - implied)/error over the agreement of pairs of weak labels;
        about 1 or less if the votes err independently given the class.
    covote_misfit
        The same over how often pairs vote alike, and differently, on one row.
    votes_contradict
        Whether the votes alone reject the independence that it rests on. False proves nothing.
    calibration_p, calibration_gap
        With labels: the p value of the surprise test (B5) that P(Y | Z) is right, and the average
        total-variation distance of labels and model over bins of P(Y | z).
    refuted
        Whether the surprise test rejects it at 5 %.
    """

    name: str
    rests_on: str
    class_balance: dict[str, float]
    weak_accuracy: dict[str, float | Unknown]
    unknown_mass: float
    certain_mass: float
    agreement_misfit: float | Unknown
    covote_misfit: float | Unknown
    votes_contradict: bool | Unknown
    calibration_p: float | Unknown
    calibration_gap: float | Unknown
    refuted: bool


def audit(
    model: LabelModel, table: WeakTable, p: FloatArray, *, test: CoVotes | None = None, rng: Rng = 0
) -> LabelModelAudit:
    """Audit *model*, which gives *p* on the patterns of *table*.

    *test* is the misfit test of the independence that it rests on, if it was made; *rng* draws the
    null of the surprise test, from a stream of its own.
    """
    known = known_rows(p)
    clean = np.where(known[:, None], p, 0.0)
    weight = table.weight * known
    total = max(float(weight.sum()), 1e-300)
    balance = weight @ clean / total
    accuracy: dict[str, float | Unknown] = {}
    for j, name in enumerate(table.weak):
        voted = (table.votes[:, j] >= 0) & known
        right = clean[np.flatnonzero(voted), table.votes[voted, j]]
        said = float(weight[voted].sum())
        accuracy[name] = (
            float(weight[voted] @ right / said) if said > 0 else Unknown(f"{name} never votes")
        )
    p_value, refuted = _surprised(model, table, p, rng)
    return LabelModelAudit(
        name=model.name,
        rests_on=model.rests_on,
        class_balance={str(c): float(b) for c, b in zip(table.classes, balance, strict=True)},
        weak_accuracy=accuracy,
        unknown_mass=float(1 - weight.sum() / table.n),
        certain_mass=float(weight[(clean.min(axis=1) < _CERTAIN) & known].sum() / table.n),
        agreement_misfit=_misfit(model),
        covote_misfit=_co_voting(model),
        votes_contradict=_contradicted(model, test),
        calibration_p=p_value,
        calibration_gap=_gap(table, clean, known),
        refuted=refuted,
    )


def _contradicted(model: LabelModel, test: CoVotes | None) -> bool | Unknown:
    if "independently" not in model.rests_on:
        return Unknown("votes alone cannot test what this label model rests on")
    if test is None:
        return Unknown("not tested: the votes leave nothing to test, or no test was asked for")
    return test.rejected


def _co_voting(model: LabelModel) -> float | Unknown:
    if model.fit is None:
        return Unknown("only a fitted latent-class model implies how often votes agree")
    found = covote_rms(model.fit)
    return Unknown("no pair of weak labels votes together often") if np.isnan(found) else found


def _misfit(model: LabelModel) -> float | Unknown:
    if model.fit is None:
        return Unknown("only a fitted latent-class model implies how often votes agree")
    z = agreement_z(model.fit)
    seen = z[np.isfinite(z)]
    return (
        float(np.sqrt((seen**2).mean()))
        if seen.size
        else Unknown("no pair of weak labels votes on ten common rows")
    )


def _gap(table: WeakTable, p: FloatArray, known: BoolArray) -> float | Unknown:
    """Return how far labels and model are apart, averaged over bins of P(Y | z)."""
    gold = table.gold_labels
    if gold is None:
        return Unknown("no labels were given")
    gold = gold * known[:, None]
    size = gold.sum(axis=1)
    if size.sum() == 0:
        return Unknown("no labelled row has a known P(Y | z)")
    bins = label_bins(p, size.astype(np.float64))
    gap = 0.0
    for b in np.unique(bins[size > 0]):
        here = bins == b
        gap += float(np.abs(gold[here].sum(axis=0) - size[here] @ p[here]).sum() / 2)
    return gap / float(size.sum())


def _surprised(
    model: LabelModel, table: WeakTable, p: FloatArray, rng: Rng
) -> tuple[float | Unknown, bool]:
    """Return the p value of the surprise test, and whether it refutes the model."""
    gold = table.gold_labels
    if model.labelled is not None:
        return Unknown("it was learnt from these labels, so they cannot test it"), False
    found = None if gold is None else surprise(p, gold, rng=rng)
    if found is None:
        why = "no labels were given" if gold is None else "no labelled row has a known P(Y | z)"
        return Unknown(why), False
    return found.p_value, found.p_value <= _REFUTED
