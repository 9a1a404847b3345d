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
from typing import Any

import numpy as np

from tallystick.dynamic.population import Array
from tallystick.errors import InputError
from tallystick.results import Interval, Unknown

__all__ = [
    "NoiseShare",
    "agreements",
    "noise_share",
    "random_labels",
    "spelled_votes",
    "votes_reader",
]

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
    from tallystick.values import check_vocabulary, spelling

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
    from tallystick.values import spelling

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
