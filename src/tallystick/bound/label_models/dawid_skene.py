"""Votes that are independent given the class: EM, and its closed form by trios."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.bound.blocks import FloatArray, IntArray
from tallystick.bound.label_models.majority import as_balance, leading
from tallystick.bound.label_models.model import LabelModel
from tallystick.bound.weak_votes import WeakTable
from tallystick.errors import NotIdentifiable
from tallystick.stats import latent

__all__ = ["INDEPENDENCE", "PRIOR", "Abstain", "dawid_skene", "one_sided", "triplet", "unmirrored"]

Abstain: TypeAlias = Literal["auto", "says nothing", "is a vote"]

PRIOR = 0.1
"""Pseudo-votes of each kind: a vote never seen on a class is rare there, not impossible."""

_LEVEL = 0.025
_LEAST = 3
_LEAST_LED = 5
_KEPT = 0.25
INDEPENDENCE = "the weak labels err independently given the class"


def dawid_skene(
    table: WeakTable,
    *,
    balance: npt.ArrayLike | None = None,
    abstain: Abstain = "auto",
    prior: float = PRIOR,
) -> LabelModel:
    """Fit class balance and confusion matrices of the weak labels by EM, without labels.

    Parameters
    ----------
    table
        The votes to fit on; the predictions in it are not looked at.
    balance
        The class balance, where it is known; otherwise it is estimated.
    abstain
        Whether an abstention says nothing of the class, or is one more vote. Rules that vote for
        one class and are silent otherwise need the latter: if silence said nothing, such rules
        would make all items that class. ``auto``: it is a vote as soon as one weak label is such a
        rule.
    prior
        Pseudo-votes of each kind.

    Raises
    ------
    NotIdentifiable
        Fewer than three weak labels that vary: many models fit equally well. Or the fit has emptied
        a class: it overrules nearly all rows whose votes lead to that class, which without labels
        or balance nothing can confirm.
    """
    size = len(table.classes)
    if abstain == "auto":
        abstain = "is a vote" if (one_sided(table) >= 0).any() else "says nothing"
    if abstain == "says nothing" and (one_sided(table) >= 0).any():
        rule = table.weak[int((one_sided(table) >= 0).argmax())]
        raise NotIdentifiable(
            f"weak label {rule!r} votes for one class only and abstains otherwise: if its silence"
            " says nothing, neither do its votes; let abstentions be votes (--abstentions-vote),"
            " or drop it"
        )
    extra = 1 if abstain == "is a vote" else 0

    def codes(votes: IntArray) -> IntArray:
        return np.where(votes < 0, size, votes) if extra else votes

    options = latent.LatentOptions(
        balance=None if balance is None else as_balance(balance, size),
        confusion_prior=prior,
        max_iterations=20_000,
    )
    _refuse_the_useless(codes(table.votes), table)
    fitted = latent.fit(
        codes(table.votes), table.weight, n_classes=size, n_votes=size + extra, options=options
    )
    if balance is None:
        fitted = unmirrored(fitted, codes(table.votes), table.weight)
        _refuse_the_emptied(table.weight @ fitted.posterior, table)
    return LabelModel(
        name="dawid-skene",
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: latent.posterior(fitted.model, codes(votes)),
        rests_on=INDEPENDENCE,
        fit=fitted,
        votes_of=codes,
    )


def unmirrored(fitted: latent.LatentFit, codes: IntArray, weight: FloatArray) -> latent.LatentFit:
    """Rename the classes of a fit that calls most votes wrong, so that it calls most of them right.

    The likelihood does not know the names of the classes. EM starts at the majority, but where most
    weak labels are silent it can end on the mirrored branch, on which votes for a class are
    evidence against it.
    """
    size = fitted.model.n_classes
    # Mass of the votes for class c on rows that the fit gives to class k.
    right = np.zeros((size, size))
    for c in range(size):
        right[:, c] = (weight * (codes == c).sum(axis=1)) @ fitted.posterior
    if np.trace(right) * size >= right.sum():
        return fitted
    from scipy.optimize import linear_sum_assignment

    _, order = linear_sum_assignment(right.T, maximize=True)
    return replace(
        fitted,
        model=fitted.model.permuted(order),
        posterior=np.ascontiguousarray(fitted.posterior[:, order]),
        expected_counts=np.ascontiguousarray(fitted.expected_counts[:, order]),
    )


def one_sided(table: WeakTable) -> IntArray:
    """Return the class of each weak label that votes for one only and abstains otherwise; -1 for
    the others.
    """
    out = np.full(len(table.weak), -1)
    for j in range(len(table.weak)):
        seen = np.unique(table.votes[table.weight > 0, j])
        if len(seen) == 2 and seen[0] < 0:
            out[j] = seen[1]
    return out


def _refuse_the_useless(codes: IntArray, table: WeakTable) -> None:
    """Refuse votes that agree no better than chance: without labels, nothing can then be learnt of
    Y from them.

    Chi-squared tests of independence for every pair of weak labels: the strongest of them by
    Bonferroni (a few that agree), and their sum (many that agree a little), each at 2.5 %.
    """
    from scipy.special import chdtrc

    seen_votes = [
        np.unique(codes[(table.weight > 0) & (codes[:, j] >= 0), j]) for j in range(codes.shape[1])
    ]
    varied = sum(len(votes) > 1 for votes in seen_votes)
    if varied < _LEAST:
        raise NotIdentifiable(
            f"{varied} of {codes.shape[1]} weak labels give different votes; without labels at"
            f" least {_LEAST} must: infinitely many models fit fewer; add weak labels, or use"
            " labels, majority or a P(Y | Z) of your own"
        )
    size = int(codes.max()) + 1
    p_values: list[float] = []
    everything, freedoms = 0.0, 0
    for j in range(codes.shape[1]):
        for k in range(j):
            both = (codes[:, j] >= 0) & (codes[:, k] >= 0)
            cell = codes[both, j] * size + codes[both, k]
            seen = np.bincount(cell, weights=table.weight[both], minlength=size * size).reshape(
                size, size
            )
            seen = seen[seen.sum(axis=1) > 0][:, seen.sum(axis=0) > 0]
            freedom = (seen.shape[0] - 1) * (seen.shape[1] - 1)
            if freedom > 0:
                expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
                statistic = float(((seen - expected) ** 2 / expected).sum())
                everything, freedoms = everything + statistic, freedoms + freedom
                p_values.append(float(chdtrc(freedom, statistic)))
    if (
        p_values
        and min(min(p_values) * len(p_values), float(chdtrc(freedoms, everything))) > _LEVEL
    ):
        raise NotIdentifiable(
            f"the weak labels agree no more than by chance (smallest p {min(p_values):.2g},"
            f" {len(p_values)} pairs): without labels they say nothing about the class; add better"
            " weak labels, or labelled rows"
        )


def _refuse_the_emptied(mass: FloatArray, table: WeakTable) -> None:
    """Refuse a fit that keeps less than a quarter of the rows whose votes lead to some class."""
    lead = leading(table.votes, len(table.classes))
    for c, label in enumerate(table.classes):
        voted = float(table.weight[lead == c].sum())
        if voted >= _LEAST_LED and mass[c] < _KEPT * voted:
            raise NotIdentifiable(
                f"without labels the fit leaves {mass[c]:.1f} of {table.n:,} rows to class"
                f" {label!r}, though the votes of {voted:.0f} rows lead to it: give the class"
                " balance (--class-balance), or labelled rows"
            )


def triplet(table: WeakTable, *, balance: npt.ArrayLike | None = None) -> LabelModel:
    """Solve trios of binary weak labels in closed form, in the manner of FlyingSquid.

    Abstentions say nothing, except those of a rule that votes for one class only: they count for
    the other class.
    """
    if len(table.classes) != 2:
        raise NotIdentifiable(
            f"the triplet method knows two classes, got {len(table.classes)}: use dawid-skene"
        )
    known = None if balance is None else as_balance(balance, 2)
    rule = one_sided(table)

    def codes(votes: IntArray) -> IntArray:
        return np.where((votes < 0) & (rule >= 0), 1 - rule, votes)

    solved = latent.triplet(codes(table.votes), table.weight, balance=known, clip=True)
    edge = 1e-3  # accuracies that were clipped to 0 or 1 would make votes certain
    model = latent.LatentModel(solved.balance, np.clip(solved.confusion, edge, 1 - edge))
    return LabelModel(
        name="triplet",
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: latent.posterior(model, codes(votes)),
        rests_on=INDEPENDENCE,
    )
