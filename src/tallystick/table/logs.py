"""Logs of evaluation tools and exports of annotation tools: what is read, declared as data.

To add a tool, add its declaration to `FORMATS`: detection, reading and messages find it there.
Paths are those of `log_rows.find`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, TypeAlias

from tallystick.errors import FileError, InputError
from tallystick.table.log_rows import (
    Row,
    Rows,
    argilla_rows,
    csv_header,
    dynabench_rows,
    find,
    garak_rows,
    inspect_rows,
    label_studio_rows,
    openai_evals_rows,
    opened,
    prodigy_rows,
    rows_of,
    swe_bench_rows,
)
from tallystick.table.sources import File

Condition: TypeAlias = tuple[str, str]
"""A path, and the expression that what stands there matches; nothing stands there as ``""``."""


@dataclass(frozen=True)
class ScoreFields:
    """Where a row holds scores by name.

    Parameters
    ----------
    at
        The path of an object with one field per score, or of one or more entries; empty for the
        row itself.
    name
        The path of the name inside an entry. Without it there are no entries but fields.
    value
        The path of the value inside an entry or a field.
    keys
        Which names count; the first group of the expression that matches is the name.
    listed
        The path of the names that count.
    suffix, variant
        What is put behind a name; the path of more, unless that is ``none``.
    where
        What holds of the entry, or of the row where there are no entries.
    """

    at: str = ""
    name: str = ""
    value: str = ""
    keys: str = "(.+)"
    listed: str = ""
    suffix: str = ""
    variant: str = ""
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LogFormat:
    """How the files of one tool are recognised and read.

    Parameters
    ----------
    name
        The format, as notes and errors call it.
    opens, keys, header
        How it is recognised: an expression for the beginning of the text, and names (``a|b`` for
        either) that stand as JSON keys in its first 64 KB; of a CSV file, expressions for names in
        its header, each of which one of them matches.
    read, table
        Returns what a file says once, and its rows, where paths of lists are not enough; or the
        rows of a table that holds no scores of a model.
    rows
        Paths of the lists of rows in a document; the usual names by default.
    needs
        What the file says once: a condition, and what is said where it does not hold.
    fields
        What every row has in the versions that are read.
    where, same
        What holds of the rows that are read; two paths that agree in them.
    item, rules, asked
        The name of an item, and the rules that score it; what was asked, by which items without a
        name are matched.
    scores, letters
        Where scores stand, and what the letters of a tool are worth.
    run, model
        Paths in a row or in the head: what tells runs of one file apart, and the name of the model.
    task, facts
        The task; what else names a run.
    groups, grouped
        An object with groups of items, and which of its fields they are.
    file, folder
        Expressions for the name of the file and, if that names no ``model``, of its folder.
    """

    name: str
    opens: str = ""
    keys: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    read: Callable[[File], tuple[Row, Rows]] | None = None
    table: Callable[[File], Rows] | None = None
    rows: tuple[str, ...] = ("data", "results", "testCases", "test_results", "rows", "samples")
    needs: Mapping[Condition, str] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    same: tuple[str, str] | None = None
    item: str = ""
    rules: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    scores: tuple[ScoreFields, ...] = (ScoreFields(at="scores"),)
    letters: Mapping[str, float] = field(default_factory=dict)
    run: str = ""
    model: str = ""
    task: str = ""
    facts: tuple[str, ...] = ()
    groups: str = ""
    grouped: str = ".+"
    file: str = ""
    folder: str = ""

    def fits(self, head: str) -> bool:
        """Say whether a text that starts like this is of this format."""
        if names := csv_header(head):
            return bool(self.header) and all(
                any(re.fullmatch(mark, name) for name in names) for mark in self.header
            )
        if not (self.opens or self.keys) or head[:1] not in "[{":
            return False
        if not re.match(self.opens, head, re.DOTALL):
            return False
        return all(re.search(rf'"(?:{key})"\s*:', head) for key in self.keys)


_RAGAS = (
    r"(?:faithfulness|answer_relevancy|context_precision|context_recall|answer_correctness"
    r"|factual_correctness|semantic_similarity|answer_similarity|context_entity_recall"
    r"|noise_sensitivity|exact_match|string_present|non_llm_string_similarity|bleu_score"
    r'|rouge_score)[^"]*'
)
_DEEPEVAL = "metricsData|metrics_data|metricsMetadata"
_MLFLOW = "inputs|inputs/question|request|question|input"
_ASSERTED = "testCase.assert|gradingResult.componentResults.assertion"
_GRADED = ((_ASSERTED, ".+"), ("gradingResult", ".+"), ("failureReason", "[^2]?"))
"""A failed assertion, 1, is a score of promptfoo; a failed call, 2, is none."""

FORMATS: tuple[LogFormat, ...] = (
    LogFormat(
        name="lm-eval",
        # The first line may be longer than what is looked at: then it ends inside the document.
        opens=r'\{"doc_id":\s*\d+,(.*"(doc_hash|filtered_resps|resps)"|\s*"doc":\s*\{[^\n]*\Z)',
        fields=("doc_hash", "filter", "metrics"),
        item="doc_hash",
        scores=(ScoreFields(listed="metrics", variant="filter"),),
        groups="doc",
        grouped="subject|category|topic|domain|group|type|level|source|document|passage_id|story_id"
        "|language",
        # One folder per model, which is not named inside.
        file=r"samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl",
    ),
    LogFormat(
        name="inspect",
        opens=r'\{\s*"version":\s*\d+,\s*"status":\s*"\w+",\s*"eval":\s*\{',
        read=inspect_rows,
        needs={
            ("version", "2"): "is an inspect_ai log of version {!r}, version 2 is read: convert it"
            " with 'inspect log convert'",
            ("status", "success"): "is the log of a run that ended with {!r}: the items it scored"
            " are not a fair sample; finish it with 'inspect eval-retry'",
        },
        item="id",
        scores=(ScoreFields("scores", value="value"),),
        letters={"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0},  # correct, incorrect, partial, no answer
        model="eval.model",
        task="eval.task",
        facts=("plan.steps.params", "eval.task_args"),
        groups="metadata",
    ),
    LogFormat(
        name="helm",
        opens=r'\[\s*\{[^\[]*"instance_id"[^\[]*"train_trial_index"',
        fields=("stats", "instance_id"),
        # Instances as they were asked; statistics over their perturbations have the same names.
        where=(("perturbation", ""),),
        item="instance_id",
        scores=(ScoreFields("stats", "name.name", "mean", where=(("name.perturbation", ""),)),),
        # ``mmlu:subject=anatomy,model=openai_gpt-4``: the model stands only in the folder's name.
        file=r"per_instance_stats\.json",
        folder=r"(?P<task>.*?)(?:^|[,:])model=(?P<model>[^,]+)(?P<more>.*)",
    ),
    LogFormat(
        name="openai-evals",
        opens=r'\{"spec":\s*\{[^\n]*"(completion_fns|eval_name)"',
        read=openai_evals_rows,
        needs={("final_report", ".+"): "has no final report: the run did not finish; run it again"},
        where=(("type", "match|metrics"),),
        item="sample_id",
        scores=(
            ScoreFields("data", where=(("type", "metrics"),)),
            ScoreFields("", "type", "data.correct", where=(("type", "match"),)),
        ),
        model="spec.completion_fns|spec.model_name",
        task="spec.base_eval",
    ),
    LogFormat(
        name="promptfoo",
        opens=r'\{\s*"evalId":[^{]*"results":\s*\{\s*"version":|\{"cost":[^\n]*"gradingResult":',
        rows=("results.results",),
        needs={
            ("results.version", "[23]"): "holds promptfoo results of version {!r}, versions 2 and 3"
            " are read: export them again ('promptfoo export eval ID -o results.json')"
        },
        fields=("prompt", "provider", "score", "success", "vars"),
        item="vars",
        # A question that is scored by other rules is another item.
        rules=(_ASSERTED, "testCase.assertScoringFunction", "testCase.threshold"),
        scores=(
            ScoreFields(keys="(success|score)", where=_GRADED),
            ScoreFields("namedScores", where=_GRADED),
        ),
        run="prompt.label",
        model="provider.label|provider.id|provider",
    ),
    LogFormat(
        name="deepeval",
        keys=("testCases|test_cases|testRunData", f"{_DEEPEVAL}|conversationalTestCases"),
        rows=(
            "testRunData.testCases|testCases|test_cases",
            "testRunData.conversationalTestCases|conversationalTestCases",
        ),
        # Test cases are numbered anew in every run.
        asked=("input|turns|name", "expectedOutput|expected_output"),
        scores=(
            ScoreFields(_DEEPEVAL, "name|metric", "score"),
            ScoreFields(_DEEPEVAL, "name|metric", "success", suffix="/success"),
        ),
        model="testRunData.hyperparameters.model|hyperparameters.model|hyperparameters.Model",
        facts=("testRunData.hyperparameters|hyperparameters",),
    ),
    LogFormat(
        name="ragas",
        opens=r'[\[{][^\[{]*\{?\s*"(user_input|question)"\s*:',
        keys=(_RAGAS,),
        header=("user_input|question", _RAGAS),
        rows=("scores", "data"),
        asked=("user_input|question", "reference|ground_truth"),
        # What ragas copies from the data set is no metric, every other column is one.
        scores=(
            ScoreFields(
                keys=r"(?!(?:user_input|question|response|answer|contexts|retrieved_contexts"
                r"|reference|reference_contexts|ground_truth|ground_truths|rubrics)$)(.+)"
            ),
        ),
    ),
    LogFormat(
        name="mlflow",
        opens=r'\{\s*"columns"\s*:\s*\[[^\]]*"[^"]+(/v\d+|/score|/value)"',
        header=(_MLFLOW, r".+/v\d+|.+/(?:score|value)"),
        asked=(_MLFLOW, "ground_truth|targets|target|expectations|expected_response"),
        scores=(ScoreFields(keys=r"(.+?)(?:/v\d+)?/(?:score|value)|(.+)/v\d+"),),
        file=r"eval_results_table\..+",
    ),
    LogFormat(
        name="openai-api",
        opens=r'[\[{].*"(datasource_item_id"\s*:|eval\.run\.output_item")',
        rows=("data",),
        item="datasource_item_id",
        scores=(
            ScoreFields("results", "name", "score"),
            ScoreFields("results", "name", "passed", suffix="/passed"),
        ),
        run="run_id",
        model="sample.model",
        facts=("run_id",),
    ),
    LogFormat(
        name="swe-bench",
        # The report of a run, or of single instances.
        opens=r'\{(?=.*"(resolved_ids|no_generation|no_logs)"\s*:).*"resolved(_ids|_instances)?"\s*:'
        r'|\{(?=.*"\w+__[\w.-]+-\d+"\s*:).*"resolved"\s*:',
        read=swe_bench_rows,
        item="id",
        scores=(ScoreFields(keys="(resolved)"),),
        groups="in",
        # MODEL.RUN_ID.json, with "/" in the name of the model written as "__".
        file=r"(?P<model>[^.]+)(?:\.(?P<run>.*))?\.json",
    ),
    LogFormat(
        name="phoenix",
        opens=r'\[\s*\{[^\[]*"example_id"',
        keys=("annotations",),
        item="example_id",
        scores=(ScoreFields("annotations", "name", "score"), ScoreFields(keys="(latency_ms)")),
    ),
    LogFormat(
        name="braintrust",
        keys=("scores", "root_span_id|experiment_id|span_attributes|_xact_id|dataset_record_id"),
        header=("scores", "expected|span_id"),
        rows=("events", "data"),
        # A span below the root is a step inside a test case.
        same=("root_span_id", "span_id"),
        item="dataset_record_id",
        asked=("input", "expected"),
        model="metadata.model|model",
        facts=("experiment_name|experiment_id",),
    ),
    LogFormat(
        name="langsmith",
        keys=("reference_example_id|example_id", "feedback_stats"),
        header=("reference_example_id|example_id|id", r"feedback\..+", r"inputs?\..+"),
        rows=("runs", "data"),
        item="reference_example_id|example_id|id",
        scores=(ScoreFields("feedback_stats", value="avg"), ScoreFields(keys=r"feedback\.(.+)")),
        run="session_name|session_id",
        model="extra.metadata.ls_model_name|metadata.model|model",
    ),
    LogFormat(
        name="langfuse",
        keys=("datasetRunName|datasetItemId|traceId", "value|scores|evaluations"),
        header=("(?i:trace[_ ]?id)", "(?i:name)", "(?i:value)"),
        # Without a data set, runs match only if they share traces.
        item="datasetItemId|dataset_item_id|Dataset Item Id|trace.metadata.datasetItemId"
        "|metadata.datasetItemId|traceId|trace_id|Trace ID",
        scores=(
            ScoreFields("scores|evaluations", "name", "value"),
            ScoreFields("", "name|Name", "value|Value"),
        ),
        run="datasetRunName|dataset_run_name|datasetRunId|dataset_run_id",
        model="model|metadata.model|trace.metadata.model",
    ),
    LogFormat(
        name="dynabench",
        keys=("model_wrong", "anon_uid|metadata_json|validations|target_pred"),
        table=dynabench_rows,
    ),
    LogFormat(
        name="garak",
        opens=r'\{[^\n]*"(entry_type"\s*:\s*"(start_run setup|init|attempt|config)"'
        r'|detector"\s*:[^\n]*"attempt_id"|attempt_id"[^\n]*"detector"\s*:)',
        table=garak_rows,
    ),
    LogFormat(
        name="label-studio",
        opens=r"\[\s*\{",
        keys=("annotations", "result|cancelled_annotations", "data"),
        table=label_studio_rows,
    ),
    LogFormat(name="argilla", keys=("fields", "responses", "suggestions"), table=argilla_rows),
    LogFormat(name="prodigy", keys=("_task_hash", "answer"), table=prodigy_rows),
)
"""The first that recognises a file wins."""


def log_formats() -> dict[str, LogFormat]:
    """Return every format of logs by its name."""
    return {one.name: one for one in FORMATS}


def sniff_text(head: str) -> str | None:
    """Return the format of a log that starts like this, or None.

    >>> sniff_text('{"doc_id": 0, "doc": {}, "resps": [], "doc_hash": "ab"}')
    'lm-eval'
    >>> sniff_text('{"item": 1, "gpt": 0}') is None
    True
    """
    return next((one.name for one in FORMATS if one.fits(head)), None)


# Logs as runs: what each model scored on the items of a task.

Scores: TypeAlias = dict[str, dict[str, list[float]]]
"""Metric to item to scores: one score per replicate (epoch, trial)."""

_WORDS = {"yes": 1.0, "true": 1.0, "pass": 1.0, "no": 0.0, "false": 0.0, "fail": 0.0}
_LONGEST = 40
"""Signs of a prompt that go into a name."""


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
        What else names the run, such as its prompt or the arguments of its task.
    groups
        Groups of items, such as the subject of a question: name to item to value.
    """

    model: str
    task: str
    source: str
    scores: Mapping[str, Mapping[str, list[float]]] = field(repr=False)
    unscored: int = 0
    facts: Mapping[str, str] = field(default_factory=dict, repr=False)
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)


