"""What a file is: by its content first, by its name second."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path, PurePath
from typing import IO, Any, TypeAlias

from tallystick.errors import FileError, InputError
from tallystick.table.sources import CHUNK, File, most_unpacked, scratch, spooling, too_large

Format: TypeAlias = str
"""``delimited``, ``ndjson``, ``json-array``, ``parquet``, ``arrow-file``, ``arrow-stream``,
``workbook``, or the name of a log format in ``io.logs.registry``."""

_OPENING = 1 << 16

_MAGIC: tuple[tuple[bytes, Format], ...] = (
    (b"PAR1", "parquet"),
    (b"ARROW1\0\0", "arrow-file"),
    (b"\xff\xff\xff\xff", "arrow-stream"),
)

_REFUSED: tuple[tuple[bytes, str], ...] = (
    (b"PARE", "an encrypted Parquet file; decrypt it first"),
    (b"FEA1", "a Feather file of version 1; write it again with pyarrow (version 2)"),
    (b"BZh", "compressed with bzip2; decompress it first (bunzip2)"),
    (b"\xfd7zXZ\0", "compressed with xz; decompress it first (unxz)"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; decompress it first (unzstd)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it and name the file inside"),
    (b"Rar!", "a RAR archive; unpack it and name the file inside"),
    (
        b"\xd0\xcf\x11\xe0",
        "an old or password-protected Office document; save the sheet as CSV (UTF-8)",
    ),
    (b"SQLite format 3\0", "an SQLite database; export the table as CSV"),
    (b"\x89HDF", "an HDF5 file; export the table as Parquet"),
    (b"\x93NUMPY", "a NumPy array; load it and pass its columns to Tallystick in Python"),
    (b"%PDF", "a PDF document; export the table as CSV"),
    (b"\xff\xfe", "UTF-16 text; save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text; save it as UTF-8"),
    (
        b"\x80\x02",
        "a Python pickle, which Tallystick never opens; write the table as Parquet or CSV",
    ),
    (
        b"\x80\x03",
        "a Python pickle, which Tallystick never opens; write the table as Parquet or CSV",
    ),
    (
        b"\x80\x04",
        "a Python pickle, which Tallystick never opens; write the table as Parquet or CSV",
    ),
    (
        b"\x80\x05",
        "a Python pickle, which Tallystick never opens; write the table as Parquet or CSV",
    ),
)


def is_gzip(path: Path) -> bool:
    """Return whether the content, whatever the name, is gzip."""
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def opening(file: File) -> bytes:
    """Return the first bytes of the content, unpacked if it is gzip."""
    try:
        if not is_gzip(file.path):
            with file.path.open("rb") as stream:
                return stream.read(_OPENING)
        with gzip.open(file.path, "rb") as stream:
            return stream.read(_OPENING)
    except EOFError as error:
        head = _partial(file.path)
        if not head:
            raise FileError(
                f"{file.name} is a truncated .gz file: its content is missing; copy it again"
            ) from error
        return head  # the text reader says where it breaks off
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileError(
            f"{file.name} is a damaged .gz file ({error}); copy or compress it again"
        ) from error
    except OSError as error:
        raise FileError(f"{file.name} cannot be read: {error.strerror}") from error


def detect(file: File) -> Format:
    """Return the format of *file*, or refuse it by the name of what it is."""
    head = opening(file)
    packed = is_gzip(file.path)
    if not head:
        raise FileError(f"{file.name} is empty: a table needs a header line and at least one row")
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            if packed:
                raise FileError(
                    f"{file.name} is a gzipped {kind} file; unpack it first (gunzip), it is"
                    " compressed inside"
                )
            return kind
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        log = sniff_archive(_entries(file.path))
        if log is not None:
            return log
        if any(name.startswith("xl/") for name in _entries(file.path)):
            return "workbook"
        raise FileError(f"{file.name} is {_archive(file.path)}")
    for magic, what in _REFUSED:
        if head.startswith(magic):
            raise FileError(f"{file.name} is {what}")
    if head[8:12] == b"DUCK":
        raise FileError(f"{file.name} is a DuckDB database; export the table as Parquet")
    return _text(file, head)


def _text(file: File, head: bytes) -> Format:
    text = head.decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    log = sniff_text(text)
    if log is not None:
        return log
    if text[:1] == "{" and (_is_object(text.partition("\n")[0]) or not _named_delimited(file.name)):
        return "ndjson"
    if text[:1] == "[" and not _named_delimited(file.name):
        if text[1:].lstrip()[:1] in ("{", "]", ""):
            return "json-array"
        raise FileError(
            f"{file.name} is a JSON array without objects: write one object per row,"
            " [{'item': 1, 'gpt': 'yes'}, …]"
        )
    if text[:9].lower().startswith(("<!doctype", "<html", "<?xml")):
        raise FileError(
            f"{file.name} is a web page or XML, not a table; perhaps a download that failed"
        )
    return "delimited"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _named_delimited(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))


def _entries(path: Path) -> list[str]:
    """Return the names inside a zip archive; none if it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return []


