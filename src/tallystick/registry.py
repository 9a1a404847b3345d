"""Every capability by its verb, found lazily: one line here makes a new one reachable.

The command line, audit, the demo, the docs and the tests iterate over this list.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tallystick.errors import InputError, unknown

if TYPE_CHECKING:
    from tallystick.results import Result
    from tallystick.table import Capability, Door


@dataclass(frozen=True)
class Entry:
    """Where a capability lives, and its question in one sentence for ``--help``.

    *example* is a call that ``--help`` shows. *labels* says that the capability tells ``label``
    what a person should label.
    """

    verb: str
    home: str
    summary: str
    example: str = ""
    labels: bool = False


ENTRIES: list[Entry] = [
    Entry(
        "score",
        "tallystick.verbs.score:CAPABILITY",
        "How good are my systems, when judges grade every output and people only few?",
        "score outputs.csv --item question --system system --judges gpt,claude --truth human",
        labels=True,
    ),
    Entry(
        "compare",
        "tallystick.verbs.compare:CAPABILITY",
        "Which model is better, how sure is that, and what would settle the rest?",
        "compare old.csv new.csv --metric correct",
        labels=True,
    ),
    Entry(
        "plan",
        "tallystick.verbs.compare:PLAN",
        "How many items do I need to show a difference, and with what guarantee?",
        "plan --difference .02 --disagreement .1",
    ),
    Entry(
        "judge",
        "tallystick.verbs.judge:CAPABILITY",
        "How good are my judges, with no labels or with a few?",
        "judge votes.csv --judges gpt,claude,llama --truth gold",
        labels=True,
    ),
    Entry(
        "bound",
        "tallystick.verbs.bound:CAPABILITY",
        "Within what bounds is my classifier, given only weak labels?",
        "bound weak.csv --prediction h --weak 'lf_*'",
        labels=True,
    ),
    Entry(
        "shift",
        "tallystick.verbs.shift:CAPABILITY",
        "Did this API change, and how? For the fewest paid calls.",
        "shift items.csv --truth y --old spring --api openai:MODEL@URL --budget 500",
    ),
    Entry(
        "shift baseline",
        "tallystick.verbs.shift:BASELINE",
        "Record what an API answers now, several times per item, to compare with later.",
        "shift baseline items.csv --api openai:MODEL@URL --prompt prompt.txt -o spring.csv",
    ),
    Entry(
        "ask",
        "tallystick.verbs.ask:CAPABILITY",
        "Ask an API or a judge about every row, once, and add the answers as a column.",
        "ask items.csv --api openai:MODEL@URL --prompt judge.txt --as gpt -o votes.csv",
    ),
    Entry(
        "dynamic theory",
        "tallystick.verbs.dynamic:THEORY",
        "What is proved about a dynamic benchmark, before anything is run?",
        "dynamic theory --epsilon .1",
    ),
    Entry(
        "dynamic simulate",
        "tallystick.verbs.dynamic:SIMULATE",
        "What would a path or a hierarchy bring, if models erred in such a way?",
        "dynamic simulate --design hierarchical --epsilon .1",
    ),
    Entry(
        "dynamic analyse",
        "tallystick.verbs.dynamic:ANALYSE",
        "How does the latest model do, round by round, and would a vote or another round help?",
        "dynamic analyse log.csv --held-out held_out",
    ),
]
"""One line per verb, in the order of ``--help``."""


def verbs() -> tuple[str, ...]:
    """Return every verb."""
    return tuple(entry.verb for entry in ENTRIES)


def summary(verb: str) -> str:
    """Return what a verb answers, in one sentence."""
    return next((entry.summary for entry in ENTRIES if entry.verb == verb), verb)


def capability(verb: str) -> Capability[Result]:
    """Open the capability of *verb*.

    >>> capability("judge").verb
    'judge'
    """
    for entry in ENTRIES:
        if entry.verb == verb:
            module, _, name = entry.home.partition(":")
            found: Capability[Result] = getattr(import_module(module), name)
            return found
    raise InputError(unknown("verb", verb, verbs()))


def capabilities() -> Iterator[Capability[Result]]:
    """Open every capability, in the order of the list."""
    for entry in ENTRIES:
        yield capability(entry.verb)


# Verbs as functions of Python: ``ts.score(table, judges=["gpt"], truth="human")``.


_ALONE = ("score", "compare", "plan", "judge", "bound", "shift", "ask")
FUNCTIONS = {**dict(zip(_ALONE, _ALONE, strict=True)), "dynamic": "dynamic analyse"}
"""Function to the verb that it calls; ``look``, ``audit`` and ``label`` belong to their rooms."""


def function(name: str) -> Callable[..., Any]:
    """Return a verb as a function, with every keyword that its command has as an option.

    >>> "judges" in inspect.signature(function("score")).parameters
    True
    """
    if name not in FUNCTIONS:
        found: Callable[..., Any] = getattr(import_module(f"tallystick.verbs.{name}"), name)
        return found
    from tallystick.table import answered, conclude

    asked = capability(FUNCTIONS[name])
    taken = {one.name for one in keywords(asked)}

    def answer(data: Any = None, **options: Any) -> Any:
        for option in options:
            if option not in taken:
                raise InputError(f"{name}: {unknown('option', option, taken)}")
        if data is None and asked.input != "required" and "run" not in options:
            return conclude(asked, None, asked.question(**options))
        result = answered(asked, [] if data is None else data, options)
        if result.doubt:
            warnings.warn(result.doubt, stacklevel=2)
        return result

    answer.__name__ = answer.__qualname__ = name
    answer.__module__ = "tallystick"
    answer.__doc__ = _doc(asked)
    answer.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                "data",
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=inspect.Parameter.empty if asked.input == "required" else None,
            ),
            *(
                inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default)
                for one in keywords(asked)
            ),
        ]
    )
    return answer


@dataclass(frozen=True)
class Keyword:
    """A keyword of a verb: its default, its type as written, and its help."""

    name: str
    default: Any
    type: str
    help: str


def keywords(asked: Capability[Any]) -> tuple[Keyword, ...]:
    """Return the keywords of a verb: its columns, its question, how the table is read."""
    from tallystick.table import GROUPS, ROLE_HELP, options_of

    several = "str | Sequence[str] | None"
    found = [
        Keyword(role, None, several if role in GROUPS else "str | None", ROLE_HELP[role])
        for role in asked.reads
        if role in ROLE_HELP
    ]
    hints = {one.name: one for one in fields(asked.question)}
    for name, declared in options_of(asked.question).items():
        one = hints[name]
        default = None if one.default is MISSING else one.default
        found.append(Keyword(name, default, str(one.type), declared.help))
    if asked.input != "none":
        flags = [one.flag or "" for one in options_of(asked.question).values()]
        taken = [*(one.name for one in found), *(flag[2:].replace("-", "_") for flag in flags)]
        for name in reading_keywords(asked.reads, asked.door, taken):
            kind = {"coerce": "bool", **dict.fromkeys(SEVERAL, "Any")}.get(name, "str | None")
            found.append(Keyword(name, False if name == "coerce" else None, kind, READING[name]))
    return tuple(found)


READING = {
    "reading": "Reading file, as look -o FILE.toml writes it; options given beside it win.",
    "columns": "The columns to use; repeat, or use commas and globs.",
    "judge": "Long tables: the column that names the judge.",
    "vote": "Long tables: the column with the votes.",
    "metric": "Evaluation logs: the score to use, e.g. exact_match.",
    "run": "NAME=FILE: the results or the log of one model; repeat for more.",
    "truth_file": "A second file with the truth, joined by --item.",
    "separator": "Wide tables: what separates system and judge in a column name such as A.gpt.",
    "ignore": "Columns to leave out; repeat, or use commas and globs.",
    "missing": "Values that mean no answer, e.g. -1,NA (blank cells always do).",
    "labels": (
        "All possible labels, if the table may lack some; in score, words of grades with the worst"
        " first. Repeat, or use commas."
    ),
    "never_true": (
        "Votes or answers that can never be right, e.g. tie,error (in compare '' names blank"
        " cells); repeat, or use commas."
    ),
    "coerce": 'Read "1", 1, 1.0 and True as the same label instead of refusing a mix.',
}
"""Options of reading that every verb with a table has, with their help."""

SEVERAL = ("reading", "columns", "ignore", "missing", "labels", "never_true", "run")


def reading_keywords(
    reads: Sequence[str], door: Door | None = None, taken: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the options of reading for a verb that reads these roles.

    What is in *taken* means something else to the verb and is left out.
    """
    from tallystick.table import GROUPS, Door

    of = door or Door()
    votes = of.want == "models" or bool({"judges", "weak"} & {*reads})
    idle = {
        "judge": not of.pivots,
        "vote": not of.pivots,
        "run": not of.runs,
        "truth_file": "truth" not in reads,
        # A verb whose roles name its columns needs no second way to name them.
        "columns": any(role in GROUPS for role in reads),
        "never_true": not votes,
        "separator": "systems" not in reads,
    }
    return tuple(
        name for name in READING if not idle.get(name) and name not in reads and name not in taken
    )


def _doc(asked: Capability[Any]) -> str:
    """Return the docstring of a verb: its question, and a line for each keyword."""
    lines = [
        summary(asked.verb),
        "",
        "Parameters",
        "----------",
        "data",
        "    A frame, a path, a list.",
    ]
    for one in keywords(asked):
        lines += [one.name, f"    {one.help}"]
    return "\n".join(lines)
