"""Say a result: text or one JSON object on stdout, files beside it, messages on stderr."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import FileError, InputError
from tallystick.registry import ENTRIES
from tallystick.results import Result, harmless, to_json
from tallystick.table import option

if TYPE_CHECKING:
    from tallystick.cli.verb import Call
    from tallystick.clients import ClientQuestion
    from tallystick.table import Capability, Cases, Data, ItemTable


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Where a result goes: the options of output."""

    items_out: Path | None = option(None, "Write what was learnt about each item as a table.")
    html: Path | None = option(None, "Write the report as an HTML page that works offline.")
    summary: Path | None = option(None, "Append the result as Markdown to this file.")
    as_json: bool = option(
        False, "Print one JSON object on stdout and nothing else.", flag="--json"
    )
    junit: Path | None = option(None, "Write the gates as JUnit XML to this file.")
    post: str | None = option(
        None,
        "Post the result to this stream of a service (http://HOST:8765/v1/streams/NAME); the key is"
        " in TALLYSTICK_KEY.",
        metavar="STREAM",
    )

    def files(self) -> dict[str, Path]:
        """Return the files that will be written, option to path."""
        held = {one.name: getattr(self, one.name) for one in fields(self)}
        return {f"--{name.replace('_', '-')}": p for name, p in held.items() if isinstance(p, Path)}

    def check(self, source: Sequence[str | Path], **more: Path | None) -> None:
        """Refuse, before any work is done, outputs that would overwrite something.

        *more* are outputs of this verb alone, by the name of their option.
        """
        named = {f"--{name.replace('_', '-')}": path for name, path in more.items()}
        given = {option: path for option, path in named.items() if path is not None}
        check_outputs({**given, **self.files()}, [one for one in source if one != "-"])


def tell(messages: Iterable[str]) -> None:
    """Write messages for a person to stderr, one per line."""
    for message in messages:
        sys.stderr.write(f"{harmless(message)}\n")


def deliver(
    result: Result,
    delivery: Delivery | None = None,
    *,
    data: Data | None = None,
    capability: Capability[Any] | None = None,
    cases: Callable[..., Cases | None] | None = None,
) -> None:
    """Write the files, then print the result and make sure that it arrived."""
    to = delivery or Delivery()
    learnt = (capability.items if capability is not None else None) or _attached
    behind = cases or (None if capability is None else capability.cases)
    steps: list[tuple[Any, Callable[[Any], None]]] = [
        (to.html, lambda path: _write_page(path, result, data, behind)),
        (to.summary, lambda path: _append(path, _markdown(result))),
        (to.junit, lambda path: _replace(path, result.to_junit())),
        (to.post, lambda stream: _post(stream, result)),
    ]
    if data is not None:
        steps.insert(0, (to.items_out, lambda path: _write_items(path, learnt(result, data))))
    failed: FileError | None = None
    for where, write in steps:
        try:
            if where is not None:
                write(where)
        except FileError as error:
            failed = failed or error

    if to.as_json:
        sys.stdout.write(to_json(result.to_dict()) + "\n")
    else:
        from tallystick.report import show

        show(result)
    # A closed pipe shows here, inside the verb, and not at the interpreter's end.
    sys.stdout.flush()
    if failed is not None:
        raise failed


def _post(stream: str, result: Result) -> None:
    from tallystick.serve.posted import send_result

    send_result(stream, to_json(result.to_dict()))


def _markdown(result: Result) -> str:
    """Return the verdict, the main table and the gates, for the summary page of a build."""
    from tallystick.report.grid import grid, markdown

    names = ("gate", "outcome", "estimate", "interval")
    told = [(one.expression, one.word, one.estimate, one.interval) for one in result.gates]
    gates = [dict(zip(names, cells, strict=True)) for cells in told]
    parts = [f"**{harmless(result.verdict)}**", *result.read_line(), result.to_markdown()]
    if gates:
        parts.append(markdown(grid(gates, most=len(gates))))
    return "\n\n".join(parts) + "\n\n"


