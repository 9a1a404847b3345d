"""What no declaration reaches: archives of inspect_ai, reports of SWE-bench and garak, tables
that people made (Dynabench, Label Studio, Argilla, Prodigy).

Everything here returns rows with their places.
"""

from __future__ import annotations

import csv
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from tallystick.errors import FileError
from tallystick.table.json_files import json_rows, value_of
from tallystick.table.sources import File, damaged, most_unpacked, too_large
from tallystick.table.texts import checked, wide_cells

Row: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = Iterable[tuple[str, Row]]
"""Rows, each with its place."""

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


def opened(value: Any) -> Any:
    """Return the value of a cell of JSON text; anything else as it is."""
    if not (isinstance(value, str) and value[:1] in ("[", "{")):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def rows_of(file: File, lists: Sequence[str]) -> tuple[Row, list[tuple[str, Row]]]:
    """Return what a file says once, and its rows: JSON, whose document may hold them at the paths
    *lists*, or CSV.
    """
    with checked(file, by_line=False) as text:
        with text.path.open(encoding="utf-8-sig", newline="") as stream:
            if stream.read(1 << 16).lstrip()[:1] not in ("{", "["):
                stream.seek(0)
                return {}, _csv_rows(file, stream)
        found = json_rows(text, lambda held: _listed(held, lists))
        rows: list[tuple[str, Row]] = [(f"{found.unit} {place}", row) for place, row in found.rows]
    return found.head, rows


def _listed(held: Row, lists: Sequence[str]) -> list[Any]:
    found = [one for path in lists if isinstance(one := find(held, path), list)]
    return [row for rows in found for row in rows] if found else [held]


def _csv_rows(file: File, lines: Iterable[str]) -> list[tuple[str, Row]]:
    try:
        with wide_cells():
            header, *rows = csv.reader(lines)
    except (csv.Error, ValueError) as error:
        raise damaged(file.name, "CSV file", error) from error
    return [
        (f"row {k}", dict(zip(header, row, strict=False))) for k, row in enumerate(rows, 1) if row
    ]


def csv_header(head: str) -> list[str]:
    r"""Return the header of a text that starts like this; empty if it is not CSV.

    >>> csv_header("user_input,faithfulness\nwho?,0.5\n")
    ['user_input', 'faithfulness']
    """
    first = head.partition("\n")[0]
    if first[:1] in "{[<" or "," not in first:
        return []
    try:
        return next(csv.reader([first]))
    except (csv.Error, StopIteration):
        return []


# inspect_ai: a JSON document, or ``.eval``, a zip archive, possibly with zstd inside.

_ZSTD = 93
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, struct.error)


def inspect_rows(file: File) -> tuple[Row, Rows]:
    """Return the header of a run and its samples."""
    if not zipfile.is_zipfile(file.path):
        return rows_of(file, ("samples",))
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = archive.namelist()
            if "header.json" not in names:
                raise _unfinished(file, "header")
            if sum(entry.file_size for entry in archive.infolist()) > most_unpacked(file.path):
                raise too_large(most_unpacked(file.path), file.name)

            def entry(name: str) -> dict[str, Any]:
                return value_of(_unpacked(archive, name, file).decode(), f"{file.name} ({name})")

            samples = [one for one in sorted(names) if re.match(r"samples/.*\.json$", one)]
            return entry("header.json"), [(name, entry(name)) for name in samples]
    except (*_DAMAGE, NotImplementedError) as error:
        raise damaged(file.name, "archive", error) from error


def _unfinished(file: File, what: str) -> FileError:
    return FileError(
        f"{file.name} has no {what}: the run did not finish; finish it or run it again"
    )


def _unpacked(archive: zipfile.ZipFile, name: str, file: File) -> bytes:
    """Return one entry; pyarrow unpacks zstd, which zipfile cannot before Python 3.14."""
    entry = archive.getinfo(name)
    if entry.compress_type != _ZSTD:
        return archive.read(name)
    import pyarrow as pa

    with file.path.open("rb") as stream:
        stream.seek(entry.header_offset)
        # An entry's own header, of 30 bytes, stands before its name.
        name_length, extra_length = struct.unpack("<HH", stream.read(30)[26:])
        stream.seek(name_length + extra_length, 1)
        packed = stream.read(entry.compress_size)
    try:
        found = bytes(pa.decompress(packed, entry.file_size, codec="zstd", asbytes=True))
    except (OSError, pa.ArrowException) as error:
        raise zipfile.BadZipFile(f"{name}: {error}") from error
    if zlib.crc32(found) != entry.CRC:
        raise zipfile.BadZipFile(f"{name}: its checksum differs")
    return found


# OpenAI evals: a stream of events between a specification and a final report.


def openai_evals_rows(file: File) -> tuple[Row, Rows]:
    """Return what the first and the last line say of all, and the events."""
    _, rows = rows_of(file, ())
    told = [row for _, row in rows if "spec" in row or "final_report" in row]
    return {key: value for row in told for key, value in row.items()}, rows


# Reports of the SWE-bench harness: which instances a model's patches resolved.


