"""``GET /v1/streams/{stream}/results/{verb}``: the command line's own JSON."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
import msgspec
from msgspec import Meta
from starlette.responses import Response

from tallystick.errors import InputError, unknown
from tallystick.registry import capability
from tallystick.serve.auth import LABEL_DRAWS, Fix, HttpProblem, Span, span_of
from tallystick.serve.database import Reader
from tallystick.serve.jobs import Service
from tallystick.serve.routes import Incoming, Query, route
from tallystick.serve.rows import CHANCE, StreamTable
from tallystick.serve.streams import TRUTH, StreamRecord, StreamSettings, find_stream
from tallystick.table.words import is_never_true, is_no_answer

if TYPE_CHECKING:
    from tallystick.cli.verb import Call

ANSWERED = ("judge", "score", "compare", "bound")
"""Verbs that a stream answers."""


class RowQuery(Query):
    """Which rows are meant."""

    window: Annotated[
        str,
        Meta(description="24h, 7d, last:5000, or FROM..TO in whole hours; all rows if left out."),
    ] = ""
    slice: Annotated[
        list[str],
        Meta(
            description="Rows of this slice only: lang:en. May be repeated: rows of any of the"
            " values of one column, and of every column that is named."
        ),
    ] = msgspec.field(default_factory=list)
    label_draw: Annotated[
        Literal["", "drawn", "even", "all", "random", "unknown"],
        Meta(
            description="After a draw: drawn (with their probabilities), even (a sample of them"
            " that needs none), or all (as if every label had been drawn at random). Without one,"
            " for score: random or unknown."
        ),
    ] = msgspec.field(default="", name="label-draw")

    def span(self, now: float) -> Span:
        """Return the rows."""
        draw = self.label_draw if self.label_draw in LABEL_DRAWS else ""
        return span_of(self.window, self.slice, now=now, label_draw=draw)


class VerbQuery(RowQuery, forbid_unknown_fields=False):
    """The same, and what every verb takes; its other options are taken as they are."""

    alpha: Annotated[str, Meta(description="One minus the level of every interval.")] = ""
    by: Annotated[str, Meta(description="The same by slice of this column.")] = ""

    def options(self, more: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """Return the options of the verb, in the order of their names."""
        given = {"alpha": self.alpha, "by": self.by}
        if self.label_draw not in LABEL_DRAWS:  # what score itself is told of its labels
            given["label-draw"] = self.label_draw
        return dict(sorted({**{k: [v] for k, v in given.items() if v}, **more}.items()))


_MOST_KEPT = 64 * 1024 * 1024


class Kept:
    """Answers by question and stream version, the last used ones, bounded by their size."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        """Return an answer that was computed before."""
        with self._lock:
            found = self._held.pop(key, None)
            if found is not None:
                self._held[key] = found  # the last used one goes last
            return found

    def put(self, key: str, answer: bytes) -> None:
        """Keep an answer; the oldest go when there are too many."""
        with self._lock:
            self._held[key] = answer
            while len(self._held) > 1 and sum(map(len, self._held.values())) > _MOST_KEPT:
                self._held.popitem(last=False)


def asked_stream(reader: Reader, name: str, span: Span) -> StreamRecord:
    """Return a stream; refuse a slice by a column that it does not have."""
    stream = find_stream(reader, name)
    if span.slices:
        named = [name for _, name, kind in reader.columns(stream.id) if kind == "slice"]
        columns = [*named, "system"]
        for column, _ in span.slices:
            if column not in columns:
                way = unknown("slice", column, columns)
                raise HttpProblem(422, way, Fix(way, column="slice", value=column))
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


async def _answered(incoming: Incoming, work: str, span: Span, *question: Any) -> Response:
    """Answer by ETag, from memory, or by the worker."""
    service, name = incoming.service, incoming.path["stream"]
    stream = await service.reading(lambda reader: asked_stream(reader, name, span))
    same = incoming.unchanged(etag_of(work, stream, *question))
    if same is not None:
        return same
    body, etag = await service.waiting(lambda: computed(service, work, stream, *question))
    headers = {"ETag": etag, "Cache-Control": "no-cache"}
    return Response(body, media_type=str(incoming.route.answer), headers=headers)


@route(
    "GET",
    "/v1/streams/{stream}/results/{verb}",
    "read",
    answer="application/json",
    query=VerbQuery,
    open_query=True,
)
async def get_result(incoming: Incoming) -> Response:
    """Return the command line's JSON about the rows of a stream."""
    verb, query = incoming.path["verb"], incoming.query
    if verb not in ANSWERED:
        way = unknown("verb", verb, ANSWERED)
        raise HttpProblem(404, way, Fix(way, value=verb))
    span = query.span(incoming.now)
    return await _answered(
        incoming, "answer:result", span, verb, query.options(incoming.more), span
    )


@route(
    "GET",
    "/v1/streams/{stream}/tally",
    "read",
    answer="application/vnd.apache.arrow.file",
    query=RowQuery,
)
async def get_tally(incoming: Incoming) -> Response:
    """Return the counts of a stream as a file that ``Tally.load`` reads."""
    span = incoming.query.span(incoming.now)
    return await _answered(incoming, "answer:tally", span, span)


# From a request to the command line's own question.
#
# The parameters of a request become the arguments of the command line, and
# the command line's own parser makes the question of them. So there is one
# way to ask, and every page can show the command that gives the same answer
# from the exported rows.


_FILES = frozenset(
    {"known", "state", "follow", "target_mix", "cost", "fit", "add", "run", "window"}
    | {"truth_file", "metric_file", "labels_file", "block"}
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

_FLAGS = ("true", "false", "1", "0")


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
            raise InputError(f"{verb}: {unknown('option', name, sorted(options))}")
        for one in values if name == "label-model" else ():
            if one not in _LABEL_MODELS:
                raise InputError(unknown(name, one, _LABEL_MODELS))
        for value in values:
            if options[name].is_flag:
                if value.lower() not in (*_FLAGS, ""):
                    raise InputError(unknown(name, value, _FLAGS))
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

    # Which items lack an answer, and by which system rows are read, only rows tell.
    if call.capability.verb not in ("judge", "bound") or table.has_systems:
        return False
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
    counted = {*table.votes, TRUTH}
    for role in call.capability.reads:
        named = call.reading.get(role)
        if named is None or role == "item":
            continue
        if role == "by":
            if named not in table.slices:
                return False
            continue
        texts = (named,) if isinstance(named, str) else named
        if any(part not in counted for text in texts for part in text.split(",")):
            return False
    return True
