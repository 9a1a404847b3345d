"""The rows inside logs and exports: JSON documents, JSON lines, CSV, and what tools pack in ways of
their own.

Everything here returns rows with their places. Tools whose rows a declaration of
`tallystick.table.logs` cannot reach have a reader at the end; it names the fields as a declaration
expects them: item, scores, model, run, task, facts, groups.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from tallystick.errors import FileError
from tallystick.table.sources import File, most_unpacked, too_large
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


def rows_of(file: File, lists: Sequence[str]) -> tuple[Row, Rows]:
    """Return what a file says once, and its rows: a list of objects, an object that holds lists (at
    the paths *lists*), one object per line, a table of columns and data, or CSV.
    """
    text = content(file)
    if text[:1] not in ("{", "["):
        return {}, _csv_rows(file, text)
    first, _, rest = text.partition("\n")
    if text[0] == "{" and rest.strip() and isinstance(opened(first), dict):
        return {}, [(f"line {line}", row) for line, row in each_line(file, text)]

    held = parsed(text, file.name)
    if not isinstance(held, dict):
        return {}, entries(held, file)
    if isinstance(held.get("columns"), list) and isinstance(held.get("data"), list):
        names = list(map(str, held["columns"]))
        return held, entries(
            [dict(zip(names, _list(row), strict=False)) for row in held["data"]], file
        )
    found = [one for path in lists if isinstance(one := find(held, path), list)]
    return held, entries([row for rows in found for row in rows] if found else [held], file)


def entries(held: Sequence[Any], file: File) -> Rows:
    """Yield the objects of a list with their places."""
    for place, row in enumerate(held, start=1):
        yield f"entry {place}", _object(row, f"{file.name}, entry {place}")


def _list(value: Any) -> list[Any]:
    """Return a list as it is, and nothing of what should be one."""
    return value if isinstance(value, list) else []


def _fields(value: Any) -> dict[str, Any]:
    """Return an object as it is, and no fields of what should be one."""
    return value if isinstance(value, dict) else {}


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FileError(f"{place} is not an object: the file is damaged")
    return value


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
            yield line, _object(value, f"{file.name}, line {line}")


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


def _csv_rows(file: File, text: str) -> list[tuple[str, Row]]:
    try:
        with wide_cells():
            header, *rows = csv.reader(io.StringIO(text, newline=""))
    except (csv.Error, ValueError) as error:
        raise FileError(f"{file.name} is not CSV ({error}): export the results again") from error
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


def _lacks(file: File, place: str, row: Row, fields: Sequence[str], tool: str) -> None:
    """Refuse a row without one of the fields that this version of a tool writes."""
    for field in fields:
        if field not in row:
            raise FileError(
                f"{file.name}, {place} has no {field!r}: it was written by another version of"
                f" {tool}; run it again, or make a table with one column per model"
            )


# lm-evaluation-harness: one line per item and filter, which names its metrics.

_SUBJECTS = (
    *("subject", "category", "topic", "domain", "group", "type", "level", "source"),
    *("document", "passage_id", "story_id", "language"),
)
"""Fields of a question that are groups of questions."""


def lm_eval_rows(file: File) -> Rows:
    """Return the lines with the metrics that they name, called by their filter too."""
    for line, row in each_line(file, content(file)):
        _lacks(file, f"line {line}", row, ("doc_hash", "filter", "metrics"), "lm-eval")
        suffix = "" if row["filter"] == "none" else f",{row['filter']}"
        asked = _fields(row.get("doc"))
        yield (
            f"line {line}",
            {
                "item": row["doc_hash"],
                "scores": {f"{name}{suffix}": row.get(str(name)) for name in _list(row["metrics"])},
                "groups": {key: value for key, value in asked.items() if key in _SUBJECTS},
            },
        )


# inspect_ai: a JSON document, or ``.eval``, a zip archive, possibly with zstd inside.

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partial, no answer: the numbers that inspect_ai gives to these letters."""
_ZSTD = 93


def inspect_rows(file: File) -> Rows:
    """Return the samples of a finished run."""
    if zipfile.is_zipfile(file.path):
        head, samples = _archive(file)
    else:
        head = parsed(content(file), file.name)
        samples = list(entries(_list(head.get("samples")), file))
    if head.get("version") != 2:
        raise FileError(
            f"{file.name} is an inspect_ai log of version {head.get('version')!r}, version 2 is"
            " read: convert it with 'inspect log convert'"
        )
    if head.get("status") != "success":
        raise FileError(
            f"{file.name} is the log of a run that ended with {head.get('status')!r}: the items it"
            " scored are not a fair sample; finish it with 'inspect eval-retry'"
        )
    told = {
        "model": find(head, "eval.model"),
        "task": find(head, "eval.task"),
        "facts": [*(find(head, "plan.steps.params") or ()), find(head, "eval.task_args")],
    }
    for place, row in samples:
        scores = {
            name: _lettered(find(one, "value")) for name, one in _fields(row.get("scores")).items()
        }
        groups = row.get("metadata")
        yield place, {**told, "item": row.get("id"), "scores": scores, "groups": groups}


