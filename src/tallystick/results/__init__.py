"""What is known, how surely, and what would settle the rest.

Every capability returns a `Result`: a verdict with its numbers, each number with an `Interval` that
declares its guarantee, or `Unknown` with the reason. Gates, slices and the way numbers are written
are the same for all of them, and live here.

Pure Python on purpose: a result can be read, printed and sent on a machine that has no NumPy.
"""

from __future__ import annotations

from tallystick.results.figure import Figure
from tallystick.results.gates import (
    Gate,
    GateEstimate,
    GateOutcome,
    all_of,
    check_gates,
    exit_code,
    parse_gate,
)
from tallystick.results.interval import Guarantee, Interval
from tallystick.results.json import SCHEMA, Json, to_json
from tallystick.results.numbers import (
    about,
    count,
    number,
    number_interval,
    p_value,
    percent,
    percent_interval,
    points,
    points_interval,
    shown_difference,
)
from tallystick.results.result import Decision, Locator, PatternTable, Result
from tallystick.results.section import Section
from tallystick.results.sentences import Sentences
from tallystick.results.slices import Slice, slice_lines
from tallystick.results.text import harmless
from tallystick.results.units import Unit, estimate_texts, interval_text, value_text
from tallystick.results.unknown import Needed, Unknown

__all__ = [
    "SCHEMA",
    "Decision",
    "Figure",
    "Gate",
    "GateEstimate",
    "GateOutcome",
    "Guarantee",
    "Interval",
    "Json",
    "Locator",
    "Needed",
    "PatternTable",
    "Result",
    "Section",
    "Sentences",
    "Slice",
    "Unit",
    "Unknown",
    "about",
    "all_of",
    "check_gates",
    "count",
    "estimate_texts",
    "exit_code",
    "harmless",
    "interval_text",
    "number",
    "number_interval",
    "p_value",
    "parse_gate",
    "percent",
    "percent_interval",
    "points",
    "points_interval",
    "shown_difference",
    "slice_lines",
    "to_json",
    "value_text",
]
