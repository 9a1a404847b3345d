"""Logs of evaluation harnesses: lm-evaluation-harness, Inspect, HELM, OpenAI evals, SWE-bench,
Dynabench.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tallystick.errors import FileError
from tallystick.table.formats import (
    Log,
    LogReader,
    Scores,
    document,
    each_line,
    first_of,
    json_rows,
    number,
    parsed,
)
from tallystick.table.sources import File, most_unpacked, too_large

# Logs of lm-evaluation-harness: ``samples_TASK_DATE.jsonl``, one document a line and filter.


_OPENING = re.compile(
    r'\{"doc_id":\s*\d+,(.*"(doc_hash|filtered_resps|resps)"|\s*"doc":\s*\{[^\n]*\Z)', re.DOTALL
)
"""The first line may be longer than what is looked at: then it must end inside the document."""

_NAME = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl(\.gz)?")
_NEEDED = ("doc_hash", "filter", "metrics")
_GROUPS = (
    "subject",
    "category",
    "topic",
    "domain",
    "group",
    "type",
    "level",
    "source",
    "document",
    "passage_id",
    "story_id",
    "language",
)
"""Fields of a document that name the group of a question, in the tasks of the harness."""


def read_lm_eval(files: Sequence[File]) -> list[Log]:
    """Read the logs; items are told apart by ``doc_hash``, scores by ``METRIC,FILTER`` as the
    harness prints them.

    The harness writes a folder a model and does not name the model inside: files in different
    folders are called after their folder, files in one folder after themselves.
    """
    folders = {file.path.parent.resolve() for file in files}
    return [_read(file, by_folder=len(folders) > 1 or _told_by_task(files)) for file in files]


def _told_by_task(files: Sequence[File]) -> bool:
    """Say whether files of one folder are one model's: each is named for another task."""
    tasks = [_task(file.path) for file in files]
    return None not in tasks and len(set(tasks)) == len(tasks)


def _task(path: Path) -> str | None:
    found = _NAME.fullmatch(path.name)
    return found["task"] if found else None


def _read(file: File, *, by_folder: bool) -> Log:
    scores: Scores = {}
    groups: dict[str, dict[str, str]] = {}
    unscored = 0
    for line, sample in each_line(file):
        lacking = [key for key in _NEEDED if key not in sample]
        if lacking:
            raise FileError(
                f"{file.name}, line {line} has no {lacking[0]!r}: it was written by another version"
                " of lm-eval (0.4.3 or newer is read); run it again, or make a table with one"
                " column per model"
            )
        doc = sample.get("doc")
        named = doc if isinstance(doc, dict) else {}
        for key in _GROUPS:
            if isinstance(named.get(key), str | int):
                groups.setdefault(key, {})[sample["doc_hash"]] = str(named[key])
        scored = False
        for metric in sample["metrics"]:
            value = number(sample.get(metric))
            if value is not None:
                scored = True
                key = metric if sample["filter"] == "none" else f"{metric},{sample['filter']}"
                scores.setdefault(key, {}).setdefault(sample["doc_hash"], []).append(value)
        unscored += not scored
    if not scores:
        raise FileError(f"{file.name} holds no score that is a number")
    task = _task(file.path)
    model = (
        file.path.parent.resolve().name
        if by_folder
        else file.path.name.removesuffix(".gz").removesuffix(".jsonl")
    )
    return Log(model, task or "" if by_folder else "", file.name, scores, unscored, groups=groups)


def _read_all(files: Sequence[File]) -> list[list[Log]]:
    return [[log] for log in read_lm_eval(files)]


LM_EVAL = LogReader(
    name="lm-eval", read=_read_all, opens=lambda head: _OPENING.match(head) is not None
)

# What the two forms of an inspect_ai log share: the header, and the scores of a sample.


VERSION = 2
"""The version of the log format that is read; inspect_ai has written it since 2024."""

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partial, no answer: the numbers inspect_ai itself gives to these letters."""
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""Words that inspect_ai itself reads as numbers, in any case."""