def _archive(path: Path) -> str:
    """Say which sort of zip this is."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError):
        return "a damaged zip archive; copy it again, unpack it and name the file inside"
    names = [entry.filename for entry in entries]
    if any(entry.flag_bits & 1 for entry in entries):
        return "a password-protected zip archive; unpack it and name the file inside"
    if "mimetype" in names and "content.xml" in names:
        return "an OpenDocument spreadsheet; save the sheet as CSV (UTF-8)"
    if names and all(name.endswith(".npy") for name in names):
        return "a NumPy archive; load it and pass its columns to Tallystick in Python"
    return f"a zip archive ({', '.join(names[:3])}…); unpack it and name the file inside"


def _partial(path: Path) -> bytes:
    with path.open("rb") as stream:
        try:
            return zlib.decompressobj(wbits=31).decompress(stream.read(_OPENING), _OPENING)
        except zlib.error:
            return b""


# The log formats that are read, and one line for each.
#
# To add a format, write a `LogReader` beside its kin, and add its place to `READERS`. Detection,
# reading and error messages find it there.


@dataclass(frozen=True, kw_only=True)
class LogReader:
    """How one tool's log is recognised and read.

    Parameters
    ----------
    name
        The format, as notes and errors call it.
    read
        Reads all files of this format at once, and returns the logs of each file: models are told
        apart by what differs between the files. None for a log of attempts.
    rows
        Logs of attempts: reads all files at once into columns of text, one row per attempt.
    opens
        Whether a text that starts like this is such a log.
    holds
        Whether a zip archive with these entries is such a log.
    """

    name: str
    read: Callable[[Sequence[File]], list[list[Log]]] | None = None
    rows: Callable[[Sequence[File]], dict[str, list[Any]]] | None = None
    opens: Callable[[str], bool] = lambda head: False
    holds: Callable[[Sequence[str]], bool] = lambda names: False


READERS: tuple[str, ...] = (
    "tallystick.table.logs_harness:LM_EVAL",
    "tallystick.table.logs_harness:INSPECT_EVAL",
    "tallystick.table.logs_harness:INSPECT_JSON",
    "tallystick.table.logs_harness:HELM",
    "tallystick.table.logs_harness:OPENAI_EVALS",
    "tallystick.table.logs_promptfoo:PROMPTFOO",
    "tallystick.table.logs_promptfoo:PROMPTFOO_CSV",
    "tallystick.table.logs_products:DEEPEVAL",
    "tallystick.table.logs_products:RAGAS",
    "tallystick.table.logs_products:MLFLOW",
    "tallystick.table.logs_products:OPENAI_API",
    "tallystick.table.logs_harness:SWE_BENCH",
    "tallystick.table.logs_products:PHOENIX",
    "tallystick.table.logs_products:BRAINTRUST",
    "tallystick.table.logs_products:LANGFUSE",
    "tallystick.table.logs_harness:DYNABENCH",
    "tallystick.table.logs_products:GARAK",
)
"""Where the readers are. They are asked in this order; the first that recognises a file wins."""


def log_readers() -> dict[str, LogReader]:
    """Return every reader by the name of its format."""
    return _load(READERS)


@cache
def _load(places: tuple[str, ...]) -> dict[str, LogReader]:
    split = [place.partition(":") for place in places]
    readers: list[LogReader] = [getattr(import_module(file), name) for file, _, name in split]
    return {reader.name: reader for reader in readers}


def sniff_text(head: str) -> str | None:
    """Return the format of a log that starts like this, or None.

    >>> sniff_text('{"doc_id": 0, "doc": {}, "resps": [], "doc_hash": "ab"}')
    'lm-eval'
    >>> sniff_text('{"item": 1, "gpt": 0}') is None
    True
    """
    return next((name for name, reader in log_readers().items() if reader.opens(head)), None)


def sniff_archive(names: Sequence[str]) -> str | None:
    """Return the format of a log that is a zip archive with these entries, or None.

    >>> sniff_archive(["_journal/start.json", "samples/q1_epoch_1.json", "header.json"])
    'inspect-eval'
    """
    return next((name for name, reader in log_readers().items() if reader.holds(names)), None)


def read_logs(files: Sequence[File], formats: Sequence[str]) -> list[Log]:
    """Read every file in the format that was detected for it, and keep the order of the files."""
    readers = log_readers()
    for name in formats:
        if name not in readers:
            raise InputError(f"{name!r} is not a log format: it is one of {', '.join(readers)}")

    # Each format sees all of its files at once, because a model's name may depend on the others.
    read: dict[str, list[list[Log]]] = {}
    for name in dict.fromkeys(formats):
        own = [file for file, one in zip(files, formats, strict=True) if one == name]
        reader = readers[name].read
        if reader is None:
            raise InputError(f"{own[0].name} is a log of attempts ({name}): read it on its own")
        read[name] = reader(own)

    each = {name: iter(logs) for name, logs in read.items()}
    return [log for name in formats for log in next(each[name])]


# One log: what one run scored on the items of a task, by metric.


Scores: TypeAlias = dict[str, dict[str, list[float]]]
"""Metric to item to scores: one score per replicate (epoch, trial)."""


class Loss(str):
    """A note on what was lost when a log was read; it belongs to the answer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Log:
    """What one model scored.

    Parameters
    ----------
    model
        Its name.
    task
        What it was tried on; logs of one model on several tasks are put below each other.
    source
        The file, for messages.
    scores
        Metric to item to scores.
    unscored
        Samples that have no score (they failed).
    facts
        What else names the run, such as its prompt or the arguments of its task: two runs of one
        model are told apart by the first fact that differs.
    groups
        Groups of items that the log carries, such as the subject of a question: name of the group
        to item to value. They are offered as clusters.
    reported
        The mean that the tool itself reports, by metric.
    """

    model: str
    task: str
    source: str
    scores: Mapping[str, Mapping[str, list[float]]] = field(repr=False)
    unscored: int = 0
    facts: Mapping[str, str] = field(default_factory=dict, repr=False)
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    reported: Mapping[str, float] = field(default_factory=dict, repr=False)


