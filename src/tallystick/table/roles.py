"""Which column is what: the one record of roles that every verb, audit and the service share."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tallystick.errors import InputError
from tallystick.table.cells import identifier
from tallystick.table.reading_names import ROLE_NAMES, plain
from tallystick.table.sources import missing_column
from tallystick.table.tables import Table, blank_cell


def _role(help: str = "", default: tuple[str, ...] | None = None) -> Any:
    """Declare a role with what the command line says of it."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, kw_only=True)
class Roles:
    """What each column of a table is.

    A role that names several columns takes names, commas and globs (``lr_*``) when it is given,
    and holds plain names once the table has been read. Every other role is one column or None.

    Parameters
    ----------
    item
        The thing that was judged, answered or scored. Other tables are joined by it.
    system
        Long tables of outputs: which system made the output.
    truth
        True labels or human grades; blank where nobody knows.
    judges
        Columns that vote: judges, annotators, models that answer.
    models
        Columns that hold one model each: its scores, or its answers where there is a truth.
    systems
        Wide tables of outputs: the systems.
    weak
        Columns of weak labels: rules, other models, cheap votes.
    prediction
        Columns of a classifier's answers.
    score
        A classifier's score in [0, 1].
    old, new
        What an API answered before, and what it answers now.
    confidence
        Any score whose ranking predicts which answers will change.
    cluster
        What items belong to, such as a document.
    replicate
        Which run of the same item and model a row is.
    round
        The round of a dynamic benchmark.
    model
        Long logs: which model a row is about.
    correct
        Long logs: whether the model was right.
    fooled
        Attempt logs: whether the model in the loop gave a wrong answer.
    validators
        What validators said of the label.
    validated
        Attempt logs: whether validators confirmed the label.
    held_out
        Which items belong to the fixed random set that no round was built on.
    annotator
        Who wrote the item or made the attempt.
    cost
        What a row cost.
    time
        When a row was made.
    count
        How many identical rows a row stands for: whole numbers from 0 on.
    weight
        The sampling weight of a row: any number from 0 on.
    probability
        The known probability with which an item was chosen for labelling.
    criterion
        Which of several questions a row answers.
    by
        The column of slices.
    """

    item: str | None = _role("Column that identifies the item.")
    system: str | None = _role("Long tables: column that names the system.")
    truth: str | None = _role("Column of true labels or human grades; most may be blank.")
    judges: tuple[str, ...] = _role("Columns with the judges' votes (commas, globs).", ())
    models: tuple[str, ...] = _role(
        "Columns with the models' answers or scores (commas, globs), or the one column that"
        " names the model.",
        (),
    )
    systems: tuple[str, ...] = _role("Wide tables: the systems (commas, globs).", ())
    weak: tuple[str, ...] = _role("Columns of weak labels (commas, globs).", ())
    prediction: tuple[str, ...] = _role(
        "Column of the classifier's answers; several are compared.", ()
    )
    score: str | None = _role("Column of the classifier's scores in [0, 1].")
    old: str | None = _role("Column with the old answers.")
    new: str | None = _role("Column with the new answers, if the table already has them.")
    confidence: str | None = _role("Column whose ranking predicts which answers will change.")
    cluster: str | None = _role(
        "Column that groups items that belong together, such as a document."
    )
    replicate: str | None = _role("Column that numbers repeated runs of an item.")
    round: str | None = _role("Column that numbers the rounds.")
    model: str | None = _role("Long logs: column that names the model.")
    correct: str | None = _role("Long logs: column that says whether the model was right.")
    fooled: str | None = _role()
    validators: str | None = _role()
    validated: str | None = _role()
    held_out: str | None = _role("Column that marks the random items that no round was built on.")
    annotator: str | None = _role()
    cost: str | None = _role()
    time: str | None = _role()
    count: str | None = _role("Column with the number of identical rows that a row stands for.")
    weight: str | None = _role("Column of sampling weights.")
    probability: str | None = _role(
        "Column with the known probability that the row was chosen for labelling."
    )
    criterion: str | None = _role(
        "Column that says which criterion (helpful, safe, …) a row grades."
    )
    by: str | None = _role("Also answer for each value of this column.")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Roles:
        """Make roles of what a caller gives: one name or several, None for nothing.

        >>> Roles.of({"judges": "gpt", "truth": "gold"}).judges
        ('gpt',)
        """
        held: dict[str, Any] = {}
        for role, value in given.items():
            if role not in GROUPS:
                if value is not None and not isinstance(value, str):
                    raise _not_text(value)
                held[role] = value
            elif isinstance(value, str):
                held[role] = (value,)
            else:
                held[role] = tuple(value or ())
        return cls(**held)

    def columns(self, *roles: str) -> tuple[str, ...]:
        """Return the columns of *roles* (of all roles if none is named), each once, in that order.

        >>> Roles(truth="gold", judges=("a", "b")).columns("judges", "truth")
        ('a', 'b', 'gold')
        """
        return tuple(dict.fromkeys(column for _, column in self.pairs(*roles)))

    def holders(self) -> dict[str, str]:
        """Return the role of each column, the first one where a column has two."""
        found: dict[str, str] = {}
        for role, column in self.pairs():
            found.setdefault(column, role)
        return found

    def with_columns(self, role: str, columns: Sequence[str]) -> Roles:
        """Return the same roles with *columns* in the group *role*."""
        changed: dict[str, Any] = {role: tuple(columns)}
        return replace(self, **changed)

    def pairs(self, *roles: str) -> Iterator[tuple[str, str]]:
        """Yield each role with its column, of all roles if none is named."""
        for role in roles or ALL_ROLES:
            held = getattr(self, role)
            for column in held if role in GROUPS else (held,):
                if column is not None:
                    yield role, column


