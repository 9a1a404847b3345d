"""What a table was taken to mean: declared once, shown above every answer, kept in a file.

A `Reading` is what `read` found out about a table. Every result carries it, every answer begins
with its line, and `Reading.to_toml` writes it as a file that a person can edit and that every verb
takes (``--reading FILE.toml``).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import FileError, InputError, meant
from tallystick.results import Json, number
from tallystick.table.cells import (
    Label,
    identifier,
    in_order,
    is_missing,
    spelling,
)
from tallystick.table.reading_facts import draw
from tallystick.table.reading_rules import How
from tallystick.table.roles import ALL_ROLES, GROUPS, Roles, several
from tallystick.table.sources import unreadable
from tallystick.table.tables import Table
from tallystick.table.tally import Tally
from tallystick.table.words import as_pass_fail, is_no_answer, number_of

if TYPE_CHECKING:
    from tallystick.table.data import Data

VOTERS = ("judges", "models", "weak")
"""Groups of columns that vote; a reading file may use any of the three words in any verb."""

_TITLES = {
    "judges": ("judge", "judges"),
    "models": ("model", "models"),
    "weak": ("weak label", "weak labels"),
    "prediction": ("prediction", "predictions"),
}
_SINGLE = {
    "score": "score",
    "old": "old answers",
    "new": "new answers",
    "confidence": "confidence",
    "correct": "right or wrong",
    "fooled": "fooled",
    "validated": "validated",
    "validators": "validators",
    "held_out": "held out",
    "model": "model",
    "annotator": "people",
    "criterion": "criterion",
    "replicate": "runs",
    "cluster": "clusters",
    "weight": "weight",
    "probability": "probability",
    "cost": "cost",
    "time": "time",
    "by": "by",
}
"""What the line calls a role of one column."""

_KEYS = ("judge", "vote", "metric", "separator", "missing", "labels", "never_true")
_KNOWN = (*ALL_ROLES, *_KEYS, "ignore", "coerce")
"""What a reading file may say."""

_MOST_NAMES = 8
_LONG = 190
"""Signs of the line, beyond which fewer names are shown."""
_MOST_LABELS = 20
_MOST_COLUMNS = 50
"""Voters whose cells are looked at, where nothing has counted them."""


@dataclass(frozen=True, kw_only=True)
class Reading(Roles):
    """Which column has which role, what the cells mean, and how sure that is.

    Parameters
    ----------
    rows
        Rows of the table; None where nobody has counted them.
    counts
        How many items, systems, rounds and labels there are, where that is known.
    judge, vote
        Long tables: the column that names the voter, and the column of votes.
    pair
        Battles: the two columns that name the systems of a row.
    metric
        What the scores are called, where the source says it.
    labels, scale
        What the voters say: their labels, or the two ends of their numbers.
    better
        ``higher`` or ``lower``, for scores.
    missing
        Values that mean no answer, besides blank cells.
    draw
        How the labelled rows were chosen, where the caller says it.
    unused
        Columns without a role, and why if they were looked at; None where the question may use any
        column.
    how
        For each role: named, by name, or only candidate.
    """

    rows: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    judge: str | None = None
    vote: str | None = None
    pair: tuple[str, ...] = ()
    metric: str | None = None
    labels: tuple[Label, ...] = ()
    scale: tuple[float, float] | None = None
    better: str | None = None
    missing: tuple[str, ...] = ()
    draw: str | None = None
    unused: Mapping[str, str] | None = None
    how: Mapping[str, How] = field(default_factory=dict)

    def line(self) -> str:
        """Return what was read in one or two lines; `?` marks what only seemed to fit.

        >>> known = {"rows": 2000, "counts": {"labels": 208}, "how": {"judges": "only candidate"}}
        >>> Reading(judges=("gpt", "claude"), truth="gold", **known).line()
        'read: 2,000 rows · judges gpt, claude ? · labels: 208 (gold)'
        """
        for most in (_MOST_NAMES, 4, 2):
            text = "read: " + " · ".join(self._parts(most))
            if len(text) <= _LONG:
                break
        return text

    def to_dict(self) -> dict[str, Json]:
        """Return JSON types: the line, then every field that says something."""
        out: dict[str, Json] = {"line": self.line()}
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, Mapping):
                out[one.name] = dict(value)
            elif value not in (None, ()):
                out[one.name] = list(value) if isinstance(value, tuple) else value
        return out

    def to_toml(self, source: str = "table.csv") -> str:
        """Return the reading as a file to edit; `from_toml` reads it.

        >>> print(Reading(item="id", judges=("a", "b"), how={"item": "by name"}).to_toml(), end="")
        # What table.csv means. Edit it, then add --reading FILE.toml to any verb.
        item = "id"  # by name
        judges = ["a", "b"]  # named
        # missing = ["-1", "NA"]  # values that mean no answer, besides blank cells
        """
        lines = [f"# What {source} means. Edit it, then add --reading FILE.toml to any verb."]
        for key, value in self.declared().items():
            how = "" if key == "missing" else f"  # {self.how.get(key, 'named')}"
            lines.append(f"{key} = {_toml(value)}{how}")
        if not self.missing:
            lines.append(
                '# missing = ["-1", "NA"]  # values that mean no answer, besides blank cells'
            )
        if self.labels:
            lines.append(
                f"# labels = {_toml(tuple(map(str, self.labels)))}  # all that are possible"
            )
        lines += [
            f"# unused: {name}" + (f" ({why})" if why else "")
            for name, why in (self.unused or {}).items()
        ]
        return "\n".join(line.replace("\r", " ") for line in lines) + "\n"

    def declared(self) -> dict[str, Any]:
        """Return what a file would say: roles, and how votes are laid out."""
        held = {role: getattr(self, role) for role in ALL_ROLES}
        if self.judge is not None:  # the voters are names in rows, not columns
            held |= dict.fromkeys(VOTERS, ())
        more = ("judge", "vote", "metric", "missing")
        held |= {name: getattr(self, name) for name in more}
        return {key: value for key, value in held.items() if value not in (None, ())}

    # -- the parts of the line

    def _parts(self, most: int) -> Iterator[str]:
        yield self._what_a_row_is()
        yield from self._voters(most)
        if self.truth is not None:
            word = "human grades" if self.system or self.systems else "labels"
            known = self.counts.get("labels")
            column = f"({self.truth})" if known is not None else self.truth
            shown = "" if known is None else f"{known:,} "
            yield f"{word}: {shown}{column}{self._doubt('truth')}"
        for role, word in _SINGLE.items():
            if (column := getattr(self, role)) is not None:
                yield f"{word} {column}{self._doubt(role)}"
        if self.missing:
            yield f"no answer: {_names(self.missing, most)}"
        if self.unused:
            yield f"unused: {_names(tuple(self.unused), most)}"

    def _what_a_row_is(self) -> str:
        rows, items = self.rows, self.counts.get("items")
        pair = self.pair or (self.systems if len(self.systems) == 2 else ())
        named = "" if self.item is None else f" ({self.item}{self._doubt('item')})"
        count = _count(items if items is not None else rows, "item") if named else ""
        if self.system is not None or pair:
            outputs = _count(rows, "comparison" if self.system is None else "output")
            if self.system is None:
                of = f"{pair[0]} and {pair[1]}"
                of += f", won by {self.vote}" if self.pair and self.vote else ""
            else:
                systems = _count(self.counts.get("systems"), "system")
                of = f"{systems} ({self.system}{self._doubt('system')})"
            first = f"{outputs} of {of}" + (f" on {count}{named}" if named else "")
        elif named and rows is not None and items is not None and rows != items:
            first = f"{rows:,} rows of {count}{named}"
        else:
            first = f"{count}{named}" if named else _count(rows, "row")
        if self.round is not None:
            rounds = _count(self.counts.get("rounds"), "round")
            first += f" in {rounds} ({self.round}{self._doubt('round')})"
        return first

    def _voters(self, most: int) -> Iterator[str]:
        said = self._said()
        for role, (one, many) in _TITLES.items():
            columns = getattr(self, role)
            if not columns:
                continue
            word = one if len(columns) == 1 else many
            who = f" ({self.judge})" if self.judge else ""
            means = f": {said}" if said else ""
            yield f"{word} {_names(columns, most)}{who}{self._doubt(role)}{means}"
            said = ""

    def _said(self) -> str:
        """Return what the voters say: labels, or numbers with their ends, and which way is good."""
        ends = "" if self.scale is None else " to ".join(map(number, self.scale))
        column, words = self.vote or self.metric or "", _label_words(self.labels) or ends
        words = f"{words} ({column})" if column and words else words or column
        return f"{words}, lower is better" if self.better == "lower" and words else words

    def _doubt(self, role: str) -> str:
        return " ?" if self.how.get(role) == "only candidate" else ""


def _count(n: int | None, one: str) -> str:
    return f"{one}s" if n is None else f"{n:,} {one}{'s' * (n != 1)}"


def _names(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are."""
    shown = [name if name.strip() == name != "" else repr(name) for name in map(str, names)]
    if len(shown) <= most + 1:  # one more name is no longer than "and 1 more"
        return ", ".join(shown)
    return f"{', '.join(shown[:most])} and {len(shown) - most:,} more"