def read_logs(files: Sequence[File], formats: Sequence[str]) -> list[Log]:
    """Read every file in the format that was detected for it, and keep the order of the files."""
    known = log_formats()
    found: list[Log] = []
    for file, name in zip(files, formats, strict=True):
        if known[name].table is not None:
            raise InputError(f"{file.name} holds rows and no runs ({name}): read it on its own")
        found += _runs(file, known[name])
    return found


def read_table(files: Sequence[File], read: Callable[[File], Rows]) -> dict[str, list[str | None]]:
    """Return a log of rows, such as attempts or annotations, as columns of text."""
    # Where nothing names the round, every file is one.
    rows = [
        {**row, "round": row["round"] or number} if "round" in row else row
        for number, file in enumerate(files, start=1)
        for _, row in read(file)
    ]
    names = dict.fromkeys(name for row in rows for name in row)
    cells = {
        name: [None if row.get(name) is None else str(row[name]) for row in rows] for name in names
    }
    return {name: column for name, column in cells.items() if any(c is not None for c in column)}


@dataclass
class _Run:
    """What is known so far of one run of a file."""

    model: str
    name: str
    scores: Scores = field(default_factory=dict)
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    task: str = ""
    unscored: int = 0


def _runs(file: File, form: LogFormat) -> list[Log]:
    """Read one file: a log per run inside."""
    head, rows = form.read(file) if form.read else rows_of(file, form.rows)
    for (path, like), words in form.needs.items() if head else ():
        if not _holds(head, [(path, like)]):
            raise FileError(f"{file.name} {words.format(find(head, path))}")
    named = _names(file, form)
    runs: dict[tuple[str, str], _Run] = {}
    for place, row in rows:
        if not _holds(row, form.where):
            continue
        if form.same is not None:
            one, other = (row.get(key) for key in form.same)
            if one and other and one != other:
                continue
        for name in form.fields:
            if name not in row:
                raise _another_version(form, f"{file.name}, {place}", name)
        told = _text(_told(row, head, form.model)), _text(_told(row, head, form.run))
        run = runs.setdefault(told, _Run(*told))
        run.task = _text(_told(row, head, form.task)) or named.get("task", "")
        run.facts = run.facts or _facts([_told(row, head, path) for path in form.facts])
        scores = {name: value for way in form.scores for name, value in _scores(row, way, form)}
        run.unscored += not scores
        if scores:
            item = _item(row, form, f"{file.name}, {place}")
            for metric, value in scores.items():
                run.scores.setdefault(metric, {}).setdefault(item, []).append(value)
            for group, named_as in _groups(row, form):
                run.groups.setdefault(group, {})[item] = named_as
    if not any(run.scores for run in runs.values()):
        raise _no_score(file)
    return _told_apart(file, list(runs.values()), named)