def number(value: object) -> float | None:
    """Return a score as a number; None for anything else, such as text, a list or NaN.

    >>> number(True), number(0.5), number("C"), number(float("nan"))
    (1.0, 0.5, None, None)
    """
    if isinstance(value, bool | int | float) and value == value:
        return float(value)
    return None


def without_twins(scores: Scores, ending: str) -> Scores:
    """Return *scores* without ``METRIC/ending`` where it says the same as ``METRIC``.

    >>> without_twins({"exact": {"q": [1.0]}, "exact/passed": {"q": [1.0]}}, "passed")
    {'exact': {'q': [1.0]}}
    """
    return {
        name: held
        for name, held in scores.items()
        if not (name.endswith(f"/{ending}") and held == scores.get(name[: -len(ending) - 1]))
    }


# What two runs are called: by what differs between them.


_LONGEST = 40
"""Signs of a prompt that go into a name."""


def told_apart(logs: Sequence[Log]) -> list[Log]:
    """Return the logs with names such that no two runs share one.

    Runs of different models keep the names of the models. Where one model was run twice on a task
    (two prompts, two versions), its runs are told apart by the first of these that differs: a fact
    of the log (the prompt, the arguments of the task), the name of the file, its folder.

    Examples
    --------
    >>> scores = {"acc": {"q1": [1.0]}}
    >>> short = Log("gpt", "qa", "a.json", scores, facts={"prompt": "Answer."})
    >>> long = Log("gpt", "qa", "b.json", scores, facts={"prompt": "Think, then answer."})
    >>> [log.model for log in told_apart([short, long])]
    ['gpt (Answer.)', 'gpt (Think, then answer.)']
    """
    twice: set[str] = set()
    homes: dict[tuple[str, str], str] = {}
    for log in logs:
        if homes.setdefault((log.model, log.task), log.source) != log.source:
            twice.add(log.model)
    named = list(logs)
    for model in twice:
        own = [i for i, log in enumerate(logs) if log.model == model]
        for i, mark in zip(own, _marks([logs[i] for i in own]), strict=True):
            named[i] = replace(logs[i], model=f"{model} ({mark})")
    return named


