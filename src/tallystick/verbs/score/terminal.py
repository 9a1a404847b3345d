"""How ``score`` looks: in a terminal answer, doubt, next step, two tables with pictures and what
they rest on; on a page the sections that unfold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from tallystick.results import Claims, Interval, Section, Unit, Unknown, number, p_value
from tallystick.results.numbers import GAP
from tallystick.verbs.score.result import Units

if TYPE_CHECKING:
    from tallystick.verbs.score.result import ScoreResult, SystemPairRow

WIDTH = 100
"""No line is longer than this."""
PICTURED = 80
"""Below this many columns the picture is left out."""
NARROWEST, WIDEST = 20, 50
"""A picture with fewer columns than this shows nothing; one with more shows nothing more."""
MOST, MOST_PAIRS = 40, 15

Line = tuple[str, str]


def lines(result: ScoreResult, width: int) -> list[Line] | None:
    """Return the lines of a result, each with its style: bold, yellow, dim or plain."""
    said = result.sentences
    if said is None:
        return None
    units, room = Units(result.scale), min(width, WIDTH)
    found = [(text, "bold") for text in wrap(said.answer, room)]
    found += [(text, "") for text in wrap(said.contrast, room)]
    found += [(text, "yellow") for text in wrap(said.open, room)]
    found += [(text, "") for text in wrap(said.next, room, subsequent_indent="      ")]
    if said.next and result.label_command:
        # Not wrapped, so that it can be copied as it is.
        found += [(f"      {result.label_command}", "")]

    plain = ["", *_systems(result, units).lines(room)]
    if not isinstance(result.pairs, Unknown) and result.pairs:
        plain += ["", *_pairs(result, result.pairs, units).lines(room)]
    plain += ["", *wrap(result.basis, room)]
    if isinstance(result.pairs, Unknown) and result.n_labels and len(result.systems) > 1:
        plain += wrap(f"No differences: {result.pairs.reason}.", room)
    found += [(text, "") for text in plain]

    found += [
        (text, "yellow")
        for warning in result.warnings
        for text in wrap(f"! {warning}", room, subsequent_indent="  ")
    ]
    return [
        *found,
        ("Details: --html report.html · --by COLUMN · --items-out items.csv · --json", "dim"),
    ]


# -- tables with a picture beside them


@dataclass(frozen=True)
class _Mark:
    """What is drawn of one row: a line for the interval, a dot, and a ring for the judges."""

    estimate: float | Unknown
    interval: Interval | Unknown
    ring: float | Unknown
    settled: bool = True

    @property
    def reach(self) -> list[float]:
        """Every number that is drawn."""
        ends = [] if isinstance(self.interval, Unknown) else list(self.interval)
        return [*ends, *(one for one in (self.estimate, self.ring) if isinstance(one, float))]


@dataclass(frozen=True, kw_only=True)
class _Table:
    """Cells, and the picture of each row on one axis from *least* to *most*."""

    heads: list[str]
    cells: list[list[str]]
    marks: list[_Mark]
    least: float
    most: float
    legend: str
    units: Units
    more: str = ""
    zero: bool = False

    def lines(self, width: int) -> list[str]:
        """Return the lines of the table, with the picture where there is room for it."""
        rows = [self.heads, *self.cells]
        widths = [max(len(row[j]) for row in rows) for j in range(len(self.heads))]
        # The first column is words, the second numbers; an interval starts with its estimate.
        texts = [
            "   ".join(
                cell.rjust(widths[j]) if j == 1 else cell.ljust(widths[j])
                for j, cell in enumerate(row)
            )
            for row in rows
        ]
        room = min(WIDEST, width - len(texts[0]) - 3)
        if width >= PICTURED and room >= NARROWEST:
            low, high = self.axis
            legend = self.legend if len(self.legend) <= room else ""
            track = [legend, *(self.drawn(mark, low, high, room) for mark in self.marks)]
            texts = [f"{text}   {line}" for text, line in zip(texts, track, strict=True)]
            indent = " " * (sum(widths) + 3 * len(widths))
            texts.append(f"{indent}{self.ticks(low, high, room)}")
        return [text.rstrip() for text in texts] + ([self.more] if self.more else [])

    @property
    def axis(self) -> tuple[float, float]:
        """The ends of the axis: round numbers around everything that is drawn."""
        seen = [value for one in self.marks for value in one.reach] or [self.least, self.most]
        low, high = min(seen), max(seen)
        if self.zero:
            low, high = min(low, 0.0), max(high, 0.0)
        step = (self.most - self.least) / (20 if self.zero else 10)
        down = self.least + step * int((low - self.least) / step - 1e-9)
        up = self.least + step * -int(-(high - self.least) / step + 1e-9)
        up = up if up >= high else up + step
        down = down if down <= low else down - step
        return max(self.least, down), min(self.most, up) if up > down else down + step

    def drawn(self, mark: _Mark, low: float, high: float, room: int) -> str:
        """Draw a row in *room* characters."""
        signs = [" "] * room
        if self.zero:
            signs[_at(0.0, low, high, room)] = "│"
        if isinstance(mark.interval, Interval):
            start, end = (_at(one, low, high, room) for one in mark.interval)
            for place in range(start, end + 1):
                signs[place] = "┿" if signs[place] == "│" else "━"
        if isinstance(mark.ring, float):
            signs[_at(mark.ring, low, high, room)] = "○"
        if isinstance(mark.estimate, float):
            signs[_at(mark.estimate, low, high, room)] = "●" if mark.settled else "◐"
        return "".join(signs)

    def ticks(self, low: float, high: float, room: int) -> str:
        """Return the two ends of the axis, and zero, as text below the picture."""
        signs = [" "] * room
        for value in (low, high, *([0.0] if self.zero else [])):
            text = number(value, sign=self.zero and bool(value))
            if self.units.share:
                text = self.units.difference(value) if self.zero else self.units.score(value)
                text = _bare(text).replace(".0", "") if value or not self.zero else "0"
            start = _at(value, low, high, room) - len(text) // 2
            start = min(max(0, start), room - len(text))
            if not "".join(signs[max(0, start - 1) : start + len(text) + 1]).strip():
                signs[start : start + len(text)] = list(text)
        return "".join(signs)


def _at(value: float, low: float, high: float, room: int) -> int:
    share = (value - low) / (high - low) if high > low else 0.5
    return min(room - 1, max(0, round(share * (room - 1))))


def _bare(text: str) -> str:
    """Leave out the unit, which the heading names."""
    return text.replace(" points", "")


def _systems(result: ScoreResult, units: Units) -> _Table:
    shown = result.systems[:MOST]
    cells = [
        [row.name, GAP if isinstance(row.judge_only, Unknown) else units.score(row.judge_only)]
        for row in shown
    ]
    heads = ["system", "judges"]
    if result.n_labels:
        heads.append("corrected")
        for cell, row in zip(cells, shown, strict=True):
            if isinstance(row.score, float) and isinstance(row.interval, Interval):
                cell.append(units.score(row.score, row.interval))
            else:
                cell.append("no human grades")
    low, high = (0.0, 1.0) if units.share else result.scale or (0.0, 1.0)
    rest = f"… the first {MOST} of {len(result.systems):,} systems"
    return _Table(
        heads=heads,
        cells=cells,
        marks=[_Mark(row.score, row.interval, row.judge_only) for row in shown],
        least=low,
        most=high,
        legend="○ judges" + ("   ●━ corrected" if result.n_labels else ""),
        units=units,
        more=rest if len(result.systems) > MOST else "",
    )


def _pairs(result: ScoreResult, pairs: Sequence[SystemPairRow], units: Units) -> _Table:
    shown = pairs[:MOST_PAIRS]
    cells = []
    for row in shown:
        judged = row.judge_only_difference
        cells.append(
            [
                f"{row.a} − {row.b}",
                GAP if isinstance(judged, Unknown) else _bare(units.difference(judged)),
                _bare(units.difference(row.difference, row.interval)),
                p_value(row.adjusted_p, alpha=result.alpha).removeprefix("p ").removeprefix("= "),
            ]
        )
    return _Table(
        heads=["difference, points" if units.share else "difference", "judges", "corrected", "p"],
        cells=cells,
        marks=[
            _Mark(row.difference, row.interval, row.judge_only_difference, row.settled)
            for row in shown
        ],
        least=-units.width,
        most=units.width,
        legend="● settled   ◐ not settled",
        units=units,
        more=f"… the first {MOST_PAIRS} of {len(pairs):,} pairs" if len(pairs) > MOST_PAIRS else "",
        zero=True,
    )


# What a page of ``score`` unfolds: systems, pairs and judges, each with its answer in one line.


_SYSTEMS = {
    "system": "name",
    "corrected": "score",
    "interval": "interval",
    "judges alone": "judge_only",
    "judges' bias": "bias",
    "bias interval": "bias_interval",
    "human grades": "n_labels",
    "worth with judges": "labels_worth",
    "rank": "rank_interval",
}
_PAIRS = {
    "difference": "difference",
    "interval": "interval",
    "judges alone": "judge_only_difference",
    "adjusted p": "adjusted_p",
    "settled": "settled",
    "graded for both": "common_labels",
}
_JUDGES = {
    "judge": "name",
    "passes good outputs": "tpr.estimate",
    "good interval": "tpr.interval",
    "fails bad outputs": "tnr.estimate",
    "bad interval": "tnr.interval",
    "kappa": "kappa.estimate",
    "kappa interval": "kappa.interval",
    "kinder than people by": "bias.estimate",
    "bias interval": "bias.interval",
    "graded by both": "n_labels",
}
"""Heads of the tables, and the fields of the rows under them."""


def _listed(row: object, columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a row under their heads."""
    return {head: attrgetter(name)(row) for head, name in columns.items()}


