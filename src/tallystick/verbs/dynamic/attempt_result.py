"""From a table of attempts to fool a model to what it says, in sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.results import Figure, Interval, Result, Unit, Unknown
from tallystick.results.numbers import (
    Sentences,
    count,
    percent,
    percent_interval,
    points_interval,
)
from tallystick.table import Data, is_missing
from tallystick.table.words import read_times
from tallystick.verbs.dynamic.attempts import (
    Attempts,
    ClusteredRate,
    RateContrast,
    change_between,
    clustered_cost,
    rate_of,
)
from tallystick.verbs.dynamic.columns import Columns, label, meaning, read_marks
from tallystick.verbs.dynamic.log import RoundOrder, order_rounds, round_name

ONE_ROUND = "all attempts"
"""What the only round of a log without rounds is called."""

NOBODY = "(nobody is named)"
"""The annotator of a log that names none."""

NOBODY_NAMED = (
    "the log does not name who made the attempts, so nothing shows how alike they are: name the"
    " column (--annotator)"
)

_FEW = 10
_CLOCK = re.compile(r"(?:(\d+) days?,? )?(\d+):(\d{1,2}):(\d{1,2}(?:\.\d+)?)")

# From a table to attempts.


def attempts_of(data: Data, columns: Columns) -> tuple[Attempts, tuple[str, ...]]:
    """Return the attempts that *data* holds, and notes.

    Attempts without an outcome are left out and counted in a note.
    """
    fooled = _outcome(data, columns)
    kept = np.flatnonzero([one is not None for one in fooled])
    if not kept.size:
        raise InputError(f"no attempt says whether the model was fooled ({columns.outcome!r})")
    notes: list[str] = []
    if kept.size < len(fooled):
        blank = len(fooled) - kept.size
        notes.append(f"{blank:,} of {len(fooled):,} attempts have no outcome and are left out")
    if columns.annotator is None:
        notes.append("no column names who made the attempts (--annotator COLUMN)")
    times = _times(data, columns.time, kept, notes)
    order = _rounds(data, columns, kept, times, notes)
    yes, no, valid = _validity(data, columns, kept)
    back = read_marks(data, columns.retracted, "flag") if columns.retracted else None
    log = Attempts(
        annotator=_texts(data, columns.annotator, kept, whole=True),
        round=order.codes,
        fooled=np.array([bool(fooled[k]) for k in kept]),
        model=None if columns.model is None else _texts(data, columns.model, kept),
        yes=yes,
        no=no,
        valid=valid,
        retracted=None if back is None else np.array([bool(back[k]) for k in kept]),
        cost=_costs(data, columns.cost, kept, notes),
        order=None if times is None else np.unique(times, return_inverse=True)[1],
        round_names=order.names,
        ordered=order.ordered,
    )
    return log, (*notes, *order.notes)


def _outcome(data: Data, columns: Columns) -> list[bool | None]:
    """Return whether each attempt fooled the model, None where that is not said."""
    if columns.wrong:
        return read_marks(data, columns.wrong, "wrong")
    if columns.correct:
        return [
            None if one is None else not one for one in read_marks(data, columns.correct, "right")
        ]
    cells = data.cells(columns.truth or "", columns.prediction or "")
    pairs = zip(cells[columns.truth or ""], cells[columns.prediction or ""], strict=True)
    told = [(label(true), label(said)) for true, said in pairs]
    return [None if None in pair else pair[0] != pair[1] for pair in told]


def _texts(data: Data, column: str | None, kept: Array, *, whole: bool = False) -> Array:
    """Return a column as text; *whole* refuses blank cells."""
    if column is None:
        return np.full(kept.size, NOBODY)
    cells = data.cells(column)[column]
    for k in kept.tolist() if whole else ():
        if is_missing(cells[k]):
            raise InputError(
                f"{data.place(k + 1)}: column {column!r} is blank: name it for every attempt,"
                " because intervals rest on who made it"
            )
    return np.array(["" if is_missing(cells[k]) else str(cells[k]) for k in kept.tolist()])


def _rounds(
    data: Data, columns: Columns, kept: Array, times: Array | None, notes: list[str]
) -> RoundOrder:
    column = columns.round
    if column is None:
        way = f"--round {columns.time}: one round per day" if columns.time else "--round COLUMN"
        notes.append(f"there is no column of rounds, so all attempts are one round ({way})")
        return RoundOrder(np.zeros(kept.size, dtype=np.int64), (ONE_ROUND,))
    _texts(data, column, kept, whole=True)
    cells = data.cells(column)[column]
    when = None if times is None else times.tolist()
    return order_rounds([cells[k] for k in kept.tolist()], when=when, clock=columns.time or "time")


def _validity(
    data: Data, columns: Columns, kept: Array
) -> tuple[Array | None, Array | None, Array | None]:
    """Return votes for and against, or whether labels were found valid."""
    if columns.yes and columns.no:
        votes = np.nan_to_num(data.numbers(columns.yes, columns.no, low=0.0)[kept]).astype(int)
        return votes[:, 0], votes[:, 1], None
    if columns.validated is None:
        return None, None, None
    cells = data.cells(columns.validated)[columns.validated]
    truth = data.cells(columns.truth)[columns.truth] if columns.truth else None
    lists = [_words_in(cells[k]) for k in kept.tolist()]
    true = [label(truth[k]) if truth is not None else None for k in kept.tolist()]
    if all(len(words) < 2 for words in lists) and not any(
        word in (mine or "") for words, mine in zip(lists, true, strict=True) for word in words
    ):
        found = read_marks(data, columns.validated, "valid")
        return None, None, np.array([found[k] for k in kept], dtype=object)
    yes, no = np.zeros(kept.size, dtype=int), np.zeros(kept.size, dtype=int)
    for place, (words, mine) in enumerate(zip(lists, true, strict=True)):
        for word in words:
            told = True if mine is not None and word == mine else meaning(word, "valid")
            if told == "?" and mine is None:
                raise InputError(
                    f"{data.place(int(kept[place]) + 1)}: column {columns.validated!r} holds the"
                    f" vote {word!r}: write valid and invalid (or the labels, with --truth)"
                )
            # A flag is no vote; a label that is not the truth denies it.
            yes[place] += told is True
            no[place] += told is False or told == "?"
    return yes, no, None


def _words_in(cell: Any) -> list[str]:
    """Return the words of a cell that lists votes."""
    if is_missing(cell):
        return []
    pieces = re.split(r"[,;|\s]+", str(cell).strip("[] ").replace("'", "").replace('"', ""))
    return [word for piece in pieces if (word := label(piece)) is not None]


def _costs(data: Data, column: str | None, kept: Array, notes: list[str]) -> Array | None:
    """Return what each attempt cost; times such as 0:01:30 become seconds."""
    if column is None:
        return None
    cells = data.cells(column)[column]
    clocks = [_CLOCK.fullmatch(str(cells[k]).strip()) for k in kept.tolist()]
    if any(clocks):
        parts = [c.groups(default="0") if c else ("0", "0", "0", "nan") for c in clocks]
        values = np.array(
            [86400 * int(d) + 3600 * int(h) + 60 * int(m) + float(s) for d, h, m, s in parts]
        )
    else:
        values = data.numbers(column, low=0.0)[kept, 0]
    blank = int(np.isnan(values).sum())
    if blank:
        notes.append(f"{blank:,} attempts have no {column}: no cost per success is given")
    return None if blank else np.asarray(values)


def _times(data: Data, column: str | None, kept: Array, notes: list[str]) -> Array | None:
    """Return when each attempt was made; None where no column says it, or none that can be read."""
    if column is None:
        return None
    found = read_times(_texts(data, column, kept).tolist())
    if found.seconds is None:
        notes.append(
            f"column {column!r} gives no order in time ({found.note}), so nothing is said about the"
            " course of a round"
        )
        return None
    if found.note:
        notes.append(f"column {column!r}: {found.note}")
    return np.array(found.seconds)


# What a log of attempts says.


@dataclass(frozen=True, kw_only=True)
class CampaignRound:
    """One round of an attempt log.

    Parameters
    ----------
    models
        The models in the loop, where the log names them.
    fooling
        Attempts that fooled the model, whatever validators said of them.
    success
        The rate that the answer is about: the validated one (B1) where the log has validations,
        else fooling. Fooling attempts that are still unchecked count as not validated.
    unchecked, highest
        How many these are, and the rate if all of them turned out valid.
    cost, cost_interval
        Cost per success.
    """

    round: Any
    models: tuple[str, ...]
    fooling: ClusteredRate
    success: ClusteredRate
    unchecked: int
    highest: float
    cost: float | Unknown
    cost_interval: Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class AttemptResult(Result):
    """What a log of attempts says.

    Parameters
    ----------
    checked
        Whether anything in the log says which labels are valid.
    annotators
        How many people (or probes) made the attempts; None if the log does not name them.
    change
        From the first round to the last, with shared annotators paired.
    cost_unit
        The column that the cost was read from.
    """

    verb: ClassVar[str] = "dynamic"
    schema: ClassVar[int] = 3

    action: str = "analyse"
    kind: str = "attempts"
    checked: bool
    attempts: int
    annotators: int | None
    rounds: tuple[CampaignRound, ...]
    change: RateContrast | Unknown
    cost_unit: str | None

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per round."""
        return [
            {
                "round": each.round,
                "annotators": each.success.annotators if self.annotators else None,
                "attempts": each.success.attempts,
                "fooled": each.fooling.successes,
                "validated": each.success.successes if self.checked else None,
                "unchecked": each.unchecked if self.checked else None,
                "rate": each.success.rate,
                "interval": each.success.interval,
                "cost_per_success": each.cost,
                "cost_per_success_interval": each.cost_interval,
            }
            for each in self.rounds
        ]

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        return {"rate": "share"}

    def figures(self) -> tuple[Figure, ...]:
        """Return the rates by round."""
        title = "Validated model error rate" if self.checked else "Share of attempts that fooled"
        spans = [each.success.interval for each in self.rounds]
        ends = [tuple(span) if isinstance(span, Interval) else (None, None) for span in spans]
        columns: dict[str, Sequence[Any]] = {
            "name": [round_name(each.round) for each in self.rounds],
            "rate": [each.success.rate for each in self.rounds],
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
        }
        roles = {"name": "name", "value": "rate", "low": "low", "high": "high"}
        return (Figure("forest", f"{title}, by round", columns, roles, unit="share"),)