def _attached(result: Result, data: Data) -> Mapping[str, Any]:
    """Put what the result learnt of each vote pattern beside the rows."""
    from tallystick.table import attach

    attached = attach(result, data.table)
    return {name: attached[name] for name in attached.column_names}


def _write_items(path: Path, learnt: Mapping[str, Any] | ItemTable) -> None:
    from tallystick.table import ItemTable, write_csv

    if isinstance(learnt, ItemTable):
        tell(learnt.notes)
        learnt = learnt.columns
    write_csv(path, learnt)


def _write_page(
    path: Path,
    result: Result,
    data: Data | None,
    behind: Callable[..., Cases | None] | None,
) -> None:
    from tallystick.report import Provenance, write_page

    provenance = Provenance(
        command=shlex.join(["tallystick", *sys.argv[1:]]),
        digests=data.digests() if data is not None else {},
    )
    # The items behind the claim, where the capability knows them.
    cases = None if data is None or behind is None else behind(result, data)
    write_page(path, result, provenance=provenance, cases=cases)
    tell([f"report: {path}"])


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    from tallystick.table import atomic

    with atomic(path) as stream:
        stream.write(text.encode("utf-8"))


# The next step as a command: ``tallystick label`` with the columns that were just named.


_UNUSED = ("by", "count", "weight", "probability", "criterion", "metric")
"""Options that a session does not read, or has no use for where it draws items of its own."""

_ASKED = ("positive", "at_least")
"""Fields of a question that a session asks too."""


def with_label_command(result: Result, call: Call) -> Result:
    """Return the result with the command that labels what is open."""
    from tallystick.cli.label import label
    from tallystick.table.session import SESSIONS

    session = call.reading.get("truth_file")
    if session is not None and SESSIONS.begins(session):
        if result.decision == "decided":
            return result
        more = ["tallystick", "label", "--session", str(session), "--next", "20"]
        return replace(result, label_command=shlex.join([*more, "--out", "batch.csv"]))
    verb, reading, question = call.capability.verb, dict(call.reading), call.question
    if not _labels_help(result, verb) or not call.source or "-" in call.source:
        return result
    taken = {one.name for one in label.params}
    # Label reads other tables only by a reading file, and of one criterion at a time.
    if reading.get("criterion") or {*reading} - {*_UNUSED} - taken:
        return result
    goal = getattr(result, "label_goal", None)
    if "metric" in reading and not reading.get("judges"):
        reading["judges"] = reading["metric"]
    asked = {name: held for name, held in reading.items() if name not in _UNUSED}
    asked |= {name: held for name in _ASKED if (held := getattr(question, name, None)) is not None}
    scale = getattr(question, "scale", None)
    if scale is not None and goal == "mean":
        asked["scale"] = [f"{end:g}" for end in scale]
    # Human grades that are there were taken as a random draw just now: they count from the start.
    if getattr(question, "label_draw", "random") == "random" and getattr(result, "n_labels", 0):
        asked["label_draw"] = "random"
    asked["session"] = f"{Path(call.source[0]).name.partition('.')[0]}.label"
    words = ["tallystick", "label", *call.source, "--question"]
    words += [verb if goal in (None, "mean") else goal]
    for name, held in asked.items():
        text = ",".join(map(str, held)) if isinstance(held, tuple | list) else str(held)
        words += [f"--{name.replace('_', '-')}", text]
    return replace(result, label_command=shlex.join(words))


def _labels_help(result: Result, verb: str) -> bool:
    """Say whether labels would settle what is open, and a session can ask for them."""
    if hasattr(result, "label_goal"):
        return result.label_goal is not None
    needed = result.needed
    able = any(entry.labels for entry in ENTRIES if entry.verb == verb)
    return able and needed is not None and needed.count is not None and "label" in needed.of


# Verbs that call an API: how the run goes, and what it costs before it begins.


def with_progress(call: Call) -> Call:
    """Return the call with what shows its progress and asks before money is spent."""
    question = call.question
    if not hasattr(question, "confirm"):  # asks nobody: what talks to the web stays unloaded
        return call
    from tallystick.clients import ClientQuestion

    if not isinstance(question, ClientQuestion):
        return call
    _refuse_to_lose(call, question)
    return replace(
        call, question=replace(question, progress=progress_lines, confirm=ask_first(question))
    )


