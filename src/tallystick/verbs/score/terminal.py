"""How ``score`` looks in a terminal: answer, doubt, next step, two tables with pictures, basis."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from tallystick.results import Interval, Section, Unit, Unknown, p_value, points_interval
from tallystick.results.numbers import GAP, number
from tallystick.verbs.score.grades import Units

if TYPE_CHECKING:
    from tallystick.verbs.score.result import ScoreResult, SystemPairRow, SystemRow

WIDTH = 100
"""No line is longer than this."""
PICTURED = 80
"""Below this many columns the picture is left out."""
NARROWEST = 20
"""A picture with fewer columns than this shows nothing."""
MOST = 40
MOST_PAIRS = 15

Line = tuple[str, str]


def lines(result: ScoreResult, width: int) -> list[Line] | None:
    """Return the lines of a result, each with its style: bold, yellow, dim or plain."""
    said = result.sentences
    if said is None:
        return None
    units = _units(result)
    room = min(width, WIDTH)
    found = [(text, "bold") for text in wrap(said.answer, room)]
    found += [(text, "") for text in wrap(said.contrast, room)]
    found += [(text, "yellow") for text in wrap(said.open, room)]
    found += [(text, "") for text in wrap(said.next, room, subsequent_indent="      ")]
    if said.next and result.label_command:
        # Not wrapped, so that it can be copied as it is.
        found += [(f"      {result.label_command}", "")]
    found += [("", ""), *_plain(_systems(result, units, room))]
    pairs = () if isinstance(result.pairs, Unknown) else result.pairs
    if pairs:
        found += [("", ""), *_plain(_pairs(result, pairs, units, room))]
    found.append(("", ""))
    found += _plain(wrap(result.basis, room))
    if isinstance(result.pairs, Unknown) and result.n_labels and len(result.systems) > 1:
        found += _plain(wrap(f"No differences: {result.pairs.reason}.", room))
    found += [
        (text, "yellow")
        for warning in result.warnings
        for text in wrap(f"! {warning}", room, subsequent_indent="  ")
    ]
    found.append(
        ("Details: --html report.html · --by COLUMN · --items-out items.csv · --json", "dim")
    )
    return found


def _plain(texts: Sequence[str]) -> list[Line]:
    return [(text, "") for text in texts]


def _units(result: ScoreResult) -> Units:
    return Units(result.scale)


# -- tables


def _systems(result: ScoreResult, units: Units, width: int) -> list[str]:
    """Return the table of systems with its picture."""
    shown = result.systems[:MOST]
    cells = [
        [
            row.name,
            GAP if isinstance(row.judge_only, Unknown) else units.score(row.judge_only),
            _score(row, units),
        ]
        for row in shown
    ]
    heads = ["system", "judges", "corrected"]
    if not result.n_labels:
        cells = [row[:2] for row in cells]
        heads = heads[:2]
    marks = [
        _Marks(
            estimate=None if isinstance(row.score, Unknown) else row.score,
            interval=None if isinstance(row.interval, Unknown) else row.interval,
            ring=None if isinstance(row.judge_only, Unknown) else row.judge_only,
        )
        for row in shown
    ]
    ends = _axis(marks, 0.0, 1.0) if units.share else _axis(marks, *(result.scale or (0.0, 1.0)))
    legend = "○ judges" + ("   ●━ corrected" if result.n_labels else "")
    text = _table(heads, cells, marks, ends, legend, width, units)
    if len(result.systems) > MOST:
        text.append(f"… the first {MOST} of {len(result.systems):,} systems")
    return text


def _score(row: SystemRow, units: Units) -> str:
    if isinstance(row.score, Unknown) or not isinstance(row.interval, Interval):
        return "no human grades"
    return units.score(row.score, row.interval)


def _pairs(
    result: ScoreResult, pairs: Sequence[SystemPairRow], units: Units, width: int
) -> list[str]:
    """Return the table of differences with its picture."""
    shown = pairs[:MOST_PAIRS]
    word = "difference, points" if units.share else "difference"
    cells = [
        [
            f"{row.a} − {row.b}",
            GAP
            if isinstance(row.judge_only_difference, Unknown)
            else _bare(units.difference(row.judge_only_difference)),
            _bare(units.difference(row.difference, row.interval)),
            p_value(row.adjusted_p, alpha=result.alpha).removeprefix("p ").removeprefix("= "),
        ]
        for row in shown
    ]
    marks = [
        _Marks(
            estimate=row.difference,
            interval=row.interval,
            ring=(
                None
                if isinstance(row.judge_only_difference, Unknown)
                else row.judge_only_difference
            ),
            settled=row.settled,
        )
        for row in shown
    ]
    ends = _axis(marks, -units.width, units.width, zero=True)
    text = _table(
        [word, "judges", "corrected", "p"],
        cells,
        marks,
        ends,
        "● settled   ◐ not settled",
        width,
        units,
        zero=True,
    )
    if len(pairs) > MOST_PAIRS:
        text.append(f"… the first {MOST_PAIRS} of {len(pairs):,} pairs")
    return text


def _bare(text: str) -> str:
    """Leave out the unit, which the heading names."""
    return text.replace(" points", "")


def _table(
    heads: list[str],
    cells: list[list[str]],
    marks: list[_Marks],
    ends: tuple[float, float],
    legend: str,
    width: int,
    units: Units,
    *,
    zero: bool = False,
) -> list[str]:
    rows = [heads, *cells]
    widths = [max(len(row[j]) for row in rows) for j in range(len(heads))]
    # The first column is words, the second numbers; an interval starts with its estimate.
    texts = [
        "   ".join(
            cell.rjust(widths[j]) if j == 1 else cell.ljust(widths[j]) for j, cell in enumerate(row)
        )
        for row in rows
    ]
    room = width - len(texts[0]) - 3
    if width < PICTURED or room < NARROWEST:
        return [text.rstrip() for text in texts]
    room = min(room, 50)
    track = [
        legend if len(legend) <= room else "",
        *(one.drawn(ends, room, zero=zero) for one in marks),
    ]
    drawn = [f"{text}   {line}".rstrip() for text, line in zip(texts, track, strict=True)]
    axis = _ticks(ends, room, units, zero=zero)
    return [*drawn, f"{' ' * (len(texts[0]) + 3)}{axis}".rstrip()]


# -- the picture


class _Marks:
    """What is drawn of one row: a line for the interval, a dot, and a ring for the judges."""

    def __init__(
        self,
        *,
        estimate: float | None,
        interval: Interval | None,
        ring: float | None,
        settled: bool = True,
    ) -> None:
        self.estimate, self.interval, self.ring = estimate, interval, ring
        self.settled = settled

    def reach(self) -> list[float]:
        """Return every number that is drawn."""
        ends = list(self.interval) if self.interval is not None else []
        return [value for value in (self.estimate, self.ring, *ends) if value is not None]

    def drawn(self, ends: tuple[float, float], room: int, *, zero: bool) -> str:
        """Draw the row in *room* characters."""
        signs = [" "] * room
        if zero:
            signs[_at(0.0, ends, room)] = "│"
        if self.interval is not None:
            low, high = (_at(end, ends, room) for end in self.interval)
            for place in range(low, high + 1):
                signs[place] = "┿" if signs[place] == "│" else "━"
        if self.ring is not None:
            signs[_at(self.ring, ends, room)] = "○"
        if self.estimate is not None:
            signs[_at(self.estimate, ends, room)] = "●" if self.settled else "◐"
        return "".join(signs)


def _at(value: float, ends: tuple[float, float], room: int) -> int:
    low, high = ends
    share = (value - low) / (high - low) if high > low else 0.5
    return min(room - 1, max(0, round(share * (room - 1))))


def _axis(
    marks: Sequence[_Marks], least: float, most: float, *, zero: bool = False
) -> tuple[float, float]:
    """Return the ends of the axis: round numbers around everything that is drawn."""
    seen = [value for one in marks for value in one.reach()] or [least, most]
    low, high = min(seen), max(seen)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    step = (most - least) / (20 if zero else 10)
    down = least + step * int((low - least) / step - 1e-9)
    up = least + step * -int(-(high - least) / step + 1e-9)
    up = up if up >= high else up + step
    down = down if down <= low else down - step
    return max(least, down), min(most, up) if up > down else down + step


def _ticks(ends: tuple[float, float], room: int, units: Units, *, zero: bool) -> str:
    """Return the two ends of the axis, and zero, as text below the picture."""
    signs = [" "] * room
    places = [ends[0], ends[1], *([0.0] if zero else [])]
    for value in places:
        text = number(value, sign=zero and bool(value))
        if units.share:
            text = units.difference(value) if zero else units.score(value)
        text = _bare(text) if value else "0"
        if not value and not zero and units.share:
            text = units.score(value)
        text = text.replace(".0", "") if units.share else text
        at = _at(value, ends, room)
        start = min(max(0, at - len(text) // 2), room - len(text))
        if all(sign == " " for sign in signs[max(0, start - 1) : start + len(text) + 1]):
            signs[start : start + len(text)] = list(text)
    return "".join(signs)


# What a page of ``score`` unfolds: systems, pairs and judges, each with its answer in one line.


def folds_of(result: ScoreResult) -> tuple[Section, ...]:
    """Return the sections of a result, in the order in which a reader asks."""
    found = [_folds_systems(result)]
    if not isinstance(result.pairs, Unknown) and result.pairs:
        found.append(_folds_pairs(result, result.pairs))
    if result.judges:
        found.append(_judges(result))
    return tuple(found)


def _share(result: ScoreResult) -> Unit:
    return "share" if Units(result.scale).share else "number"


def _points(result: ScoreResult) -> Unit:
    return "points" if Units(result.scale).share else "number"


def _folds_systems(result: ScoreResult) -> Section:
    rows = [
        {
            "system": row.name,
            "corrected": row.score,
            "interval": row.interval,
            "judges alone": row.judge_only,
            "judges' bias": row.bias,
            "bias interval": row.bias_interval,
            "human grades": row.n_labels,
            "worth with judges": None
            if isinstance(row.labels_worth, Unknown)
            else round(row.labels_worth),
            "rank": None
            if isinstance(row.rank_interval, Unknown)
            else " to ".join(map(str, dict.fromkeys(row.rank_interval))),
        }
        for row in result.systems
    ]
    return Section(
        title="Systems",
        line=_bias_line(result),
        rows=rows,
        units={
            "corrected": _share(result),
            "judges alone": _share(result),
            "judges' bias": _points(result),
        },
    )


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
        bias, interval = -bias, Interval(-interval.high, -interval.low)
    size = (
        points_interval(bias, interval, sign=False)
        if Units(result.scale).share
        else Units(result.scale).difference(bias, interval)
    )
    rest = len(result.systems) - len(off)
    more = "" if not rest else " On the others, no bias is settled."
    return f"The judges are {size} {word} to {name}.{more}"


def _folds_pairs(result: ScoreResult, pairs: tuple[SystemPairRow, ...]) -> Section:
    wrong = [
        f"{row.a} against {row.b}"
        for row in pairs
        if row.settled
        and not isinstance(row.judge_only_difference, Unknown)
        and row.judge_only_difference < 0
    ]
    line = f"{sum(row.settled for row in pairs)} of {len(pairs)} settled."
    if wrong:
        line += f" The judges point the wrong way on {wrong[0]}."
    return Section(
        title="Pairs",
        line=line,
        figures=result.figures()[1:],
        rows=[
            {
                "pair": f"{row.a} − {row.b}",
                "difference": row.difference,
                "interval": row.interval,
                "judges alone": row.judge_only_difference,
                "adjusted p": row.adjusted_p,
                "settled": row.settled,
                "graded for both": row.common_labels,
            }
            for row in pairs
        ],
        units={
            "difference": _points(result),
            "judges alone": _points(result),
            "adjusted p": "p",
        },
    )


def _judges(result: ScoreResult) -> Section:
    rows: list[dict[str, Any]] = [
        {
            "judge": row.name,
            "passes good outputs": row.tpr.estimate,
            "good interval": row.tpr.interval,
            "fails bad outputs": row.tnr.estimate,
            "bad interval": row.tnr.interval,
            "kappa": row.kappa.estimate,
            "kappa interval": row.kappa.interval,
            "kinder than people by": row.bias.estimate,
            "bias interval": row.bias.interval,
            "graded by both": row.n_labels,
        }
        for row in result.judges
    ]
    known = [row for row in result.judges if isinstance(row.kappa.estimate, float)]
    line = "No judge can be compared with people yet."
    if known:
        best = max(known, key=lambda row: float(row.kappa.estimate))  # type: ignore[arg-type]
        line = f"{best.name} agrees most with people."
    if result.enough:
        line += f" Corrected by people, {result.enough} alone tells as much as all of them."
    return Section(
        title="Judges",
        line=line,
        rows=rows,
        units={
            "passes good outputs": "share",
            "fails bad outputs": "share",
            "kinder than people by": _points(result),
        },
    )
