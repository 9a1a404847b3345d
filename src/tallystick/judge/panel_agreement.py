"""How far the judges agree with one another and with the truth, beyond chance and without.

All coefficients are those of `tallystick.stats.agreement`; the number is exact for these items and
the interval is for new items of the same kind. Pairs are counted in tables of K x K votes, so their
cost does not grow with the number of different patterns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tallystick.judge.ballots import Ballots, Ints
from tallystick.judge.parts import AgreementPair, AgreementTable, Share
from tallystick.results import Unknown
from tallystick.stats.agreement import (
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    mean_bias,
    raw_agreement,
    within_one,
)
from tallystick.tally.store import pack
from tallystick.values.label import Label

__all__ = ["MOST_PAIRED", "grades_of", "panel_agreement"]

MOST_PAIRED = 40
"""Judges up to which every pair is listed: 40 judges have 780 pairs."""

_FEW = 5


def panel_agreement(ballots: Ballots, *, alpha: float) -> AgreementTable | None:
    """Return every agreement statistic of a panel; None where items are weighted.

    Numbers as labels (1 to 5) are read as grades in order, and get the ordinal statistics besides.

    Examples
    --------
    >>> from tallystick.tally import Tally
    >>> votes = Tally.of({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0], "gold": [0, 0, 1, None]})
    >>> found = panel_agreement(Ballots.of(votes, truth="gold"), alpha=0.05)
    >>> found.pairs[0].raw.estimate, found.with_truth[0].kappa.estimate
    (0.75, 1.0)
    """
    if (ballots.counts != np.floor(ballots.counts)).any():
        return None
    names, level = ballots.names, 1 - alpha
    values = grades_of(ballots.classes)
    between: dict[str, Share] = {}
    blind = ballots.blind
    if len(names) > 1:
        between = _between(blind, values, level)

    pairs: list[AgreementPair] = []
    if len(names) <= MOST_PAIRED:
        for i, j in itertools.combinations(range(len(names)), 2):
            codes, counts = _pair_counts(blind, blind.codes[:, i], blind.codes[:, j])
            pairs.append(_pair(names[i], names[j], codes, counts, ballots, values, level))

    with_truth: list[AgreementPair] = []
    if (ballots.truth >= 0).any():
        for j, name in enumerate(names):
            codes, counts = _pair_counts(ballots, ballots.codes[:, j], ballots.truth)
            with_truth.append(_pair(name, "truth", codes, counts, ballots, values, level))
    return AgreementTable(
        between=between,
        pairs=tuple(pairs),
        with_truth=tuple(with_truth),
        ordinal=values is not None,
        note=_note(blind, between),
    )


def grades_of(classes: Sequence[Label]) -> tuple[float, ...] | None:
    """Return the numbers that labels stand for; None unless there are three or more, all numbers.

    >>> grades_of((1, 2, 3)), grades_of((0, 1)), grades_of(("a", "b", "c"))
    ((1.0, 2.0, 3.0), None, None)
    """
    numbers = [label for label in classes if isinstance(label, int | float)]
    if len(classes) < 3 or len(numbers) < len(classes):
        return None
    if any(isinstance(label, bool) for label in numbers):
        return None
    return tuple(float(label) for label in numbers)


def _between(blind: Ballots, values: tuple[float, ...] | None, level: float) -> dict[str, Share]:
    """Return the statistics of all judges together."""
    size = len(blind.classes) + len(blind.extras)
    shared: dict[str, Any] = {"n_labels": size, "level": level}
    # The coefficients only need how many judges gave each label, so patterns are merged by that.
    codes, counts = _merged(blind)
    found = {
        "raw": raw_agreement(codes, counts, **shared),
        "fleiss_kappa": fleiss_kappa(codes, counts, **shared),
        "krippendorff_alpha": krippendorff_alpha(codes, counts, **shared),
        "gwet_ac1": gwet_ac1(codes, counts, **shared),
    }
    if values is not None:
        plain = blind.answered
        codes, counts = _merged(plain)
        own: dict[str, Any] = {"n_labels": len(plain.classes), "level": level}
        found["krippendorff_alpha_ordinal"] = krippendorff_alpha(
            codes, counts, metric="ordinal", **own
        )
        found["krippendorff_alpha_interval"] = krippendorff_alpha(
            codes, counts, metric="interval", values=values, **own
        )
    return {name: _share(one) for name, one in found.items()}


def _merged(ballots: Ballots) -> tuple[Ints, Any]:
    """Return patterns with their votes sorted, equal ones merged."""
    codes = np.sort(ballots.codes, axis=1)
    sizes = [len(ballots.classes) + len(ballots.extras) + 1] * codes.shape[1]
    # One sortable key per pattern: comparing rows column by column takes seconds with 100 labels.
    _, first, member = np.unique(
        pack((codes + 1).astype(np.int32), sizes), return_index=True, return_inverse=True
    )
    return codes[first], np.bincount(member.ravel(), weights=ballots.counts)


def _pair_counts(ballots: Ballots, first: Ints, second: Ints) -> tuple[Ints, Any]:
    """Return the pairs of votes of two columns that occur on common items, with their counts."""
    size = len(ballots.classes) + len(ballots.extras)
    both = (first >= 0) & (second >= 0)
    cells = np.bincount(
        first[both] * size + second[both], weights=ballots.counts[both], minlength=size * size
    )
    seen = np.flatnonzero(cells)
    return np.stack((seen // size, seen % size), axis=1), cells[seen]


def _pair(
    a: str,
    b: str,
    codes: Ints,
    counts: Any,
    ballots: Ballots,
    values: tuple[float, ...] | None,
    level: float,
) -> AgreementPair:
    """Return the statistics of two columns of votes."""
    size = len(ballots.classes) + len(ballots.extras)
    own: dict[str, Any] = {"n_labels": size, "level": level}
    if not len(codes):
        none = Unknown(f"no item has a vote of {a} and of {b}")
        empty = Share(estimate=none, interval=none)
        return AgreementPair(a=a, b=b, n_items=0, raw=empty, kappa=empty, gwet_ac1=empty)
    more: dict[str, Share] = {}
    if values is not None:
        possible = (codes < len(ballots.classes)).all(axis=1)
        ordered: Mapping[str, Callable[..., Agreement]] = {
            "weighted_kappa": partial(cohen_kappa, weights="quadratic"),
            "within_one": within_one,
            "bias": partial(mean_bias, values=values),
        }
        if possible.any():
            grades: dict[str, Any] = {"n_labels": len(ballots.classes), "level": level}
            more = {
                name: _share(function(codes[possible], counts[possible], **grades))
                for name, function in ordered.items()
            }
    return AgreementPair(
        a=a,
        b=b,
        n_items=int(counts.sum()),
        raw=_share(raw_agreement(codes, counts, **own)),
        kappa=_share(cohen_kappa(codes, counts, **own)),
        gwet_ac1=_share(gwet_ac1(codes, counts, **own)),
        **more,
    )


def _share(found: Agreement) -> Share:
    return Share(estimate=found.estimate, interval=found.interval)


def _note(blind: Ballots, between: Mapping[str, Share]) -> str:
    """Say what limits the numbers; empty where nothing does."""
    if not between:
        return ""
    votes = np.sort(blind.vote_counts.sum(axis=0))[::-1]
    if len(votes) > 1 and votes[1] < _FEW * len(blind.names):
        return (
            "one label is so rare that kappa is hardly determined: read plain agreement and AC1"
            " beside it"
        )
    if len(blind.names) > MOST_PAIRED:
        return f"pairs are left out: they are listed for up to {MOST_PAIRED} judges"
    return ""