def _lettered(value: Any) -> Any:
    if isinstance(value, dict):
        return {part: _lettered(one) for part, one in value.items()}
    return _LETTERS.get(value, value) if isinstance(value, str) else value


def _archive(file: File) -> tuple[Row, list[tuple[str, Row]]]:
    """Return the header and the samples of an archive."""
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
                return parsed(_unpacked(archive, name, file), f"{file.name} ({name})")

            samples = [one for one in sorted(names) if re.match(r"samples/.*\.json$", one)]
            return entry("header.json"), [(name, entry(name)) for name in samples]
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error) as error:
        raise FileError(f"{file.name} is a damaged archive ({error}): copy it again") from error


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


# HELM: one object per instance and perturbation, with statistics by name and perturbation.


def helm_rows(file: File) -> Rows:
    """Return the instances as they were asked, without their perturbations."""
    for place, row in rows_of(file, ())[1]:
        _lacks(file, place, row, ("stats", "instance_id"), "HELM")
        if row.get("perturbation") is None:
            scores = {
                str(find(one, "name.name")): find(one, "mean")
                for one in _list(row["stats"])
                if find(one, "name.perturbation") is None
            }
            yield place, {"item": row["instance_id"], "scores": scores}


# OpenAI evals: a stream of events between a specification and a final report.


def openai_evals_rows(file: File) -> Rows:
    """Return the events that score a sample."""
    lines = list(each_line(file, content(file)))
    spec: Any = next((row["spec"] for _, row in lines if "spec" in row), {})
    if not any("final_report" in row for _, row in lines):
        raise FileError(f"{file.name} has no final report: the run did not finish; run it again")
    told = {
        "model": find(spec, "completion_fns|model_name"),
        "task": find(spec, "base_eval"),
    }
    for line, row in lines:
        data = row.get("data")
        if row.get("type") == "match":
            data = {"match": find(data, "correct")}
        if row.get("type") in ("match", "metrics"):
            yield f"line {line}", {**told, "item": row.get("sample_id"), "scores": data}


# promptfoo: a question that is scored by other rules is another item.

_ASSERTED = "testCase.assert|gradingResult.componentResults.assertion"
_CALL_FAILED = 2
"""A failure of the call; a failed assertion, 1, is a score."""


def promptfoo_rows(file: File) -> Rows:
    """Return the results; one whose call failed, or that nothing asserts of, has no score."""
    head, rows = rows_of(file, ("results.results",))
    if head and find(head, "results.version") not in (2, 3):
        raise FileError(
            f"{file.name} holds promptfoo results of version {find(head, 'results.version')!r},"
            " versions 2 and 3 are read: export them again ('promptfoo export eval ID -o"
            " results.json')"
        )
    for place, row in rows:
        _lacks(file, place, row, ("prompt", "provider", "score", "success", "vars"), "promptfoo")
        asserted = find(row, _ASSERTED)
        ways = ("testCase.assertScoringFunction", "testCase.threshold")
        rules = [asserted, *(find(row, way) for way in ways)]
        scores = {name: row[name] for name in ("success", "score")} | _fields(
            row.get("namedScores")
        )
        graded = asserted and row.get("gradingResult") and row.get("failureReason") != _CALL_FAILED
        yield (
            place,
            {
                "item": _question(row["vars"], rules),
                "model": find(row, "provider.label|provider.id|provider"),
                "run": find(row, "prompt.label"),
                "scores": scores if graded else {},
            },
        )


def _question(asked: Any, rules: Sequence[Any]) -> str:
    """Return the name of a question with the rules that score it."""
    digest = hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()[:6]
    return f"{json.dumps(asked, sort_keys=True, ensure_ascii=False)} #{digest}"


# Reports of the SWE-bench harness: which instances a model's patches resolved.


def swe_bench_rows(file: File) -> Rows:
    """Return one row per instance; one that was submitted and not resolved counts 0."""
    held = _object(parsed(content(file), file.name), file.name)
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
        reports = {str(k): one for k, one in held.items() if isinstance(one, dict)}
        resolved = {k: one["resolved"] for k, one in reports.items() if "resolved" in one}
    for name, value in resolved.items():
        repository = name.rpartition("-")[0].replace("__", "/")
        groups = {"repository": repository}
        yield name, {"item": name, "scores": {"resolved": value}, "groups": groups}


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
    return found


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
                    said.append((key == "annotations", str(part.get("from_name")), name, value))
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


def _answers(tasks: Sequence[tuple[Any, Any, _Said]]) -> Rows:
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
