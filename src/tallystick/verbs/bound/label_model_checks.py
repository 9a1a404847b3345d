"""Is the label model any good? What it implies, against what is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError, NotIdentifiable
from tallystick.papers.frechet_bounds import known_rows
from tallystick.results import Unknown
from tallystick.stats.latent_checks import agreement_z
from tallystick.stats.latent_covotes import CoVotes, covote_rms
from tallystick.stats.latent_fit import fit, information
from tallystick.stats.latent_model import LatentOptions, posterior
from tallystick.table import Label
from tallystick.verbs.bound.forward import (
    BoolArray,
    Evidence,
    FloatArray,
    IntArray,
    LabelDoubt,
    label_bins,
)
from tallystick.verbs.bound.label_models import (
    INDEPENDENCE,
    PRIOR,
    Abstain,
    LabelModel,
    as_balance,
    dawid_skene,
    from_labels,
    majority,
    one_coin,
    triplet,
    unmirrored,
    weighted_majority,
)
from tallystick.verbs.bound.weak_votes import ABSTAINED, WeakTable

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


# The seven label models that votes alone suggest, and how far they are from one another.
#
# Weak votes cannot say which label model is right. What all of them allow is the robust range.


_STEPS = 2000
_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False, kw_only=True)
class Family:
    """The seven label models, what they say of each pattern, and the median distance of two.

    Parameters
    ----------
    models
        In a fixed order, the vote share first.
    laws
        P(Y | z) of each model on the patterns of the table.
    distance
        D of (B7).
    """

    models: tuple[LabelModel, ...]
    laws: tuple[FloatArray, ...]
    distance: float

    @property
    def independence(self) -> LabelModel:
        """The member that the votes can test: Dawid-Skene with abstentions as votes."""
        return self.models[3]


def family_of(table: WeakTable, *, balance: npt.ArrayLike | None = None) -> Family:
    r"""Fit the family: vote share; weighted majority; Dawid-Skene and one coin, each with
    abstentions silent and as votes; Dawid-Skene after merging near-duplicates.

    .. math:: D = \operatorname{median}_{a < b} \tfrac12 \sum_z P(z) \sum_y |p_a(y|z) - p_b(y|z)|
              \tag{B7}

    No member refuses: a fit that a careful reader would doubt only widens the range.

    Examples
    --------
    >>> from tallystick.verbs.bound.question import spam
    >>> from tallystick.verbs.bound.weak_votes import weak_table
    >>> from tallystick.table import Tally
    >>> names = ("links", "words", "sender", "caps")
    >>> table = weak_table(Tally.of(spam(2000, rng=1)), weak=names, prediction="classifier")
    >>> found = family_of(table)
    >>> len(found.models), found.distance < 0.15
    (7, True)
    """
    abstains = bool((table.votes[table.weight > 0] < 0).any())
    how = ", abstentions silent" if abstains else ""
    silent = _dawid_skene(table, balance, name=f"dawid-skene{how}")
    coin = one_coin(table, balance=balance)
    models = (
        majority(table, balance=balance),
        weighted_majority(table),
        silent,
        _dawid_skene(table, balance, name="dawid-skene, abstentions as votes", silence_votes=True)
        if abstains
        else _renamed(silent, "dawid-skene, abstentions as votes"),
        coin,
        one_coin(table, balance=balance, silence_votes=True)
        if abstains
        else _renamed(coin, "one coin, abstentions as votes"),
        _merged(table, balance, silent),
    )
    laws = tuple(model.probabilities(table) for model in models)
    pairs = [distance(a, b, table.weight) for a, b in combinations(laws, 2)]
    return Family(models=models, laws=laws, distance=float(np.median(pairs)))  # (B7)


def distance(first: FloatArray, second: FloatArray, weight: FloatArray) -> float:
    """Return the total-variation distance of two label models, averaged over the rows.

    >>> distance(np.array([[0.9, 0.1]]), np.array([[0.6, 0.4]]), np.array([5.0])).__round__(3)
    0.3
    """
    return float(weight @ np.abs(first - second).sum(axis=1) / (2 * weight.sum()))


def _dawid_skene(
    table: WeakTable,
    balance: npt.ArrayLike | None,
    *,
    name: str,
    silence_votes: bool = False,
    groups: list[list[int]] | None = None,
) -> LabelModel:
    """Fit Dawid-Skene whatever the votes are like; *groups* of columns count as one."""
    size = len(table.classes)
    # A column that never votes says nothing, and the fit refuses it.
    kept = np.flatnonzero((table.votes[table.weight > 0] >= 0).any(axis=0))

    def codes(votes: IntArray) -> IntArray:
        held = votes[:, kept] if groups is None else merged_votes(votes, groups)
        return np.where(held < 0, size, held) if silence_votes else held

    options = LatentOptions(
        balance=None if balance is None else as_balance(balance, size),
        confusion_prior=PRIOR,
        max_iterations=_STEPS,
        tolerance=_TOLERANCE,
        strict=False,
    )
    fitted = fit(
        codes(table.votes),
        table.weight,
        n_classes=size,
        n_votes=size + silence_votes,
        options=options,
    )
    if balance is None:
        fitted = unmirrored(fitted, codes(table.votes), table.weight)
    return LabelModel(
        name=name,
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: posterior(fitted.model, codes(votes)),
        rests_on=INDEPENDENCE,
        fit=fitted,
        votes_of=codes,
    )


def _merged(table: WeakTable, balance: npt.ArrayLike | None, silent: LabelModel) -> LabelModel:
    name = "dawid-skene, near-duplicates merged"
    voting = np.flatnonzero((table.votes[table.weight > 0] >= 0).any(axis=0))
    groups = near_duplicates(table.votes[:, voting], table.weight, len(table.classes))
    if len(groups) == len(voting):
        return _renamed(silent, name)
    columns = [[int(voting[j]) for j in group] for group in groups]
    return _dawid_skene(table, balance, name=name, groups=columns)


def _renamed(model: LabelModel, name: str) -> LabelModel:
    return replace(model, name=name)


# Weak labels that nearly repeat one another, merged: a rule and its copy are one witness.


_KAPPA = 0.9
_COMMON = 20
_OVERLAP = 0.3
"""Copies agree beyond chance (kappa of at least .9) on at least 20 common rows, which are at least
.3 of the rows on which either votes."""


def near_duplicates(votes: IntArray, counts: FloatArray, classes: int) -> list[list[int]]:
    """Group the columns of *votes*: each joins the first group whose first column it repeats.

    >>> votes = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]])
    >>> near_duplicates(votes, np.full(4, 10.0), 2)
    [[0, 1], [2]]
    """
    groups: list[list[int]] = []
    for j in range(votes.shape[1]):
        home = next((g for g in groups if _repeats(votes[:, [g[0], j]], counts, classes)), None)
        if home is None:
            groups.append([j])
        else:
            home.append(j)
    return groups


def merged_votes(votes: IntArray, groups: list[list[int]]) -> IntArray:
    """Return one column per group: the first vote that one of its columns casts.

    >>> merged_votes(np.array([[-1, 1, 0]]), [[0, 1], [2]]).tolist()
    [[1, 0]]
    """
    out = np.full((len(votes), len(groups)), ABSTAINED, dtype=np.int64)
    for g, columns in enumerate(groups):
        for j in reversed(columns):  # the first column is written last, so its vote stands
            out[:, g] = np.where(votes[:, j] >= 0, votes[:, j], out[:, g])
    return out


def _repeats(pair: IntArray, counts: FloatArray, classes: int) -> bool:
    """Say whether the second column of *pair* is nearly the first."""
    voted = pair >= 0
    both, either = (float(counts @ part) for part in (voted.all(axis=1), voted.any(axis=1)))
    if both < _COMMON or both < _OVERLAP * either:
        return False
    here = voted.all(axis=1)
    cell = pair[here, 0] * classes + pair[here, 1]
    table = np.bincount(cell, weights=counts[here], minlength=classes**2)
    joint = table.reshape(classes, classes) / both
    agree, chance = float(np.trace(joint)), float(joint.sum(axis=1) @ joint.sum(axis=0))
    # Two columns that give one and the same vote agree by chance alone: kappa is 0/0 there.
    return chance < 1 and (agree - chance) / (1 - chance) >= _KAPPA


# Do labels contradict a label model? How surprising they are under it, against its own draws.


_FLOOR = 0.001
"""Less probability than this is not taken at its word: one label could never be forgiven."""
_DRAWS = 499


@dataclass(frozen=True, eq=False, kw_only=True)
class Surprise:
    """The log probability of the labels, and what it would be if the model were right.

    Parameters
    ----------
    statistic
        S of (B5).
    null
        The same for labels that were drawn from the model.
    labels
        How many labels were used.
    """

    statistic: float
    null: FloatArray
    labels: int

    @property
    def p_value(self) -> float:
        """Two-sided: labels may be too surprising, or not surprising enough."""
        # Rounding must not decide between labels that are equally probable.
        slack = 1e-9 * max(1.0, abs(self.statistic))
        below = int((self.null <= self.statistic + slack).sum())
        above = int((self.null >= self.statistic - slack).sum())
        return min(1.0, 2 * (1 + min(below, above)) / (1 + self.null.size))


def surprise(p: FloatArray, gold: IntArray, *, draws: int = _DRAWS, rng: Rng) -> Surprise | None:
    r"""Test P(Y | Z) by labels, whatever made it.

    .. math:: S = \sum_i \ln p(y_i \mid z_i)   \tag{B5}

    with p floored at .001 and renormalised. The null comes from labels drawn from p. Measured size
    at 5 %: 0 to 7 %.

    Parameters
    ----------
    p
        Patterns x classes; a row of NaN says nothing and is left out.
    gold
        Labelled rows by pattern and class.
    draws
        Null draws.
    rng
        A stream of its own: draws that share their uniforms with the data would be worthless.

    Returns
    -------
    Surprise
        None if no labelled row has a known P(Y | z).

    Examples
    --------
    >>> law = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    >>> found = surprise(law, np.array([[0, 1], [1, 0], [0, 1], [0, 1]]), rng=1)
    >>> round(found.statistic, 4), found.labels
    (-3.7987, 4)
    """
    here = known_rows(p) & (gold.sum(axis=1) > 0)
    if not here.any():
        return None
    law = np.maximum(p[here], _FLOOR)
    law /= law.sum(axis=1, keepdims=True)
    log, size = np.log(law), gold[here].sum(axis=1)
    drawn = as_rng(rng).multinomial(size, law, size=(draws, len(size)))
    return Surprise(
        statistic=float((gold[here] * log).sum()),  # (B5)
        null=np.asarray(np.einsum("dzc,zc->d", drawn, log)),
        labels=int(size.sum()),
    )


# A label model and a table, made ready: P(Y | Z), the labels that rectify it, the doubt left.


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
        return from_labels(table)
    if model == "majority":
        return majority(table, balance=fitting.balance)
    if model == "weighted-majority":
        return weighted_majority(table)
    if model == "dawid-skene":
        return dawid_skene(table, balance=fitting.balance, abstain=fitting.abstain)
    if model == "triplet":
        return triplet(table, balance=fitting.balance)
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
    steady = majority(table).probabilities(table) if model.labelled is not None else shown
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