def analyse_attempts(
    log: Attempts,
    *,
    named: bool = True,
    cost_unit: str | None = None,
    alpha: float = 0.05,
) -> AttemptResult:
    """Say how often annotators fooled the model, at what cost, and what else the log shows.

    Parameters
    ----------
    log
        All attempts, failed and retracted ones included.
    named
        Whether the log says who made the attempts; without names there are no intervals.
    cost_unit
        What the cost is counted in.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> log = Attempts(
    ...     annotator=np.repeat(np.arange(12), 20), round=np.tile([1, 2], 120),
    ...     fooled=draw.random(240) < 0.3, valid=draw.random(240) < 0.8,
    ... )
    >>> found = analyse_attempts(log)
    >>> [each.success.attempts for each in found.rounds], found.checked, found.annotators
    ([120, 120], True, 12)
    """
    rounds = tuple(_round(log, number, named=named, alpha=alpha) for number in log.rounds)
    change: RateContrast | Unknown = Unknown("it needs two rounds or more")
    if not named:
        change = Unknown(NOBODY_NAMED)
    elif not log.ordered:
        change = Unknown("the names of the rounds do not say their order, and no column says when")
    elif len(rounds) > 1:
        change = change_between(log, log.rounds[0], log.rounds[-1], alpha=alpha)
    settled = isinstance(rounds[-1].success.interval, Interval)
    sentences = Sentences(
        answer=_verdict(rounds, checked=log.checked, named=named), contrast=_change(rounds, change)
    )
    return AttemptResult(
        verdict=sentences.verdict,
        sentences=sentences,
        decision="decided" if settled else "unknowable",
        n_items=log.size,
        assumptions=_assumptions(named=named, checked=log.checked),
        warnings=_warnings(rounds, checked=log.checked, named=named),
        checked=log.checked,
        attempts=log.size,
        annotators=int(np.unique(log.annotator).size) if named else None,
        rounds=rounds,
        change=change,
        cost_unit=None if log.cost is None else cost_unit or "cost",
    )


