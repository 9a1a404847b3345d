"""What is known before a call is paid for, and the plan: which strata, which policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.papers.api_shifts import confusion_matrix, partitions
from tallystick.sampling import (
    FAILED,
    Flips,
    Masa,
    Plan,
    Policy,
    Strata,
    Uniform,
    history_cells,
)
from tallystick.verbs.shift.result import Stratum

IntArray = NDArray[np.intp]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# Heading of the last column: answers that were empty, refused, unparsable, or no label of the set.
OTHER = "(other)"


@dataclass(frozen=True, eq=False, kw_only=True)
class Items:
    """Items as codes 0 … L - 1; L is a true label that is not known, an answer that is no label.

    Parameters
    ----------
    labels
        The L labels.
    truth
        The true label of every item.
    old
        The old answer to every item.
    confidence
        Any score whose ranking predicts which answers will change (the old API's confidence, or a
        cheap model's); None if there is none.
    names
        The name of every item.
    labelled
        Whether *truth* holds true labels. If not, it holds the old answers: the matrix then says
        which answers moved where, and nothing is said about accuracy.
    unclear
        Which old answers count as none of the labels although their text may hold one; None if all
        were read.

    Examples
    --------
    >>> items = Items.of(["cat", "dog", None], old=["cat", "cat", ""])
    >>> items.labels, items.truth, items.old
    (('cat', 'dog'), array([0, 1, 2]), array([0, 0, 2]))
    >>> items.matrix
    array([[0.5, 0. , 0. ],
           [0.5, 0. , 0. ]])
    """

    labels: tuple[str, ...]
    truth: IntArray
    old: IntArray
    confidence: FloatArray | None
    names: tuple[str, ...]
    labelled: bool = True
    unclear: BoolArray | None = None

    @classmethod
    def of(
        cls,
        truth: Sequence[Any],
        *,
        old: Sequence[Any],
        confidence: ArrayLike | None = None,
        labels: Sequence[Any] | None = None,
        names: Sequence[Any] | None = None,
    ) -> Items:
        """Code labels; the door has refused what does not fit.

        Parameters
        ----------
        truth, old
            One value per item; labels are compared as text. A blank true label is not known; an
            old answer that is no label is "none of them".
        confidence, names
            As in the class; names default to 0, 1, 2 …
        labels
            The labels, in the order wanted; None means those of *truth*, sorted.
        """
        found = [_text(value) for value in truth]
        wanted = sorted(set(found) - {""}) if labels is None else map(_text, labels)
        chosen = tuple(dict.fromkeys(wanted))
        code = {label: j for j, label in enumerate(chosen)}
        true, before = (
            np.array([code.get(text, len(chosen)) for text in texts], np.intp)
            for texts in (found, [_text(value) for value in old])
        )
        rank = None if confidence is None else np.asarray(confidence, dtype=np.float64)
        given = range(len(true)) if names is None else names
        return cls(
            labels=chosen, truth=true, old=before, confidence=rank, names=tuple(map(str, given))
        )

    def __len__(self) -> int:
        return len(self.truth)

    def part(self, places: IntArray) -> Items:
        """Return some of the items, in this order."""
        return Items(
            labels=self.labels,
            truth=self.truth[places],
            old=self.old[places],
            confidence=None if self.confidence is None else self.confidence[places],
            names=tuple(self.names[place] for place in places),
            labelled=self.labelled,
            unclear=None if self.unclear is None else self.unclear[places],
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Headings of the matrix: the labels and the column of all else."""
        return (*self.labels, OTHER)

    @cached_property
    def known(self) -> BoolArray:
        """Which items have a true label."""
        return self.truth < len(self.labels)

    @cached_property
    def matrix(self) -> FloatArray:
        """The old confusion matrix, as shares of the items with a true label."""
        L = len(self.labels)
        shape = (L, L + 1)
        return confusion_matrix(self.truth[self.known], self.old[self.known], shape=shape)

    @cached_property
    def mass(self) -> FloatArray:
        """The share of items with each true label, of those that have one."""
        some = self.truth[self.known]
        return np.bincount(some, minlength=len(self.labels)) / len(some)

    def code(self, answer: str | None) -> int:
        """Return the code of one answer; anything that is not a label is "none of them"."""
        return self._codes.get("" if answer is None else answer.strip(), len(self.labels))

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: j for j, label in enumerate(self.labels)}


def _text(value: Any) -> str:
    """Labels are compared as text; a missing one (None, NaN) is blank."""
    return "" if value is None or value != value else str(value).strip()


# From items and a budget to a plan.


# Share of the budget that is drawn proportionally, without regard to answers. With .6 the flip rate
# covered .904 on real version changes, with .7 and the whole hull .942.
BLIND_SHARE = 0.7

Strategy: TypeAlias = Literal["ours", "masa", "uniform"]

# Strata times outcomes that a plan may hold.
LARGEST = 50_000_000

# The paper's K: confidence bins of each true label under MASA.
MASA_BINS = 3