def inspect_log(file: File, header: Any, samples: Any) -> Log:
    """Return the log of *header* and *samples*; a run that did not succeed is refused."""
    if not isinstance(header, dict) or header.get("version") != VERSION:
        found = header.get("version") if isinstance(header, dict) else None
        raise FileError(
            f"{file.name} is an inspect_ai log of version {found!r}, version {VERSION} is read:"
            " convert it with 'inspect log convert'"
        )
    if header.get("status") != "success":
        raise FileError(
            f"{file.name} is the log of a run that ended with {header.get('status')!r}: the items"
            " it scored are not a fair sample; finish it with 'inspect eval-retry'"
        )
    scores: Scores = {}
    groups: dict[str, dict[str, str]] = {}
    unscored = 0
    for sample in samples:
        for key, value in (sample.get("metadata") or {}).items():
            if isinstance(value, str | int) and not isinstance(value, bool):
                groups.setdefault(str(key), {})[str(sample["id"])] = str(value)
        found = {
            key: value
            for scorer, score in (sample.get("scores") or {}).items()
            for key, value in _values(scorer, score.get("value"))
        }
        unscored += not found
        for key, value in found.items():
            scores.setdefault(key, {}).setdefault(str(sample["id"]), []).append(value)
    if not scores:
        raise FileError(
            f"{file.name} holds no score that is a number, one of C, I, P, N, or yes and no"
        )
    run = header["eval"]
    return Log(
        str(run["model"]),
        str(run.get("task", "")),
        file.name,
        scores,
        unscored,
        facts=_facts(header),
        groups=groups,
        reported=_reported(header),
    )


def _facts(header: Mapping[str, Any]) -> dict[str, str]:
    """Return what else names a run: its prompts, then the arguments of its task and solver."""
    facts: dict[str, str] = {}
    for step in (header.get("plan") or {}).get("steps") or ():
        for key, value in (step.get("params") or {}).items():
            if isinstance(value, str) and value.strip():
                facts[f"{step.get('solver')}.{key}"] = value
    run = header["eval"]
    for block in ("task_args", "solver_args"):
        for key, value in (run.get(block) or {}).items():
            facts[f"{block}.{key}"] = f"{key}={value}"
    return facts


def _reported(header: Mapping[str, Any]) -> dict[str, float]:
    """Return the means that inspect_ai reports, whatever reducer made them."""
    found: dict[str, float] = {}
    for score in (header.get("results") or {}).get("scores") or ():
        metrics = score.get("metrics") or {}
        value = number((metrics.get("accuracy") or metrics.get("mean") or {}).get("value"))
        if value is not None:
            found.setdefault(str(score.get("name")), value)
    return found


def _values(scorer: str, value: object) -> list[tuple[str, float]]:
    """Return the numbers of one score: the score itself, or each of its named parts."""
    if isinstance(value, dict):
        return [
            (f"{scorer}/{part}", number_)
            for part, one in value.items()
            for _, number_ in _values("", one)
        ]
    as_number = _of_text(value) if isinstance(value, str) else number(value)
    return [] if as_number is None else [(scorer, as_number)]


def _of_text(value: str) -> float | None:
    """Return the number that inspect_ai gives to a text: a letter, yes or no, or digits."""
    if value in _LETTERS:
        return _LETTERS[value]
    if value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    try:
        return number(float(value))
    except ValueError:
        return None


# Logs of inspect_ai as ``.eval``: a zip archive, possibly with zstd inside.


_ZSTD = 93
_LOCAL = 30
"""Bytes of a zip entry's own header before its name."""
_MOST = 1 << 30
"""A sample beyond a gigabyte is refused."""


