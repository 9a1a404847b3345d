"""``GET /v1/streams/{stream}/results/{verb}``: the command line's own JSON."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click
from starlette.responses import Response

from tallystick.errors import InputError
from tallystick.registry import capability
from tallystick.serve.auth import Fix, HttpProblem, Span, span_of
from tallystick.serve.database import Reader
from tallystick.serve.ingest import TRUTH
from tallystick.serve.jobs import Service
from tallystick.serve.routes import Incoming, Parameter, route
from tallystick.serve.rows import CHANCE, StreamTable
from tallystick.serve.streams import StreamRecord, StreamSettings, find_stream
from tallystick.table.words import is_never_true, is_no_answer

if TYPE_CHECKING:
    from tallystick.cli.verb import Call

ANSWERED = ("judge", "score", "compare", "bound")
"""Verbs that a stream answers."""

SPAN = (
    Parameter("window", "24h, 7d, last:5000, or FROM..TO in whole hours; all rows if left out."),
    Parameter(
        "slice",
        "Rows of this slice only: lang:en. May be repeated: rows of any of the values of one"
        " column, and of every column that is named.",
        repeats=True,
    ),
    Parameter(
        "label-draw",
        "After a draw: drawn (with their probabilities), even (a sample of them that needs none),"
        " or all (as if every label had been drawn at random).",
    ),
)

_VERB = (
    *SPAN,
    Parameter("alpha", "One minus the level of every interval."),
    Parameter("by", "The same by slice of this column."),
)


_OWN = frozenset({"window", "slice", "label-draw", "format", "details"})
_MOST_KEPT = 64 * 1024 * 1024


class Kept:
    """Answers by question and stream version, the last used ones, bounded by their size."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        """Return an answer that was computed before."""
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
            return found

    def put(self, key: str, answer: bytes) -> None:
        """Keep an answer; the oldest go when there are too many."""
        with self._lock:
            self._held[key] = answer
            self._size += len(answer)
            while self._size > _MOST_KEPT and len(self._held) > 1:
                self._size -= len(self._held.popitem(last=False)[1])


def question_in(incoming: Incoming) -> tuple[dict[str, list[str]], Span]:
    """Return the verb's options of a request, and the rows that it asks about."""
    query = incoming.request.query_params
    draw = query.get("label-draw", "")
    given: dict[str, list[str]] = {}
    if draw in ("random", "unknown"):  # what score itself is told of its labels
        given["label-draw"], draw = [draw], ""
    for name, value in query.multi_items():
        if name not in _OWN:
            given.setdefault(name, []).append(value)
    slices = query.getlist("slice")
    now = incoming.service.clock()
    given = dict(sorted(given.items()))
    return given, span_of(query.get("window", ""), slices, now=now, label_draw=draw)