ALL_ROLES = tuple(one.name for one in fields(Roles))
"""Every role, in the order of the record."""

GROUPS = frozenset({"judges", "models", "systems", "weak", "prediction"})
"""Roles that several columns can have."""

VOTES = ("judges", "models", "weak", "prediction", "old", "new")
"""Roles whose cells are answers to the question that the truth answers."""

ROLE_HELP: Mapping[str, str] = {
    one.name: one.metadata["help"] for one in fields(Roles) if one.metadata["help"]
}
"""What the command line says of each role.

A role without help has no option: it is found by name, or stands in a reading file.
"""

# Hold what the caller says of the columns against the table: every column exists, has one role,
# and names items only once.


@dataclass(frozen=True, kw_only=True)
class ColumnNames:
    """The columns of something that is counted already: all that roles need of a table.

    Parameters
    ----------
    columns, source, left_out, doubtful
        As in `tallystick.table.Table`.
    """

    columns: tuple[str, ...]
    source: str
    left_out: Mapping[str, str] = field(default_factory=dict)
    doubtful: Mapping[str, str] = field(default_factory=dict)


def assign(table: Table | ColumnNames, given: Roles, *, coerce: bool = False) -> Roles:
    """Return *given* with commas and globs expanded; refuse by name what the table does not have.

    One column has one role, except that a table may be sliced by any of its columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> table = scan(pa.table({"id": [1, 2], "gold": [0, 1], "lr_a": [0, 1], "lr_b": [1, 1]}))
    >>> assign(table, Roles(truth="gold", judges=("lr_?",))).judges
    ('lr_a', 'lr_b')
    """
    taken: dict[str, str] = {}
    for role, column in given.__dict__.items():
        if role in GROUPS or column is None:
            continue
        check_usable(table, column, coerce=coerce)
        if column in taken and "by" not in (role, taken[column]):
            raise _given_twice(column, taken[column], role)
        taken.setdefault(column, role)

    # A slice may be cut by any column, so that role takes nothing away from the groups.
    held = {column: role for column, role in taken.items() if role != "by"}
    groups: dict[str, Any] = {
        role: expand(getattr(given, role), table, held) for role in sorted(GROUPS)
    }
    for columns in groups.values():
        for column in columns:
            check_usable(table, column, coerce=coerce)
    return replace(given, **groups)


def expand(
    patterns: Sequence[str],
    table: Table | ColumnNames,
    taken: Mapping[str, str] | None = None,
    later: list[str] | None = None,
) -> tuple[str, ...]:
    """Return the columns that names, comma lists and globs mean, each once, in the order given.

    A glob passes over columns that have another role; naming such a column outright is refused. So
    is what the table does not have, unless it is to be noted in *later*.
    """
    held = taken or {}
    usable = [name for name in table.columns if name not in {*held, *table.left_out}]
    found: dict[str, None] = {}
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise _not_text(pattern)
        for piece in [pattern] if pattern in table.columns else pattern.split(","):
            name = piece if piece in table.columns else piece.strip()
            if name in held and later is None:
                raise _given_twice(name, held[name], "one of several")
            matches = [name] if name in table.columns else fnmatch.filter(usable, name)
            if not matches and later is None:
                raise InputError(_not_there(table, name))
            if not matches and name and later is not None:
                later.append(name)
            found.update(dict.fromkeys(matches))
    return tuple(found)


def _not_text(given: object) -> InputError:
    return InputError(f"a column is named by its text, got {given!r}")


def _given_twice(column: str, one: str, other: str) -> InputError:
    return InputError(
        f"column {column!r} is given as {one} and as {other}: name two different columns"
    )


