"""The rows inside logs and exports: JSON documents, JSON lines, CSV, and what tools pack in ways of
their own.

Everything here returns what a file says once, the head, and its rows with their places. What the
fields mean is declared in `tallystick.table.logs`.
"""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from tallystick.errors import FileError
from tallystick.table.sources import File, most_unpacked, too_large
from tallystick.table.texts import checked, wide_cells

Row: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = tuple[Row, Iterable[tuple[str, Row]]]
"""What a file says once, and its rows, each with its place."""

# Paths: ``a.b`` steps into objects and into every entry of a list, ``a|b`` is the first that is
# there, the empty path is the value itself.


def find(held: Any, path: str) -> Any:
    """Return what stands at a path, None if nothing does.

    JSON text in a cell, as CSV exports have it, is opened on the way.

    >>> find({"a": [{"b": 1}, {"b": 2}]}, "a.b"), find({"x.y": 3}, "z|x.y"), find({"m": "{}"}, "m.b")
    ([1, 2], 3, None)
    """
    for way in path.split("|"):
        found = _step(held, way)
        if found is not None and found != "":
            return found
    return None


def _step(held: Any, path: str) -> Any:
    if not path:
        return held
    if isinstance(held, str) and held[:1] in "[{":
        held = opened(held)
    if isinstance(held, list):
        found = [one for entry in held if (one := _step(entry, path)) is not None]
        return found or None
    if not isinstance(held, Mapping):
        return None
    if path in held:
        return held[path]
    first, dot, rest = path.partition(".")
    return _step(held[first], rest) if dot and first in held else None


def opened(text: Any) -> Any:
    """Return the value of a cell of JSON text; anything else as it is."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


# JSON, whole or by line, and CSV.

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def rows_of(file: File, lists: Sequence[str], heads: Sequence[str] = ()) -> Rows:
    """Return head and rows of a file: a list of objects, an object that holds lists, one object per
    line, a table of columns and data, or CSV.

    Parameters
    ----------
    file
        What to read.
    lists
        Paths of the lists of rows in an object; all that are there are put together.
    heads
        Keys of the lines that are no rows.
    """
    text = content(file)
    if text[:1] not in ("{", "["):
        header, cells = csv_table(file, text)
        return {}, (
            (f"row {k}", dict(zip(header, row, strict=False))) for k, row in enumerate(cells, 1)
        )
    first, _, rest = text.partition("\n")
    if text[0] == "{" and isinstance(opened(first), dict) and (heads or rest.strip()):
        lines = [(f"line {line}", row) for line, row in each_line(file, text)]
        head = {key: row[key] for _, row in lines for key in heads if key in row}
        return head, lines

    held = parsed(text, file.name)
    if isinstance(held, dict):
        if isinstance(held.get("columns"), list) and isinstance(held.get("data"), list):
            names = list(map(str, held["columns"]))
            return held, _entries(
                [dict(zip(names, row, strict=False)) for row in held["data"]], file
            )
        found = [one for path in lists if isinstance(one := find(held, path), list)]
        if found:
            return held, _entries([row for rows in found for row in rows], file)
        held = [held]
    return {}, _entries(held, file)


def _entries(held: Sequence[Any], file: File) -> Iterator[tuple[str, Row]]:
    for place, row in enumerate(held, start=1):
        if not isinstance(row, dict):
            raise FileError(f"{file.name}, entry {place} is not an object: the export is damaged")
        yield f"entry {place}", row


def content(file: File) -> str:
    """Return the text of a file."""
    with (
        checked(file, by_line=False) as text,
        text.path.open(encoding="utf-8-sig", newline="") as stream,
    ):
        return stream.read()


def each_line(file: File, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line that is not blank."""
    for line, words in enumerate(text.split("\n"), start=1):
        if words.strip():
            value = parsed(words, f"{file.name}, line {line}")
            if not isinstance(value, dict):
                raise FileError(f"{file.name}, line {line} is not an object: the log is damaged")
            yield line, value


def document(file: File) -> Any:
    """Return the one JSON document that a file holds."""
    return parsed(content(file), file.name)


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


def csv_table(file: File, text: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV file; headers may repeat."""
    try:
        with wide_cells():
            rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        message = f"{file.name} is not CSV ({error}): export the results again"
        raise FileError(message) from error
    if len(rows) < 2:
        raise FileError(f"{file.name} has no rows: export the results again")
    return rows[0], [row for row in rows[1:] if row]


def csv_header(head: str) -> list[str]:
    r"""Return the header of a text that starts like this; empty if it is not CSV.

    >>> csv_header("user_input,faithfulness\nwho?,0.5\n")
    ['user_input', 'faithfulness']
    """
    if not head or head[0] in "{[<" or "," not in head.partition("\n")[0]:
        return []
    try:
        return next(csv.reader([head.partition("\n")[0]]))
    except (csv.Error, StopIteration):
        return []


# inspect_ai's ``.eval``: a zip archive, possibly with zstd inside.

_ZSTD = 93
_MOST = 1 << 30
"""A sample beyond a gigabyte is refused."""


def inspect_archive(file: File) -> Rows:
    """Return the header and the samples of a log of inspect_ai."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = archive.namelist()
            if "header.json" not in names:
                raise FileError(
                    f"{file.name} has no header: the run did not finish; finish it or run it again"
                )
            if sum(entry.file_size for entry in archive.infolist()) > most_unpacked(file.path):
                raise too_large(most_unpacked(file.path), file.name)

            def entry(name: str) -> Any:
                return parsed(_content(archive, name, file), f"{file.name} ({name})")

            samples = [one for one in sorted(names) if re.match(r"samples/.*\.json$", one)]
            return entry("header.json"), [(name, entry(name)) for name in samples]
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error) as error:
        raise FileError(f"{file.name} is a damaged archive ({error}): copy it again") from error


