"""Is the label model any good? What it implies, against what is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.bound.blocks import BoolArray, FloatArray, known_rows, label_bins
from tallystick.bound.label_models.model import LabelModel
from tallystick.bound.weak_votes import WeakTable
from tallystick.results import Unknown
from tallystick.stats.latent import agreement_z

__all__ = ["LabelModelAudit", "audit"]

_CERTAIN = 1e-3


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
    calibration_p, calibration_gap
        With labels: the p value of a chi-squared test over bins that P(Y | Z) is right, and the
        average total-variation distance of labels and model over those bins.
    """

    name: str
    rests_on: str
    class_balance: dict[str, float]
    weak_accuracy: dict[str, float | Unknown]
    unknown_mass: float
    certain_mass: float
    agreement_misfit: float | Unknown
    calibration_p: float | Unknown
    calibration_gap: float | Unknown


def audit(model: LabelModel, table: WeakTable, p: FloatArray) -> LabelModelAudit:
    """Audit *model*, which gives *p* on the patterns of *table*."""
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
    p_value, gap = _calibration(table, clean, known)
    return LabelModelAudit(
        name=model.name,
        rests_on=model.rests_on,
        class_balance={str(c): float(b) for c, b in zip(table.classes, balance, strict=True)},
        weak_accuracy=accuracy,
        unknown_mass=float(1 - weight.sum() / table.n),
        certain_mass=float(weight[(clean.min(axis=1) < _CERTAIN) & known].sum() / table.n),
        agreement_misfit=_misfit(model),
        calibration_p=p_value,
        calibration_gap=gap,
    )


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


def _calibration(
    table: WeakTable, p: FloatArray, known: BoolArray
) -> tuple[float | Unknown, float | Unknown]:
    gold = table.gold_labels
    if gold is None:
        return Unknown("no labels were given"), Unknown("no labels were given")
    gold = gold * known[:, None]
    size = gold.sum(axis=1)
    if size.sum() == 0:
        return Unknown("no labelled row has a known P(Y | z)"), Unknown(
            "no labelled row has a known P(Y | z)"
        )
    from scipy.special import chdtrc

    bins = label_bins(p, size.astype(np.float64))
    statistic, freedom, gap = 0.0, 0, 0.0
    for b in np.unique(bins[size > 0]):
        here = bins == b
        seen, expected = gold[here].sum(axis=0), size[here] @ p[here]
        # Within a bin the rows have different laws: their covariances add.
        spread = np.diag(expected) - (p[here].T * size[here]) @ p[here]
        statistic += float(
            (seen - expected) @ np.linalg.pinv(spread, hermitian=True) @ (seen - expected)
        )
        freedom += int(np.linalg.matrix_rank(spread, hermitian=True))
        gap += float(np.abs(seen - expected).sum() / 2)
    p_value: float | Unknown = (
        float(chdtrc(freedom, statistic)) if freedom else Unknown("the label model is certain")
    )
    return p_value, gap / float(size.sum())