def _no_score(file: File, of: str = "") -> FileError:
    return FileError(
        f"{file.name} holds no score{of} that is a number: its calls failed, or nothing was scored"
    )


def _told_apart(file: File, runs: Sequence[_Run], named: Mapping[str, str]) -> list[Log]:
    """Return the runs of one file as logs with different names."""
    found: list[Log] = []
    for run in runs:
        name = run.model or run.name or named["model"]
        if run.model and run.name and sum(one.model == run.model for one in runs) > 1:
            name = f"{name}: {_short(run.name)}"
        if name in (log.model for log in found):
            name = f"{name} ({len(found) + 1})"
        if not run.scores:
            raise _no_score(file, f" of {name!r}")
        facts = run.facts or {"run": named.get("run", "")}
        found.append(
            Log(name, run.task, file.name, run.scores, run.unscored, facts, groups=run.groups)
        )
    return found


def _holds(row: Any, conditions: Sequence[Condition]) -> bool:
    for path, like in conditions:
        value = find(row, path)
        text = "" if value is None or value in ([], {}) else str(value)
        if re.fullmatch(like, text, re.DOTALL) is None:
            return False
    return True


def _told(row: Row, head: Row, path: str) -> Any:
    if not path:
        return None
    found = find(row, path)
    return find(head, path) if found is None else found


