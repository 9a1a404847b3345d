"""From a table of attempts to fool a model to what it says, in sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.results import Figure, Interval, Result, Unit, Unknown, numbers
from tallystick.table import Data, is_missing
from tallystick.table.words import read_times
from tallystick.verbs.dynamic.attempts import (
    NOBODY_NAMED,
    Attempts,
    ClusteredRate,
    RateContrast,
    change_between,
    clustered_cost,
    rate_of,
)
from tallystick.verbs.dynamic.columns import Columns, label, meaning, read_marks, texts
from tallystick.verbs.dynamic.log import RoundOrder, ends_of, round_name, rounds_of

ONE_ROUND = "all attempts"
"""What the only round of a log without rounds is called."""

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
        notes.append("no column names who made the attempts (annotator in a reading file)")
    order = _rounds(data, columns, kept, notes)
    # An attempt that was taken back stays an attempt and fools nobody.
    back = read_marks(data, columns.retracted, "flag") if columns.retracted else fooled
    taken = [bool(fooled[k]) and (back is fooled or not back[k]) for k in kept]
    rows = kept.tolist()
    who = texts(data, columns.annotator, rows, what="annotator") if columns.annotator else [""]
    log = Attempts(
        annotator=np.resize(who, kept.size),
        round=order.codes,
        rounds=order.names,
        fooled=np.array(taken),
        model=np.array(texts(data, columns.model, rows)) if columns.model else None,
        verdict=_validity(data, columns, kept),
        cost=_costs(data, columns.cost, kept, notes),
        named=columns.annotator is not None,
        ordered=order.ordered,
    )
    return log, (*notes, *order.notes)


def _outcome(data: Data, columns: Columns) -> list[bool | None]:
    """Return whether each attempt fooled the model, None where that is not said."""
    if columns.wrong:
        return read_marks(data, columns.wrong, "wrong")
    if columns.correct:
        marks = read_marks(data, columns.correct, "right")
        return [None if one is None else not one for one in marks]
    cells = data.cells(columns.truth or "", columns.prediction or "")
    pairs = zip(cells[columns.truth or ""], cells[columns.prediction or ""], strict=True)
    told = [(label(true), label(said)) for true, said in pairs]
    return [None if None in pair else pair[0] != pair[1] for pair in told]


def _rounds(data: Data, columns: Columns, kept: Array, notes: list[str]) -> RoundOrder:
    """Return the rounds in order: by their names, else by the times of their attempts."""
    clock = columns.time
    if columns.round is None:
        way = f"--round {clock}: one round per day" if clock else "--round COLUMN"
        notes.append(f"there is no column of rounds, so all attempts are one round ({way})")
    times = None
    if clock is not None and columns.round is not None:
        found = read_times(texts(data, clock, kept.tolist()))
        times = found.seconds
        if times is None:
            notes.append(f"column {clock!r} gives no order in time ({found.note})")
    return rounds_of(data, columns.round, kept, ONE_ROUND, when=times, clock=clock or "time")


def _validity(data: Data, columns: Columns, kept: Array) -> Array | None:
    """Return what validators found: 1 valid, -1 invalid, 0 undecided; None if nobody looked."""
    if columns.yes and columns.no:
        counts = np.nan_to_num(data.numbers(columns.yes, columns.no, low=0.0)[kept])
        return np.sign(counts[:, 0] - counts[:, 1])
    if columns.validated is None:
        return None
    cells = data.cells(columns.validated)[columns.validated]
    truth = data.cells(columns.truth)[columns.truth] if columns.truth else [None] * len(cells)
    votes = [(k, _words_in(cells[k]), label(truth[k])) for k in kept.tolist()]
    if not any(len(words) > 1 or any(w in (mine or "") for w in words) for _, words, mine in votes):
        found = read_marks(data, columns.validated, "valid")
        return np.array([0 if found[k] is None else 1 if found[k] else -1 for k in kept])
    out = np.zeros(kept.size, dtype=np.int64)
    for place, (k, words, mine) in enumerate(votes):
        for word in words:
            told = True if word == mine else meaning(word, "valid")
            if told == "?" and mine is None:
                raise InputError(
                    f"{data.place(k + 1)}: column {columns.validated!r} holds the vote"
                    f" {word!r}: write valid and invalid (or the labels, with --truth)"
                )
            # A flag is no vote; a label that is not the truth denies it.
            out[place] += 0 if told is None else 1 if told is True else -1
    return np.sign(out)


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
        values = np.array(parts, dtype=float) @ (86400, 3600, 60, 1)
    else:
        values = data.numbers(column, low=0.0)[kept, 0]
    blank = int(np.isnan(values).sum())
    if blank:
        notes.append(f"{blank:,} attempts have no {column}: no cost per success is given")
    return None if blank else np.asarray(values)


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
        columns: dict[str, Sequence[Any]] = {
            "name": [round_name(each.round) for each in self.rounds],
            "rate": [each.success.rate for each in self.rounds],
            **ends_of([each.success.interval for each in self.rounds]),
        }
        roles = {"name": "name", "value": "rate", "low": "low", "high": "high"}
        return (Figure("forest", f"{title}, by round", columns, roles, unit="share"),)


def analyse_attempts(
    log: Attempts, *, cost_unit: str | None = None, alpha: float = 0.05
) -> AttemptResult:
    """Say how often annotators fooled the model, at what cost, and what else the log shows.

    Parameters
    ----------
    log
        All attempts, failed and retracted ones included.
    cost_unit
        What the cost is counted in.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> log = Attempts(
    ...     annotator=np.repeat(np.arange(12), 20), round=np.tile([0, 1], 120), rounds=(1, 2),
    ...     fooled=draw.random(240) < 0.3, verdict=draw.choice([-1, 1], 240),
    ... )
    >>> found = analyse_attempts(log)
    >>> [each.success.attempts for each in found.rounds], found.checked, found.annotators
    ([120, 120], True, 12)
    """
    rounds = tuple(_round(log, place, alpha) for place in range(len(log.rounds)))
    change: RateContrast | Unknown = Unknown("it needs two rounds or more")
    if not log.named:
        change = Unknown(NOBODY_NAMED)
    elif not log.ordered:
        change = Unknown("the names of the rounds do not say their order, and no column says when")
    elif len(rounds) > 1:
        change = change_between(log, 0, len(rounds) - 1, alpha=alpha)
    checked = log.verdict is not None
    sentences = numbers.Sentences(
        answer=_verdict(rounds[-1], checked=checked, named=log.named),
        contrast=_change(rounds, change),
    )
    settled = isinstance(rounds[-1].success.interval, Interval)
    return AttemptResult(
        verdict=sentences.verdict,
        sentences=sentences,
        decision="decided" if settled else "unknowable",
        n_items=log.fooled.size,
        assumptions=_assumptions(named=log.named, checked=checked),
        warnings=_warnings(rounds, named=log.named),
        checked=checked,
        attempts=log.fooled.size,
        annotators=np.unique(log.annotator).size if log.named else None,
        rounds=rounds,
        change=change,
        cost_unit=None if log.cost is None else cost_unit or "cost",
    )


def _round(log: Attempts, place: int, alpha: float) -> CampaignRound:
    here = log.round == place
    success = rate_of(log, here, log.success, alpha=alpha)
    unchecked = int((here & log.unchecked).sum())
    cost: tuple[float | Unknown, Interval | Unknown] = (Unknown("the log has no cost"),) * 2
    if log.cost is not None:
        won, tried = log.per_annotator(here, log.success), log.per_annotator(here)
        cost = clustered_cost(log.per_annotator(here, log.cost), won, tried, alpha=alpha)
    return CampaignRound(
        round=log.rounds[place],
        models=() if log.model is None else tuple(map(str, np.unique(log.model[here]))),
        fooling=rate_of(log, here, log.fooled, alpha=alpha),
        success=success,
        unchecked=unchecked,
        highest=success.rate + unchecked / success.attempts,
        cost=cost[0],
        cost_interval=cost[1] if log.named else Unknown(NOBODY_NAMED),
    )


# The sentences of an answer about an attempt log.


def _verdict(last: CampaignRound, *, checked: bool, named: bool) -> str:
    """Say how often the model was fooled in the last round, and who tried how often."""
    rate = last.success
    shown = numbers.percent(rate.rate)
    if isinstance(rate.interval, Interval):
        shown = numbers.percent_interval(rate.rate, rate.interval)
    who = (
        f" by {numbers.count(rate.annotators)} {numbers.plural('annotator', rate.annotators)}"
        if named
        else ""
    )
    how = "no column of validation was read"
    fooled = (
        "the model, with a label that validators confirmed" if checked else f"the model ({how})"
    )
    return (
        f"{shown} of the {numbers.count(rate.attempts)} attempts{who}{_of(last)} fooled {fooled}."
    )


def _of(each: CampaignRound, word: str = "of") -> str:
    """Return of (or in) which round, nothing if there is only one."""
    return "" if each.round == ONE_ROUND else f" {word} {round_name(each.round)}"


def _assumptions(*, named: bool, checked: bool) -> tuple[str, ...]:
    found = []
    if named:
        found.append("intervals take the annotator for the unit: they are approximate (measured)")
    if checked:
        found.append(
            "a fooling attempt without a decided validation counts as not validated, and nobody"
            " checked the labels of the others"
        )
    return tuple(found)


def _warnings(rounds: tuple[CampaignRound, ...], *, named: bool) -> tuple[str, ...]:
    """Return what would change how a sensible reader uses the answer."""
    found = []
    few = [str(each.round) for each in rounds if each.success.annotators < _FEW]
    if not named:
        found.append(f"There are no intervals: {NOBODY_NAMED}.")
    elif few:
        where = "" if few[0] == ONE_ROUND else f" in {round_name(numbers.names_of(few, most=6))}"
        found.append(
            f"Fewer than {_FEW} annotators{where}: they say little, however many attempts they"
            " made."
        )
    if len(models := rounds[-1].models) > 1:
        found.append(
            f"Several models were tried ({numbers.names_of(models)}): --by COLUMN shows each."
        )
    for each in [each for each in rounds if each.unchecked][-1:]:
        found.append(
            f"{numbers.count(each.unchecked)} fooling attempts{_of(each)} are not validated yet and"
            f" count as failures: the rate is {numbers.percent(each.success.rate)} now and would be"
            f" at most {numbers.percent(each.highest)}."
        )
    for each in [each for each in rounds if each.fooling.rate == 1.0][-1:]:
        found.append(
            f"Every attempt fooled the model{_of(each, 'in')}. If the log holds only successes, it"
            " shows no rate: log all attempts."
        )
    return tuple(found)


def _change(rounds: tuple[CampaignRound, ...], change: RateContrast | Unknown) -> str:
    """Say whether the rate changed from the first round to the last."""
    if len(rounds) < 2:
        return ""
    span = f"{round_name(rounds[0].round)} to {rounds[-1].round}"
    moved = change if isinstance(change, Unknown) else change.interval
    if isinstance(moved, Unknown) or isinstance(change, Unknown):
        return f"Whether the rate changed from {span} is not known: {getattr(moved, 'reason', '')}."
    shown = numbers.points_interval(change.estimate, moved)
    if moved.low <= 0 <= moved.high:
        return f"No change from {span} is shown: {shown}."
    return (
        f"From {span} the rate {'rose' if moved.low > 0 else 'fell'}: {shown}. That does not show"
        " that the model changed: annotators, pay, instructions and contexts changed too."
    )
