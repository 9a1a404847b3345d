"""Whether having a label depends on a block of rows, a group, the order or a slice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tallystick.table.cells import identifier, is_missing, literal
from tallystick.table.data import Data
from tallystick.table.reading_names import parts
from tallystick.table.tables import Table
from tallystick.table.tally import Tally
from tallystick.table.words import is_no_answer

# Labels that stand on one block of a table, such as its first hundred rows.
#
# Labelling from the top is what people do. Such labels speak for the rest only if the table is in
# random order, and a table that is sorted, or was logged while something changed, is not.


FEWEST_LABELS = 8
"""Labels from which on a block is no accident."""

BEYOND_CHANCE = 1e-6
MOST_ROWS = 5_000_000
_MOST = 1_000
"""Different cells from which the truth holds no labels."""


@dataclass(frozen=True, kw_only=True)
class LabelBlock:
    """Where all labels stand.

    Parameters
    ----------
    column
        Of the labels.
    labels
        How many there are.
    first, last
        The rows between which they stand, from 1.
    rows
        All rows.
    """

    column: str
    labels: int
    first: int
    last: int
    rows: int


def label_block(data: Data) -> LabelBlock | None:
    r"""Return the block of rows that holds all labels, if chance would not put them there.

    m places drawn from [0, 1] lie within a span of s with chance :math:`m s^{m-1} - (m-1) s^m`.
    With systems in a long table the places are counted inside each system, because a table may be
    sorted by system and only one of them be graded.

    Examples
    --------
    >>> from tallystick.table import read
    >>> table = {"x": [0, 1] * 50, "y": [1, 1] * 50, "gold": [1, 0] * 10 + [None] * 80}
    >>> label_block(read(table, judges=("x", "y"), truth="gold")).last
    20
    >>> table["gold"] = [1, None, None, None, None] * 20
    >>> label_block(read(table, judges=("x", "y"), truth="gold")) is None
    True
    """
    truth = data.roles.truth
    table = data.held
    if truth is None or data.session is not None or data.roles.probability is not None:
        return None
    if data.in_engine or data.n_rows > MOST_ROWS:
        return None
    if isinstance(table, Tally):
        return _counted_block(data, table, truth)
    if truth not in table.columns:
        return None
    system = data.roles.system
    part = identifier(system) if system is not None and system in table.columns else "0"
    label = label_cell(table, truth, frozenset(data.rules.missing))
    if label is None:
        return None
    [(rows, labels, first, last, low, high, most)] = table.query(
        f"""
        with numbered as (
            select row_number() over () as row, {label} as label, {part} as part from rows
        ), placed as (
            select *, (row_number() over (partition by part order by row) - 0.5)
                / count(*) over (partition by part) as place,
                count(label) over (partition by part) as labels
            from numbered
        )
        select count(*), count(label), min(row) filter (label is not null),
            max(row) filter (label is not null), min(place) filter (label is not null),
            max(place) filter (label is not null), max(labels)
        from placed
        """
    )
    block = LabelBlock(column=truth, labels=labels, first=first or 0, last=last or 0, rows=rows)
    return block if labels and _is_no_chance(block, most, high - low) else None


def _is_no_chance(block: LabelBlock, most: int, width: float) -> bool:
    """Say whether *most* labels would hardly lie within that width by chance."""
    if most < FEWEST_LABELS or block.labels == block.rows:
        return False
    span = min(1.0, width + 1 / block.rows)
    chance = most * math.pow(span, most - 1) - (most - 1) * math.pow(span, most)
    return chance <= BEYOND_CHANCE


def _counted_block(data: Data, tally: Tally, truth: str) -> LabelBlock | None:
    """Return the block of a tally whose rows were counted where their order is known."""
    if data.beside is None or data.beside.labelled is None:
        return None
    silent = frozenset(data.rules.missing)
    labels = sum(
        int(n)
        for label, n in zip(tally.column(truth), tally.counts.tolist(), strict=True)
        if not is_missing(label, silent) and not is_no_answer(label)
    )
    first, last = data.beside.labelled
    rows = round(tally.n)
    block = LabelBlock(column=truth, labels=labels, first=first, last=last, rows=rows)
    return block if labels and _is_no_chance(block, labels, (last - first) / rows) else None


def labelled_table(data: Data) -> tuple[Table, str] | None:
    """Return the table and the column of its labels, if a few labels speak for all of its rows.

    None where a session or known probabilities say how rows were chosen, where the rows are not
    here, and where there are too many to look at.
    """
    truth, table = data.roles.truth, data.held
    if truth is None or data.session is not None or data.roles.probability is not None:
        return None
    if not isinstance(table, Table) or truth not in table.columns or data.n_rows > MOST_ROWS:
        return None
    return table, truth


def label_cell(table: Table, truth: str, missing: frozenset[str]) -> str | None:
    """Return the truth as SQL, null where a word means no answer; None if it is no label at all."""
    name = identifier(truth)
    cells = table.query(f"select distinct {name} from rows where {name} is not null limit {_MOST}")
    if len(cells) == _MOST:
        return None
    silent = [cell for (cell,) in cells if is_missing(cell, missing) or is_no_answer(cell)]
    if not silent:
        return name
    words = ", ".join(literal(str(cell)) for cell in silent)
    return f"case when {name}::varchar in ({words}) then null else {name} end"


# Labels that stand on a few groups of rows: on six of twenty-five conversations.
#
# The rows of one conversation, customer or document are alike. Labels on all rows of a few of them
# say little about the others, and no interval for rows drawn at random shows it.


_LOOKED = 5_000
_FEWEST_GROUPS, _MOST_GROUPS = 5, 2_000
_LEAST_ROWS = 3.0
"""Rows per group, on average, from which a column makes groups."""

_LEAST_SHARE = 0.25
"""Part of the rows in groups without a label, from which it matters."""

_MOST_COLUMNS = 6


@dataclass(frozen=True, kw_only=True)
class LabelGroups:
    """How many groups of a column have labels, of how many, and the rows without."""

    truth: str
    column: str
    labelled: int
    groups: int
    share: float


def label_groups(data: Data) -> LabelGroups | None:
    r"""Return the column by which labels stand on few groups, if chance would not put them there.

    Of m labels drawn at random from N rows, a group of n rows has none with chance
    :math:`\binom{N-n}{m} / \binom{N}{m}`. The number of such groups is held against the sum of
    these chances.

    Examples
    --------
    >>> from tallystick.table import read
    >>> talk = [k // 10 for k in range(200)]
    >>> table = {"talk": talk, "x": [0, 1] * 100, "y": [1, 1] * 100}
    >>> gold = [k % 2 if one < 4 else None for k, one in enumerate(talk)]
    >>> found = label_groups(read({**table, "gold": gold}, judges=("x", "y"), truth="gold"))
    >>> found.column, found.labelled, found.groups
    ('talk', 4, 20)
    """
    known = labelled_table(data)
    if known is None:
        return None
    table, truth = known
    names = _grouping(data, table)
    label = label_cell(table, truth, frozenset(data.rules.missing)) if names else None
    if label is None:
        return None
    for name in names:
        cells = table.query(
            f"select count(*), count({label}) from rows where {identifier(name)} is not null"
            f" group by {identifier(name)} limit {_MOST_GROUPS + 1}"
        )
        sizes, held = (np.array(column, dtype=np.int64) for column in zip(*cells, strict=True))
        rows, labels = int(sizes.sum()), int(held.sum())
        if not _FEWEST_GROUPS <= len(cells) <= _MOST_GROUPS or rows < _LEAST_ROWS * len(cells):
            continue
        empty = held == 0
        share = float(sizes[empty].sum() / rows)
        if labels < FEWEST_LABELS or labels == rows or share < _LEAST_SHARE:
            continue
        if _chance(sizes, labels, int(empty.sum())) <= BEYOND_CHANCE:
            return LabelGroups(
                truth=truth,
                column=name,
                labelled=int((~empty).sum()),
                groups=len(cells),
                share=share,
            )
    return None


def _chance(sizes: np.ndarray, labels: int, empty: int) -> float:
    """Return about how likely so many groups have none of the labels drawn at random."""
    rows = int(sizes.sum())
    whole = _log_ways(rows, labels)
    without = [math.exp(_log_ways(rows - int(n), labels) - whole) for n in sizes]
    # How many groups are empty, as if they were so independently.
    counts = np.zeros(empty + 1)
    counts[0] = 1.0
    for p in without:
        last = counts[-1]
        counts[1:] = counts[1:] * (1 - p) + counts[:-1] * p
        counts[-1] += last * p  # the last place means "at least so many"
        counts[0] *= 1 - p
    return float(counts[-1])


def _log_ways(n: int, k: int) -> float:
    if k > n:
        return -math.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _grouping(data: Data, table: Table) -> list[str]:
    """Return columns that no role has taken and whose cells make groups of rows."""
    names = free_columns(data, table, ("text", "integer"), besides=("by", "cluster"))
    if not names:
        return []
    counts = ", ".join(
        f"count(distinct {identifier(name)}), count({identifier(name)})" for name in names
    )
    [found] = table.query(f"select {counts} from (select * from rows limit {_LOOKED})")
    pairs = zip(names, found[::2], found[1::2], strict=True)
    groups = [name for name, k, n in pairs if k >= _FEWEST_GROUPS and n >= _LEAST_ROWS * k]
    return groups[:_MOST_COLUMNS]


# Labels that lie together in time, or in the numbers of the items, wherever their rows stand.
#
# A table that was shuffled on export hides a block of labels (`label_block`). When each row was
# made, or its running number, still shows it: the last hundred answers were labelled, and nothing
# is known of those before.


_LABEL_ORDER_LOOKED = 200
"""Rows by which a column is taken for a time or a running number."""

_MOST_LOOKED, _LABEL_ORDER_MOST_COLUMNS = 60, 6
_DIFFERENT = 0.9
"""Share of different numbers from which a column numbers its rows."""

_OF_LABELS = frozenset(
    {
        *("label", "labels", "labeled", "labelled", "labeling", "labelling", "annotated"),
        *("annotation", "annotator", "graded", "grade", "grading", "reviewed", "review", "rated"),
        *("rating", "judged", "checked", "updated", "update", "modified", "changed", "edited"),
        *("completed", "submitted", "lead", "seconds", "duration", "latency", "length", "tokens"),
        *("chars", "words"),
    }
)
"""Words in the names of columns that labelling itself fills or changes, or that measure an answer.
"""


@dataclass(frozen=True, kw_only=True)
class LabelOrder:
    """Where all labels lie in the order of another column.

    Parameters
    ----------
    truth
        Column of the labels.
    column
        The column that orders the rows.
    labels
        How many there are.
    low, high
        Its cells between which they all lie, as they are written.
    share
        The part of all rows between them.
    """

    truth: str
    column: str
    labels: int
    low: str
    high: str
    share: float


def label_order(data: Data) -> LabelOrder | None:
    r"""Return the column by which all labels lie together, if chance would not put them there.

    As for blocks of rows: m places drawn from [0, 1] lie within a span of s with chance
    :math:`m s^{m-1} - (m-1) s^m`, and s is the share of rows between the first and the last label.

    Examples
    --------
    >>> from tallystick.table import read
    >>> made = [7 * k % 100 for k in range(100)]
    >>> gold = [1 if day < 20 else None for day in made]
    >>> table = {"day": made, "x": [0, 1] * 50, "y": [1, 1] * 50, "gold": gold}
    >>> found = label_order(read(table, judges=("x", "y"), truth="gold"))
    >>> found.column, found.high, found.share
    ('day', '19', 0.2)
    """
    held = labelled_table(data)
    if held is None:
        return None
    table, truth = held
    orders = _orders(data, table)
    label = label_cell(table, truth, frozenset(data.rules.missing)) if orders else None
    if label is None:
        return None
    ends = ", ".join(
        f"min({x}) filter ({label} is not null), max({x}) filter ({label} is not null), count({x})"
        for x in orders.values()
    )
    [(rows, labels, *found)] = table.query(f"select count(*), count({label}), {ends} from rows")
    if labels < FEWEST_LABELS or labels == rows:
        return None
    for place, (name, x) in enumerate(orders.items()):
        low, high, known = found[3 * place : 3 * place + 3]
        if low is None or known < rows:
            continue  # a cell that only some rows have says nothing about the others
        between = f"{x} >= {_literal(low)} and {x} <= {_literal(high)}"
        [(inside,)] = table.query(f"select count(*) from rows where {between}")
        span = inside / rows
        chance = labels * math.pow(span, labels - 1) - (labels - 1) * math.pow(span, labels)
        if chance <= BEYOND_CHANCE:
            return LabelOrder(
                truth=truth,
                column=name,
                labels=labels,
                low=str(low),
                high=str(high),
                share=span,
            )
    return None


def free_columns(
    data: Data, table: Table, kinds: Sequence[str], *, besides: Sequence[str]
) -> list[str]:
    """Return the columns of some kinds that no role has taken, and that labelling does not fill.

    Columns of the roles *besides* are among them.
    """
    kept = {getattr(data.roles, role) for role in besides}
    used = set(data.roles.columns()) - kept
    found = table.kinds
    return [
        name
        for name in table.columns
        if name not in used and found[name] in kinds and not set(parts(name)) & _OF_LABELS
    ][:_MOST_LOOKED]


def _orders(data: Data, table: Table) -> dict[str, str]:
    """Return the columns that order the rows, each as SQL for a time or a whole number."""
    names = free_columns(data, table, ("text", "integer", "other"), besides=("item", "time"))
    casts = {
        name: (
            f"try_cast({identifier(name)} as bigint)",
            f"try_cast({identifier(name)} as timestamp)",
        )
        for name in names
    }
    if not casts:
        return {}
    counted = ", ".join(
        f"count({identifier(name)}), count({number}), count(distinct {number}),"
        f" {f'count({time})' if table.kinds[name] != 'integer' else '0'}"
        for name, (number, time) in casts.items()
    )
    [found] = table.query(f"select {counted} from (select * from rows limit {_LABEL_ORDER_LOOKED})")
    orders: dict[str, str] = {}
    for place, (name, (number, time)) in enumerate(casts.items()):
        cells, numbers, different, times = found[4 * place : 4 * place + 4]
        if not cells:
            continue
        if numbers == cells and (different >= _DIFFERENT * cells or name == data.roles.item):
            orders[name] = number
        elif times == cells:
            orders[name] = time
    return dict(list(orders.items())[:_LABEL_ORDER_MOST_COLUMNS])


def _literal(value: object) -> str:
    return str(value) if isinstance(value, int) else f"timestamp '{value}'"


# Labels that stand on one part of a table: one language, one customer, one task.
#
# The intervals say "from random labels", and the rows of the other part had none. Whoever labelled
# one part on purpose knows it; whoever reads the figure does not.


_LABEL_SLICES_LOOKED = 2_000
_LABEL_SLICES_MOST_COLUMNS = 8
_MOST_VALUES = 50
"""Different cells up to which a column divides a table into parts."""

_LABEL_SLICES_LEAST_SHARE = 0.05
"""Part of the rows that must be left without labels, or nearly so, for it to matter."""


@dataclass(frozen=True, kw_only=True)
class LabelSlice:
    """A part of the table that has hardly any labels.

    Parameters
    ----------
    truth, column
        Column of the labels, and the column that divides the table.
    value
        The cell of the part.
    labels, all_labels
        Labels on the part, and on all rows.
    share
        The part of all rows.
    """

    truth: str
    column: str
    value: str
    labels: int
    all_labels: int
    share: float


def label_slice(data: Data) -> LabelSlice | None:
    r"""Return a part of the table that has far fewer labels than its rows, if it is no accident.

    Of m labels drawn at random from N rows, those on a part of n rows are hypergeometric. The part
    is named if it has less than a quarter of its share of labels, and the chance of so few, times
    the parts that were looked at, is below one in a million.

    Examples
    --------
    >>> from tallystick.table import read
    >>> gold = [1, None, None, None] * 25 + [None] * 100
    >>> table = {"x": [0, 1] * 100, "y": [1, 1] * 100, "lang": ["en"] * 100 + ["de"] * 100}
    >>> found = label_slice(read({**table, "gold": gold}, judges=("x", "y"), truth="gold"))
    >>> found.column, found.value, found.labels, found.share
    ('lang', 'de', 0, 0.5)
    """
    truth = data.roles.truth
    if truth is None or data.session is not None or data.roles.probability is not None:
        return None
    from tallystick.stats.urns import smaller_tail

    found: tuple[float, LabelSlice] | None = None
    looked = 0
    for name, cells in _counted(data, truth).items():
        rows, labels = sum(n for _, n, _ in cells), sum(k for _, _, k in cells)
        if not 2 <= len(cells) <= _MOST_VALUES or labels < FEWEST_LABELS or labels == rows:
            continue
        for value, n, k in sorted(cells, key=lambda cell: str(cell[0])):
            looked += 1
            few = n >= _LABEL_SLICES_LEAST_SHARE * rows and 4 * k * rows < labels * n
            if value is None or not few:
                continue
            chance = smaller_tail(k, rows, n, labels)
            if found is None or chance < found[0]:
                part = LabelSlice(
                    truth=truth,
                    column=name,
                    value=value,
                    labels=k,
                    all_labels=labels,
                    share=n / rows,
                )
                found = chance, part
    return found[1] if found is not None and found[0] * looked <= BEYOND_CHANCE else None


def _counted(data: Data, truth: str) -> Mapping[str, Sequence[tuple[str | None, int, int]]]:
    """Return for each column that divides the rows: its cells, their rows and their labels."""
    table = data.held
    if isinstance(table, Tally):
        return {} if data.beside is None else data.beside.parts
    if labelled_table(data) is None:
        return {}
    names = _parts(data, table)
    label = label_cell(table, truth, frozenset(data.rules.missing)) if names else None
    if label is None:
        return {}
    return {
        name: table.query(
            f"select cast({identifier(name)} as varchar), count(*), count({label}) from rows"
            f" group by 1 limit {_MOST_VALUES + 1}"
        )
        for name in names
    }


def _parts(data: Data, table: Table) -> list[str]:
    """Return columns that no role has taken and whose few cells divide the table into parts."""
    names = free_columns(data, table, ("text", "boolean", "integer"), besides=("by", "cluster"))
    if not names:
        return []
    counts = ", ".join(f"count(distinct {identifier(name)})" for name in names)
    [found] = table.query(f"select {counts} from (select * from rows limit {_LABEL_SLICES_LOOKED})")
    parts = [n for n, k in zip(names, found, strict=True) if 2 <= k <= _MOST_VALUES]
    return parts[:_LABEL_SLICES_MOST_COLUMNS]
