"""Every capability by its verb, found lazily: one line here makes a new one reachable.

The command line, audit, the demo, the docs and the tests iterate over this list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from tallystick.errors import InputError

if TYPE_CHECKING:
    from tallystick.results import Result
    from tallystick.table import Capability


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
        "How did this API change, for the fewest paid calls?",
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
    raise InputError(f"there is no verb {verb!r}: there are {', '.join(verbs())}")


def capabilities() -> Iterator[Capability[Result]]:
    """Open every capability, in the order of the list."""
    for entry in ENTRIES:
        yield capability(entry.verb)
