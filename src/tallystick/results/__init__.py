"""What is known, how surely, and what would settle the rest.

Every capability returns a `Result`: a verdict with its numbers, each number with an `Interval` that
declares its guarantee, or `Unknown` with the reason. Gates, slices and the way numbers are written
are the same for all of them, and live here.

Pure Python on purpose: a result can be read, printed and sent on a machine that has no NumPy.
"""

from __future__ import annotations

from tallystick.results.gates import (
    Gate,
    GateEstimate,
    GateOutcome,
    Slice,
    check_gates,
    exit_code,
    parse_gate,
)
from tallystick.results.interval import (
    SCHEMA,
    Guarantee,
    Interval,
    Json,
    Needed,
    Unknown,
    about,
    to_json,
)
from tallystick.results.numbers import (
    Sentences,
    Unit,
    count,
    estimate_texts,
    harmless,
    interval_text,
    names_of,
    number,
    number_interval,
    number_word,
    p_value,
    percent,
    percent_interval,
    plural,
    points,
    points_interval,
    shorten,
    value_text,
)
from tallystick.results.result import (
    Claims,
    Decision,
    Figure,
    Locator,
    PatternTable,
    Result,
    ResultPart,
    Section,
)

__all__ = ["Interval", "Needed", "Result", "Unknown", "check_gates", "exit_code"]