def design(
    items: Items,
    *,
    calls: int,
    strategy: Strategy = "ours",
    random_first: int = 0,
    reserve: int = 0,
    window: int = 1,
) -> Plan:
    """Return the plan for *calls* questions; a budget below two per stratum is refused.

    Parameters
    ----------
    items, calls
        What is known of the items, and how many questions there are.
    strategy
        ``ours`` (old answers make the strata, flips lead the last three tenths of the budget),
        ``masa`` (the paper's Algorithm 1 chooses), or ``uniform``.
    random_first
        This many questions go in uniformly random order: what a sequential gate needs. ``ours``
        only.
    reserve
        Questions that the blind phase leaves for repeats. ``ours`` only.
    window
        The choice number t uses the answers to the first t - window questions.

    Examples
    --------
    >>> items = Items.of(["a"] * 60 + ["b"] * 40, old=["a"] * 90 + ["b"] * 10)
    >>> len(design(items, calls=50).strata)
    3
    >>> design(items, calls=50, strategy="masa").n_outcomes
    3
    """
    if random_first and strategy != "ours":
        raise InputError(
            f"a gate on flip_rate asks in random order: it needs strategy 'ours', got {strategy!r}"
        )
    calls = min(calls, len(items))
    strata, policy = _strata(items, calls, strategy, (min(random_first, calls), reserve))
    L = len(items.labels)
    # Strata of one true label each tell (true, answer) apart by themselves; mixed ones need both.
    pure = bool((_label_of(strata, items) >= 0).all())
    J = L + 1 if pure else (L + 1) ** 2
    if len(strata) * J > LARGEST:
        raise InputError(
            f"{L} labels in {len(strata)} strata are too many: merge labels, or use strategy='masa'"
        )
    before = items.old if pure else items.truth * (L + 1) + items.old
    return Plan(
        strata=strata,
        policy=policy,
        budget=calls,
        n_outcomes=J,
        baseline=before if strategy == "ours" else None,
        in_flight=window,
    )


def outcome(plan: Plan, items: Items, item: int, answer: int) -> int:
    """Return the outcome code of *plan* for the code of an answer to *item*."""
    L = len(items.labels)
    return answer if plan.n_outcomes == L + 1 else int(items.truth[item]) * (L + 1) + answer


def _strata(
    items: Items, calls: int, strategy: Strategy, kept: tuple[int, int]
) -> tuple[Strata, Policy]:
    """Return strata and policy; *kept* are the questions in random order and those in reserve."""
    if strategy == "uniform":
        return Strata(np.zeros(len(items), np.intp)), Uniform()
    if strategy == "masa":
        bins = 1 if items.confidence is None else MASA_BINS
        rank = np.zeros(len(items)) if items.confidence is None else items.confidence
        return Strata(partitions(items.truth, rank, bins=bins)), Masa()
    strata = history_cells(items.truth, items.old, calls=calls, confidence=items.confidence)
    first, reserve = kept
    # A gate that may take the whole budget leaves nothing for a minimum in each stratum.
    minimum = 2 if calls - first >= 2 * len(strata) else 0
    return strata, Flips(blind=BLIND_SHARE, first=first, minimum=minimum, reserve=reserve)


def _label_of(strata: Strata, items: Items) -> NDArray[np.intp]:
    """Return the true label of every stratum, -1 where it has several."""
    first = np.full(len(strata), -1, np.intp)
    first[strata.of] = items.truth
    mixed = np.bincount(strata.of, weights=first[strata.of] != items.truth, minlength=len(strata))
    return np.where(mixed > 0, -1, first)


def collapse(strata: Strata, answered: IntArray, *, least: int = 2) -> Strata:
    """Join every stratum with fewer than *least* answers to another, so that no part of the whole
    is a guess.

    The one with the fewest answers joins the one with the fewest among its family (else among all).
    Which strata join depends on how many answers there are, not on what they say.

    Examples
    --------
    >>> collapse(Strata([0, 0, 0, 1, 1, 2]), np.array([3, 1, 1])).sizes
    array([3, 3])
    """
    got = np.asarray(answered).copy()
    while len(strata) > 1:
        short = got < np.minimum(least, strata.sizes)
        if not short.any():
            break
        k = int(np.where(short, got, got.max() + 1).argmin())
        other = np.arange(len(strata)) != k
        kin = np.flatnonzero(other & (strata.families == strata.families[k]))
        hosts = kin if kin.size else np.flatnonzero(other)
        into = np.arange(len(strata))
        into[k] = hosts[got[hosts].argmin()]
        number = np.unique(into, return_inverse=True)[1]
        got = np.bincount(number, weights=got).astype(np.intp)
        strata = strata.regroup(into)
    return strata


def strata_rows(
    items: Items, strata: Strata, asked: IntArray, codes: IntArray
) -> tuple[Stratum, ...]:
    """Return every stratum: what it is, how large, how often asked, and what flipped."""
    of, told, number = strata.of[asked], codes != FAILED, len(strata)
    flips = np.bincount(of[told & (codes != items.old[asked])], minlength=number)
    n, m = np.bincount(of, minlength=number), np.bincount(of[told], minlength=number)
    order = np.argsort(strata.of, kind="stable")
    parts = np.split(order, np.cumsum(strata.sizes)[:-1])
    return tuple(
        Stratum(
            name=_name(items, part),
            items=int(strata.sizes[k]),
            asked=int(n[k]),
            answered=int(m[k]),
            flips=int(flips[k]),
        )
        for k, part in enumerate(parts)
    )


def _name(items: Items, part: IntArray) -> str:
    """Name a stratum by the true labels, the old answers and the confidence of its items."""
    truths, before = np.unique(items.truth[part]), np.unique(items.old[part])
    true = items.columns[truths[0]] if truths[0] < len(items.labels) else "unknown"
    parts = [f"truly {true}" if len(truths) == 1 else f"{len(truths)} labels"]
    if len(before) == 1:
        parts.append(f"was {items.columns[before[0]]}")
    else:
        parts.append("mixed" if (items.old[part] == items.truth[part]).any() else "was wrong")
    if items.confidence is not None:
        sure = items.confidence[part]
        parts.append(f"confidence {sure.min():.3g} to {sure.max():.3g}")
    return ", ".join(parts)