def _content(archive: zipfile.ZipFile, name: str, file: File) -> bytes:
    """Return one entry; pyarrow unpacks zstd, which zipfile cannot before Python 3.14."""
    entry = archive.getinfo(name)
    if entry.file_size > _MOST:
        raise FileError(f"{file.name} ({name}) is larger than a gigabyte: it is not a sample")
    if entry.compress_type != _ZSTD:
        return archive.read(name)
    import pyarrow as pa

    try:
        content = pa.decompress(
            _packed(file.path, entry),
            decompressed_size=entry.file_size,
            codec="zstd",
            asbytes=True,
        )
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"{file.name} ({name}) is damaged ({error}): copy the log again") from error
    if zlib.crc32(content) != entry.CRC:
        raise FileError(
            f"{file.name} ({name}) is damaged (its checksum differs): copy the log again"
        )
    return bytes(content)


def _packed(path: Path, entry: zipfile.ZipInfo) -> bytes:
    with path.open("rb") as stream:
        stream.seek(entry.header_offset)
        head = stream.read(30)  # an entry's own header before its name
        name_length, extra_length = struct.unpack("<HH", head[26:30])
        stream.seek(name_length + extra_length, 1)
        return stream.read(entry.compress_size)


# promptfoo's CSV: the variables, then a block of columns for each prompt.

_BESIDE = frozenset(
    {"Status", "Score", "Named Scores", "Grader Reason", "Comment", "Reasoning", "Description"}
)
"""Columns that follow the output of a prompt, and the description of a test."""


def promptfoo_csv(file: File) -> Rows:
    """Return one row per provider, prompt and test.

    Older versions write no status, but ``[PASS]`` or ``[FAIL]`` before the output.
    """
    header, rows = csv_table(file, content(file))
    blocks = {
        at: named
        for at, name in enumerate(header)
        if (named := re.fullmatch(r"(?s)\[([^\]]+)\] ?(.*)", name))
    }
    first = min(blocks)
    variables = [at for at in range(first) if header[at] not in _BESIDE]
    found = []
    for place, row in enumerate(rows, start=1):
        for at, named in blocks.items():
            cells: dict[str, str] = {}
            for name, cell in zip(header[at + 1 :], row[at + 1 :], strict=False):
                if name not in _BESIDE or name in cells:
                    break
                cells[name] = cell.strip()
            prefix = re.match(r"\[(PASS|FAIL|ERROR)\]", row[at]) if at < len(row) else None
            status = cells.get("Status", "").upper() or (prefix[1] if prefix else "")
            held: dict[str, Any] = {
                "vars": [row[k] for k in variables],
                "provider": named[1],
                "prompt": named[2],
                "promptIdx": at,
            }
            if status in ("PASS", "FAIL"):
                held["success"] = status == "PASS"
                held["score"] = cells.get("Score") or None
                held["namedScores"] = opened(cells.get("Named Scores", ""))
            found.append((f"row {place}", held))
    return {}, found


# Reports of the SWE-bench harness: which instances a model's patches resolved.


def swe_bench_rows(file: File) -> Rows:
    """Return one row per instance; one that was submitted and not resolved counts 0."""
    held = document(file)
    resolved: dict[str, bool] = {}
    if isinstance(held, dict):
        yes = held.get("resolved_ids", held.get("resolved"))
        if isinstance(yes, list):
            # The leaderboard's results.json has lists of instances only, the harness's has others.
            lists = {k: v for k, v in held.items() if isinstance(v, list) and k != "incomplete_ids"}
            if "resolved_ids" in held:
                lists = {name: ids for name, ids in lists.items() if name.endswith("_ids")}
            others = [one for entries in lists.values() for one in entries]
            resolved = dict.fromkeys(map(str, others), False) | dict.fromkeys(map(str, yes), True)
        else:  # report.json of single instances: {"repo__name-1": {"resolved": true, …}}
            resolved = {
                str(name): one["resolved"]
                for name, one in held.items()
                if isinstance(one, dict) and isinstance(one.get("resolved"), bool)
            }
    return {}, [
        (
            name,
            {
                "item": name,
                "resolved": value,
                "groups": {"repository": name.rpartition("-")[0].replace("__", "/")},
            },
        )
        for name, value in resolved.items()
    ]


# Reports of garak: what each probe tried on a model, and what its detectors scored.