def _text(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _groups(row: Row, form: LogFormat) -> Iterator[tuple[str, str]]:
    """Yield the groups of an item: fields that name something."""
    held = find(row, form.groups) if form.groups else None
    for key, value in held.items() if isinstance(held, Mapping) else ():
        names = isinstance(value, str | int) and not isinstance(value, bool)
        if names and re.fullmatch(form.grouped, str(key), re.DOTALL):
            yield str(key), str(value)


def _scores(row: Row, way: ScoreFields, form: LogFormat) -> Iterator[tuple[str, float]]:
    held = opened(find(row, way.at))
    cells: list[tuple[Any, Any]] = []
    if way.name:
        several = [one for one in (held if isinstance(held, list) else [held]) if one]
        cells = [
            (find(one, way.name) or "score", find(one, way.value))
            for one in several
            if _holds(one, way.where)
        ]
    elif isinstance(held, Mapping) and _holds(row, way.where):
        listed = find(row, way.listed) if way.listed else held
        names = listed if isinstance(listed, list | Mapping) else ()
        cells = [(name, find(held.get(str(name)), way.value)) for name in names]
    variant = find(row, way.variant) if way.variant else None
    suffix = way.suffix + ("" if variant in (None, "none") else f",{variant}")
    for key, cell in cells:
        matched = re.fullmatch(way.keys, str(key), re.DOTALL)
        if matched is None:
            continue
        name = next(part for part in matched.groups() if part is not None) + suffix
        # A score in named parts is as many scores.
        parts = cell.items() if isinstance(cell, Mapping) else ((None, cell),)
        for part, one in parts:
            value = as_score(form.letters.get(one, one) if isinstance(one, str) else one)
            if value is not None:
                yield name if part is None else f"{name}/{part}", value


def as_score(value: object) -> float | None:
    """Return a score as a number; None for anything else, such as other text, a list or NaN.

    >>> [as_score(one) for one in (True, 0.5, "No", " 0.25", "?", float("nan"))]
    [1.0, 0.5, 0.0, 0.25, None, None]
    """
    if isinstance(value, str):
        word = value.strip().lower()
        try:
            value = _WORDS[word] if word in _WORDS else float(word)
        except ValueError:
            return None
    return float(value) if isinstance(value, bool | int | float) and value == value else None


def _item(row: Row, form: LogFormat, place: str) -> str:
    named = find(row, form.item) if form.item else None
    if named is not None:
        name = named if isinstance(named, str) else json.dumps(named, sort_keys=True)
        rules = [find(row, path) for path in form.rules]
        return f"{name} #{content_key(*rules)[:6]}" if rules else name
    asked = [find(row, path) for path in form.asked]
    if all(one is None for one in asked):
        raise _another_version(form, place, (form.item or form.asked[0]).partition("|")[0])
    return content_key(*asked)


def _another_version(form: LogFormat, place: str, name: str) -> FileError:
    return FileError(
        f"{place} has no {name!r}: it was written by another version of {form.name}; run it again,"
        " or make a table with one column per model"
    )


def content_key(*parts: Any) -> str:
    """Return a short hash of what was asked, by which items without a name are matched.

    >>> content_key("2 + 2", None) == content_key("2 + 2", None)
    True
    """
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# What runs are called: by the log itself, its file or its folder, and by what differs.


def _names(file: File, form: LogFormat) -> dict[str, str]:
    name, folder = file.path.name.removesuffix(".gz"), file.path.resolve().parent.name
    own = re.fullmatch(form.file, name) if form.file else None
    if own is None:
        return {"model": name.rpartition(".")[0] or name}
    found = own.groupdict(default="")
    if "model" in found:
        return {**found, "model": found["model"].replace("__", "/")}
    above = re.fullmatch(form.folder, folder) if form.folder else None
    if above is None:
        return {"model": folder, **found}
    return {"model": above["model"], "task": above["task"] + above["more"]}


def _facts(held: Sequence[Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    flat = [one for part in held for one in (part if isinstance(part, list) else [part])]
    for one in flat:
        for key, value in one.items() if isinstance(one, Mapping) else [("", one)]:
            if value is not None and str(value).strip():
                alone = not key or (isinstance(value, str) and " " in value)
                found[key] = str(value) if alone else f"{key}={value}"
    return found


def told_apart(logs: Sequence[Log]) -> list[Log]:
    """Return the logs with names such that no two runs share one.

    Runs of one model are told apart by the first of these that differs: a fact, file, folder.

    Examples
    --------
    >>> scores = {"acc": {"q1": [1.0]}}
    >>> short = Log("gpt", "qa", "a.json", scores, facts={"prompt": "Answer."})
    >>> long = Log("gpt", "qa", "b.json", scores, facts={"prompt": "Think, then answer."})
    >>> [log.model for log in told_apart([short, long])]
    ['gpt (Answer.)', 'gpt (Think, then answer.)']
    """
    homes: dict[tuple[str, str], set[str]] = {}
    for log in logs:
        homes.setdefault((log.model, log.task), set()).add(log.source)
    named = list(logs)
    for model in {model for (model, _), files in homes.items() if len(files) > 1}:
        own = [place for place, log in enumerate(logs) if log.model == model]
        for place, mark in zip(own, _apart([logs[place] for place in own]), strict=True):
            named[place] = replace(logs[place], model=f"{model} ({mark})")
    return named


def _apart(logs: Sequence[Log]) -> list[str]:
    """Return what tells the logs of one model apart."""
    paths = [PurePath(log.source) for log in logs]
    ways = [[log.facts.get(fact, "") for log in logs] for fact in logs[0].facts]
    ways += [[path.stem for path in paths], [path.parent.name for path in paths]]
    for marks in ways:
        short = [_short(mark) for mark in marks]
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