def _label_words(labels: Sequence[Label]) -> str:
    """Return labels as words: ``pass or fail``, ``a, b or c``, ``12 labels``.

    >>> _label_words(["no", "yes"]), _label_words(["a", "b", "c"]), _label_words(list("abcdef"))
    ('yes or no', 'a, b or c', '6 labels')
    """
    told = as_pass_fail(labels) or {}
    shown = [str(one) for one in sorted(labels, key=lambda one: -told.get(one, 0.0))]
    if len(shown) > 4 or sum(map(len, shown)) > 40:
        return f"{len(shown)} labels"
    return " or ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def _toml(value: Any) -> str:
    """Return a text, or several, as TOML writes them: JSON's strings are TOML's."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"[{', '.join(map(_toml, value))}]"


# From data to its reading: what is not counted by now is counted in one query.


def reading_of(data: Data, *, found: Mapping[str, Any] | None = None, **more: Any) -> Reading:
    """Return what *data* was taken to mean.

    Parameters
    ----------
    data
        What `read` returned, after an answer: what the answer has counted is not counted again.
    found
        Roles that the verb found itself, in a table that it reads by the names of its columns.
    **more
        Further fields of the `Reading`, such as *better*.
    """
    own = dict(found or {})
    roles = replace(data.roles, **{r: _as_role(r, own.pop(r)) for r in ALL_ROLES if r in own})
    how: dict[str, How] = dict(data.how)
    for role in (*(found or {}), *ALL_ROLES):
        if role in own or (getattr(roles, role, None) and not getattr(data.roles, role)):
            how[role] = "by name"
    if data.beside is not None and roles.item is None:
        roles = replace(roles, item=data.beside.item)
    judge, vote = data.long or (None, None)
    given: dict[str, Any] = {"judge": judge, "vote": vote, **own, **more, **_facts(data, roles)}
    used = {*roles.columns(), *(one for value in own.values() for one in several(value))}
    return Reading(
        **roles.__dict__,
        **given,
        metric=data.metric if data.metric != vote else None,
        missing=tuple(data.rules.missing),
        unused=_unused(data, used),
        how=how,
    )


def _as_role(role: str, column: Any) -> Any:
    return (column,) if role in GROUPS and isinstance(column, str) else column


def _unused(data: Data, used: set[Any]) -> dict[str, str] | None:
    """Return the columns without a role, and why; the name stands before the reason."""
    held = data.held if isinstance(data.held, Table) else None
    left = {} if held is None else held.left_out
    counted = () if data.beside is None else data.beside.columns
    known = counted or (() if held is None else held.columns)
    if data.unused is None or not known:
        return None
    reasons = {name: why.removeprefix(f"column {name!r} ") for name, why in left.items()}
    return {
        name: data.unused.get(name) or reasons.get(name, "")
        for name in dict.fromkeys((*known, *left))
        if name not in used
    }


def _facts(data: Data, roles: Roles) -> dict[str, Any]:
    """Return the numbers of rows, items, systems and labels, and what the voters say."""
    voters = roles.columns("judges", "models", "weak", "prediction", "old", "new")
    if isinstance(data.held, Tally):
        return _from_counts(data.held, roles, voters)
    return _from_rows(data, roles, voters)


def _from_counts(tally: Tally, roles: Roles, voters: Sequence[str]) -> dict[str, Any]:
    """Return what the counts of patterns say; nothing where there are none."""
    counts: dict[str, int] = {}
    if roles.truth is not None and roles.truth in tally.names and not tally.weighted:
        told = [not (is_missing(one) or is_no_answer(one)) for one in tally.column(roles.truth)]
        counts["labels"] = int(sum(n for n, one in zip(tally.counts, told, strict=True) if one))
    if roles.system is not None and roles.system in tally.names:
        counts["systems"] = len(tally.labels[roles.system])
    seen = [one for name in voters if name in tally.names for one in tally.labels[name]]
    found = _meaning([one for one in seen if not is_missing(one)])
    return {"rows": None if tally.weighted else int(tally.n), "counts": counts, **found}


def _from_rows(data: Data, roles: Roles, voters: Sequence[str]) -> dict[str, Any]:
    """Return what the look at the columns has shown; columns that were not looked at are now."""
    table, facts = data.table, data.facts
    kinds = {"items": roles.item, "systems": roles.system, "rounds": roles.round}
    single = {
        key: name for key, name in kinds.items() if name is not None and name in table.columns
    }
    truth = roles.truth if roles.truth in table.columns else None
    columns = [n for n in voters[:_MOST_COLUMNS] if n in table.columns]
    columns += [*([truth] if truth is not None else []), *single.values()]
    if not {*columns} <= facts.keys():
        facts = draw(table, columns, missing=data.rules.missing).facts
    rows = facts[columns[0]].rows if columns else data.n_rows

    counts = {} if truth is None else {"labels": facts[truth].filled}
    for key, name in single.items():
        counts[key] = facts[name].distinct
        # A sample does not show them all. An item may be called 99, which is no answer elsewhere.
        if facts[name].seen < facts[name].filled or (key == "items" and data.rules.missing):
            # Whether items repeat is known by now; counting different texts takes a table of them.
            once = key == "items" and not table.repeats(name)
            cells = f"count({'' if once else 'distinct '}{identifier(name)})"
            [(counts[key],)] = table.query(f"select {cells} from rows")
    if counts.get("items") == rows:
        del counts["items"]

    said = [facts[name] for name in voters if name in facts]
    found: dict[str, Any] = {}
    if all(one.counts for one in said):
        found = _meaning(one for held in said for one in held.counts)
    elif all(one.low is not None for one in said):
        found = {"scale": (min(one.low or 0 for one in said), max(one.high or 0 for one in said))}
    return {"rows": rows, "counts": counts, **found}


def _meaning(labels: Iterable[Label]) -> dict[str, Any]:
    """Return labels, if they are few; the ends of a scale, if they are numbers."""
    # One spelling, so that the same table reads alike as text and as numbers.
    said = in_order({spelling(one) for one in labels if not is_no_answer(one)})
    numbers = [one for one in map(number_of, said) if one is not None]
    if len(numbers) == len(said) > 2:
        return {"scale": (min(numbers), max(numbers))}
    return {"labels": said} if 0 < len(said) <= _MOST_LABELS else {}


# A reading that somebody wrote down.


def from_toml(path: str | Path) -> dict[str, Any]:
    """Return what a reading file says, by option; an unknown key is refused by name."""
    try:
        said = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(path, error.strerror) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{path} is not a reading file (TOML): {error}") from error
    for key, value in said.items():
        if key not in _KNOWN:
            hint = meant(key, _KNOWN, otherwise=f". Known are {', '.join(_KNOWN)}")
            raise InputError(f"{path}: {key!r} is not part of a reading{hint}")
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str | int | float) for one in texts):
            raise InputError(f"{path}: {key} must be a text or a list of texts, got {value!r}")
        if isinstance(value, list):
            said[key] = tuple(str(one) for one in value)
        elif key in ("missing", "labels", "never_true", "ignore"):
            said[key] = (str(value),)
    return said


def with_reading(
    options: Mapping[str, Any], *, reads: Sequence[str] = ALL_ROLES, want: str | None = None
) -> dict[str, Any]:
    """Return *options* with what the reading among them says; options of the caller win.

    Parameters
    ----------
    options
        Options of `read`; *reading* is a `Reading` or the path of a file that `Reading.to_toml`
        wrote.
    reads
        The roles that the verb reads: a file for several verbs may say more.
    want
        The group that the verb calls its voters, whatever the file calls them.
    """
    given = {name: value for name, value in options.items() if name != "reading"}
    source = options.get("reading")
    if source is None:
        return given
    said = source.declared() if isinstance(source, Reading) else from_toml(source)
    voters = next((said[role] for role in (want, *VOTERS) if role in said), None)
    if want in VOTERS and want not in said and voters is not None:
        said[want] = voters
    kept = {key: value for key, value in said.items() if key not in ALL_ROLES or key in reads}
    named = {name for role in ALL_ROLES for name in several(given.get(role))}
    for role in [role for role in kept if role in ALL_ROLES and role not in given]:
        # A column that the caller names has the role that the caller gives it.
        left = tuple(name for name in several(kept[role]) if name not in named)
        kept[role] = left if role in GROUPS else next(iter(left), None)
    return kept | {key: value for key, value in given.items() if value not in (None, ())}
