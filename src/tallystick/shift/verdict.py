"""The sentences of `shift`: verdicts, warnings, assumptions and notes are made only here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.clients import same_label
from tallystick.results import (
    Decision,
    GateOutcome,
    Interval,
    Needed,
    Unknown,
    count,
    number,
    p_value,
    percent,
    percent_interval,
    points,
    points_interval,
)

if TYPE_CHECKING:
    from tallystick.shift.noise import NoiseFloor
    from tallystick.shift.result import Change

__all__ = [
    "ASSUMPTIONS",
    "SMALL",
    "WITHOUT_OLD",
    "cell_text",
    "decide",
    "forecast_assumptions",
    "forecast_verdict",
    "gate_basis",
    "gated_verdict",
    "history_verdict",
    "money_warnings",
    "noise_warning",
    "reading_notes",
    "spelling_warnings",
    "stratum_name",
    "top_cell_words",
    "warnings_of",
    "watched_basis",
]

SMALL = 0.01
"""A change of accuracy inside ± this is called no change that matters."""

ASSUMPTIONS = (
    "the true labels are right, and the answer is about these items, not about others",
    "an item's answer does not depend on when in the run it was asked",
    "intervals are approximate: their coverage is measured by simulation, not proved",
)
"""What every assessment rests on."""

WITHOUT_OLD = "without old answers by item (--old) the strategy is masa"
"""The note where the default strategy cannot be used."""


def decide(
    accuracy: Change, flips: Change, calls: int, population: int
) -> tuple[Decision, Needed | None, str]:
    """Say whether the accuracy changed: the decision, what is needed, and the verdict.

    A change is decided where the interval excludes 0, or lies within ± 1 point. The forecast of
    further calls assumes that half widths fall with the root of the calls.
    """
    if accuracy.interval is None or isinstance(accuracy.estimate, Unknown):
        raise TypeError("an assessment always has an estimate of the change of accuracy")
    low, high = accuracy.interval
    change = points_interval(accuracy.estimate, accuracy.interval)
    seen = f"{_flips(flips)} ({count(calls)} of {count(population)} items asked)."
    if low > 0 or high < 0:
        word = "better" if low > 0 else "worse"
        return "decided", None, f"The API got {word}: accuracy {change}{seen}"
    if low >= -SMALL and high <= SMALL:
        bar = points(SMALL, sign=False)
        return "decided", None, f"Accuracy did not change by more than {bar}: {change}{seen}"

    half = (high - low) / 2
    aim = max(abs(accuracy.estimate), SMALL)
    more = int(calls * ((half / aim) ** 2 - 1)) + 1 if half > aim else calls // 4
    needed = Needed(min(max(more, 10), population - calls), "calls") if population > calls else None
    return "undecided", needed, f"We cannot tell whether accuracy changed: {change}{seen}"


def _flips(flips: Change) -> str:
    if flips.interval is None or isinstance(flips.estimate, Unknown):
        return ""
    if flips.estimate == 0:
        return f"; no answer changed, at most {percent(flips.interval.high)} did"
    return f"; {percent_interval(flips.estimate, flips.interval)} of its answers changed"


def warnings_of(*, failed: int, other: int, joined: int, strata: int) -> tuple[str, ...]:
    """Return the warnings of an assessment.

    Parameters
    ----------
    failed
        Calls that got no answer.
    other
        Answers that were none of the labels.
    joined, strata
        How many of the strata had too few answers and were joined to others.
    """
    found = []
    if failed:
        found.append(
            f"{count(failed)} calls failed and are missing, not wrong: see the sensitivity bounds"
        )
    if other:
        found.append(
            f"{count(other)} answers were none of the labels (empty, refused, unparsable or"
            " unknown)"
        )
    if joined:
        found.append(
            f"{count(joined)} of {count(strata)} strata had fewer than two answers and were joined"
            " to others"
        )
    return tuple(found)


def money_warnings(
    limit: float | None, *, asked: int | None, wanted: int, unpaid: int
) -> tuple[str, ...]:
    """Return what a limit on the cost left out; *asked* is None where it did not end the run."""
    if limit is None:
        return ()
    found = []
    if asked is not None:
        found.append(
            f"max_cost = {limit:g} ended the run: {count(asked)} of {count(wanted)} items were"
            " asked"
        )
    if unpaid:
        found.append(
            f"max_cost = {limit:g} was used up: {count(unpaid)} items were not asked a second time"
        )
    return tuple(found)


def spelling_warnings(texts: Counter[str], labels: Sequence[str]) -> tuple[str, ...]:
    """Say which answers that count as none of the labels look like one of them.

    >>> spelling_warnings(Counter({"1.0": 7}), ["0", "1"])[0][:52]
    "7 answers were '1.0', which looks like the label '1'"
    """
    alike = [(text, n, same_label(text, labels)) for text, n in texts.items()]
    return tuple(
        f"{count(n)} answers were {text!r}, which looks like the label {labels[code]!r} in another"
        " spelling, and were counted as none of the labels: coerce (--coerce) to read them as that"
        " label"
        for text, n, code in alike
        if code < len(labels)
    )[:3]


def noise_warning(floor: NoiseFloor, *, alpha: float) -> str:
    """Say what asking twice showed."""
    beyond = "beyond" if floor.p_value <= alpha else "not proved to be beyond"
    return (
        f"{percent(floor.unstable)} of {count(floor.items)} items asked twice got a different"
        f" answer the second time; about {percent(floor.changed)} really changed, which is"
        f" {beyond} the API's own randomness ({p_value(floor.p_value, alpha=alpha)})"
    )


def top_cell_words(true: str, answered: str, change: float, half: float) -> str:
    """Return a cell that changed, for a person.

    >>> top_cell_words("four", "five", 0.021, 0.004)
    'four → five: +2.1 points ± 0.4 points'
    """
    return f"{true} → {answered}: {points(change)} ± {points(half, sign=False)}"


def stratum_name(
    labels: Sequence[str], old: str | None, confidence: tuple[float, float] | None
) -> str:
    """Name a stratum by the true labels, the old answers and the confidence of its items.

    >>> stratum_name(["cat"], "was dog", (0.25, 0.5))
    'truly cat, was dog, confidence 0.25 to 0.5'
    """
    parts = [f"truly {labels[0]}" if len(labels) == 1 else f"{len(labels)} labels"]
    if old is not None:
        parts.append(old)
    if confidence is not None:
        parts.append(f"confidence {confidence[0]:.3g} to {confidence[1]:.3g}")
    return ", ".join(parts)


def cell_text(change: float) -> str:
    """Return the change of one cell of the matrix, in points."""
    return number(round(100 * change, 2), sign=True)


def watched_basis(asked: int) -> str:
    """Say on what a gate rests that watched the run."""
    return (
        f"a test that watched {count(asked)} items in random order; it holds whenever the run"
        " stopped"
    )


def gate_basis(outcome: GateOutcome) -> str:
    """Say on what a gate rests that was checked at the end."""
    interval = outcome.interval
    if not isinstance(interval, Interval):
        return interval.reason
    return f"its {number(100 * interval.level)} % interval ({interval.promise})"


def gated_verdict(outcomes: Sequence[GateOutcome], verdict: str) -> str:
    """Return the gates, one sentence each, before the verdict."""
    words = {True: "holds", False: "fails", None: "could not be decided"}
    sentences = [f"The gate {one.expression} {words[one.passed]}." for one in outcomes]
    return " ".join([*sentences, verdict])


def reading_notes(
    *,
    no_truth: int,
    no_new: int,
    items: int,
    column: str | None = None,
    strange: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return what was left out of a table or counted as something else.

    Parameters
    ----------
    no_truth, no_new, items
        Rows without a true label and without a new answer, of how many.
    column, strange
        The column of old answers, and what it says that is not a true label of any item.

    Examples
    --------
    >>> reading_notes(no_truth=3, no_new=0, items=100)
    ('3 of 100 items have no true label and are left out',)
    """
    notes = []
    if no_truth:
        notes.append(
            f"{count(no_truth)} of {count(items)} items have no true label and are left out"
        )
    if no_new:
        notes.append(
            f"{count(no_new)} of {count(items - no_truth)} items have no new answer: it counts as"
            " none of the labels"
        )
    if strange:
        shown = ", ".join(strange[:6])
        notes.append(
            f"column {column!r} says {shown}, which is not a true label of any item: it counts as"
            " none of the labels"
        )
    return tuple(notes)


def forecast_verdict(*, calls: int, cost: float, seconds: float, latency: float) -> str:
    """Say what a run would cost."""
    return (
        f"At most {count(calls)} calls, which cost {number(cost)} and take about"
        f" {count(round(seconds))} s if one call takes {number(latency)} s."
    )


def forecast_assumptions(latency: float) -> tuple[str, ...]:
    """Return what a forecast rests on."""
    return ("no call is tried twice", f"a call takes {number(latency)} s")


def history_verdict(assessments: Sequence[Mapping[str, Any]]) -> str:
    """Say how an API has changed since the first assessment, given in order of date."""
    first, last = assessments[0], assessments[-1]
    return (
        f"{count(len(assessments))} assessments since {first['date']}; the last, of"
        f" {last['date']}: {last['verdict']}"
    )
