"""The sentences beside a verdict of `shift`: warnings, notes, and the names of cells and strata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tallystick.clients import same_label
from tallystick.results import (
    count,
    number,
    p_value,
    percent,
    points,
    points_interval,
)
from tallystick.shift.verdict import EQUAL_NOISE

if TYPE_CHECKING:
    from tallystick.shift.result import Noise, Requests

__all__ = [
    "UNREAD_SHARE",
    "WITHOUT_OLD",
    "baseline_warnings",
    "money_warnings",
    "noise_notes",
    "old_draw_notes",
    "reading_notes",
    "request_notes",
    "spelling_warnings",
    "stratum_name",
    "top_cell_words",
    "unread_warnings",
    "warnings_of",
    "without_other",
]

UNREAD_SHARE = 0.02
"""From this share of unread answers on there is a warning."""

_NONE_OF_THEM = " answers were none of the labels"

WITHOUT_OLD = "without old answers by item (--old) the strategy is masa"
"""The note where the default strategy cannot be used."""


def noise_notes(result_noise: Noise | None, *, alpha: float) -> tuple[str, ...]:
    """Return what the repeats showed, and what the intervals would be without an assumption."""
    noise = result_noise
    if noise is None or noise.answers_are == "deterministic":
        return ()
    found = []
    if noise.repeats and noise.p_value is not None:
        third = noise.repeats - noise.confirmed - noise.reverted
        found.append(
            f"{count(noise.repeats)} flips were asked again: {count(noise.confirmed)} gave the new"
            f" answer again, {count(noise.reverted)} went back to the old one, {count(third)}"
            f" gave a third; nothing but chance has {p_value(noise.p_value, alpha=alpha)}"
        )
    whole = noise.whole_noise
    if whole is not None and whole.interval is not None and isinstance(whole.estimate, float):
        shown = points_interval(whole.estimate, whole.interval)
        if noise.equal_noise:
            found.append(
                f"the intervals assume that {EQUAL_NOISE}; without that assumption accuracy"
                f" changed by {shown}"
            )
        elif noise.share >= 1:
            found.append(f"if all flips are noise, accuracy changed by {shown}")
    return tuple(found)


def baseline_warnings(draws: int, *, unread: int, failed: int, answers: int) -> tuple[str, ...]:
    """Warn of what makes a baseline worth less."""
    found = []
    if draws < 2:
        found.append(
            "each item was asked once: a later comparison has to assume how noisy this API is"
            " (--repeats 2 measures it)"
        )
    if unread > UNREAD_SHARE * max(answers, 1):
        found.append(f"{count(unread)} of {count(answers)} answers could not be read: see --answer")
    if failed:
        found.append(f"{count(failed)} questions failed and are blank")
    return tuple(found)


def old_draw_notes(draws: int) -> tuple[str, ...]:
    """Say what several old answers per item are worth."""
    return (
        f"{count(draws)} old answers per item show how noisy the old API was: nothing is assumed"
        " about it",
    )


def request_notes(requests: Requests, cost: float, currency: str) -> tuple[str, ...]:
    """Say what was sent, answered and paid."""
    if not requests.sent:
        return ()
    money = f"; cost {number(cost)} {currency}".rstrip() if cost else ""
    extra = []
    if requests.from_journal:
        extra.append(f"{count(requests.from_journal)} answers came from the journal")
    if requests.paid_twice:
        extra.append(f"{count(requests.paid_twice)} requests may have been paid twice")
    if requests.unused:
        extra.append(f"{count(requests.unused)} paid answers are not used here")
    more = "; ".join(["", *extra])
    return (
        f"{count(requests.answered)} answers from {count(requests.sent)} requests sent,"
        f" {count(requests.billed)} of which may have been billed; {count(requests.failed)} items"
        f" failed{money}{more}",
    )


def unread_warnings(texts: Sequence[str], *, answers: int) -> tuple[str, ...]:
    r"""Warn if more than 2 % of the answers could not be read, with three of them.

    >>> unread_warnings(["Hm."] * 3, answers=100)[0][:49]
    '3 of 100 answers (3.0\xa0%) could not be read as a l'
    """
    if len(texts) <= UNREAD_SHARE * answers:
        return ()
    shown = "; ".join(repr(text[:60]) for text in list(dict.fromkeys(texts))[:3])
    return (
        f"{count(len(texts))} of {count(answers)} answers ({percent(len(texts) / answers)}) could"
        f" not be read as a label, e.g. {shown}: they are counted apart; see --answer",
    )


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
            f"{count(other)}{_NONE_OF_THEM} (empty, refused, unparsable or unknown): the"
            " sensitivity bounds say what they could hide"
        )
    if joined:
        found.append(
            f"{count(joined)} of {count(strata)} strata had fewer than two answers and were joined"
            " to others"
        )
    return tuple(found)


def without_other(warnings: Sequence[str]) -> tuple[str, ...]:
    """Leave out the warning of answers that were none of the labels."""
    return tuple(one for one in warnings if _NONE_OF_THEM not in one)


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


def reading_notes(
    *,
    no_truth: int,
    no_new: int,
    items: int,
    no_old: int = 0,
    column: str | None = None,
    strange: Sequence[str] = (),
    texts: int = 0,
) -> tuple[str, ...]:
    """Return what was left out of a table or counted as something else.

    Parameters
    ----------
    no_truth, no_old, no_new, items
        Rows without a true label, an old answer and a new answer, of how many.
    column, strange
        The column of old answers, and what it says that is not a true label of any item.
    texts
        How many different answers there are, where they are texts and not labels.

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
    if no_old:
        notes.append(
            f"{count(no_old)} of {count(items - no_truth)} items have no old answer: what it was is"
            " not known, so they are left out (if the API answered nothing there, write a word such"
            " as refused)"
        )
    if no_new:
        notes.append(
            f"{count(no_new)} of {count(items - no_truth - no_old)} items have no new answer and are"
            " left out (if the API answered nothing there, write a word such as refused)"
        )
    if texts:
        notes.append(
            f"there are {count(texts)} different answers, so they are texts and not labels: only"
            " whether each one changed is counted"
        )
    if strange:
        shown = ", ".join(strange[:6])
        notes.append(
            f"column {column!r} says {shown}, which is not a true label of any item: it counts as"
            " none of the labels"
        )
    return tuple(notes)