def read_inspect_archive(file: File) -> Log:
    """Read one log, sample by sample."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = archive.namelist()
            if "header.json" not in names:
                raise FileError(
                    f"{file.name} has no header: the run did not finish; finish it or run it again"
                )
            if sum(entry.file_size for entry in archive.infolist()) > most_unpacked(file.path):
                raise too_large(most_unpacked(file.path), file.name)
            header = parsed(_content(archive, "header.json", file), f"{file.name} (header.json)")
            return inspect_log(file, header, _samples(archive, file))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error) as error:
        raise FileError(f"{file.name} is a damaged archive ({error}): copy it again") from error


def _samples(archive: zipfile.ZipFile, file: File) -> Iterator[Mapping[str, Any]]:
    for name in sorted(archive.namelist()):
        if name.startswith("samples/") and name.endswith(".json"):
            yield parsed(_content(archive, name, file), f"{file.name} ({name})")


def _content(archive: zipfile.ZipFile, name: str, file: File) -> bytes:
    """Return one entry; pyarrow unpacks zstd, which zipfile cannot before Python 3.14."""
    entry = archive.getinfo(name)
    if entry.file_size > _MOST:
        raise FileError(f"{file.name} ({name}) is larger than a gigabyte: it is not a sample")
    if entry.compress_type != _ZSTD:
        return archive.read(name)
    import pyarrow as pa

    packed = _packed(file.path, entry)
    try:
        content = pa.decompress(
            packed, decompressed_size=entry.file_size, codec="zstd", asbytes=True
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
        head = stream.read(_LOCAL)
        name_length, extra_length = struct.unpack("<HH", head[26:30])
        stream.seek(name_length + extra_length, 1)
        return stream.read(entry.compress_size)


def _is_archive(names: Sequence[str]) -> bool:
    journal = "_journal/start.json" in names
    samples = any(name.startswith("samples/") for name in names)
    return journal or (samples and "header.json" in names)


def _inspect_eval_read(files: Sequence[File]) -> list[list[Log]]:
    return [[read_inspect_archive(file)] for file in files]


INSPECT_EVAL = LogReader(name="inspect-eval", read=_inspect_eval_read, holds=_is_archive)

# Logs of inspect_ai in JSON.


_INSPECT_JSON_OPENING = re.compile(r'\{\s*"version":\s*\d+,\s*"status":\s*"\w+",\s*"eval":\s*\{')


def read_inspect_json(file: File) -> Log:
    """Read one log."""
    log = document(file)
    return inspect_log(file, log, log.get("samples") or [])


def _inspect_json_read(files: Sequence[File]) -> list[list[Log]]:
    return [[read_inspect_json(file)] for file in files]


INSPECT_JSON = LogReader(
    name="inspect-json",
    read=_inspect_json_read,
    opens=lambda head: _INSPECT_JSON_OPENING.match(head) is not None,
)

# Logs of HELM: ``per_instance_stats.json`` in a folder that names the run and the model.


_HELM_OPENING = re.compile(r'\[\s*\{[^\[]*"instance_id"[^\[]*"train_trial_index"', re.DOTALL)

_MODEL = re.compile(r"(?:^|[,:])model=([^,]+)")


def read_helm(file: File) -> Log:
    """Read one run; perturbed instances are left out, trials of an instance are its replicates.

    The model stands only in the name of the folder (``mmlu:subject=…,model=openai_gpt-4``); a
    folder without ``model=`` is itself the name.
    """
    records = document(file)
    scores: Scores = {}
    for record in records:
        if not isinstance(record, dict) or "stats" not in record or "instance_id" not in record:
            raise FileError(
                f"{file.name} is not a list of instances with stats: it is of another version of"
                " HELM"
            )
        if record.get("perturbation") is not None:
            continue
        for stat in record["stats"]:
            value = number(stat.get("mean"))
            if value is None and stat.get("count"):
                value = number(stat["sum"] / stat["count"])
            if value is not None and stat["name"].get("perturbation") is None:
                item = scores.setdefault(str(stat["name"]["name"]), {})
                item.setdefault(str(record["instance_id"]), []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no score of an unperturbed instance")
    folder = file.path.resolve().parent.name
    found = _MODEL.search(folder)
    task = _MODEL.sub("", folder) if found else ""
    return Log(found[1] if found else folder, task, file.name, scores)


def _read_each(files: Sequence[File]) -> list[list[Log]]:
    return [[read_helm(file)] for file in files]


HELM = LogReader(
    name="helm", read=_read_each, opens=lambda head: _HELM_OPENING.match(head) is not None
)

# Logs of OpenAI evals: a line with the spec, then one event a line.


_OPENAI_EVALS_OPENING = re.compile(r'\{"spec":\s*\{[^\n]*"(completion_fns|eval_name)"')


def read_openai_evals(file: File) -> Log:
    """Read one run: ``match`` events score 1 where they are correct, ``metrics`` events score by
    their names.
    """
    spec: dict[str, Any] | None = None
    scores: Scores = {}
    finished = False
    for line, event in each_line(file):
        if "spec" in event:
            spec = event["spec"]
        finished = finished or "final_report" in event
        for key, value in _scored(event):
            sample = event.get("sample_id")
            if sample is None:
                raise FileError(
                    f"{file.name}, line {line} has a score but no sample_id: it is of another"
                    " version"
                )
            scores.setdefault(key, {}).setdefault(str(sample), []).append(value)
    if spec is None or not scores:
        raise FileError(
            f"{file.name} holds no spec with match or metrics events: only such evals can be"
            " compared"
        )
    if not finished:
        raise FileError(f"{file.name} has no final report: the run did not finish; run it again")
    names = spec.get("completion_fns") or [spec.get("model_name", "model")]
    return Log(
        "+".join(str(name) for name in names), str(spec.get("base_eval", "")), file.name, scores
    )


def _scored(event: dict[str, Any]) -> list[tuple[str, float]]:
    data = event.get("data")
    if not isinstance(data, dict):
        return []
    if event.get("type") == "match":
        value = number(data.get("correct"))
        return [] if value is None else [("match", value)]
    if event.get("type") == "metrics":
        return [(key, value) for key, one in data.items() if (value := number(one)) is not None]
    return []


def _openai_evals_read_each(files: Sequence[File]) -> list[list[Log]]:
    return [[read_openai_evals(file)] for file in files]


OPENAI_EVALS = LogReader(
    name="openai-evals",
    read=_openai_evals_read_each,
    opens=lambda head: _OPENAI_EVALS_OPENING.match(head) is not None,
)

# Reports of the SWE-bench harness: which instances a model's patches resolved.


_SWE_BENCH_OPENING = re.compile(r'\{.*"(resolved_ids|resolved_instances|resolved)"\s*:', re.DOTALL)
_LISTS = ("submitted_ids", "completed_ids", "unresolved_ids", "error_ids", "empty_patch_ids")


def read_swe_bench(file: File) -> Log:
    """Read one report; an instance that was submitted and not resolved counts 0.

    The file of the harness is called ``MODEL.RUN_ID.json``; the repository of an instance is
    offered as its group.
    """
    held = document(file)
    resolved = _resolved(held)
    if not resolved:
        raise FileError(
            f"{file.name} names no instance as resolved or not: it is not a SWE-bench report"
        )
    groups = {"repository": {one: one.rpartition("-")[0].replace("__", "/") for one in resolved}}
    scores = {"resolved": {one: [value] for one, value in resolved.items()}}
    parts = file.path.name.removesuffix(".gz").removesuffix(".json").split(".")
    # The harness writes "/" in the name of a model as "__".
    model = parts[0].replace("__", "/") if len(parts) > 1 else parts[0]
    facts = {"run": ".".join(parts[1:])}
    return Log(model, "", file.name, scores, facts=facts, groups=groups)


def _resolved(held: Any) -> dict[str, float]:
    if not isinstance(held, dict):
        return {}
    if isinstance(held.get("resolved_ids"), list):
        every = [one for name in _LISTS for one in held.get(name) or ()]
        found = dict.fromkeys(map(str, every), 0.0)
        return found | dict.fromkeys(map(str, held["resolved_ids"]), 1.0)
    if isinstance(held.get("resolved"), list):  # the form of the leaderboard's results.json
        every = [one for value in held.values() if isinstance(value, list) for one in value]
        found = dict.fromkeys(map(str, every), 0.0)
        return found | dict.fromkeys(map(str, held["resolved"]), 1.0)
    # report.json of single instances: {"repo__name-1": {"resolved": true, …}}
    return {
        str(name): float(one["resolved"])
        for name, one in held.items()
        if isinstance(one, dict) and isinstance(one.get("resolved"), bool)
    }


def _opens(head: str) -> bool:
    if _SWE_BENCH_OPENING.match(head) is None:
        return False
    lists = '"resolved_ids"' in head or '"no_generation"' in head or '"no_logs"' in head
    return lists or re.search(r'"\w+__[\w.-]+-\d+"\s*:\s*\{', head) is not None


SWE_BENCH = LogReader(
    name="swe-bench", read=lambda files: [[read_swe_bench(file)] for file in files], opens=_opens
)

# Exports of Dynabench: one object per attempt, with the votes of its validators inside.


_MARKS = re.compile(r'"model_wrong"\s*:')
_OWN = re.compile(r'"(anon_uid|metadata_json|validations|target_pred)"\s*:')
_VOTES = {"correct": "yes", "incorrect": "no"}


def read_dynabench(files: Sequence[File]) -> dict[str, list[Any]]:
    """Return one row per attempt: annotator, round, model, whether it was wrong, and the votes.

    A validator who flags an item casts no vote on its label. Attempts without an annotator are kept
    out of nothing: the export itself leaves them out.
    """
    names = ("item", "annotator", "round", "model", "model_wrong", "retracted")
    columns: dict[str, list[Any]] = {
        name: [] for name in (*names, "votes_yes", "votes_no", "seconds", "created_at")
    }
    for file in files:
        for _, row in json_rows(file):
            votes = [_vote(one) for one in row.get("validations") or ()]
            own = {
                "item": first_of(row, ("id", "eid", "uuid")),
                "annotator": _annotator(row),
                "round": _round(row),
                "model": first_of(row, ("target_model", "model_endpoint_name", "model")),
                "model_wrong": row.get("model_wrong"),
                "retracted": bool(row.get("retracted")),
                "votes_yes": votes.count("yes"),
                "votes_no": votes.count("no"),
                "seconds": row.get("time_elapsed"),
                "created_at": row.get("generated_datetime"),
            }
            for name, value in own.items():
                columns[name].append(None if value is None else str(value))
    return {name: cells for name, cells in columns.items() if any(c is not None for c in cells)}


def _annotator(row: Mapping[str, Any]) -> Any:
    named = first_of(row, ("anon_uid", "uid", "annotator_id"))
    return named if named is not None else _inside(row.get("metadata_json")).get("annotator_id")


def _round(row: Mapping[str, Any]) -> Any:
    direct = first_of(row, ("round", "rid", "round_id"))
    context = row.get("context")
    if direct is None and isinstance(context, Mapping):
        direct = first_of(context, ("rid", "round", "r_realid"))
    return direct if direct is not None else row.get("r_realid")


def _inside(text: Any) -> Mapping[str, Any]:
    """Return the object that a cell of JSON text holds; an empty one if it holds none."""
    try:
        held = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return {}
    return held if isinstance(held, Mapping) else {}


def _vote(validation: Any) -> str | None:
    """Return yes or no of one validation, [label, mode, validator] or an object."""
    label = validation[0] if isinstance(validation, list) and validation else validation
    if isinstance(label, Mapping):
        label = label.get("label")
    return _VOTES.get(str(label).lower())


def _dynabench_opens(head: str) -> bool:
    return head[:1] in "[{" and bool(_MARKS.search(head) and _OWN.search(head))


DYNABENCH = LogReader(name="dynabench", rows=read_dynabench, opens=_dynabench_opens)