def folds_of(result: ScoreResult) -> tuple[Section, ...]:
    """Return the sections of a result, in the order in which a reader asks."""
    share = Units(result.scale).share
    score: Unit = "share" if share else "number"
    size: Unit = "points" if share else "number"
    systems = [_listed(row, _SYSTEMS) for row in result.systems]
    for row in systems:
        worth, rank = row["worth with judges"], row["rank"]
        row["worth with judges"] = round(worth) if isinstance(worth, float) else None
        # One rank is one number.
        known = isinstance(rank, tuple)
        row["rank"] = " to ".join(map(str, dict.fromkeys(rank))) if known else None
    found = [
        Section(
            title="Systems",
            line=_bias_line(result),
            rows=systems,
            units={"corrected": score, "judges alone": score, "judges' bias": size},
        )
    ]
    if not isinstance(result.pairs, Unknown) and result.pairs:
        found.append(_folds_pairs(result, result.pairs, size))
    if result.judges:
        found.append(_judges(result, size))
    return tuple(found)


def _bias_line(result: ScoreResult) -> str:
    """Name the system on which the judges are most surely off."""
    if not result.n_labels:
        return "No human grade says how far the judges are off."
    off = [
        (row.name, row.bias, row.bias_interval)
        for row in result.systems
        if isinstance(row.bias, float)
        and isinstance(row.bias_interval, Interval)
        and 0 not in row.bias_interval
    ]
    if not off:
        return "No bias of the judges is settled."
    name, bias, interval = max(off, key=lambda one: abs(one[1]))
    word = "too kind" if bias > 0 else "too strict"
    if bias < 0:
        bias, interval = -bias, -interval
    size = Units(result.scale).difference(bias, interval, sign=False)
    more = "" if len(off) == len(result.systems) else " On the others, no bias is settled."
    return f"The judges are {size} {word} to {name}.{more}"