def _refuse_to_lose(call: Call, question: ClientQuestion) -> None:
    """Refuse to ask for a column of answers that no file would keep."""
    makes_table = hasattr(question, "out")
    kept = getattr(question, "out", None) or question.journal
    if makes_table and not kept and not call.delivery.items_out:
        raise InputError(
            "name a file for the answers (-o FILE): without one, what you pay for is lost"
        )


def ask_first(question: ClientQuestion) -> Callable[[str], None]:
    """Return what is told the cost before a run."""
    costs = question.prices.known

    def confirm(text: str) -> None:
        if not costs:
            return
        sys.stderr.write(f"{text}\n")
        if question.yes:
            return
        agreed = question.max_cost is not None
        if sys.stdin.isatty() and sys.stderr.isatty():
            sys.stderr.write("Go on? [y/N] ")
            sys.stderr.flush()
            agreed = sys.stdin.readline().strip().lower() in ("y", "yes")
        if not agreed:
            raise InputError(
                "nothing was asked and nothing was spent: add --yes, or set a limit (--max-cost)"
            )

    return confirm


@contextmanager
def progress_lines(clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[Any], None]]:
    """Say on stderr how a run goes: one line that is written over, or in a pipe a line now and
    then.
    """
    terminal = sys.stderr.isatty()
    last, every = clock(), 0.2 if terminal else 10.0

    def show(now: Any) -> None:
        nonlocal last
        if clock() - last < every:
            return
        last = clock()
        cost = f", cost {now.cost:.4g}" if now.cost else ""
        start, end = ("\r", "") if terminal else ("", "\n")
        sys.stderr.write(f"{start}{now.calls:,} of {now.planned:,} calls{cost}{end}")
        sys.stderr.flush()

    yield show
    if terminal:
        sys.stderr.write("\r\x1b[K")  # the line is gone before anything else is written


# Refuse, before any work is done, outputs that would destroy something.


def check_outputs(outputs: Mapping[str, Path], inputs: Iterable[str | Path]) -> None:
    """Refuse an output that is an input, another output, or anything but a regular file.

    Links and other names of one file are the same file.

    Parameters
    ----------
    outputs
        Option to the file that it writes.
    inputs
        What is read: paths, globs, folders; a name that is no file is passed over.

    Examples
    --------
    >>> check_outputs({"--html": Path("r.html"), "--junit": Path("./r.html")}, [])
    Traceback (most recent call last):
    tallystick.errors.InputError: --junit r.html is that of --html: name another file, so that nothing is lost
    """
    seen = [("the input", path) for one in inputs for path in named_files(one)]
    for flag, path in outputs.items():
        for what, other in seen:
            if _same(path, other):
                raise InputError(
                    f"{flag} {path} is {what}: name another file, so that nothing is lost"
                )
        _check_place(flag, path)
        seen.append((f"that of {flag}", path))


def named_files(source: str | Path) -> list[Path]:
    """Return the files that an input names."""
    path = Path(source).expanduser()
    try:
        if path.is_dir():
            return [one for one in path.iterdir() if one.is_file()]
        if path.exists():
            return [path]
        return list(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    except (OSError, ValueError, IndexError):  # a text that cannot name a file
        return []


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # at least one of them is not there yet
        return one.resolve() == other.resolve()


def _check_place(flag: str, path: Path) -> None:
    """Refuse a file that cannot be written: the answer may cost money."""
    usable = path.is_file() or (not path.exists() and path.parent.is_dir())
    if not usable or not os.access(path if path.exists() else path.parent, os.W_OK):
        reason = "no regular file" if path.exists() and not path.is_file() else "no right"
        reason = reason if path.parent.is_dir() else "no folder"
        raise FileError(f"{flag} {path} cannot be written ({reason}). Nothing was done yet")
    if flag == "--items-out":
        from tallystick.table import check_ending

        check_ending(path)
