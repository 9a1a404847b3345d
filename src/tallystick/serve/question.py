"""From a request to the command line's own question.

The parameters of a request become the arguments of the command line, and the command line's own
parser makes the question of them. So there is one way to ask, and every page can show the command
that gives the same answer from the exported rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tallystick.data import GROUPS, Capability
from tallystick.errors import InputError
from tallystick.registry import capability
from tallystick.serve.ingest.interned import TRUTH
from tallystick.serve.rows import CHANCE, StreamTable
from tallystick.serve.settings import StreamSettings
from tallystick.values.words import is_never_true, is_no_answer

if TYPE_CHECKING:
    from tallystick.cli.verb import Call

__all__ = ["ANSWERED", "arguments", "call_of", "counts_suffice", "label_way", "offered"]

ANSWERED = ("judge", "score", "compare", "bound")
"""Verbs that a stream answers."""

_FILES = frozenset(
    {"known", "state", "follow", "target_mix", "cost", "fit", "add", "save", "run", "window"}
    | {"truth_file", "old_file", "delimiter", "metric_file", "labels_file", "block"}
)
"""Options that read or write files of the server, or follow a stream: never by HTTP."""

_DELIVERY = frozenset({"items_out", "html", "summary", "junit", "as_json", "source", "data"})

_LABEL_MODELS = (
    "labels",
    "majority",
    "weighted-majority",
    "dawid-skene",
    "triplet",
)
"""Label models that are no files."""


def label_way(verb: str) -> str:
    """Return which labels of a draw a verb can use: with probabilities, or an even sample.

    >>> label_way("score"), label_way("judge")
    ('drawn', 'even')
    """
    return "drawn" if "probability" in capability(verb).reads else "even"


def offered(verb: str) -> dict[str, click.Option]:
    """Return the options of a verb that a request may give, by their name in the query."""
    from tallystick.cli.verb import command_of

    found = {}
    for one in command_of(capability(verb)).params:
        if isinstance(one, click.Option) and one.name not in _FILES | _DELIVERY:
            found[one.opts[0].removeprefix("--")] = one
    return found


def arguments(
    verb: str,
    table: StreamTable,
    settings: StreamSettings,
    given: Mapping[str, Sequence[str]],
) -> list[str]:
    """Return the arguments of the command line: what the request says, and the stream's columns."""
    options = offered(verb)
    words: list[str] = []
    for name, values in given.items():
        if name not in options:
            ways = ", ".join(sorted(options))
            raise InputError(f"{verb} has no option {name!r}: it has {ways}")
        if name == "label-model" and any(one not in _LABEL_MODELS for one in values):
            raise InputError(f"label-model must be one of {', '.join(_LABEL_MODELS)}")
        for value in values:
            if options[name].is_flag:
                if value.lower() not in ("true", "false", "1", "0", ""):
                    raise InputError(f"{name} is true or false, got {value!r}")
                words += [f"--{name}"] if value.lower() in ("true", "1", "") else []
            else:
                # One word with '=', so that a value that begins with a dash is no option.
                words.append(f"--{name}={value}")
    if "labels" not in given:
        words += _listed(settings.labels)
    return [*words, *_columns(capability(verb), table, settings, given)]


def _listed(labels: Sequence[str]) -> list[str]:
    """List the stream's labels where one of them would be read as no answer, or as never true."""
    doubtful = any(is_no_answer(one) or is_never_true(one) for one in labels)
    if not doubtful or any("," in one for one in labels):
        return []
    return [f"--labels={','.join(labels)}"]


def _columns(
    of: Capability[Any], table: StreamTable, settings: StreamSettings, given: Mapping[str, Any]
) -> list[str]:
    """Name the columns that the request does not: by the settings, then by what they hold."""
    words: list[str] = []
    taken: set[str] = set()
    for role, columns in settings.roles.items():
        flag = role.replace("_", "-")
        if role in of.reads and flag not in given:
            several = role in GROUPS
            words += [f"--{flag}={','.join(columns) if several else columns[0]}"]
            taken.update(columns)
    for flag, values in given.items():
        if flag.replace("-", "_") in of.reads:
            taken.update(part for value in values for part in value.split(","))
    named = {word.partition("=")[0].removeprefix("--") for word in words} | set(given)
    if named & {"shape", "judge", "vote"}:
        return words  # a long table: the caller says what its columns are
    wanted = of.door.want
    if wanted is not None and wanted not in named:
        free = [name for name in table.votes if name not in taken]
        if not free:
            free = [name for name in table.grades if name not in taken]
            # Grades that share a declared scale are read on it, whatever they happen to reach.
            scales = {settings.scales.get(name) for name in free}
            if of.door.outputs and "scale" not in given and len(scales) == 1:
                words += [f"--scale={low:g},{high:g}" for low, high in filter(None, scales)]
        if free:
            words.append(f"--{wanted}={','.join(free)}")
    if "truth" not in named and table.has_truth:
        words.append(f"--truth={TRUTH}")
    if "probability" in of.reads and "probability" not in named and table.has_chances:
        words.append(f"--probability={CHANCE}")
    if "system" in of.reads and "system" not in named and table.has_systems:
        words.append("--system=system")
    if "item" not in named:
        words.append(f"--item={'item' if of.door.outputs else table.item}")
    return words


def call_of(verb: str, words: Sequence[str]) -> Call:
    """Parse arguments as the command line does."""
    from tallystick.cli.verb import command_of, sorted_call

    command = command_of(capability(verb))
    try:
        context = command.make_context(verb, [*words, "-"], resilient_parsing=False)
    except click.ClickException as error:
        raise InputError(error.format_message()) from error
    return sorted_call(capability(verb), dict(context.params))


def counts_suffice(call: Call, table: StreamTable) -> bool:
    """Say whether the kept counts answer this question: every column that it names is counted."""
    if call.capability.verb not in ("judge", "compare", "bound"):
        return False
    if getattr(call.question, "stop_early", False):
        return False  # takes the items in an order
    layout = set(call.reading) & {"shape", "judge", "vote", "separator", "metric", "columns"}
    if layout - {"shape"} or call.reading.get("shape", "auto") != "auto":
        return False
    counted = {*table.votes, TRUTH}
    for role in call.capability.reads:
        named = call.reading.get(role)
        if named is None or role == "item":
            continue
        if role == "by":
            if named not in (*table.slices, "system"):
                return False
            continue
        texts = (named,) if isinstance(named, str) else named
        if any(part not in counted for text in texts for part in text.split(",")):
            return False
    if call.capability.verb == "compare":
        return call.reading.get("truth") is not None
    return True