def _round(log: Attempts, number: Any, *, named: bool, alpha: float) -> CampaignRound:
    here = log.within(number)
    fooling = _named(rate_of(log, here, log.fooling, alpha=alpha), named)
    success = _named(rate_of(log, here, log.success, alpha=alpha), named)
    open_ones = here & log.unchecked
    cost: tuple[float | Unknown, Interval | Unknown] = (Unknown("the log has no cost"),) * 2
    if log.cost is not None:
        won, tried = log.per_annotator(here, log.success), log.per_annotator(here)
        cost = clustered_cost(log.per_annotator(here, log.cost), won, tried, alpha=alpha)
    nobody = Unknown(NOBODY_NAMED)
    return CampaignRound(
        round=log.name_of(number),
        models=() if log.model is None else tuple(map(str, np.unique(log.model[here]))),
        fooling=fooling,
        success=success,
        unchecked=int(open_ones.sum()) if log.checked else 0,
        highest=success.rate + (float(open_ones.sum() / here.sum()) if log.checked else 0.0),
        cost=cost[0],
        cost_interval=cost[1] if named else nobody,
    )


def _named(rate: ClusteredRate, named: bool) -> ClusteredRate:
    """Return a rate without an interval where nobody knows how alike its attempts are."""
    unknown = Unknown(NOBODY_NAMED)
    return rate if named else replace(rate, interval=unknown, df=unknown, effective=unknown)


