"""How far the judges agree with one another and with the truth, beyond chance and without.

All coefficients are those of `tallystick.stats.agreement`; the number is exact for these items and
the interval is for new items of the same kind. Pairs are counted in tables of K x K votes, so their
cost does not grow with the number of different patterns.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from tallystick.stats.agreement import (
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    mean_bias,
    raw_agreement,
)
from tallystick.stats.latent_checks import CROWD
from tallystick.stats.latent_headline import vote_table
from tallystick.table.panel import Floats, Ints, Panel
from tallystick.table.patterns import pack
from tallystick.table.words import number_of
from tallystick.verbs.judge.result import AgreementPair, AgreementTable, Share

_LEAST_GRADES, _MOST_GRADE = 4, 10
_FEW = 5
_FEW_DIFFER = 20
_NEAR = 0.95
"""Mean distance of two votes that differ, over that of votes by chance, up to which numbers are
grades. In 160 simulated panels each: grades .36 to .95, names .78 to 1.29; from five labels on,
grades below .87 and 9 in 10 names above .93."""

Grades: TypeAlias = tuple[float, ...] | None


def grades_of(panel: Panel) -> Grades:
    """Return the numbers that labels stand for, None unless they are grades in order.

    Four or more numbers from 0 to 10 are grades if votes that differ lie near one another. Numbers
    that stand for names (0 for sport, 1 for trade, ...) are as far apart as chance puts them.

    >>> from tallystick.table import Tally
    >>> table = {"a": ["1", "2", "3", "4", "5"] * 9, "b": ["2", "2", "4", "4", "5"] * 9}
    >>> grades_of(Panel.of(Tally.of(table)))
    (1.0, 2.0, 3.0, 4.0, 5.0)
    >>> grades_of(Panel.of(Tally.of(table | {"b": ["4", "2", "5", "1", "5"] * 9}))) is None
    True
    """
    whole = [number_of(one) for one in panel.classes if not isinstance(one, bool)]
    numbers = [one for one in whole if one is not None and 0 <= one <= _MOST_GRADE]
    if len(numbers) < panel.n_classes or len(numbers) < _LEAST_GRADES:
        return None

    # Items x labels: how many voters, the truth among them, gave each label.
    given = vote_table(np.column_stack((panel.codes, panel.truth)), panel.n_classes)
    differ = (given * panel.counts[:, None]).T @ given
    common = panel.counts @ given
    chance = np.outer(common, common)
    far = np.abs(np.subtract.outer(numbers, numbers))
    apart, expected = (
        float((table * far).sum() / max(float(table[far > 0].sum()), 1e-300))
        for table in (differ, chance)
    )
    few = differ[far > 0].sum() < _FEW_DIFFER
    return tuple(numbers) if few or apart <= _NEAR * expected else None


def panel_agreement(panel: Panel, *, alpha: float) -> AgreementTable | None:
    """Return every agreement statistic of a panel; None where items are weighted.

    Examples
    --------
    >>> from tallystick.table import Tally
    >>> votes = Tally.of({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0], "gold": [0, 0, 1, None]})
    >>> found = panel_agreement(Panel.of(votes, truth="gold"), alpha=0.05)
    >>> found.pairs[0].raw.estimate, found.with_truth[0].kappa.estimate
    (0.75, 1.0)
    """
    if panel.weight is not None or (panel.counts != np.floor(panel.counts)).any():
        return None
    names, level, values = panel.names, 1 - alpha, grades_of(panel)
    blind = panel.blind
    between = _between(blind, values, level) if len(names) > 1 else {}

    pairs: list[AgreementPair] = []
    if len(names) <= CROWD:
        for i, j in itertools.combinations(range(len(names)), 2):
            votes = _pair_counts(blind, blind.codes[:, i], blind.codes[:, j])
            pairs.append(_pair((names[i], names[j]), votes, panel, values, level))

    with_truth: list[AgreementPair] = []
    if panel.known.any() and len(names) <= CROWD:
        for j, name in enumerate(names):
            votes = _pair_counts(panel, panel.codes[:, j], panel.truth)
            with_truth.append(_pair((name, "truth"), votes, panel, values, level))
    return AgreementTable(
        between=between,
        pairs=tuple(pairs),
        with_truth=tuple(with_truth),
        ordinal=values is not None,
        note=_note(blind, between),
    )


def _between(blind: Panel, values: Grades, level: float) -> dict[str, Share]:
    """Return the statistics of all judges together."""
    # The coefficients only need how many judges gave each label, so patterns are merged by that.
    codes, counts = _merged(blind)
    shared: dict[str, Any] = {"n_labels": len(blind.labels), "level": level}
    found = {
        "raw": raw_agreement(codes, counts, **shared),
        "fleiss_kappa": fleiss_kappa(codes, counts, **shared),
        "krippendorff_alpha": krippendorff_alpha(codes, counts, **shared),
        "gwet_ac1": gwet_ac1(codes, counts, **shared),
    }
    if values is not None:
        plain = blind.answered
        own: dict[str, Any] = {"n_labels": len(plain.classes), "level": level}
        ordinal = krippendorff_alpha(*_merged(plain), metric="ordinal", **own)
        found["krippendorff_alpha_ordinal"] = ordinal
    return {name: _share(one) for name, one in found.items()}


def _merged(panel: Panel) -> tuple[Ints, Floats]:
    """Return patterns with their votes sorted, equal ones merged."""
    # Only votes that were cast are sorted: most of a crowd is silent on an item.
    entry, judge = np.nonzero(panel.codes >= 0)
    given = panel.codes[entry, judge]
    order = np.lexsort((given, entry))
    cast = np.bincount(entry, minlength=len(panel.codes))
    place = np.arange(entry.size) - np.repeat(np.cumsum(cast) - cast, cast)
    codes = np.full((len(panel.codes), max(2, int(cast.max(initial=0)))), -1)
    codes[entry, place] = given[order]
    sizes = [len(panel.labels) + 1] * codes.shape[1]
    # One sortable key per pattern: comparing rows column by column takes seconds with 100 labels.
    _, first, member = np.unique(
        pack((codes + 1).astype(np.int32), sizes), return_index=True, return_inverse=True
    )
    return codes[first], np.bincount(member.ravel(), weights=panel.counts).astype(np.float64)


def _pair_counts(panel: Panel, first: Ints, second: Ints) -> tuple[Ints, Floats]:
    """Return the pairs of votes of two columns that occur on common items, with their counts."""
    size = len(panel.labels)
    both = (first >= 0) & (second >= 0)
    cells = np.bincount(
        first[both] * size + second[both], weights=panel.counts[both], minlength=size * size
    )
    seen = np.flatnonzero(cells)
    return np.stack((seen // size, seen % size), axis=1), cells[seen].astype(np.float64)


def _pair(
    names: tuple[str, str], votes: tuple[Ints, Floats], panel: Panel, values: Grades, level: float
) -> AgreementPair:
    """Return the statistics of two columns of votes."""
    (a, b), (codes, counts) = names, votes
    if not len(codes):
        none = Share.unknown(f"no item has a vote of {a} and of {b}")
        return AgreementPair(a=a, b=b, n_items=0, raw=none, kappa=none, gwet_ac1=none)
    more: dict[str, Share] = {}
    possible = (codes < len(panel.classes)).all(axis=1)
    if values is not None and possible.any():
        own: dict[str, Any] = {"n_labels": len(panel.classes), "level": level}
        graded = codes[possible], counts[possible]
        more = {
            "weighted_kappa": _share(cohen_kappa(*graded, weights="quadratic", **own)),
            "bias": _share(mean_bias(*graded, values=values, **own)),
        }
    every: dict[str, Any] = {"n_labels": len(panel.labels), "level": level}
    return AgreementPair(
        a=a,
        b=b,
        n_items=int(counts.sum()),
        raw=_share(raw_agreement(codes, counts, **every)),
        kappa=_share(cohen_kappa(codes, counts, **every)),
        gwet_ac1=_share(gwet_ac1(codes, counts, **every)),
        **more,
    )


def _share(found: Agreement) -> Share:
    return Share(estimate=found.estimate, interval=found.interval)


def _note(blind: Panel, between: Mapping[str, Share]) -> str:
    """Say what limits the numbers; empty where nothing does."""
    votes = np.sort(blind.vote_counts.sum(axis=0))[::-1]
    if not between:
        return ""
    if len(votes) > 1 and votes[1] < _FEW * len(blind.names):
        return (
            "one label is so rare that kappa is hardly determined: read plain agreement and AC1"
            " beside it"
        )
    crowd = len(blind.names) > CROWD
    return f"pairs are left out: they are listed for up to {CROWD} judges" if crowd else ""