def _marks(logs: Sequence[Log]) -> list[str]:
    """Return what tells the logs of one model apart."""
    ways = [[log.facts.get(fact, "") for log in logs] for fact in logs[0].facts]
    paths = [PurePath(log.source) for log in logs]
    ways += [[path.stem for path in paths], [path.parent.name for path in paths]]
    for marks in ways:
        short = [_short(mark) for mark in marks]
        # The mark has to separate every two logs of one task, and may join different tasks.
        keys = {(mark, log.task) for mark, log in zip(short, logs, strict=True)}
        if all(short) and len(keys) == len(logs):
            return short
    raise InputError(
        f"{logs[0].source} and {logs[1].source} both hold model {logs[0].model!r} on"
        f" {logs[0].task or 'one task'}, and nothing tells them apart: name the runs (--run"
        f" old={logs[0].source} --run new={logs[1].source})"
    )


def _short(mark: str) -> str:
    words = " ".join(mark.split())
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


# Exports as rows: a JSON array, one object with a list inside, or one object per line.


_LISTS = ("data", "results", "testCases", "test_results", "rows", "samples")


def json_rows(file: File, *lists: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every object of an export with its place.

    Parameters
    ----------
    file
        A JSON array of objects, an object that holds such a list, or one object per line.
    lists
        Names of the list inside an object; usual names by default.
    """
    if _is_lines(file):
        yield from ((f"line {line}", row) for line, row in each_line(file))
        return
    held = document(file)
    if isinstance(held, dict):
        names = lists or _LISTS
        held = next((held[name] for name in names if isinstance(held.get(name), list)), [held])
    if not isinstance(held, list):
        raise FileError(f"{file.name} is neither a list of objects nor one object per line")
    for place, row in enumerate(held, start=1):
        if not isinstance(row, dict):
            raise FileError(f"{file.name}, entry {place} is not an object: the export is damaged")
        yield f"entry {place}", row


def _is_lines(file: File) -> bool:
    """Say whether the first line is an object by itself."""
    import json

    with checked(file) as text, text.path.open(encoding="utf-8-sig") as stream:
        first = stream.readline().strip()
        more = any(not line.isspace() for line in stream)
    if not first.startswith("{") or not more:
        return False
    try:
        json.loads(first)
    except ValueError:
        return False
    return True


def content_key(*parts: Any) -> str:
    """Return a short hash of what was asked, by which items without a name are matched.

    >>> content_key("2 + 2", None) == content_key("2 + 2", None)
    True
    """
    import hashlib
    import json

    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def first_of(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first of these fields that is there."""
    return next((row[name] for name in names if row.get(name) is not None), None)


# JSON of logs: whole documents or one object a line, with the place of what is broken.


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def each_line(file: File) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line that is not blank."""
    with checked(file) as text, text.path.open(encoding="utf-8-sig") as stream:
        for line, words in enumerate(stream, start=1):
            if not words.isspace():
                value = parsed(words, f"{file.name}, line {line}")
                if not isinstance(value, dict):
                    raise FileError(
                        f"{file.name}, line {line} is not an object: the log is damaged"
                    )
                yield line, value


def document(file: File) -> Any:
    """Return the one JSON document that a file holds."""
    with checked(file) as text:
        return parsed(text.path.read_text(encoding="utf-8-sig"), file.name)


def parsed(text: str | bytes, name: str) -> Any:
    """Return the value of JSON text, or refuse it by name."""
    try:
        value = json.loads(text)
        if _SURROGATE.search(text if isinstance(text, str) else text.decode("utf-8", "replace")):
            # Half of a pair is not text, and no table can hold it.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except (ValueError, RecursionError) as error:
        raise FileError(f"{name} is not complete JSON ({error}): copy the log again") from error


# Text, checked byte by byte before it is parsed: UTF-8, no NUL, whole to the end; gzip unpacked on
# the way.


MAX_LINE = 1 << 26


@dataclass(frozen=True, slots=True)
class CheckedText:
    """Plain UTF-8 text on disk.

    Parameters
    ----------
    path
        The plain text: the file itself, or its unpacked copy.
    name
        How messages call the file.
    quoted
        Whether a double quote occurs anywhere.
    lines
        How many lines end in a newline.
    """

    path: Path
    name: str
    quoted: bool
    lines: int


@contextmanager
def checked(file: File, *, by_line: bool = True) -> Iterator[CheckedText]:
    """Check the whole of *file* and hold its plain text ready; an unpacked copy is removed at the
    end.

    Parameters
    ----------
    file
        What to check.
    by_line
        Whether it will be read line by line, so that a line of more than 64 MB is refused. One JSON
        array may well be one line.
    """
    longest = MAX_LINE if by_line else None
    if not is_gzip(file.path):
        with file.path.open("rb") as stream:
            quoted, lines = _check(stream, None, file.name, _Limits(None, longest))
        yield CheckedText(file.path, file.name, quoted, lines)
        return
    with tempfile.NamedTemporaryFile(dir=scratch(), prefix="text-", suffix=".txt") as copy:
        limits = _Limits(most_unpacked(file.path), longest)
        with spooling(file.name), gzip.open(file.path, "rb") as stream:
            quoted, lines = _check(stream, copy, file.name, limits)
            copy.flush()
        yield CheckedText(Path(copy.name), file.name, quoted, lines)


@dataclass(frozen=True, slots=True)
class _Limits:
    """How many bytes may be unpacked, and how many may stand on one line; None sets no limit."""

    unpacked: int | None
    line: int | None


def _check(
    stream: io.BufferedReader | gzip.GzipFile,
    copy: IO[bytes] | None,
    name: str,
    limits: _Limits,
) -> tuple[bool, int]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, offset, quoted = 1, 0, False
    run = 0  # bytes since the last line end
    while True:
        chunk = _read(stream, name, line)
        nul = chunk.find(0)
        if nul >= 0:
            at = line + chunk.count(b"\n", 0, nul)
            raise FileError(
                f"{name}, line {at}: a NUL byte at offset {offset + nul:,}; this is not text, or "
                "it is UTF-16: save it as UTF-8"
            )
        held = len(decoder.getstate()[0])
        try:
            decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            bad = error.object[error.start]
            at = line + error.object.count(b"\n", 0, error.start)
            raise FileError(
                f"{name}, line {at}: byte 0x{bad:02x} at offset {offset - held + error.start:,} is"
                " not UTF-8; save the file as UTF-8 (iconv -f latin1 -t utf-8, if it is Latin-1)"
            ) from error
        if not chunk:
            return quoted, line - 1
        if copy is not None:
            copy.write(chunk)
        if limits.unpacked is not None and offset + len(chunk) > limits.unpacked:
            raise too_large(limits.unpacked, name)
        quoted = quoted or b'"' in chunk
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        run = run + len(chunk) if end < 0 else len(chunk) - end - 1
        if limits.line is not None and run > limits.line:
            raise FileError(
                f"{name}, line {line} is longer than {MAX_LINE >> 20} MB: this is not a table of"
                " lines"
            )
        line += chunk.count(b"\n")
        offset += len(chunk)


def _read(stream: io.BufferedReader | gzip.GzipFile, name: str, line: int) -> bytes:
    try:
        return stream.read1(CHUNK)  # all that is there: what precedes a break is still counted
    except EOFError as error:
        raise FileError(
            f"{name} is a truncated .gz file: it breaks off after line {line:,}; copy it again"
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileError(
            f"{name} is a damaged .gz file near line {line:,} ({error}); copy it again"
        ) from error
    except OSError as error:
        raise FileError(f"{name} cannot be read: {error.strerror}") from error