_EVALUATED = 2


def garak_rows(file: File) -> Rows:
    """Return one row per output of an evaluated attempt.

    An output is a hit if some detector scores it at the run's threshold (0.5 by default) or above.
    The probe stands for the annotator, because the attempts of one probe are alike.
    """
    model, threshold = "model", 0.5
    found = []
    for line, entry in each_line(file, content(file)):
        kind = entry.get("entry_type")
        if kind is None and "detector" in entry:
            raise FileError(
                f"{file.name} is a hit log of garak, which holds only the attempts that succeeded:"
                " a rate needs all of them. Give the report beside it (garak.….report.jsonl)"
            )
        if kind == "start_run setup":
            named = entry.get("plugins.target_name") or entry.get("plugins.model_name")
            model = str(named or model)
            threshold = float(entry.get("run.eval_threshold") or threshold)
        if kind != "attempt" or entry.get("status") != _EVALUATED:
            continue
        scores = [held for held in (entry.get("detector_results") or {}).values() if held]
        for place in range(max(map(len, scores), default=0)):
            # None is no verdict.
            given = [one[place] for one in scores if place < len(one) and one[place] is not None]
            row = {"item": f"{entry.get('uuid')}.{place}", "probe": entry.get("probe_classname")}
            hit = any(score >= threshold for score in given)
            found.append((f"line {line}", {**row, "round": None, "model": model, "hit": hit}))
    if not found:
        raise FileError(
            f"{file.name} holds no evaluated attempt (status 2): the scan did not finish"
        )
    return {}, found


# Exports of annotation tools: people's answers become the truth, those of models votes.


def label_studio_rows(file: File) -> Rows:
    """Return one row per task of Label Studio: its data, annotations and predictions."""
    tasks = []
    for _, task in _entries(document(file), file):
        said = []
        for key, who in (("annotations", "completed_by"), ("predictions", "model_version")):
            for one in task.get(key) or ():
                if not isinstance(one, dict) or one.get("was_cancelled"):
                    continue
                name = find(one, f"{who}.email|{who}.id|{who}")
                for part in one.get("result") or ():
                    value = find(part, "value.choices|value.rating|value.number|value.text")
                    if value is not None:
                        is_person = key == "annotations"
                        said.append((is_person, str(part.get("from_name", "")), name, value))
        data = task.get("data")
        tasks.append(({"item": task.get("id"), **(data if isinstance(data, dict) else {})}, said))
    return {}, _answers(tasks)


def argilla_rows(file: File) -> Rows:
    """Return one row per record of Argilla: its fields, responses and suggestions."""
    records = []
    for _, record in rows_of(file, ("records", "data"))[1]:
        said = []
        for key, who in (("responses", "user_id"), ("suggestions", "agent")):
            for question, given in (record.get(key) or {}).items():
                for one in given if isinstance(given, list) else [given]:
                    value = find(one, "value") if isinstance(one, dict) else one
                    name = find(one, who) if isinstance(one, dict) else None
                    if value is not None:
                        said.append((key == "responses", str(question), name, value))
        fields = record.get("fields")
        base = {"item": record.get("id"), **(fields if isinstance(fields, dict) else {})}
        records.append((base, said))
    return {}, _answers(records)


def prodigy_rows(file: File) -> Rows:
    """Return one row per task of Prodigy; who ignored a task has no answer."""
    tasks: dict[Any, tuple[dict[str, Any], list[tuple[bool, str, Any, Any]]]] = {}
    for _, row in rows_of(file, ("data",))[1]:
        base = {key: value for key, value in row.items() if not key.startswith("_")}
        for key in ("answer", "accept", "options", "spans", "tokens", "meta", "config"):
            base.pop(key, None)
        held = tasks.setdefault(
            row.get("_task_hash"), ({"item": row.get("_task_hash"), **base}, [])
        )
        answer = row.get("answer")
        chosen = row.get("accept") if isinstance(row.get("accept"), list) else answer
        who = find(row, "_annotator_id|_session_id")
        if answer == "accept" or (answer == "reject" and chosen is answer):
            held[1].append((True, "", who, chosen))
    return {}, _answers(list(tasks.values()))


def _answers(
    tasks: Sequence[tuple[dict[str, Any], list[tuple[bool, str, Any, Any]]]],
) -> list[tuple[str, Row]]:
    """Give each task a column of people's answers (``human``) and one for each model.

    Several people, and several questions, have a column each.
    """
    questions = {question for _, said in tasks for _, question, _, _ in said}
    several = any(
        sum(person and asked == question for person, asked, _, _ in said) > 1
        for _, said in tasks
        for question in questions
    )
    found: list[tuple[str, Row]] = []
    for place, (base, said) in enumerate(tasks, start=1):
        row = {key: value for key, value in base.items() if not isinstance(value, dict | list)}
        for person, question, who, value in said:
            name = ("human" if not several else f"human {who}") if person else str(who or "model")
            name = f"{question} {name}" if len(questions) > 1 else name
            row[name] = ", ".join(map(str, value)) if isinstance(value, list) else value
        found.append((f"entry {place}", row))
    return found
