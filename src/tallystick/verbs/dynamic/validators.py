r"""How much of a log has random labels, judged by the people who validated it.

An ambiguous item's validators agree with its label by a coin toss; a clear one's agree except for
an error rate e. The number that agree is then a mixture of two binomials,

.. math:: a_i \sim (1-\delta)\,\mathrm{Bin}(v, 1-e) + \delta\,\mathrm{Bin}(v, \tfrac12),

which three validators an item identify and two do not. If only items were kept whose validators
mostly agree, the share is no longer a number but a set: any split of the observed disagreement
between e and :math:`\delta` explains the log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import ConvergenceError, InputError
from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.results import Interval, Unknown
from tallystick.verbs.dynamic.attempts import Attempts
from tallystick.verbs.dynamic.clusters import student_quantile

_MARKS = ",;|"
_MODEL = "validators of an ambiguous item agree by a coin toss, and each errs independently"


@dataclass(frozen=True)
class NoiseShare:
    """The share of ambiguous items: a number with an interval, or a reason why not with the set of
    what is possible.

    Parameters
    ----------
    share
        The estimate, or why there is none.
    interval
        Its interval; for a filtered log the set of shares that the log allows.
    disagreement
        Share of items on which some validator disagreed with the label.
    error
        How often a validator of a clear item disagrees with its label (e); None where the share is
        no number.
    """

    share: float | Unknown
    interval: Interval | Unknown
    disagreement: float
    error: float | None = None


def agreements(validators: Sequence[str | None], labels: Sequence[str]) -> tuple[Array, Array]:
    """Read what the validators said: how many of each item agree with its label, and how many there
    were.

    A cell lists labels, separated by commas, semicolons or bars, and where there are none of these
    by blanks; a sign that a label itself holds separates nothing. Where all labels are single
    characters, a cell may be one word of them ("cnc").

    >>> agreements(["cc", "cnc"], ["c", "c"])[0].tolist(), agreements(["yes, no", "no"], ["yes", "no"])[0].tolist()
    ([2, 2], [1, 1])
    """
    if len(validators) != len(labels):
        raise InputError(f"{len(labels)} items need as many validator cells, got {len(validators)}")
    read = votes_reader(labels)
    agree, count = np.zeros(len(labels), dtype=int), np.zeros(len(labels), dtype=int)
    for i, (cell, label) in enumerate(zip(validators, labels, strict=True)):
        votes = read(cell)
        agree[i], count[i] = sum(vote == label for vote in votes), len(votes)
    return agree, count


def votes_reader(
    labels: Iterable[str], *, words: bool = False
) -> Callable[[str | None], list[str]]:
    """Return the function that reads the labels in one cell; with *words* no word is taken apart
    into letters.

    >>> votes_reader(["yes", "no"])("yes; no"), votes_reader(["c", "n"])("cnc"), votes_reader(["c"])(None)
    (['yes', 'no'], ['c', 'n', 'c'], [])
    >>> votes_reader(["good", "bad"])("very good, bad"), votes_reader(["very good", "bad"])("very good")
    (['very good', 'bad'], ['very good'])
    """
    known = set(labels)
    held = {sign for label in known for sign in label}
    marks = "".join(mark for mark in _MARKS if mark not in held)
    spaced = not any(sign.isspace() for sign in held)
    short = not words and all(len(label) == 1 for label in known)

    def read(cell: str | None) -> list[str]:
        text = cell or ""
        if any(mark in text for mark in marks):
            found = [word.strip() for word in re.split(f"[{re.escape(marks)}]", text)]
        else:
            found = text.split() if spaced else [text.strip()]
        votes = [word for word in found if word]
        return list(votes[0]) if short and len(votes) == 1 else votes

    return read


def spelled_votes(
    cells: Sequence[str | None],
    labels: Sequence[Any],
    *,
    name: str,
    truth: str,
    coerce: bool = False,
) -> tuple[str | None, ...]:
    """Return what validators said, in the spelling of the true labels.

    Parameters
    ----------
    cells
        One list of labels per item, as `agreements` reads them.
    labels
        The true labels.
    name, truth
        The columns, for the message.
    coerce
        Whether several spellings of one label are read as one instead of refused.

    Examples
    --------
    >>> spelled_votes(["CnC", "C, N", "1.0", None], ["c", "n", "1", "c"], name="said", truth="gold", coerce=True)
    ('c,n,c', 'c,n', '1', None)
    """
    from tallystick.table import check_vocabulary, spelling

    known = list(dict.fromkeys(str(label) for label in labels))
    if not coerce:
        read = votes_reader(known)
        said = dict.fromkeys(vote for cell in cells for vote in read(cell))
        check_vocabulary({truth: known, name: list(said)})
        return tuple(cells)

    known = list(dict.fromkeys(str(spelling(label)) for label in known))
    words_in, short = votes_reader(known, words=True), all(len(label) == 1 for label in known)
    mark = next((sign for sign in ",;|" if not any(sign in label for label in known)), ",")

    def respelled(cell: str) -> str:
        words = words_in(cell)
        if short and len(words) == 1 and not _is_one_label(words[0], known):
            words = list(words[0])
        return mark.join(str(spelling(word)) for word in words)

    return tuple(None if cell is None else respelled(cell) for cell in cells)


def _is_one_label(word: str, known: Sequence[str]) -> bool:
    """Whether a word is a label in another spelling ("1.0", "True"), and not a list of labels
    ("01").
    """
    from tallystick.table import spelling

    return str(spelling(word)) in known and not all(str(spelling(sign)) in known for sign in word)


def noise_share(agree: Array, count: Array, *, alpha: float = 0.05) -> NoiseShare:
    """Estimate the share of ambiguous items.

    A log without a single item whose validators mostly disagree with its label has been filtered,
    and is treated so.

    Parameters
    ----------
    agree, count
        Validators of each item that agree with its label, and how many there were.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> chance = np.where(generator.random(4000) < 0.3, 0.5, 0.95)
    >>> found = noise_share(generator.binomial(5, chance), np.full(4000, 5))
    >>> 0.3 in found.interval, abs(found.share - 0.3) < 0.05
    (True, True)
    """
    from scipy.optimize import brentq, minimize_scalar
    from scipy.special import chdtri

    a, v = np.asarray(agree)[np.asarray(count) > 0], np.asarray(count)[np.asarray(count) > 0]
    if not a.size:
        nothing = Unknown("no item has a validator")
        return NoiseShare(nothing, nothing, float("nan"))
    disagreement = float((a < v).mean())
    if not np.any(2 * a < v):
        return _kept_only(a, v, alpha, disagreement)
    if v.max() < 3:
        reason = Unknown(
            "two validators an item cannot tell a random label from a careless validator: three are"
            " needed"
        )
        return NoiseShare(reason, reason, disagreement)
    cells, counts = np.unique(np.column_stack([a, v]), axis=0, return_counts=True)
    right, wrong = cells[:, 0], cells[:, 1] - cells[:, 0]

    def loss(delta: float, error: float) -> float:
        clear = (1 - error) ** right * error**wrong
        return -float(counts @ np.log((1 - delta) * clear + delta * 0.5 ** cells[:, 1]))

    def best_error(delta: float) -> tuple[float, float]:
        found = minimize_scalar(lambda e: loss(delta, e), bounds=(1e-6, 0.4999), method="bounded")
        return float(found.x), float(found.fun)

    def profile(delta: float) -> float:
        return best_error(delta)[1]

    best = minimize_scalar(profile, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-5})
    drop = float(chdtri(1, alpha)) / 2
    delta, least = float(best.x), float(best.fun)

    def excess(value: float) -> float:
        return profile(value) - least - drop

    low = float(brentq(excess, 0.0, delta)) if excess(0.0) > 0 else 0.0
    high = float(brentq(excess, delta, 1.0)) if excess(1.0) > 0 else 1.0
    interval = Interval(
        low, high, level=1 - alpha, guarantee="under", assumption=_MODEL, method="profile"
    )
    return NoiseShare(delta, interval, disagreement, best_error(delta)[0])


def random_labels(agree: Array, count: Array, noise: NoiseShare) -> Array:
    r"""Return the probability of each item that its label is a coin toss, given its own validators.

    By Bayes in the fitted mixture, :math:`\delta 2^{-v} / ((1-\delta)(1-e)^a e^{v-a} + \delta
    2^{-v})`. NaN where the share is no number, and for an item that nobody validated.

    >>> known = NoiseShare(0.5, Unknown("not needed here"), 0.4, 0.1)
    >>> random_labels(np.array([3, 1, 0]), np.array([3, 3, 0]), known).round(3).tolist()
    [0.146, 0.933, nan]
    """
    a, v = np.asarray(agree), np.asarray(count)
    if isinstance(noise.share, Unknown) or noise.error is None:
        return np.full(a.shape, np.nan)
    coin = noise.share * 0.5**v
    clear = (1 - noise.share) * (1 - noise.error) ** a * noise.error ** (v - a)
    return np.asarray(np.where(v > 0, coin / (coin + clear), np.nan))


def _kept_only(agree: Array, count: Array, alpha: float, disagreement: float) -> NoiseShare:
    """Say which shares of ambiguous items a log allows in which every item's validators mostly
    agree.

    Two validators, and a third where they disagree: a kept ambiguous item shows a dissent with
    probability 1/2, a kept clear one with any probability from 0 to 1/2. So the share lies between
    0 and twice the share of dissents.
    """
    from tallystick.stats.intervals import clopper_pearson

    top = clopper_pearson(
        int((agree < count).sum()), int(agree.size), alpha=alpha, side="upper"
    ).high
    kept = Interval(
        0.0,
        min(1.0, 2 * top),
        level=1 - alpha,
        guarantee="under",
        assumption=_MODEL,
        method="identified set",
    )
    reason = Unknown(
        "only items whose validators mostly agree were kept, so the share of random labels is a"
        " set, not a number"
    )
    return NoiseShare(reason, kept, disagreement)


# The share of fooling items that are really valid, when validators err too.
#
# An item is valid with probability π. A validator confirms a valid item with probability s
# (sensitivity) and denies an invalid one with probability c (specificity), each vote on its own.
# With y votes for and n against, an item is valid with probability
#
# .. math:: w = \frac{\pi s^y (1-s)^n}{\pi s^y (1-s)^n + (1-\pi) (1-c)^y c^n}  \tag{V1}
#
# and EM repeats this with
#
# .. math:: \pi = \frac{.5 + \sum w}{1 + \sum 1}, \quad
#           s = \frac{1.8 + \sum w y}{2 + \sum w (y+n)}, \quad
#           c = \frac{1.6 + \sum (1-w) n}{2 + \sum (1-w)(y+n)}  \tag{V2}
#
# from .8, .9, .8, with s and c kept at 1/2 or more. Votes that stop when two agree have the same
# likelihood, so vote counts may vary. Items with three votes are needed: two votes identify only a
# set of π (:func:`two_vote_set`), one vote nothing. Taking the majority of votes for the truth was
# biased by up to .03.


_START = (0.8, 0.9, 0.8)
_TOLERANCE = 1e-12
_STEPS = 200_000
_VALIDATOR_ERROR_MODEL = (
    "validators err independently, all with one sensitivity and one specificity"
)


@dataclass(frozen=True, kw_only=True)
class ValidatorError:
    """Share of valid items, and how well validators see it.

    Parameters
    ----------
    share
        π, or the reason why votes do not identify it.
    sensitivity, specificity
        s and c.
    possible
        The set of π that two votes per item leave open; None where π is a number or nothing is
        known.
    items
        Items with votes.
    """

    share: float | Unknown
    sensitivity: float | Unknown
    specificity: float | Unknown
    possible: tuple[float, float] | None
    items: int


def validator_error(yes: Array, no: Array) -> ValidatorError:
    """Estimate the share of valid items from validators' votes by EM, (V1) and (V2).

    Parameters
    ----------
    yes, no
        Votes for and against each item; items without votes are left out. A flag is no vote.

    Examples
    --------
    >>> yes = np.repeat([3, 2, 1, 0], [40, 12, 6, 10])
    >>> found = validator_error(yes, 3 - yes)
    >>> [round(x, 4) for x in (found.share, found.sensitivity, found.specificity)]
    [0.7607, 0.916, 0.8503]
    """
    y, n = _checked(yes, no)
    votes = y + n
    most = int(votes.max()) if votes.size else 0
    if most < 3:
        return _unidentified(y, n, most)

    # Items with equal votes are alike, so EM runs over the kinds and not over the items.
    kinds, count = np.unique(np.column_stack([y, n]), axis=0, return_counts=True)
    share, sensitivity, specificity = _em(kinds[:, 0], kinds[:, 1], count)
    return ValidatorError(
        share=share,
        sensitivity=sensitivity,
        specificity=specificity,
        possible=None,
        items=int(votes.size),
    )


def two_vote_set(yes: Array, no: Array) -> tuple[float, float]:
    r"""Return the shares π that two votes per item leave open.

    With m the mean share of yes and :math:`D = \Pr(\text{both yes}) - m^2`,

    .. math:: \pi \in \Bigl[\frac{D}{D + (1-m)^2},\; \frac{m^2}{m^2 + D}\Bigr],  \tag{V3}

    and [0, 1] if D is not positive. The ends are those of a perfect specificity and of a perfect
    sensitivity. Sampling error is not in it.

    Parameters
    ----------
    yes, no
        Votes for and against; only items with exactly two votes count.

    Examples
    --------
    >>> yes = np.repeat([2, 1, 0], [696, 156, 148])
    >>> low, high = two_vote_set(yes, 2 - yes)
    >>> round(low, 3), round(high, 3)
    (0.655, 0.861)
    """
    y, n = _checked(yes, no)
    two = y + n == 2
    if not two.any():
        raise InputError("no item has exactly two votes")
    mean = float(y[two].mean()) / 2
    excess = float((y[two] == 2).mean()) - mean**2
    if excess <= 0:
        return 0.0, 1.0
    return excess / (excess + (1 - mean) ** 2), mean**2 / (mean**2 + excess)  # (V3)


def corrected_rate(
    log: Attempts, number: object, *, alpha: float = 0.05
) -> tuple[float | Unknown, Interval | Unknown]:
    r"""Return a round's validated error rate with the validators' errors taken out: MER · π.

    MER is the share of attempts that fooled the model; π comes from the votes on them (V2). The
    interval is a jackknife that leaves out one annotator at a time, on the logit, with
    :math:`t(G-1)` for G annotators: .89 to .98 of them held the truth, with a bias of at most .009.

    Parameters
    ----------
    log
        With votes.
    number
        The round.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> who, fooled = np.repeat(np.arange(12), 40), rng.random(480) < 0.4
    >>> valid = rng.random(480) < 0.8
    >>> yes = np.where(fooled, rng.binomial(3, np.where(valid, 0.9, 0.15)), 0)
    >>> no = np.where(fooled, 3 - yes, 0)
    >>> log = Attempts(annotator=who, round=np.ones(480, int), fooled=fooled, yes=yes, no=no)
    >>> rate, interval = corrected_rate(log, 1)
    >>> 0.32 in interval
    True
    """
    if log.yes is None or log.no is None:
        raise InputError("the log has no validator votes: give yes and no")
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    here = log.within(number)
    whole = _rate_of(log, here)
    if isinstance(whole, Unknown):
        return whole, whole

    names = np.unique(log.annotator[here])
    if names.size < 2:
        return whole, Unknown("one annotator made all attempts, so none can be left out")
    left = [_rate_of(log, here & (log.annotator != name)) for name in names.tolist()]
    rates = [rate for rate in left if not isinstance(rate, Unknown)]
    if len(rates) < names.size or not all(0 < rate < 1 for rate in [whole, *rates]):
        return whole, Unknown("without one of the annotators the rate is 0, 1 or not identified")

    # The jackknife's variance: (G - 1)/G times the squares around the mean of the left-out values.
    points = np.array([_log_odds(rate) for rate in rates])
    error = sqrt((names.size - 1) / names.size * float(((points - points.mean()) ** 2).sum()))
    reach = student_quantile(names.size - 1, alpha) * error
    centre = _log_odds(whole)
    interval = Interval(
        1 / (1 + exp(reach - centre)),
        1 / (1 + exp(-reach - centre)),
        level=1 - alpha,
        guarantee="under",
        assumption=_VALIDATOR_ERROR_MODEL,
        method="jackknife over annotators",
    )
    return whole, interval


def _log_odds(rate: float) -> float:
    return log(rate / (1 - rate))


def _rate_of(log: Attempts, here: Array) -> float | Unknown:
    """Return MER · π over the attempts *here*."""
    fooling = here & log.fooling
    if log.yes is None or log.no is None or not fooling.any():
        return Unknown("no attempt fooled the model")
    found = validator_error(log.yes[fooling], log.no[fooling])
    if isinstance(found.share, Unknown):
        return found.share
    return float(fooling.sum() / here.sum()) * found.share


def _checked(yes: Array, no: Array) -> tuple[Array, Array]:
    y, n = np.asarray(yes), np.asarray(no)
    if y.ndim != 1 or y.shape != n.shape:
        raise InputError(f"yes and no need equal lengths, got {y.shape} and {n.shape}")
    if y.size and (not np.all((y >= 0) & (n >= 0)) or not np.all((y == y // 1) & (n == n // 1))):
        raise InputError("yes and no count votes: whole numbers that are not negative")
    voted = y + n > 0
    return y[voted].astype(int), n[voted].astype(int)


def _unidentified(y: Array, n: Array, most: int) -> ValidatorError:
    reason = {
        0: "no item has a vote",
        1: "one vote per item cannot tell an invalid item from a mistaken validator",
        2: "two votes per item leave a set of shares open: three are needed on some items",
    }[most]
    unknown = Unknown(reason)
    return ValidatorError(
        share=unknown,
        sensitivity=unknown,
        specificity=unknown,
        possible=two_vote_set(y, n) if most == 2 else None,
        items=int(y.size),
    )


def _em(y: Array, n: Array, count: Array) -> tuple[float, float, float]:
    """Return π, s and c where EM stops moving."""
    share, sensitivity, specificity = _START
    votes, total = y + n, int(count.sum())
    for _ in range(_STEPS):
        right = share * sensitivity**y * (1 - sensitivity) ** n
        weight = (
            count * right / (right + (1 - share) * (1 - specificity) ** y * specificity**n)
        )  # (V1)
        rest = count - weight

        before = share, sensitivity, specificity
        share = (0.5 + float(weight.sum())) / (1 + total)  # (V2), and the next two lines
        sensitivity = max(0.5, (1.8 + float(weight @ y)) / (2 + float(weight @ votes)))
        specificity = max(0.5, (1.6 + float(rest @ n)) / (2 + float(rest @ votes)))
        now = share, sensitivity, specificity
        if max(abs(a - b) for a, b in zip(now, before, strict=True)) < _TOLERANCE:
            return now
    raise ConvergenceError(f"EM on the validators' votes still moved after {_STEPS:,} steps")


# Whether annotators differ in how well they fool the model, or were lucky.


@dataclass(frozen=True, kw_only=True)
class AnnotatorEffects:
    """Whether annotators differ more than luck explains.

    Parameters
    ----------
    dispersion
        Mean squared distance of the annotators' rates from the round's, 1 if they are alike (B2).
    p_value
        By dealing the successes out to the attempts at random.
    half_made_by
        The fewest annotators who made half of all successes; None without any.
    """

    annotators: int
    dispersion: float | Unknown
    p_value: float | Unknown
    half_made_by: int | None


def annotator_effects(
    log: Attempts, number: Any, *, rng: Rng, permutations: int = 999
) -> AnnotatorEffects:
    r"""Test whether some annotators fool the model more often than others.

    .. math:: \frac1{G-1} \sum_a \frac{(x_a - \theta n_a)^2}{n_a\, \theta(1-\theta)}  \tag{B2}

    Parameters
    ----------
    number
        The round.
    permutations, rng
        Draws of the null, in which successes fall on attempts at random.

    Examples
    --------
    >>> who = np.repeat(["ann", "bob"], 20)
    >>> log = Attempts(annotator=who, round=np.ones(40, int), fooled=who == "ann")
    >>> found = annotator_effects(log, 1, rng=0)
    >>> found.p_value, found.half_made_by
    (0.001, 1)
    """
    if permutations < 19:
        raise InputError(f"permutations must be at least 19, got {permutations!r}")
    here = log.within(number)
    tried, won = log.per_annotator(here), log.per_annotator(here, log.success)
    total = int(won.sum())
    half = int(np.searchsorted(np.cumsum(np.sort(won)[::-1]), total / 2)) + 1 if total else None
    if tried.size < 2 or total in (0, int(tried.sum())):
        none = Unknown("it needs two annotators, and attempts of both outcomes")
        return AnnotatorEffects(
            annotators=tried.size, dispersion=none, p_value=none, half_made_by=half
        )

    rate = total / tried.sum()
    scale = tried * rate * (1 - rate) * (tried.size - 1)
    drawn = as_rng(rng).multivariate_hypergeometric(tried.astype(int), total, permutations)
    null = ((drawn - rate * tried) ** 2 / scale).sum(axis=1)
    seen = float(((won - rate * tried) ** 2 / scale).sum())  # (B2)
    return AnnotatorEffects(
        annotators=tried.size,
        dispersion=seen,
        p_value=float((1 + (null >= seen * (1 - 1e-12)).sum()) / (1 + permutations)),
        half_made_by=half,
    )