def _not_there(table: Table | ColumnNames, name: str) -> str:
    if any(sign in name for sign in "*?["):
        has = ", ".join(table.columns[:8])
        return f"no column of {table.source} matches {name!r}. It has {has}"
    return _reason(table, name) or missing_column(name, table.columns, table.source)


def check_usable(table: Table | ColumnNames, column: str, *, coerce: bool = False) -> None:
    """Refuse a column that is not there, holds nested values, or mixes types."""
    if not isinstance(column, str):
        raise _not_text(column)
    reason = _reason(table, column)
    if reason is not None:
        raise InputError(reason)
    if column not in table.columns:
        raise InputError(missing_column(column, table.columns, table.source))
    if column in table.doubtful and not coerce:
        raise InputError(f"{table.source}: {table.doubtful[column]}")


def _reason(table: Table | ColumnNames, column: str) -> str | None:
    return f"{table.source}: {table.left_out[column]}" if column in table.left_out else None


def find_item(table: Table, roles: Roles, *, repeats: bool) -> Roles:
    """Return the roles with the column of items, where one can be told.

    Parameters
    ----------
    table, roles
        What was read, and what the caller named.
    repeats
        Whether an item may have several rows (replicates, systems, rounds).
    """
    if roles.item is not None:
        blank = table.row_of(roles.item, None)
        if blank is not None:
            raise blank_cell(blank, "item", roles.item)
        twice = None if repeats else first_repeat(table, roles.item)
        if twice is not None:
            raise InputError(
                f"duplicate item {twice[0]} in column {roles.item!r}, at {twice[1]} and"
                f" {twice[2]}: keep one row per item. If each row is one vote, name"
                " the column of judges (--judge)"
            )
        return roles

    # A usual name and a different value in every row: both are needed to call it the item.
    taken = {*roles.holders(), *table.left_out, *table.doubtful}
    for name in table.columns:
        if name in taken or plain(name) not in ROLE_NAMES["item"]:
            continue
        if table.row_of(name, None) is None and first_repeat(table, name) is None:
            return replace(roles, item=name)
    return roles


def first_repeat(table: Table, column: str, *beside: str) -> tuple[str, str, str] | None:
    """Return the first value that occurs twice, and the two places; None if all differ.

    With *beside*, values of several columns together are looked at.
    """
    few = table.repeating(column, *beside)
    if few is None:
        return None
    names = ", ".join(f"{identifier(name)} as key{i}" for i, name in enumerate((column, *beside)))
    held = ", ".join(f"key{i}" for i in range(1 + len(beside)))
    [(*values, places)] = table.query(
        f"select {held}, list(place order by place) from "
        f"(select {names}, place_ as place from"
        f" (select *, row_number() over () as place_ from rows) where {few}) "
        f"group by {held} having count(*) > 1 order by min(place) limit 1"
    )
    shown = " and ".join(map(repr, values))
    return shown, str(table.place(places[0])), str(table.place(places[1]))


def several(value: Any) -> tuple[Any, ...]:
    """Split ``"-1,NA"`` into its tokens; anything that is not text stays as it is.

    >>> several("-1, NA"), several([1, "a,b"]), several(None)
    (('-1', 'NA'), (1, 'a', 'b'), ())
    """
    pieces = () if value is None else (value,) if isinstance(value, str) else value
    return tuple(
        part.strip() if isinstance(part, str) else part
        for piece in pieces
        for part in (piece.split(",") if isinstance(piece, str) else (piece,))
    )


# How a source is laid out: what the caller says of its shape rather than of its columns.


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What the caller says of the layout of a source.

    Parameters
    ----------
    judge, vote
        Long tables: the column that says who voted, and the column of votes. Naming one of them
        means that the table is long.
    metric
        Evaluation logs and result files: the score to read, where they have several.
    run
        Runs of the same items, each ``NAME=FILE``.
    truth_file
        A second file with the truth, joined by item (and by system, where the table has one).
    columns
        The columns that are asked about, where the verb has no role of its own for them.
    ignore
        Columns to leave out: names, commas and globs.
    separator
        Wide tables of outputs: what stands between system and judge in ``A.gpt``; found if None.
    """

    judge: str | None = None
    vote: str | None = None
    metric: str | None = None
    run: tuple[str, ...] = ()
    truth_file: str | None = None
    columns: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    separator: str | None = None

    def __post_init__(self) -> None:
        # A single name is a group of one, as for every role that several columns can have.
        for name in ("columns", "ignore", "run"):
            held = getattr(self, name)
            object.__setattr__(self, name, (held,) if isinstance(held, str) else tuple(held))

    def ignored(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns that the caller leaves out."""
        left = several(self.ignore)
        return tuple(n for n in columns if any(fnmatch.fnmatchcase(n, one) for one in left))
