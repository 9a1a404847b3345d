"""A tally as a result: what was counted, in a sentence, a table and a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tallystick.results import Figure, Json, PatternTable, Result
from tallystick.tally.tally import Tally
from tallystick.values.label import Label

__all__ = ["TallyResult", "describe"]

_SHOWN = 20
_WIDE = 8


@dataclass(frozen=True, kw_only=True)
class TallyResult(Result):
    """What the verbs ``tally`` and ``merge`` answer; JSON has ``columns{}`` (their labels) and
    ``patterns`` (how many).

    Parameters
    ----------
    columns
        The labels of each column, None for missing.
    weighted
        Whether counts are sums of weights.
    tally
        The tally itself; it is saved, not printed.
    """

    verb: ClassVar[str] = "tally"

    columns: Mapping[str, tuple[Label, ...]]
    weighted: bool
    tally: Tally = field(repr=False, metadata={"private": True})

    def to_dict(self) -> dict[str, Json]:
        """Return JSON types only, with the number of patterns under ``patterns``."""
        return {**super().to_dict(), "patterns": self.tally.patterns}

    def rows(self) -> list[dict[str, Any]]:
        """Return the most frequent patterns, the commonest first."""
        tally = self.tally
        names = tally.names
        count = "count" if "count" not in names else "tally_count"
        rows: list[dict[str, Any]] = []
        for place in _commonest(tally):
            labels = _pattern(tally, place)
            shown = (
                dict(zip(names, labels, strict=True))
                if len(names) <= _WIDE
                else {"pattern": _text(names, labels)}
            )
            rows.append(
                {
                    **shown,
                    count: tally.counts[place].item(),
                    "share": tally.counts[place].item() / tally.n,
                }
            )
        return rows

    def summary(self) -> str:
        """Return the verdict and the commonest patterns; how many there are, if some are not
        shown.
        """
        shown = min(_SHOWN, self.tally.patterns)
        more = (
            f"\nThe {shown} commonest of {self.tally.patterns:,} patterns are shown; a saved tally"
            " (-o) holds all."
        )
        return super().summary() + (more if shown < self.tally.patterns else "")

    def figures(self) -> tuple[Figure, ...]:
        """Return one picture: the share of each of the commonest patterns."""
        tally = self.tally
        places = _commonest(tally)
        return (
            Figure(
                kind="forest",
                title=f"The commonest {len(places)} of {tally.patterns:,} patterns",
                columns={
                    "pattern": [_text(tally.names, _pattern(tally, place)) for place in places],
                    "share": [tally.counts[place].item() / tally.n for place in places],
                },
                roles={"name": "pattern", "x": "share"},
                labels={"x": "share of weight" if self.weighted else "share of rows"},
                unit="share",
            ),
        )

    def patterns(self) -> PatternTable:
        """Return how often each pattern occurred, to be attached to the rows that show it."""
        return PatternTable(self.tally, {"pattern_count": self.tally.counts.tolist()})


def describe(tally: Tally) -> TallyResult:
    """Say what was counted.

    >>> describe(Tally.of({"a": [1, 1, 0], "b": [1, 1, 1]})).verdict
    '3 rows of 2 columns show 2 of 2 possible patterns; the commonest is a=1, b=1 (67 %).'
    """
    columns = f"{len(tally.names)} column{'s' * (len(tally.names) != 1)}"
    warnings: tuple[str, ...] = ()
    if not tally.patterns:
        verdict = f"No rows of {columns} were counted."
    else:
        possible = math.prod(len(labels) for labels in tally.labels.values())
        most = _commonest(tally)[0]
        unit = (
            f"{tally.n:,.6g} units of weight"
            if tally.weighted
            else f"{tally.n:,} row{'s' * (tally.n != 1)}"
        )
        verdict = (
            f"{unit} of {columns} show {tally.patterns:,} of {_number(possible)} possible patterns;"
            f" the commonest is {_text(tally.names, _pattern(tally, most))}"
            f" ({tally.counts[most] / tally.n:.0%}).".replace("%)", " %)")
        )
    if tally.sources.repeats:
        told = ", ".join(tally.sources.repeats)
        warnings = (f"the rows of {told} are counted more than once",)
    if tally.weighted:
        warnings = (*warnings, "counts are sums of weights; n_items is their total, rounded")
    return TallyResult(
        verdict=verdict,
        n_items=round(tally.n),
        warnings=warnings,
        columns=tally.labels,
        weighted=tally.weighted,
        tally=tally,
    )


def _commonest(tally: Tally) -> list[int]:
    order: list[int] = np.argsort(-tally.counts, kind="stable")[:_SHOWN].tolist()
    return order


def _pattern(tally: Tally, place: int) -> tuple[Label, ...]:
    codes = tally.codes[place].tolist()
    return tuple(tally.labels[name][code] for name, code in zip(tally.names, codes, strict=True))


def _text(names: tuple[str, ...], labels: tuple[Label, ...]) -> str:
    """Write a pattern; of a wide one only what is not missing, and not more than fits a line."""
    told = [
        f"{name}={label}" for name, label in zip(names, labels, strict=True) if label is not None
    ]
    if len(names) <= _WIDE:
        told = [
            f"{name}={'missing' if label is None else label}"
            for name, label in zip(names, labels, strict=True)
        ]
    return ", ".join(told[:_WIDE]) + (", …" if len(told) > _WIDE else "") or "all missing"


def _number(value: int) -> str:
    return f"{value:,}" if value < 10**12 else f"about 10^{int(math.log10(value))}"