def asked_stream(reader: Reader, name: str, span: Span) -> StreamRecord:
    """Return a stream; refuse a slice by a column that it does not have."""
    stream = find_stream(reader, name)
    if span.slices:
        found = reader.all(
            "select name from stream_column where stream = ? and kind = 'slice' order by id",
            (stream.id,),
        )
        columns = [*(one for (one,) in found), "system"]
        for column, value in span.slices:
            if column not in columns:
                near = get_close_matches(column, columns, n=1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                way = f"{hint}rows have the slices {', '.join(columns)}"
                raise HttpProblem(
                    422,
                    f"slice={column}:{value}: the stream has no slice {column!r}",
                    [Fix(column="slice", value=column, way_out=way)],
                )
    return stream


def computed(service: Service, work: str, stream: StreamRecord, *given: Any) -> tuple[bytes, str]:
    """Return what the worker makes of a question, from memory where the stream has not changed.

    Call it in a thread. *work* returns the version of the stream that it read, and the answer. The
    second value is the ETag.
    """
    etag = etag_of(work, stream, *given)
    kept: Kept = service.memory.setdefault("results", Kept())
    found = kept.get(etag)
    if found is None:
        version, found = service.worker.ask(work, stream.name, *given)
        # The stream may have moved on while the worker read it: then it is another version's.
        if version == stream.version:
            kept.put(etag, found)
    return found, etag


def etag_of(work: str, stream: StreamRecord, *given: Any) -> str:
    """Return the ETag of a question and a version of its stream."""
    # The salt tells a stream from another that once had its name, or its number.
    asked = repr((work, stream.salt, stream.version, given))
    return f'"{hashlib.sha256(asked.encode()).hexdigest()[:24]}"'


async def _answered(incoming: Incoming, work: str, media: str) -> Response:
    """Answer by ETag, from memory, or by the worker."""
    verb = incoming.path.get("verb", "")
    if verb and verb not in ANSWERED:
        raise HttpProblem(
            404,
            f"a stream does not answer {verb!r}",
            [Fix(value=verb, way_out=f"ask {', '.join(ANSWERED)}")],
        )
    service, name = incoming.service, incoming.path["stream"]
    given, span = question_in(incoming)
    stream = await service.reading(lambda reader: asked_stream(reader, name, span))
    question = (verb, given, span) if verb else (span,)
    same = incoming.unchanged(etag_of(work, stream, *question))
    if same is not None:
        return same
    body, etag = await service.waiting(lambda: computed(service, work, stream, *question))
    return Response(body, media_type=media, headers={"ETag": etag, "Cache-Control": "no-cache"})


@route(
    "GET",
    "/v1/streams/{stream}/results/{verb}",
    "read",
    answer="application/json",
    query=_VERB,
    open_query=True,
)
async def get_result(incoming: Incoming) -> Response:
    """Return the command line's JSON about the rows of a stream."""
    return await _answered(incoming, "answer:result", "application/json")


@route(
    "GET",
    "/v1/streams/{stream}/tally",
    "read",
    answer="application/vnd.apache.arrow.file",
    query=SPAN,
)
async def get_tally(incoming: Incoming) -> Response:
    """Return the counts of a stream as a file that ``Tally.load`` reads."""
    return await _answered(incoming, "answer:tally", "application/vnd.apache.arrow.file")


# From a request to the command line's own question.
#
# The parameters of a request become the arguments of the command line, and the command line's own
# parser makes the question of them. So there is one way to ask, and every page can show the command
# that gives the same answer from the exported rows.


_FILES = frozenset(
    {"known", "state", "follow", "target_mix", "cost", "fit", "add", "run", "window"}
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
    return [*words, *_declared(options, settings, given), *_columns(verb, table, settings, given)]


def _declared(
    options: Mapping[str, Any], settings: StreamSettings, given: Mapping[str, Any]
) -> list[str]:
    """Say what the settings say of labels and cells, where the verb can be told."""
    from tallystick.table import ROLE_HELP  # with the first question: the server stays small

    # Labels without an order say nothing but what would be read as no answer, or as never true.
    doubtful = any(is_no_answer(one) or is_never_true(one) for one in settings.labels)
    labels = settings.labels if settings.labels_ranked or doubtful else []
    positive = [] if settings.positive is None else [settings.positive]
    held = {"labels": labels, "missing": settings.missing, "positive": positive}
    held |= {
        role.replace("_", "-"): settings.named(role)
        for role in settings.reading
        if role not in ROLE_HELP
    }
    return [
        f"--{name}={','.join(values)}"
        for name, values in held.items()
        # A label with a comma in it cannot be listed: the command line would take it for two.
        if values and name in options and name not in given and not any("," in v for v in values)
    ]


def _columns(
    verb: str, table: StreamTable, settings: StreamSettings, given: Mapping[str, Any]
) -> list[str]:
    """Name the columns that the request does not: by the reading, then by what they hold."""
    from tallystick.table import GROUPS  # with the first question: the server stays small

    of = capability(verb)
    words: list[str] = []
    taken: set[str] = set()
    for role in settings.reading:
        flag, columns = role.replace("_", "-"), settings.named(role)
        if role in of.reads and flag not in given:
            words.append(f"--{flag}={','.join(columns) if role in GROUPS else columns[0]}")
            taken.update(columns)
    for flag, values in given.items():
        if flag.replace("-", "_") in of.reads:
            taken.update(part for value in values for part in value.split(","))
    named = {word.partition("=")[0].removeprefix("--") for word in words} | set(given)
    if named & {"judge", "vote"}:
        return words  # a long table: the caller says what its columns are
    wanted = of.door.want
    if wanted is not None and wanted not in named:
        free = [name for name in table.votes if name not in taken]
        free = free or [name for name in table.grades if name not in taken]
        # Voters that share a declared scale are read on it, whatever they happen to reach.
        scales = {settings.scale_of(name) for name in free}
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
    from tallystick.table.reading_names import (
        COUNT_NAMES,
        ROLE_NAMES,
        TRUTH_IF_FITTING,
        is_truth_name,
        plain,
    )

    if call.capability.verb not in ("judge", "compare", "bound"):
        return False
    if getattr(call.question, "stop_early", False):
        return False  # takes the items in an order
    if set(call.reading) & {"judge", "vote", "separator", "metric", "columns"}:
        return False
    # A column that rows would be read by, such as a weight, is not in the counts.
    known = {
        *COUNT_NAMES,
        *TRUTH_IF_FITTING,
        *(one for held in ROLE_NAMES.values() for one in held),
    }
    if any(plain(name) in known or is_truth_name(name) for name in (*table.slices, *table.grades)):
        return False
    if table.has_systems and call.reading.get("missing"):
        return False  # what is said of cells that nobody has names the column of systems, too
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
