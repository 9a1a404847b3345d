"""What a label model is: P(Y | Z) for any pattern of votes, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.papers.frechet_bounds import known_rows
from tallystick.papers.noisy_judges.trio_quadratic import triplet as solve_triplets
from tallystick.stats.latent_checks import majority_of_others
from tallystick.stats.latent_fit import LatentFit, fit
from tallystick.stats.latent_model import LatentModel, LatentOptions, as_votes, posterior
from tallystick.table import Label
from tallystick.table.cells import identity
from tallystick.verbs.bound.forward import FloatArray, IntArray
from tallystick.verbs.bound.weak_votes import ABSTAINED, WeakTable

_SUM = 1e-6


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelModel:
    """P(Y | Z).

    Parameters
    ----------
    name
        How it is called in results.
    classes, weak
        Of which labels and of which columns it speaks.
    predict
        From votes (patterns x weak columns, class index or -1) to probabilities (patterns x
        classes); a row of NaN says that nothing is known of that pattern.
    rests_on
        What has to be true for it to be right.
    fit
        The latent-class fit behind it, whose doubt is then part of the intervals.
    votes_of
        From votes to the codes that *fit* was given.
    labelled
        The labelled rows that it was made of: their votes, and counts by class.
    """

    name: str
    classes: tuple[Label, ...]
    weak: tuple[str, ...]
    predict: Callable[[IntArray], FloatArray]
    rests_on: str
    fit: LatentFit | None = None
    votes_of: Callable[[IntArray], IntArray] | None = None
    labelled: tuple[IntArray, IntArray] | None = None

    def probabilities(self, table: WeakTable) -> FloatArray:
        """Return P(Y | z) of every pattern of *table*, checked."""
        if self.weak != table.weak or len(self.classes) != len(table.classes):
            raise InputError(
                f"label model {self.name!r} is of {self.weak} and classes {self.classes}, "
                f"the table of {table.weak} and {table.classes}: fit it on the same columns"
            )
        p = np.asarray(self.predict(table.votes), dtype=np.float64)
        if p.shape != (len(table.votes), len(table.classes)):
            raise InputError(
                f"label model {self.name!r} gave shape {p.shape} for {len(table.votes)} patterns"
                f" and {len(table.classes)} classes"
            )
        said = known_rows(p)
        if np.isfinite(p[~said]).any():
            raise InputError(
                f"label model {self.name!r} gives some classes of a pattern NaN: give all, or none"
            )
        total = p[said].sum(axis=1)
        wrong = (np.abs(total - 1) > _SUM) | (p[said] < -_SUM).any(axis=1)
        if wrong.any():
            z = int(np.flatnonzero(said)[int(wrong.argmax())])
            raise InputError(
                f"label model {self.name!r}: P(Y | z) of votes {table.votes[z].tolist()} is"
                f" {p[z].round(4).tolist()}, which sums to {p[z].sum():.6g}: probabilities must be"
                " at least 0 and sum to 1"
            )
        clean = np.clip(p, 0, 1)
        clean[said] /= clean[said].sum(axis=1, keepdims=True)
        return clean


# The share of the votes, smoothed: a label model that nothing is fitted for.


def majority(
    table: WeakTable, *, balance: npt.ArrayLike | None = None, pseudo_votes: float = 1.0
) -> LabelModel:
    r"""Take the share of the votes for a class as its probability.

    .. math:: p_{zy} = \frac{v_{zy} + s\,b_y}{\sum_y v_{zy} + s}

    with votes v, class balance b (equal unless given) and *pseudo_votes* s. Where all abstain it is
    the balance.

    >>> from tallystick.table import Tally
    >>> from tallystick.verbs.bound.weak_votes import weak_table
    >>> table = weak_table(Tally.of({"a": [0, 1], "b": [1, 1], "h": [0, 1]}), weak=["a", "b"], prediction="h")
    >>> majority(table).probabilities(table).round(3).tolist()
    [[0.5, 0.5], [0.167, 0.833]]
    """
    prior = as_balance(balance, len(table.classes))
    if not pseudo_votes > 0:
        raise InputError(f"pseudo_votes must be positive, got {pseudo_votes!r}")
    return LabelModel(
        name="majority",
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: vote_share(votes, prior, pseudo_votes),
        rests_on="the share of votes for a class is its probability",
    )


def as_balance(balance: npt.ArrayLike | None, classes: int) -> FloatArray:
    """Return the class balance, equal shares unless given."""
    if balance is None:
        return np.full(classes, 1 / classes)
    held = np.asarray(balance, dtype=np.float64)
    if held.shape != (classes,) or not ((held > 0).all() and abs(held.sum() - 1) < 1e-6):
        raise InputError(
            f"class balance must hold {classes} positive shares that sum to 1, got {held.tolist()}"
        )
    return np.asarray(held / held.sum())


def vote_share(votes: IntArray, balance: FloatArray, pseudo_votes: float) -> FloatArray:
    """Return the smoothed share of the votes, patterns x classes."""
    counted = np.stack([(votes == c).sum(axis=1) for c in range(len(balance))], axis=1).astype(
        np.float64
    )
    return np.asarray(
        (counted + pseudo_votes * balance) / (counted.sum(axis=1, keepdims=True) + pseudo_votes)
    )


def leading(votes: IntArray, size: int) -> IntArray:
    """Return the class with most votes of each pattern, the first of equals; *size* where all
    abstain.
    """
    counted = np.stack([(votes == c).sum(axis=1) for c in range(size)], axis=1)
    return np.asarray(
        np.where(counted.max(axis=1) > 0, counted.argmax(axis=1), size), dtype=np.int64
    )


# Dawid-Skene with one accuracy per weak label ("one coin").
#
# A weak label that votes is right with probability :math:`a_j`, whatever the class; its errors are
# spread evenly. Abstentions are silent, or, as votes, have a probability :math:`s_{jy}` per class:
#
# .. math:: M_{jy}(y) = (1 - s_{jy}) a_j, \quad M_{jy}(c) = (1 - s_{jy}) \frac{1 - a_j}{K - 1},
# \quad
#           M_{jy}(\text{silent}) = s_{jy}   \tag{B6}


_PRIOR = 0.1
"""Pseudo-votes of each kind, as in Dawid-Skene."""
_STEPS = 500
_TOLERANCE = 1e-6


def one_coin(
    table: WeakTable, *, balance: npt.ArrayLike | None = None, silence_votes: bool = False
) -> LabelModel:
    """Fit one accuracy per weak label by EM, from the share of the votes.

    Parameters
    ----------
    table
        The votes to fit on.
    balance
        The class balance, where it is known.
    silence_votes
        Whether an abstention says something about the class.

    Examples
    --------
    >>> from tallystick.verbs.bound.question import spam
    >>> from tallystick.verbs.bound.weak_votes import weak_table
    >>> from tallystick.table import Tally
    >>> names = ("links", "words", "sender", "caps")
    >>> table = weak_table(Tally.of(spam(2000, rng=1)), weak=names, prediction="classifier")
    >>> one_coin(table).probabilities(table)[-1].round(2)
    array([0.01, 0.99])
    """
    size = len(table.classes)
    known = None if balance is None else as_balance(balance, size)
    start = vote_share(table.votes, as_balance(known, size), 1.0)
    prior, log_votes = _climbed(table, start, known, silence_votes=silence_votes)
    return LabelModel(
        name="one coin, abstentions as votes" if silence_votes else "one coin",
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: _posterior(votes, prior, log_votes),
        rests_on="the weak labels err independently, equally often in every class",
    )


def _climbed(
    table: WeakTable, p: FloatArray, known: FloatArray | None, *, silence_votes: bool
) -> tuple[FloatArray, FloatArray]:
    """Run EM from the posterior *p*; return the balance and the log of (B6) by label and class.

    The last axis of the log probabilities is the vote, an abstention being the last one.
    """
    votes, weight = table.votes, table.weight
    (rows, weak), size = votes.shape, p.shape[1]
    cast = votes >= 0
    log_votes = np.zeros((weak, size, size + 1))
    for _ in range(_STEPS):
        mass = weight[:, None] * p
        balance = mass.sum(axis=0) / weight.sum() if known is None else known

        # The M step: how often a vote is right, and how often a class is met with silence.
        right = np.zeros(weak)
        for j in range(weak):
            here = np.flatnonzero(cast[:, j])
            right[j] = mass[here, votes[here, j]].sum()
        said = weight @ cast
        accuracy = (right + _PRIOR) / (said + _PRIOR * size)
        spoke = cast.T @ mass
        silent = (mass.sum(axis=0) - spoke + _PRIOR) / (mass.sum(axis=0) + 2 * _PRIOR)
        log_votes = _log_table(accuracy, silent, silence_votes=silence_votes)

        new = _posterior(votes, balance, log_votes)
        moved = float(np.abs(new - p).max()) if rows else 0.0
        p = new
        if moved < _TOLERANCE:
            break
    mass = weight[:, None] * p
    return (mass.sum(axis=0) / weight.sum() if known is None else known), log_votes


def _log_table(accuracy: FloatArray, silent: FloatArray, *, silence_votes: bool) -> FloatArray:
    """Return the logarithm of (B6), (weak labels, classes, votes and silence)."""
    weak, size = silent.shape
    out = np.zeros((weak, size, size + 1))
    out[:, :, :size] = np.log((1 - accuracy) / (size - 1))[:, None, None]
    diagonal = np.arange(size)
    out[:, diagonal, diagonal] = np.log(accuracy)[:, None]
    if silence_votes:
        out[:, :, :size] += np.log1p(-silent)[:, :, None]
        out[:, :, size] = np.log(silent)
    return out


def _posterior(votes: IntArray, balance: FloatArray, log_votes: FloatArray) -> FloatArray:
    size = len(balance)
    score = np.tile(np.log(np.maximum(balance, 1e-300)), (len(votes), 1))
    codes = np.where(votes < 0, size, votes)
    for j in range(votes.shape[1]):
        score += log_votes[j].T[codes[:, j]]
    share = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(share / share.sum(axis=1, keepdims=True))


# Votes weighted by how often the other weak labels confirm them: no labels, no iteration.


_ABOVE_CHANCE = 0.01
_MOST = 0.98
"""An accuracy is cut to [1/K + .01, .98], so that no vote counts for nothing or for everything."""


def vote_weights(
    votes: IntArray, counts: FloatArray, classes: int
) -> tuple[FloatArray, FloatArray]:
    r"""Return the accuracy and the weight of each weak label.

    .. math:: a_j = \frac{\text{agreements with the plurality of the others} + 1}
              {\text{rows where j and another vote} + 2}, \qquad
              w_j = \ln \frac{a_j (K - 1)}{1 - a_j}   \tag{B3}

    Ties of the others are split, and a is cut to [1/K + .01, .98].

    Parameters
    ----------
    votes
        Patterns x weak labels, -1 for an abstention.
    counts
        Rows per pattern.
    classes
        K.

    Examples
    --------
    >>> patterns = np.array([[0, 0, 1], [1, 1, 1], [1, -1, 1], [0, 0, -1], [1, 0, 1]])
    >>> vote_weights(patterns, np.array([3.0, 4, 2, 5, 1]), 2)[0].round(4)
    array([0.8235, 0.7667, 0.625 ])
    """
    held = as_votes(votes, counts, n_classes=classes)
    tables = majority_of_others(held, classes).tables
    confirmed = np.einsum("jyy->j", tables[:, :, :classes])
    accuracy = (confirmed + 1) / (tables.sum(axis=(1, 2)) + 2)
    accuracy = np.clip(accuracy, 1 / classes + _ABOVE_CHANCE, _MOST)
    return accuracy, np.log(accuracy * (classes - 1) / (1 - accuracy))  # (B3)


def weighted_majority(table: WeakTable) -> LabelModel:
    r"""Let each weak label vote with the weight that the others give it.

    .. math:: p(c \mid z) \propto \exp \sum_j w_j 1[\text{vote}_j = c]   \tag{B4}

    A row without a vote has equal probabilities.

    >>> from tallystick.table import Tally
    >>> from tallystick.verbs.bound.weak_votes import weak_table
    >>> rows = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 0], "c": [0, 1, 1, 1], "h": [0, 0, 1, 1]}
    >>> table = weak_table(Tally.of(rows), weak=["a", "b", "c"], prediction="h")
    >>> weighted_majority(table).probabilities(table)[0].round(3)
    array([0.797, 0.203])
    """
    size = len(table.classes)
    _, weights = vote_weights(table.votes, table.weight, size)
    return LabelModel(
        name="weighted majority",
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: _softmax(votes, weights, size),
        rests_on="the weak labels' agreement with one another is their accuracy",
    )


def consensus_of(table: WeakTable) -> IntArray:
    """Return the class that the weighted votes of each pattern lead to, the first of equals.

    It comes from votes only, so it may sort rows into strata before a label is seen.
    """
    return np.asarray(weighted_majority(table).probabilities(table).argmax(axis=1))


def _softmax(votes: IntArray, weights: FloatArray, size: int) -> FloatArray:
    """Return (B4), with the largest exponent taken out first."""
    score = np.stack([(votes == c) @ weights for c in range(size)], axis=1)
    share = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(share / share.sum(axis=1, keepdims=True))


# Votes that are independent given the class: EM, and its closed form by trios.


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

    options = LatentOptions(
        balance=None if balance is None else as_balance(balance, size),
        confusion_prior=prior,
        max_iterations=20_000,
    )
    _refuse_the_useless(codes(table.votes), table)
    fitted = fit(
        codes(table.votes), table.weight, n_classes=size, n_votes=size + extra, options=options
    )
    if balance is None:
        fitted = unmirrored(fitted, codes(table.votes), table.weight)
        _refuse_the_emptied(table.weight @ fitted.posterior, table)
    return LabelModel(
        name="dawid-skene",
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: posterior(fitted.model, codes(votes)),
        rests_on=INDEPENDENCE,
        fit=fitted,
        votes_of=codes,
    )


def unmirrored(fitted: LatentFit, codes: IntArray, weight: FloatArray) -> LatentFit:
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

    solved = solve_triplets(codes(table.votes), table.weight, balance=known, clip=True)
    edge = 1e-3  # accuracies that were clipped to 0 or 1 would make votes certain
    model = LatentModel(solved.balance, np.clip(solved.confusion, edge, 1 - edge))
    return LabelModel(
        name="triplet",
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: posterior(model, codes(votes)),
        rests_on=INDEPENDENCE,
    )


# P(Y | Z) from labelled rows: the "oracle" of the paper, smoothed.


_GROUP_PRIOR = 2.0


def from_labels(table: WeakTable, *, strength: float = 1.0) -> LabelModel:
    r"""Take the labels of the rows that show a pattern, drawn to those of all rows with the same
    leading vote.

    .. math:: p_g = \frac{G_g + 2\,p}{m_g + 2}, \qquad p_z = \frac{G_z + s\,p_{g(z)}}{m_z + s}

    with labelled rows G of pattern z, of the group g (the class with most votes, or none) and of
    all, and *strength* s. A pattern that no label was seen for has the law of its group.
    """
    gold = table.gold_labels
    if gold is None:
        raise InputError(
            "a label model from labels needs a column of truth: name it (--truth), or choose"
            " another model"
        )
    size = len(table.classes)
    overall = (gold.sum(axis=0) + 1 / size) / (gold.sum() + 1)
    group = leading(table.votes, size)
    by_group = np.stack([gold[group == g].sum(axis=0) for g in range(size + 1)])
    laws = (by_group + _GROUP_PRIOR * overall) / (
        by_group.sum(axis=1, keepdims=True) + _GROUP_PRIOR
    )
    seen = {row.tobytes(): z for z, row in enumerate(table.votes)}
    own = (gold + strength * laws[group]) / (gold.sum(axis=1, keepdims=True) + strength)

    def predict(votes: IntArray) -> FloatArray:
        out = np.array(laws[leading(votes, size)])
        for i, row in enumerate(votes):
            z = seen.get(row.tobytes())
            if z is not None:
                out[i] = own[z]
        return out

    return LabelModel(
        name="labels",
        classes=table.classes,
        weak=table.weak,
        predict=predict,
        rests_on=f"the {int(gold.sum()):,} labelled rows are a random sample",
        labelled=(table.votes, gold),
    )


def most_active(table: WeakTable, most: int = 10) -> tuple[str, ...]:
    """Return the weak labels that vote on most rows: the paper's truncation, without which patterns
    are too many.

    [MP23]_, section 4.1, keeps ten; it does not say which.
    """
    active = ((table.votes >= 0) * table.weight[:, None]).sum(axis=0)
    kept = np.sort(np.argsort(-active, kind="stable")[:most])
    return tuple(table.weak[int(j)] for j in kept)


# Any P(Y | Z) that the user brings: an array, a table of patterns, or an object with
# predict_proba.


def given(table: WeakTable, source: Any, *, name: str = "given") -> LabelModel:
    """Use a label model from elsewhere.

    Parameters
    ----------
    table
        For its classes and weak columns.
    source
        An array (patterns of *table* x classes); or an object with ``predict_proba(votes)``, such
        as a fitted Snorkel ``LabelModel``, called with the votes as class indices and -1 for an
        abstention; or such a function.

    Examples
    --------
    >>> from tallystick.verbs.bound.weak_votes import weak_table
    >>> from tallystick.table import Tally
    >>> table = weak_table(Tally.of({"a": [0, 1], "h": [0, 1]}), weak=["a"], prediction="h")
    >>> given(table, [[0.9, 0.1], [0.2, 0.8]]).probabilities(table)[0].tolist()
    [0.9, 0.1]
    """
    ask = getattr(source, "predict_proba", source if callable(source) else None)
    if ask is None:
        ask = _lookup(table.votes, np.asarray(source, dtype=np.float64), len(table.classes))
    return LabelModel(
        name=name,
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: np.asarray(ask(votes), dtype=np.float64),
        rests_on=f"the label model {name} is right",
    )


def read_model(table: WeakTable, path: str) -> LabelModel:
    """Read P(Y | Z) from a file with a column for each weak label and one, named like the class,
    for each class.

    Patterns that the file does not have stay unknown: their rows are bounded by logic only.
    """
    from tallystick import table as io

    with io.scan(path) as held:
        lacking = [
            name for name in (*table.weak, *map(str, table.classes)) if name not in held.columns
        ]
        if lacking:
            raise InputError(
                f"{path} has no column {lacking[0]!r}: it needs the weak columns {list(table.weak)}"
                f" and a column of probabilities for each class {[str(c) for c in table.classes]}"
            )
        names = ", ".join(io.identifier(name) for name in (*table.weak, *map(str, table.classes)))
        rows = held.query(f"select {names} from rows")
    if not rows:
        raise InputError(f"{path} has no rows: a label model needs one row per pattern of votes")
    width = len(table.weak)
    votes = np.array(
        [[_class(cell, table.classes, path) for cell in row[:width]] for row in rows],
        dtype=np.int64,
    )
    try:
        laws = np.array([[float(cell) for cell in row[width:]] for row in rows])
    except (TypeError, ValueError):
        raise InputError(f"{path}: the columns of the classes must hold probabilities") from None
    if len(np.unique(votes, axis=0)) < len(votes):
        raise InputError(f"{path} has two rows for one pattern of votes: keep one")
    return LabelModel(
        name=path,
        classes=table.classes,
        weak=table.weak,
        predict=_lookup(votes, laws, len(table.classes)),
        rests_on=f"the label model in {path} is right",
    )


def _class(cell: Any, classes: tuple[Label, ...], path: str) -> int:
    text = "" if cell is None else str(cell).strip()
    if text == "" or text == str(ABSTAINED):
        return ABSTAINED
    for i, label in enumerate(classes):
        if identity(label) == identity(cell) or str(label) == text:
            return i
    raise InputError(
        f"{path}: vote {cell!r} is none of the classes {list(classes)!r} (blank or -1 is an"
        " abstention)"
    )


def _lookup(votes: IntArray, laws: FloatArray, classes: int) -> Any:
    if laws.shape != (len(votes), classes):
        raise InputError(
            f"a label model given as an array needs shape {(len(votes), classes)} (patterns,"
            f" classes), got {laws.shape}"
        )
    seen = {row.tobytes(): z for z, row in enumerate(np.ascontiguousarray(votes))}

    def predict(asked: IntArray) -> FloatArray:
        out = np.full((len(asked), classes), np.nan)
        for i, row in enumerate(np.ascontiguousarray(asked)):
            z = seen.get(row.tobytes())
            if z is not None:
                out[i] = laws[z]
        return out

    return predict