def swe_bench_rows(file: File) -> tuple[Row, Rows]:
    """Return one row per instance; one that was submitted and not resolved counts 0."""
    held = dict(rows_of(file, ())[0])
    yes = held.get("resolved_ids", held.get("resolved"))
    if isinstance(yes, list):
        # The leaderboard's results.json has lists of instances only, the harness's has others.
        ending = "_ids" if "resolved_ids" in held else ""
        lists = [
            ids
            for name, ids in held.items()
            if isinstance(ids, list) and name.endswith(ending) and name != "incomplete_ids"
        ]
        resolved = {str(one): one in yes for ids in lists for one in ids}
    else:  # report.json of single instances: {"repo__name-1": {"resolved": true, …}}
        resolved = {
            str(name): one["resolved"]
            for name, one in held.items()
            if isinstance(one, dict) and "resolved" in one
        }
    return {}, [
        (name, {"id": name, "resolved": value, "in": {"repository": _repository(name)}})
        for name, value in resolved.items()
    ]


def _repository(instance: str) -> str:
    return instance.rpartition("-")[0].replace("__", "/")


# Reports of garak: what each probe tried on a model, and what its detectors scored.

_EVALUATED = 2


def garak_rows(file: File) -> Rows:
    """Return one row per output of an evaluated attempt.

    A hit is scored at the run's threshold or above. The probe stands for the annotator.
    """
    model, threshold, found = "model", 0.5, False
    for line, entry in rows_of(file, ())[1]:
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
            hit, found = any(score >= threshold for score in given), True
            yield line, {**row, "round": None, "model": model, "hit": hit}
    if not found:
        raise _unfinished(file, "evaluated attempt (status 2)")


# Dynabench: one object per attempt, as its exports have them.

_ATTEMPT = {
    "item": "id|eid|uuid",
    "annotator": "anon_uid|uid|annotator_id|metadata_json.annotator_id",
    "round": "round|rid|round_id|context.rid|context.round|context.r_realid|r_realid",
    "model": "target_model|model_endpoint_name|model",
    "model_wrong": "model_wrong",
    "retracted": "retracted",
    "seconds": "time_elapsed",
    "created_at": "generated_datetime",
}


def dynabench_rows(file: File) -> Rows:
    """Return the attempts; a validator who flags an item casts no vote on its label."""
    for place, row in rows_of(file, ("data", "rows"))[1]:
        # A validation is [label, mode, validator] or an object.
        said = [
            str(one[0] if isinstance(one, list) and one else find(one, "label")).lower()
            for one in find(row, "validations") or ()
        ]
        votes = {"votes_yes": said.count("correct"), "votes_no": said.count("incorrect")}
        yield place, {name: find(row, path) for name, path in _ATTEMPT.items()} | votes


# Exports of annotation tools: people's answers become the truth, those of models votes.

_Said: TypeAlias = list[tuple[bool, str, Any, Any]]
"""Whether a person said it, the question, who, and what."""


def label_studio_rows(file: File) -> Rows:
    """Return one row per task of Label Studio: its data, annotations and predictions."""
    tasks = []
    for _, task in rows_of(file, ())[1]:
        said: _Said = []
        for key, who in (("annotations", "completed_by"), ("predictions", "model_version")):
            for one in task.get(key) or ():
                if not isinstance(one, dict) or one.get("was_cancelled"):
                    continue
                name = find(one, f"{who}.email|{who}.id|{who}")
                for part in one.get("result") or ():
                    value = find(part, "value.choices|value.rating|value.number|value.text")
                    said.append((key == "annotations", str(find(part, "from_name")), name, value))
        tasks.append((task.get("id"), task.get("data"), said))
    return _answers(tasks)


def argilla_rows(file: File) -> Rows:
    """Return one row per record of Argilla: its fields, responses and suggestions."""
    records = []
    for _, record in rows_of(file, ("records", "data"))[1]:
        said: _Said = []
        for key, who in (("responses", "user_id"), ("suggestions", "agent")):
            for question, given in (record.get(key) or {}).items():
                for one in given if isinstance(given, list) else [given]:
                    value = find(one, "value") if isinstance(one, dict) else one
                    said.append((key == "responses", str(question), find(one, who), value))
        records.append((record.get("id"), record.get("fields"), said))
    return _answers(records)


def prodigy_rows(file: File) -> Rows:
    """Return one row per task of Prodigy; who ignored a task has no answer."""
    tasks: dict[Any, tuple[Any, Any, _Said]] = {}
    for _, row in rows_of(file, ("data",))[1]:
        key, answer = row.get("_task_hash"), row.get("answer")
        shown = {k: v for k, v in row.items() if k[0] != "_" and k not in ("answer", "config")}
        said = tasks.setdefault(key, (key, shown, []))[2]
        chosen = row.get("accept") if isinstance(row.get("accept"), list) else answer
        if answer == "accept" or (answer == "reject" and chosen is answer):
            said.append((True, "", find(row, "_annotator_id|_session_id"), chosen))
    return _answers(list(tasks.values()))


def _answers(tasks: Sequence[tuple[Any, Any, _Said]]) -> Iterator[tuple[str, Row]]:
    """Give each task a column of people's answers (``human``) and one for each model.

    Several people, and several questions, have a column each.
    """
    questions = {question for *_, said in tasks for _, question, *_ in said}
    several = any(
        sum(person and asked == question for person, asked, *_ in said) > 1
        for *_, said in tasks
        for question in questions
    )
    for place, (item, data, said) in enumerate(tasks, start=1):
        held = {"item": item, **(data if isinstance(data, dict) else {})}
        row = {key: value for key, value in held.items() if not isinstance(value, dict | list)}
        for person, question, who, value in said:
            if value is None:
                continue
            name = ("human" if not several else f"human {who}") if person else str(who or "model")
            name = f"{question} {name}" if len(questions) > 1 else name
            row[name] = ", ".join(map(str, value)) if isinstance(value, list) else value
        yield f"entry {place}", row