def _folds_pairs(result: ScoreResult, pairs: tuple[SystemPairRow, ...], size: Unit) -> Section:
    wrong = [
        f"{row.a} against {row.b}"
        for row in pairs
        if row.settled
        and isinstance(row.judge_only_difference, float)
        and row.judge_only_difference < 0
    ]
    line = f"{sum(row.settled for row in pairs)} of {len(pairs)} settled."
    if wrong:
        line += f" The judges point the wrong way on {wrong[0]}."
    return Section(
        title="Pairs",
        line=line,
        figures=result.figures()[1:],
        rows=[{"pair": f"{row.a} − {row.b}", **_listed(row, _PAIRS)} for row in pairs],
        units={"difference": size, "judges alone": size, "adjusted p": "p"},
    )


def _judges(result: ScoreResult, size: Unit) -> Section:
    # Those that agree most with people come first. Which one does is said only where it is settled.
    judges = sorted(
        result.judges,
        key=lambda row: row.kappa.estimate if isinstance(row.kappa.estimate, float) else -2.0,
        reverse=True,
    )
    kappas = {
        row.name: row.kappa.interval for row in judges if isinstance(row.kappa.interval, Interval)
    }
    line = "No judge can be compared with people yet."
    if len(kappas) > 1:
        best = Claims.from_intervals(kappas, what="judge").best
        line = "Which judge agrees most with people is not settled."
        line = line if best is None else f"{best} agrees most with people."
    elif kappas:
        line = f"How far {next(iter(kappas))} agrees with people."
    if result.enough:
        line += f" Corrected by people, {result.enough} alone tells as much as all of them."
    return Section(
        title="Judges",
        line=line,
        rows=[_listed(row, _JUDGES) for row in judges],
        units={
            "passes good outputs": "share",
            "fails bad outputs": "share",
            "kinder than people by": size,
        },
    )
