"""Label models: P(Y | Z) of every pattern of votes, what it rests on, and whether it is any good.

Votes alone cannot say which label model is right. Two are tried, the share of the votes and
Dawid-Skene, or the one that the caller brings; what follows from one of them is a sentence with
"if".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError, NotIdentifiable
from tallystick.papers.frechet_bounds import Summary, known_rows
from tallystick.results import Interval, Unknown
from tallystick.stats.latent_checks import information, misfit
from tallystick.stats.latent_headline import majority_of_others
from tallystick.stats.latent_model import LatentFit, LatentOptions, as_votes, fit
from tallystick.table import Data, Label, Tally, identifier, scan
from tallystick.table.cells import identity
from tallystick.verbs.bound.forward import (
    Evidence,
    FloatArray,
    IntArray,
    LabelDoubt,
    Scheme,
    forward,
    label_bins,
)
from tallystick.verbs.bound.question import MODELS
from tallystick.verbs.bound.result import Bound, LabelModelAudit
from tallystick.verbs.bound.votes import ABSTAINED, WeakVotes

INDEPENDENCE = "the weak labels err independently given the class"
# Pseudo-votes of each kind: a vote never seen on a class is rare there, not impossible.
PRIOR = 0.1

_SUM, _ROUNDED = 1e-6, 1e-3
"""By how much probabilities may miss one: those of items are often written with few digits."""
_LEVEL = 0.025
_LEAST = 3
_LEAST_LED = 5
_KEPT = 0.25
_LEAST_ROWS = 20
_REFUTED = 0.05
_ROUGH = 1e-4
# The orders of the rows and the draws of the tests are the same in every answer, so that no result
# moves with a seed.
_SEED = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelModel:
    """P(Y | Z) on the patterns of one table.

    Parameters
    ----------
    name, rests_on
        How it is called in results, and what has to be true for it to be right.
    law
        Patterns x classes; a row of NaN says that nothing is known of that pattern.
    fit, codes
        The latent-class fit behind it, whose doubt is then part of the range, and its votes.
    """

    name: str
    rests_on: str
    law: FloatArray
    fit: LatentFit | None = None
    codes: IntArray | None = None


def named(votes: WeakVotes, model: Any, data: Data | None = None) -> LabelModel:
    """Return the label model that a caller names: a word, a file, or an object with
    ``predict_proba``.
    """
    if isinstance(model, LabelModel):
        return model
    if model == "majority":
        return majority(votes)
    if model == "dawid-skene":
        return dawid_skene(votes)
    if isinstance(model, str | Path) and Path(model).exists():
        return read_model(votes, str(model), data)
    return given(votes, model)


def majority(votes: WeakVotes) -> LabelModel:
    r"""Take the share of the votes for a class as its probability.

    .. math:: p_{zy} = \frac{v_{zy} + 1/K}{\sum_y v_{zy} + 1}

    with votes v. Where all abstain the classes are equally likely.
    """
    size = len(votes.classes)
    counted = np.stack([(votes.votes == c).sum(axis=1) for c in range(size)], axis=1)
    law = (counted + 1 / size) / (counted.sum(axis=1, keepdims=True) + 1.0)
    return LabelModel(
        name="majority", rests_on="the share of votes for a class is its probability", law=law
    )


# Votes weighted by how often the others confirm them: the consensus that sorts rows into cells.


_ABOVE_CHANCE = 0.01
# An agreement is cut to [1/K + .01, .98], so that no vote counts for nothing or for everything.
_MOST = 0.98


def vote_weights(
    votes: IntArray, counts: FloatArray, classes: int
) -> tuple[FloatArray, FloatArray]:
    r"""Return the agreement and the weight of each weak label.

    .. math:: a_j = \frac{\text{agreements with the plurality of the others} + 1}
              {\text{rows where j and another vote} + 2}, \qquad
              w_j = \ln \frac{a_j (K - 1)}{1 - a_j}   \tag{B3}

    Ties of the others are split, and a is cut to [1/K + .01, .98].

    >>> patterns = np.array([[0, 0, 1], [1, 1, 1], [1, -1, 1], [0, 0, -1], [1, 0, 1]])
    >>> vote_weights(patterns, np.array([3.0, 4, 2, 5, 1]), 2)[0].round(4)
    array([0.8235, 0.7667, 0.625 ])
    """
    tables = majority_of_others(as_votes(votes, counts, n_classes=classes), classes).tables
    confirmed = np.einsum("jyy->j", tables[:, :, :classes])
    agreement = (confirmed + 1) / (tables.sum(axis=(1, 2)) + 2)
    agreement = np.clip(agreement, 1 / classes + _ABOVE_CHANCE, _MOST)
    return agreement, np.log(agreement * (classes - 1) / (1 - agreement))  # (B3)


def consensus(votes: WeakVotes) -> FloatArray:
    r"""Return how strongly the weighted votes of each pattern lead to each class.

    .. math:: p(c \mid z) \propto \exp \sum_j w_j 1[\text{vote}_j = c]   \tag{B4}

    It comes from votes only, so it may sort rows into cells before a label is seen.
    """
    size = len(votes.classes)
    _, weights = vote_weights(votes.votes, votes.weight, size)
    score = np.stack([(votes.votes == c) @ weights for c in range(size)], axis=1)
    share = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(share / share.sum(axis=1, keepdims=True))


# Dawid-Skene: votes that are independent given the class.


def dawid_skene(votes: WeakVotes) -> LabelModel:
    """Fit class balance and confusion matrices of the weak labels by EM, without labels.

    An abstention says nothing, unless one weak label votes for one class only and is silent
    otherwise: if such silence said nothing, all items would be that class. Then silence is a vote.

    Raises
    ------
    NotIdentifiable
        Fewer than three weak labels that vary; votes that agree no more than by chance; or a fit
        that empties a class for which rows vote, which without labels nothing can confirm.
    """
    size = len(votes.classes)
    extra = int(any(_one_sided(column) for column in votes.votes.T))
    codes = np.where(votes.votes < 0, size, votes.votes) if extra else votes.votes
    _refuse_the_useless(codes, votes.weight)
    # A vote that a column never casts is no parameter: rules of one class have two votes, not K.
    cast = np.stack([(codes == v).any(axis=0) for v in range(size + extra)], axis=1)
    prior = np.repeat(PRIOR * cast[:, None, :], size, axis=1)
    options = LatentOptions(confusion_prior=prior, max_iterations=20_000)
    found = fit(codes, votes.weight, n_classes=size, n_votes=size + extra, options=options)
    found = unmirrored(found, codes, votes.weight)
    _refuse_the_emptied(found, votes)
    return LabelModel(
        name="dawid-skene", rests_on=INDEPENDENCE, law=found.posterior, fit=found, codes=codes
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


def _one_sided(column: IntArray) -> bool:
    """Say whether a weak label votes for one class only and abstains otherwise."""
    seen = np.unique(column)
    return len(seen) == 2 and seen[0] < 0


def _refuse_the_useless(codes: IntArray, weight: FloatArray) -> None:
    """Refuse votes that agree no better than chance: without labels, nothing can then be learnt of
    Y from them.

    Chi-squared tests of independence for every pair of weak labels: the strongest of them by
    Bonferroni (a few that agree), and their sum (many that agree a little), each at 2.5%.
    """
    from scipy.special import chdtrc

    columns = range(codes.shape[1])
    varied = sum(len(np.unique(codes[codes[:, j] >= 0, j])) > 1 for j in columns)
    if varied < _LEAST:
        raise NotIdentifiable(
            f"{varied} of {codes.shape[1]} weak labels give different votes; without labels at"
            f" least {_LEAST} must: infinitely many models fit fewer; add weak labels, or use"
            " labels, majority or a P(Y | Z) of your own"
        )
    tests = [found for j in columns for k in range(j) if (found := _chi2(codes[:, [j, k]], weight))]
    if not tests:
        return
    p_values = [float(chdtrc(freedom, statistic)) for statistic, freedom in tests]
    everything = float(chdtrc(*np.sum(tests, axis=0)[::-1]))
    if min(min(p_values) * len(p_values), everything) > _LEVEL:
        raise NotIdentifiable(
            f"the weak labels agree no more than by chance (smallest p {min(p_values):.2g},"
            f" {len(p_values)} pairs): without labels they say nothing about the class; add better"
            " weak labels, or labelled rows"
        )


def _chi2(pair: IntArray, weight: FloatArray) -> tuple[float, int] | None:
    """Return the statistic of independence of two columns and its degrees of freedom."""
    both = (pair >= 0).all(axis=1)
    size = int(pair.max()) + 1
    cell = pair[both, 0] * size + pair[both, 1]
    seen = np.bincount(cell, weights=weight[both], minlength=size * size).reshape(size, size)
    seen = seen[seen.sum(axis=1) > 0][:, seen.sum(axis=0) > 0]
    freedom = (seen.shape[0] - 1) * (seen.shape[1] - 1)
    if freedom <= 0:
        return None
    expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
    return float(((seen - expected) ** 2 / expected).sum()), freedom


def _refuse_the_emptied(fitted: LatentFit, votes: WeakVotes) -> None:
    """Refuse a fit that keeps less than a quarter of the rows whose votes lead to some class."""
    size = len(votes.classes)
    mass = votes.weight @ fitted.posterior
    counted = np.stack([(votes.votes == c).sum(axis=1) for c in range(size)], axis=1)
    lead = np.where(counted.max(axis=1) > 0, counted.argmax(axis=1), size)
    for c, label in enumerate(votes.classes):
        voted = float(votes.weight[lead == c].sum())
        if voted >= _LEAST_LED and mass[c] < _KEPT * voted:
            raise NotIdentifiable(
                f"without labels the fit leaves {mass[c]:.1f} of {votes.n:,} rows to class"
                f" {label!r}, though the votes of {voted:.0f} rows lead to it: label some rows"
            )


# Any P(Y | Z) that the caller brings.


def given(votes: WeakVotes, source: Any, *, name: str = "given") -> LabelModel:
    """Use a label model from elsewhere: an object with ``predict_proba(votes)``, such as a fitted
    Snorkel ``LabelModel``, or such a function. Votes are class indices in canonical order, -1 for
    an abstention, weak labels in the order in which they were named.
    """
    ask = getattr(source, "predict_proba", source)
    if not callable(ask):
        raise InputError(
            f"label model must be one of {', '.join(MODELS)}, a file or an object with"
            f" predict_proba, got {source!r}"
        )
    asked = np.full((len(votes.votes), len(votes.asked)), ABSTAINED)
    for j, column in enumerate(votes.weak):
        asked[:, votes.asked.index(column)] = np.append(votes.order, ABSTAINED)[votes.votes[:, j]]
    law = np.asarray(ask(asked), dtype=np.float64)
    _check_shape(law, (len(votes.votes), len(votes.classes)), name)
    return _brought(votes, law, name)


def _brought(votes: WeakVotes, law: FloatArray, name: str) -> LabelModel:
    """Return what a caller brought as a label model; classes are those of the panel."""
    return LabelModel(
        name=name,
        rests_on=f"the label model {name} is right",
        law=_checked(law[:, votes.order], name, _SUM),
    )


def _check_shape(law: FloatArray, shape: tuple[int, int], name: str) -> None:
    if law.shape != shape:
        raise InputError(
            f"label model {name} has shape {law.shape}, and {shape} is needed: one row per item in"
            " the order of the table (or an item column to join by), and one column per class"
        )


def _checked(law: FloatArray, name: str, slack: float) -> FloatArray:
    """Return probabilities that sum to one; rows of NaN stay."""
    said = known_rows(law)
    total = np.where(said, np.nan_to_num(law).sum(axis=1), 1.0)
    partly = ~said & np.isfinite(law).any(axis=1)
    wrong = (np.abs(total - 1) > slack) | (law < -slack).any(axis=1) | partly
    if wrong.any():
        row = int(wrong.argmax())
        raise _no_probabilities(name, f"row {row + 1}: {law[row].round(4).tolist()}")
    clean = np.clip(law, 0, 1)
    clean[said] /= clean[said].sum(axis=1, keepdims=True)
    return clean


def _no_probabilities(name: str, where: str) -> InputError:
    return InputError(
        f"label model {name}, {where}: probabilities must be numbers of at least 0, sum to 1, and"
        " be there for all classes or for none"
    )


_PREFIXES = ("", "p_", "prob_", "proba_", "probability_")


def read_model(votes: WeakVotes, path: str, data: Data | None) -> LabelModel:
    """Read P(Y | Z) from a file: one row per pattern of votes, or one per item.

    A file of patterns has a column for each weak label and one for each class; patterns that it
    lacks stay unknown, and their rows are bounded by logic only. A file of items, as Snorkel,
    skweak and cleanlab write it, has one column per class (named like the class, or p_CLASS,
    prob_CLASS), joined by the item column if it has one, otherwise in the order of the rows; or it
    is a ``.npy`` array of shape (rows, classes). Rows with the same votes are averaged: if the
    probabilities are right, so is their mean given the votes.
    """
    if path.endswith(".npy"):
        law = _of_items(votes, np.asarray(np.load(path, allow_pickle=False), float), path, data)
    else:
        with scan(path) as held:
            columns = tuple(held.columns)
            patterns = all(name in columns for name in votes.asked)
            classes = [_column(str(c), columns, path, votes.asked) for c in votes.panel.classes]
            item = None if data is None or patterns else data.roles.item
            item = item if item in columns else None
            wanted = (*(votes.asked if patterns else ()), *classes, *([item] if item else []))
            rows = held.query(f"select {', '.join(map(identifier, wanted))} from rows")
        first = len(votes.asked) if patterns else 0
        try:
            part = slice(first, first + len(classes))
            read = np.array([[float(cell) for cell in row[part]] for row in rows])
        except (TypeError, ValueError):
            raise _no_probabilities(path, f"columns {', '.join(classes)}") from None
        if patterns:
            law = _of_patterns(votes, [row[:first] for row in rows], read, path)
        else:
            if item is not None and data is not None:
                read = read[_joined([row[-1] for row in rows], data.cells(item)[item], item, path)]
            law = _of_items(votes, read, path, data)
    return _brought(votes, law, path)


def _of_patterns(
    votes: WeakVotes, cells: Sequence[Sequence[Any]], law: FloatArray, path: str
) -> FloatArray:
    """Look up the law of every pattern of votes; NaN where the file has none."""
    read = np.array([[_class(cell, votes.classes, path) for cell in row] for row in cells])
    # A weak label that never votes here is matched by the rows in which it is silent.
    silent = [j for j, name in enumerate(votes.asked) if name not in votes.weak]
    here = (read[:, silent] == ABSTAINED).all(axis=1)
    own = read[here][:, [votes.asked.index(name) for name in votes.weak]].astype(np.int64)
    seen = {row.tobytes(): z for z, row in enumerate(np.ascontiguousarray(own))}
    if len(seen) < len(own):
        raise InputError(f"{path} has two rows for one pattern of votes: keep one")
    out = np.full((len(votes.votes), law.shape[1]), np.nan)
    for z, row in enumerate(np.ascontiguousarray(votes.votes)):
        at = seen.get(row.tobytes())
        if at is not None:
            out[z] = law[here][at]
    return out


def _of_items(votes: WeakVotes, law: FloatArray, path: str, data: Data | None) -> FloatArray:
    """Return the mean over the rows that show each pattern."""
    if data is None or isinstance(data.held, Tally):
        raise InputError(
            f"{path} has one row per item, and a saved tally has no items: give the table itself"
        )
    _check_shape(law, (data.n_rows, len(votes.classes)), path)
    law = _checked(law, path, _ROUNDED)
    place = votes.rows(data)
    sums = np.zeros((len(votes.votes), law.shape[1]))
    np.add.at(sums, place, law)
    return np.asarray(sums / sums.sum(axis=1, keepdims=True))


def _column(label: str, columns: Sequence[str], path: str, weak: tuple[str, ...]) -> str:
    for prefix in _PREFIXES:
        if f"{prefix}{label}" in columns:
            return f"{prefix}{label}"
    raise InputError(
        f"{path} has no column {label!r}: a label model needs one column of probabilities per class"
        f" (also p_{label} or prob_{label}), with one row per item, or one per pattern of the weak"
        f" columns {list(weak)}"
    )


def _joined(have: list[Any], want: list[Any], item: str, path: str) -> list[int]:
    """Return the row of the file for each item of the data."""
    place = {str(name): i for i, name in enumerate(have)}
    lacking = [name for name in want if str(name) not in place]
    wrong = lacking or [name for i, name in enumerate(have) if place[str(name)] != i]
    if wrong:
        raise InputError(f"{path} must have one row per {item!r}, and has not for {wrong[0]!r}")
    return [place[str(name)] for name in want]


def _class(cell: Any, classes: Sequence[Label], path: str) -> int:
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


# What follows from a label model, if it is right: ranges by the forward dual.


def ranges_under(
    model: LabelModel,
    votes: WeakVotes,
    wanted: Sequence[Summary],
    *,
    alpha: float,
    thresholds: Sequence[float | None],
) -> list[Bound]:
    """Return the range of every wanted metric for every classifier, in this order.

    The ranges of all thresholds of a score hold together, by Bonferroni.
    """
    if votes.n < _LEAST_ROWS:
        raise InputError(
            f"{votes.n} rows are too few to bound anything with confidence: at least {_LEAST_ROWS}"
        )
    cuts = sum(threshold is not None for threshold in thresholds)
    critical = NormalDist().inv_cdf(1 - alpha / 2 / max(1, cuts))
    shown = np.where(known_rows(model.law)[:, None], model.law, 1 / len(votes.classes))
    bins = label_bins(shown, votes.weight)
    doubt = _doubt(model)
    out = []
    for k, name in enumerate(votes.predictions):
        evidence = Evidence(counts=votes.counts(k), p=model.law, bins=bins, doubt=doubt)
        ends = forward(evidence, wanted, rng=_SEED, scheme=Scheme.fitting(votes.n))
        for one, (low, high) in zip(wanted, ends, strict=True):
            edges = float(low.edge(critical)), float(high.edge(critical))
            found: Interval | Unknown
            if np.isfinite(edges).all():
                least, most = (float(end) for end in np.clip(edges, 0, 1))
                found = Interval(
                    least,
                    max(least, most),
                    level=1 - alpha,
                    guarantee="under",
                    assumption=model.rests_on,
                    method="forward dual",
                )
            else:
                found = Unknown(f"{one.metric} does not exist: {_absent(model, votes, k, one)}")
            out.append(
                Bound(
                    prediction=name,
                    metric=one.metric,
                    positive=None if one.positive is None else votes.classes[one.positive],
                    threshold=thresholds[k],
                    label_model=model.name,
                    interval=found,
                )
            )
    return out


def _doubt(model: LabelModel) -> LabelDoubt | None:
    """Return the label model's own error; None where it cannot be estimated or is not its own."""
    if model.fit is None or model.codes is None:
        return None
    try:
        return LabelDoubt(information(model.fit), model.codes)
    except NotIdentifiable:
        return None