# The sentences of an answer about an attempt log.


def _verdict(rounds: tuple[CampaignRound, ...], *, checked: bool, named: bool) -> str:
    """Say how often the model was fooled in the last round, and who tried how often."""
    last = rounds[-1]
    rate = last.success
    people = (
        f" by {count(rate.annotators)} annotator{'s' * (rate.annotators != 1)}" if named else ""
    )
    where = "" if last.round == ONE_ROUND else f" of {round_name(last.round)}"
    fooled = (
        "fooled the model, with a label that validators confirmed"
        if checked
        else "fooled the model (no column of validation was read)"
    )
    return f"{_rate(rate)} of the {count(rate.attempts)} attempts{people}{where} {fooled}."


def _rate(rate: ClusteredRate) -> str:
    if isinstance(rate.interval, Interval):
        return percent_interval(rate.rate, rate.interval)
    return percent(rate.rate)


def _assumptions(*, named: bool, checked: bool) -> tuple[str, ...]:
    found = ["rates are per attempt, retracted and failed ones included"]
    if named:
        found.append("intervals take the annotator for the unit: they are approximate (measured)")
    if checked:
        found.append("a fooling attempt without a decided validation counts as not validated")
        found.append("nobody checked the labels of attempts that did not fool the model")
    return tuple(found)


def _warnings(rounds: tuple[CampaignRound, ...], *, checked: bool, named: bool) -> tuple[str, ...]:
    """Return what would change how a sensible reader uses the answer."""
    found = []
    few = [each for each in rounds if each.success.annotators < _FEW]
    if named and few:
        names = ", ".join(str(each.round) for each in few[:6])
        names += f" and {len(few) - 6} more" if len(few) > 6 else ""
        where = "" if few[0].round == ONE_ROUND else f" in {round_name(names)}"
        found.append(
            f"Fewer than {_FEW} annotators{where}: they say little, however many attempts they"
            " made."
        )
    if len(rounds[-1].models) > 1:
        names = ", ".join(rounds[-1].models[:4])
        found.append(f"Several models were tried ({names}): add --by COLUMN to see each of them.")
    if not named:
        found.append(f"There are no intervals: {NOBODY_NAMED}.")
    late = [each for each in rounds if each.unchecked]
    if checked and late:
        each = late[-1]
        found.append(
            f"{count(each.unchecked)} fooling attempts of the last such round ({each.round}) are"
            f" not validated yet and count as failures: the rate is {percent(each.success.rate)}"
            f" now and would be at most {percent(each.highest)}."
        )
    everyone = [each for each in rounds if each.fooling.rate == 1.0]
    if everyone:
        where = "" if everyone[-1].round == ONE_ROUND else f" in {round_name(everyone[-1].round)}"
        found.append(
            f"Every attempt fooled the model{where}. If the log holds only successes, it shows no"
            " rate: log all attempts."
        )
    return tuple(found)


def _change(rounds: tuple[CampaignRound, ...], change: RateContrast | Unknown) -> str:
    """Say whether the rate changed from the first round to the last."""
    if len(rounds) < 2:
        return ""
    span = f"{round_name(rounds[0].round)} to {rounds[-1].round}"
    reason = change if isinstance(change, Unknown) else change.interval
    if isinstance(reason, Unknown):
        return f"Whether the rate changed from {span} is not known: {reason.reason}."
    if isinstance(change, Unknown):
        return ""
    shown = points_interval(change.estimate, reason)
    if reason.low > 0 or reason.high < 0:
        return (
            f"From {span} the rate {'rose' if reason.low > 0 else 'fell'}: {shown}. That does not"
            " show that the model changed: annotators, pay, instructions and contexts changed too."
        )
    return f"No change from {span} is shown: {shown}."
