"""The next batch: which items a person should label now."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import spawn
from tallystick.results import Interval, Json, Unknown
from tallystick.sampling.label_accuracies import (
    LEAST_TWICE,
    DrawJournal,
    Floats,
    Ints,
    drawing_probabilities,
)
from tallystick.sampling.label_best import BestOf, contested_draws
from tallystick.sampling.label_differences import session_order
from tallystick.sampling.label_means import Apart, rectified_steps
from tallystick.sampling.label_shares import anytime_share, apart_of, planned_measure, share_verdict
from tallystick.sampling.label_strata import (
    FIRST,
    LabelProgress,
    StopReason,
    draw_batch,
    forecast,
    stop_reason,
)
from tallystick.sampling.label_task import (
    LabelTask,
    Measure,
    Read,
    apart_answers,
    journal_of,
    measured,
    read_answers,
)
from tallystick.table import NUMBER, Data, Label, identifier, without_missing
from tallystick.table.cells import literal
from tallystick.table.reading_names import ROLE_NAMES, parts, plain
from tallystick.table.session import Session

LEARN_EVERY = 10
"""Labels that were there are read in batches of this size, so that guesses learn on the way."""


def drawn_event(
    session: Session, task: LabelTask, where: Standing, cells: RowCells, size: int
) -> dict[str, Json]:
    """Draw *size* further units and return the line that records them."""
    number = len(session.batches)
    rng = spawn(session.head.seed, number + 1)[number]
    if task.claim == "best-of":
        assert where.best is not None
        units = contested_draws(where.best, size=size, rng=rng)
        spread = np.ones(len(task.strata))
        if task.rows.shape[1] > 1:
            # Only the outputs of systems that may still be the best are worth a label.
            task = replace(task, rows=task.rows[:, where.best.live])
        return batch_event(session, task, cells, units=units, spread=spread, q=None)
    journal = journal_of(session, task.strata)
    spread = _spread(task, where, journal)
    after = draw_batch(task.strata, journal, size=size, spread=spread, rng=rng)
    new = slice(journal.n_draws, None)
    return batch_event(session, task, cells, units=after.item[new], spread=spread, q=after.q[new])


def _spread(task: LabelTask, where: Standing, journal: DrawJournal) -> Floats:
    """Return one spread per stratum from the answers that were read; skips teach nothing."""
    read = where.read
    known = ~read.skipped
    stratum = journal.stratum[: read.n][known]
    if task.rule is None:
        values = read.answers[known, 0, 0]
    else:
        values = measured(read, task.measures[0])[0][known]
    return task.spread(stratum, values, len(task.strata))


def batch_event(
    session: Session,
    task: LabelTask,
    cells: RowCells,
    *,
    units: Ints,
    spread: Floats,
    q: Floats | None,
) -> dict[str, Json]:
    """Return the line of one batch.

    The second reader reads as many as make max(20, a tenth of all) with those before, taken from
    the batch at random.
    """
    strata = task.strata.of[units]
    draws: list[Json] = [
        [int(unit), int(h), None if q is None else float(q[k])]
        for k, (unit, h) in enumerate(zip(units, strata, strict=True))
    ]
    cells.fetch(task.rows[units].ravel().tolist())
    asks: list[Json] = [
        [k, int(row), *cells.name(int(row))]
        for k, unit in enumerate(units)
        for row in task.rows[unit]
    ]
    event: dict[str, Json] = {
        "batch": session.n_draws,
        "spread": [float(s) for s in spread],
        "draws": draws,
        "asks": asks,
    }
    if len(session.head.readers) > 1:
        marked = sum(ask.twice for ask in session.asks)
        wanted = max(LEAST_TWICE, -(-(len(session.asks) + len(asks)) // 10)) - marked
        rng = spawn(session.head.seed + 1, len(session.batches) + 1)[-1]
        count = int(np.clip(wanted, 0, len(asks)))
        event["twice"] = sorted(rng.choice(len(asks), size=count, replace=False).tolist())
    return event


def batches_of_labels(
    session: Session, task: LabelTask, cells: RowCells, units: Ints, among: NDArray[np.bool_] | None
) -> list[dict[str, Json]]:
    """Return labels that were drawn at random before, as the first batches of a session.

    Their order is not known, so a random one is drawn. *among* flags the strata that they were
    drawn from, where these are not all.
    """
    order = spawn(session.head.seed + 2, 1)[0].permutation(units)
    spread = np.ones(len(task.strata))
    if among is not None:
        spread = among.astype(np.float64)
    left = task.strata.sizes.astype(np.int64).copy()
    cells.fetch(task.rows[units].ravel().tolist())  # one scan for all of them
    # Models that have left a contest change what it is drawn from, so these labels are one batch:
    # they were drawn before anybody could leave.
    models = task.claim == "best-of" and task.passing is None
    size = max(order.size, 1) if models else LEARN_EVERY
    events = []
    for start in range(0, order.size, size):
        part = order[start : start + size]
        q = np.empty(part.size)
        for k, unit in enumerate(part):
            h = int(task.strata.of[unit])
            q[k] = drawing_probabilities(left, spread)[h]
            left[h] -= 1
        event = batch_event(session, task, cells, units=part, spread=spread, q=q)
        events.append(event)
        session = session.then([event])
    return events


# Where a session stands: intervals, verdicts, the forecast, and whether to stop.


@dataclass(frozen=True, kw_only=True)
class MeasureStanding:
    """What is known of one number.

    Parameters
    ----------
    name
        What it is the number of.
    estimate
        The estimate of the planned interval.
    interval
        Approximate, for a stop at a planned precision.
    anytime_interval
        Holds whenever you stop, whatever you saw.
    limit, verdict
        The claim, and ``above``, ``below`` or None.
    """

    name: str
    estimate: float | Unknown
    interval: Interval | Unknown
    anytime_interval: Interval
    limit: float | None = None
    verdict: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Standing:
    """Where a session stands after the answers that may be read.

    Parameters
    ----------
    read
        The answers.
    measures
        What is known of each number.
    winner
        Who is better, or the best within epsilon; None while that is open or not asked.
    certain
        Whether no further label can change the answer.
    progress
        What the stop rules saw.
    stop
        Why to stop, or None to go on.
    forecast
        At most about how many more labels; None where nothing can be forecast.
    left
        How many units can still be drawn.
    best
        Where the contest of several models stands.
    """

    read: Read
    measures: tuple[MeasureStanding, ...]
    winner: str | None
    certain: bool
    progress: LabelProgress
    stop: StopReason | None
    forecast: int | None
    left: int
    best: BestOf | None = None


def standing(session: Session, task: LabelTask) -> Standing:
    """Say where a session stands."""
    read = read_answers(session, task)
    if task.claim == "best-of":
        return _contest(session, task, read)
    journal = journal_of(session, task.strata)
    apart = apart_answers(session, task)
    measures = tuple(_measure(session, task, read, journal, one, apart) for one in task.measures)
    left = task.strata.n_items - session.n_draws

    winner, certain, grown = None, False, None
    if task.claim in ("classifiers", "judged"):
        order = session_order(session, task, read=read)
        winner, certain, grown = order.winner, order.certain, order.missing
    limits = [one for one in measures if one.limit is not None]
    settled = winner is not None or bool(limits and all(one.verdict for one in limits))
    wanted = session.head.options.get("target")
    progress = LabelProgress(
        labelled=read.n,
        left=left,
        half_width=_half_width(measures),
        target=wanted,
        verdict=settled,
        certain=certain,
        budget=_affordable(session, task.rows.shape[1]),
    )
    return Standing(
        read=read,
        measures=measures,
        winner=winner,
        certain=certain,
        progress=progress,
        stop=stop_reason(progress),
        forecast=_forecast(progress, grown, left),
        left=left,
    )


def _forecast(progress: LabelProgress, grown: int | None, left: int) -> int | None:
    """Return the labels that are missing: to the precision asked, or to the verdict."""
    if progress.verdict or progress.certain or not left:
        return 0
    # Fewer labels than the first batch do not tell how far it is.
    if progress.labelled < FIRST:
        return None
    if progress.target is not None and progress.half_width is not None:
        return forecast(
            progress.labelled,
            progress.half_width,
            progress.target,
            items=progress.labelled + progress.left,
        )
    return grown


def _half_width(measures: tuple[MeasureStanding, ...]) -> float | None:
    """Return the largest half-width: a precision is reached when every number has reached it."""
    widths = [one.interval.width / 2 for one in measures if isinstance(one.interval, Interval)]
    return max(widths) if widths and len(widths) == len(measures) else None


def _measure(
    session: Session,
    task: LabelTask,
    read: Read,
    journal: DrawJournal,
    measure: Measure,
    apart_read: Read,
) -> MeasureStanding:
    low, high = measured(read, measure)
    apart = apart_of(apart_read, measure, task)
    alpha = session.head.alpha

    # Bets aim at the precision of the number itself, so w is divided by its scale (W6, W11).
    width = min(session.head.target / abs(measure.scale), 0.99)
    steps = [
        replace(
            rectified_steps(journal, part, measure.guess, bounds=measure.bounds), half_width=width
        )
        for part in (low, high)
    ]
    anytime = _shown(anytime_share(steps[0], alpha=alpha, skipped=steps[1]), apart, measure)
    verdict = None
    if measure.limit is not None:
        bar = apart.part(measure.mean(measure.limit))
        verdict = share_verdict(steps[0], bar, alpha=alpha, skipped=steps[1]).verdict
    estimate, interval = planned_measure(task, read, measure, apart, alpha=alpha)
    return MeasureStanding(
        name=measure.name,
        estimate=estimate,
        interval=interval,
        anytime_interval=anytime,
        limit=measure.limit,
        verdict=verdict,
    )


def _shown(interval: Interval, apart: Apart, measure: Measure) -> Interval:
    """Return an interval for the mean of the sampled units as one for the number (W11)."""
    whole = apart.interval(interval)
    low, high = sorted((measure.shown(whole.low), measure.shown(whole.high)))
    # A share of some units cannot leave [0, 1], however rough the scale made it.
    if measure.offset == 0 and measure.bounds == (0.0, 1.0):
        low, high = max(low, 0.0), min(high, 1.0)
    return replace(whole, low=min(low, high), high=high)


def _contest(session: Session, task: LabelTask, read: Read) -> Standing:
    """Say where a contest of several models stands."""
    order = session_order(session, task, read=read)
    assert order.best is not None
    asks = int(order.live.sum()) if task.rows.shape[1] > 1 else 1
    progress = LabelProgress(
        labelled=read.n,
        left=order.left,
        verdict=order.winner is not None,
        certain=not order.left,
        budget=_affordable(session, asks),
    )
    return Standing(
        read=read,
        measures=(),
        winner=order.winner,
        certain=order.certain,
        progress=progress,
        stop=stop_reason(progress),
        forecast=order.missing,
        left=order.left,
        best=order.best,
    )


def _affordable(session: Session, asks: int) -> int | None:
    """Return how many draws the budget allows in all, if each further one takes *asks* labels."""
    budget = session.head.budget
    if budget is None:
        return None
    return max(1, session.n_draws + (budget - len(session.asks)) // asks)


# Which columns would tell a reader what others said of an item, or whose output it is.


BLIND = "Blind: no system, judge or other reader is shown."

_LOOKED = 5_000
"""Rows that are looked at first: either a column holds votes, or it does not."""

_TEXT, _MANY = 60, 20
"""A column with a longer cell, or with more values that are mostly different, is there to be read:
it holds no names, labels or numbers.
"""

_LONG = 3
"""Characters of a name after which another column can be called."""

_SOMEBODY = frozenset(
    [
        "judge",
        "rater",
        "annotator",
        "worker",
        "model",
        "system",
        "llm",
        "gpt",
        "claude",
        "llama",
        "gemini",
        "mistral",
        "qwen",
    ]
)
"""Words in the name of a column that says who judged or answered."""

_READ = {
    "text",
    "prompt",
    "question",
    "comment",
    "message",
    "title",
    "answer",
    "completion",
    "generation",
    "input",
    "output",
    "reply",
    "response",
    "summary",
    "translation",
}
"""Words for what is judged, whoever wrote it: llm_answer."""

_VOTING = ("judges", "models", "weak", "prediction", "old", "new")
_SAYING = (*_VOTING, "truth", "system", "score", "confidence", "annotator", "validators")


def blindness(names: Sequence[str]) -> str:
    """Say whether readers are blind, given the columns that they see and should not.

    >>> print(blindness(["gpt", "system"]))
    Not blind: gpt and system are shown.
    """
    if not names:
        return BLIND
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"Not blind: {listed} {'are' if len(names) > 1 else 'is'} shown."


def telling(data: Data, task: LabelTask, columns: Iterable[str]) -> tuple[str, ...]:
    """Return those of *columns* that hold votes, labels, judges or systems.

    A column does so by its role, by its name, or because it holds nothing but labels of the task.

    >>> from tallystick.table import read
    >>> from tallystick.verbs.label.begin import label_question
    >>> table = {"gpt": ["a", "b"], "llama": ["b", "B "], "text": ["a", "else"], "model": ["x", "y"]}
    >>> data, asked = read(table, judges=("gpt",)), label_question("prevalence")
    >>> task = asked.task(data, asked.options({"positive": "a"}))
    >>> telling(data, task, table)
    ('gpt', 'llama', 'model')
    """
    asked = tuple(columns)
    known = {*task.columns, *data.roles.columns(*_SAYING)}
    voters = data.roles.columns(*_VOTING)
    known |= set(_labels(data, task, asked))
    known |= {name for name in asked if called_after(name, voters)}
    texts = set(_texts(data, [name for name in asked if name not in known]))
    known |= {name for name in asked if name not in texts and _names_somebody(name)}
    return tuple(name for name in asked if name in known)


def telling_cells(cells: Mapping[str, str], labels: Iterable[str]) -> tuple[str, ...]:
    """Return the titles of a single row that name a system, or under which a label stands.

    >>> telling_cells({"Model": "bot-7", "Text": "Pass the salt", "Verdict": "Pass"}, ["pass"])
    ('Model', 'Verdict')
    """
    words = {_word(one) for one in labels}
    return tuple(
        title
        for title, text in cells.items()
        if (title and _word(text) in words)
        or (plain(title) in ROLE_NAMES["system"] and len(text.split()) == 1)
    )


def called_after(name: str, voters: Iterable[str]) -> bool:
    """Return whether a column is called after one of *voters*, so that it is theirs.

    >>> called_after("gpt_reason", ["gpt"]), called_after("text", ["gpt"])
    (True, False)
    """
    words = set(parts(name))
    # A judge called "a" is no reason to hide "a_text".
    return any(
        plain(one) == plain(name) or (len(one) >= _LONG and set(parts(one)) <= words)
        for one in voters
    )


def _names_somebody(name: str) -> bool:
    """Return whether a column is called as those of systems, judges and models are."""
    words = {part.rstrip("0123456789") for part in parts(name)}
    said = not _READ & words and bool(words & _SOMEBODY)
    return said or plain(name) in ROLE_NAMES["system"]


def _labels(data: Data, task: LabelTask, columns: Sequence[str]) -> list[str]:
    """Return the columns whose cells are all labels, or grades on the scale."""
    kinds = data.table.kinds
    cells = [without_missing(name, kinds[name], data.rules.missing) for name in columns]
    allowed = [_is_label(f"cast({cell} as varchar)", task) for cell in cells]
    counts = [
        f"count({cell}), count(*) filter ({cell} is not null and not ({test}))"
        for cell, test in zip(cells, allowed, strict=True)
    ]

    def looked(places: Sequence[int], rows: str) -> dict[int, tuple[int, int]]:
        if not places:
            return {}
        [found] = data.table.query(f"select {', '.join(counts[k] for k in places)} from {rows}")
        return {k: (found[2 * i], found[2 * i + 1]) for i, k in enumerate(places)}

    seen = looked(range(len(columns)), f"(select * from rows limit {_LOOKED})")
    # A column that is blank at the beginning may hold a few labels further down.
    seen |= looked([k for k, (filled, _) in seen.items() if not filled], "rows")
    return [columns[k] for k, (filled, others) in seen.items() if filled and not others]


def _is_label(cell: str, task: LabelTask) -> str:
    """Return the SQL that says whether a cell, itself SQL, is a label."""
    number = f"try_cast({cell} as double)"
    if task.scale is not None:
        return f"coalesce({number} between {task.scale[0]!r} and {task.scale[1]!r}, false)"
    words = [_word(one) for one in task.classes]
    numbers = ", ".join(repr(float(one)) for one in words if NUMBER.fullmatch(one))
    listed = ", ".join(map(literal, words))
    test = f"lower(trim({cell})) in ({listed})"
    return f"({test} or coalesce({number} in ({numbers}), false))" if numbers else test


def _word(label: Label) -> str:
    return str(label).strip().lower()


def _texts(data: Data, columns: Sequence[str]) -> list[str]:
    """Return the columns that are there to be read."""
    parts = []
    for name in columns:
        cell = f"cast({identifier(name)} as varchar)"
        # Numbers are mostly different too, and not to be read.
        worded = f"filter (try_cast({cell} as double) is null)"
        parts += [f"max(length({cell}))", f"count({cell})", f"count(distinct {cell}) {worded}"]
    if not parts:
        return []
    [found] = data.table.query(
        f"select {', '.join(parts)} from (select * from rows limit {_LOOKED})"
    )
    sizes = zip(columns, *(found[k::3] for k in range(3)), strict=True)
    return [
        name
        for name, longest, filled, different in sizes
        if (longest or 0) > _TEXT or different > max(_MANY, filled / 2)
    ]


# What the table says in a few of its rows: names for the session, texts for whoever reads them.


_NUMBERED = "file_row_number=true, hive_partitioning=false"


class RowCells:
    """Cells of single rows, fetched when they are first asked for.

    Only these rows leave the engine: a table of a million texts stays where it is.

    Parameters
    ----------
    data
        The table.
    item, system
        The columns that name a row; None where the table has no such column.
    show
        The columns that a reader sees.
    file
        A Parquet file with the same rows in the same order, and the prefix of its columns: there a
        few rows are found without reading the others.

    Examples
    --------
    >>> from tallystick.table import read
    >>> cells = RowCells(read({"id": [7, 8], "text": ["x", None]}), "id", None, ("text",))
    >>> cells.name(1), cells.shown(0), cells.shown(1)
    (('8', None), ('x',), ('',))
    """

    def __init__(
        self,
        data: Data,
        item: str | None,
        system: str | None,
        show: Sequence[str],
        *,
        file: tuple[Path, str] | None = None,
    ) -> None:
        self._table = data.table
        self._file = file
        kinds = data.table.kinds
        named = [
            "null" if name is None else without_missing(name, kinds[name], ())
            for name in (item, system)
        ]
        self._columns = [*named, *(f"cast({identifier(name)} as varchar)" for name in show)]
        self._found: dict[int, tuple[Any, ...]] = {}

    def fetch(self, rows: Iterable[int]) -> None:
        """Get rows that will be asked for, in one scan."""
        missing = sorted(set(rows) - self._found.keys())
        if not missing:
            return
        names = [f"c{k}" for k in range(len(self._columns))]
        cells = ", ".join(
            f"{cell} as {name}" for cell, name in zip(self._columns, names, strict=True)
        )
        numbered = self._numbered()
        listed = ", ".join(map(str, missing))
        for place, *found in self._table.query(
            f"select place_, {cells} from ({numbered}) where place_ in ({listed})"
        ):
            self._found[int(place)] = tuple(None if one is None else str(one) for one in found)

    def _numbered(self) -> str:
        """Return SQL for the rows with their numbers, from 0."""
        if self._file is None:
            return "select *, row_number() over () - 1 as place_ from rows"
        path, prefix = self._file
        cells = ", ".join(
            f"{identifier(prefix + name)} as {identifier(name)}" for name in self._table.columns
        )
        name = literal(glob.escape(str(path)))  # DuckDB would expand a * in a name
        return f"select {cells}, file_row_number as place_ from read_parquet({name}, {_NUMBERED})"

    def name(self, row: int) -> tuple[str | None, str | None]:
        """Return item and system of a row; None where the table has no such column or cell."""
        self.fetch([row])
        return self._found[row][0], self._found[row][1]

    def shown(self, row: int) -> tuple[str, ...]:
        """Return the cells that a reader sees, as text."""
        self.fetch([row])
        return tuple("" if one is None else one for one in self._found[row][2:])