def _absent(model: LabelModel, votes: WeakVotes, k: int, wanted: Summary) -> str:
    """Say which class has no denominator: one never predicted, or one that the label model gives no
    probability.
    """
    p = np.where(np.isfinite(model.law), model.law, 1 / model.law.shape[1])
    never = votes.counts(k).sum(axis=0) == 0
    impossible = votes.weight @ p / votes.n < 1e-12
    kind = wanted.metric.removeprefix("macro-")
    lacking = {"precision": never, "recall": impossible, "f1": never & impossible}[kind]
    which = np.flatnonzero(lacking) if wanted.positive is None else [wanted.positive]
    gone = {"precision": (0,), "recall": (1,), "f1": (0, 1)}[kind]
    why = ("never predicted", "given no probability by the label model")
    names = ", ".join(str(votes.classes[c]) for c in which)
    return f"class {names} is {' and '.join(why[i] for i in gone)}"


# Is the label model any good? What it implies, against what is seen.


def audit(model: LabelModel, votes: WeakVotes) -> LabelModelAudit:
    """Say what is known of a label model, by votes and by labels."""
    known = known_rows(model.law)
    weight = votes.weight * known
    clean = np.where(known[:, None], model.law, 0.0)
    balance = weight @ clean / max(float(weight.sum()), 1e-300)
    shares = dict(zip(votes.classes, balance.tolist(), strict=True))
    test = surprise(model.law, votes.gold(), rng=_SEED)
    p_value = Unknown("no labels were given") if test is None else test.p_value
    return LabelModelAudit(
        name=model.name,
        rests_on=model.rests_on,
        class_balance={str(c): shares[c] for c in votes.panel.classes},
        unknown_mass=float(1 - weight.sum() / votes.n),
        votes_contradict=_contradicted(model),
        calibration_p=p_value,
        refuted=not isinstance(p_value, Unknown) and p_value <= _REFUTED,
    )


def _contradicted(model: LabelModel) -> bool | Unknown:
    """Test the independence that a fitted label model assumes, by the votes alone."""
    if model.fit is None:
        return Unknown("votes alone cannot test what this label model rests on")
    try:
        return misfit(model.fit, covotes=True, tolerance=_ROUGH, rng=_SEED).rejected
    except NotIdentifiable as error:
        return Unknown(str(error))


# Less probability than this is not taken at its word: one label could never be forgiven.
_FLOOR = 0.001
_DRAWS = 499


@dataclass(frozen=True, eq=False, kw_only=True)
class Surprise:
    """The log probability of the labels, S of (B5), and what it is for labels drawn from the
    model.
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
    at 5%: 0 to 7%. *gold* has labelled rows by pattern and class; None is returned if none of
    them has a known P(Y | z).

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
