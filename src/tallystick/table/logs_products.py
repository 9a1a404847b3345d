"""Exports of evaluation products: Braintrust, DeepEval, garak, Langfuse, MLflow, OpenAI, Phoenix,
Ragas.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tallystick.errors import FileError
from tallystick.table.delimited import wide_cells
from tallystick.table.formats import (
    Log,
    LogReader,
    Scores,
    checked,
    content_key,
    document,
    each_line,
    first_of,
    json_rows,
    number,
    without_twins,
)
from tallystick.table.sources import File

# Exports of Braintrust experiments: one event per line or in a list, each with its scores.


_MARKS = ("root_span_id", "experiment_id", "span_attributes", "_xact_id", "dataset_record_id")


def read_braintrust(file: File) -> Log:
    """Read one experiment; only root spans count, each with its scores by name.

    Items are matched by the record of the data set, else by the input and the expected output.
    """
    rows: Iterable[Mapping[str, Any]]
    if file.name.lower().removesuffix(".gz").endswith(".csv"):
        rows = csv_rows(file)
    else:
        rows = (row for _, row in json_rows(file, "events", "data"))
    scores: Scores = {}
    unscored, experiment = 0, None
    for row in rows:
        root = row.get("root_span_id")
        if root and row.get("span_id") and root != row["span_id"]:
            continue  # a step inside a test case
        experiment = experiment or first_of(row, ("experiment_name", "experiment_id"))
        item = first_of(row, ("dataset_record_id",)) or content_key(
            row.get("input"), row.get("expected")
        )
        held = row.get("scores")
        found = json.loads(held or "{}") if isinstance(held, str) else held or {}
        known = {name: value for name, one in found.items() if (value := number(one)) is not None}
        unscored += not known
        for name, value in known.items():
            scores.setdefault(str(name), {}).setdefault(str(item), []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no event with scores")
    name = file.path.name.partition(".")[0]
    return Log(name, "", file.name, scores, unscored, facts={"experiment": str(experiment or "")})


def _opens(head: str) -> bool:
    header = csv_header(head)
    if header:
        return "scores" in header and bool({"expected", "span_id"} & set(header))
    if re.match(r"[\[{]", head) is None or '"scores"' not in head:
        return False
    return any(f'"{mark}"' in head for mark in _MARKS)


BRAINTRUST = LogReader(
    name="braintrust", read=lambda files: [[read_braintrust(file)] for file in files], opens=_opens
)

# Results of deepeval: the test run that it saves as JSON, one test case per item.


_OPENING = re.compile(r'\{.*"(testCases|test_cases|testRunData)"\s*:', re.DOTALL)
_METRICS = re.compile(r'"(metricsData|metrics_data|metricsMetadata|conversationalTestCases)"')


def read_deepeval(file: File) -> Log:
    """Read one test run: every metric gives its score, and ``METRIC/success`` whether it passed.

    Items are matched by what was asked (the input and the expected output), because deepeval
    numbers its test cases anew in every run.
    """
    held = document(file)
    run = held.get("testRunData", held) if isinstance(held, dict) else {}
    cases = first_of(run, ("testCases", "test_cases")) or []
    cases = [*cases, *(first_of(run, ("conversationalTestCases",)) or [])]
    scores: Scores = {}
    unscored = 0
    for case in cases:
        found = _scored(case)
        unscored += not found
        item = content_key(
            first_of(case, ("input", "turns", "name")),
            first_of(case, ("expectedOutput", "expected_output")),
        )
        for metric, value in found.items():
            scores.setdefault(metric, {}).setdefault(item, []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no test case with a metric's score")
    hyper = run.get("hyperparameters") or {}
    model = first_of(hyper, ("model", "Model"))
    facts = {f"hyperparameters.{key}": f"{key}={value}" for key, value in hyper.items()}
    name = str(model or file.path.stem)
    return Log(name, "", file.name, without_twins(scores, "success"), unscored, facts=facts)


def _scored(case: Mapping[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for metric in first_of(case, ("metricsData", "metrics_data", "metricsMetadata")) or ():
        name = str(first_of(metric, ("name", "metric")) or "score")
        score, passed = number(metric.get("score")), metric.get("success")
        if score is not None:
            found[name] = score
        if isinstance(passed, bool):
            found[f"{name}/success"] = float(passed)
    return found


def _deepeval_opens(head: str) -> bool:
    return _OPENING.match(head) is not None and _METRICS.search(head) is not None


DEEPEVAL = LogReader(
    name="deepeval",
    read=lambda files: [[read_deepeval(file)] for file in files],
    opens=_deepeval_opens,
)

# Reports of garak: what each probe tried on a model, and what its detectors scored.


_REPORT = re.compile(r'\{[^\n]*"entry_type"\s*:\s*"(start_run setup|init|attempt|config)"')
_HIT = re.compile(
    r'\{[^\n]*"detector"\s*:[^\n]*"attempt_id"|\{[^\n]*"attempt_id"[^\n]*"detector"\s*:'
)
_EVALUATED = 2


def read_garak(files: Sequence[File]) -> dict[str, list[Any]]:
    """Return one row per output of an evaluated attempt.

    An output is a hit if some detector scores it at the run's threshold (0.5 by default) or above.
    The probe stands for the annotator, because the attempts of one probe are alike; every file is a
    round.
    """
    names = ("item", "probe", "round", "model", "hit")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for run, file in enumerate(files, start=1):
        model, threshold = "model", 0.5
        for _, entry in each_line(file):
            kind = entry.get("entry_type")
            if kind is None and "detector" in entry:
                raise FileError(
                    f"{file.name} is a hit log of garak, which holds only the attempts that"
                    " succeeded: a rate needs all of them. Give the report beside it"
                    " (garak.….report.jsonl)"
                )
            if kind == "start_run setup":
                model = str(
                    entry.get("plugins.target_name") or entry.get("plugins.model_name") or model
                )
                threshold = float(entry.get("run.eval_threshold") or threshold)
            if kind != "attempt" or entry.get("status") != _EVALUATED:
                continue
            for place, hit in enumerate(_hits(entry, threshold)):
                row = (f"{entry.get('uuid')}.{place}", entry.get("probe_classname"), run)
                for name, value in zip(names, (*row, model, hit), strict=True):
                    columns[name].append(value)
    if not columns["item"]:
        raise FileError(
            f"{files[0].name} holds no evaluated attempt (status 2): the scan did not finish"
        )
    return {name: [str(cell) for cell in cells] for name, cells in columns.items()}


def _hits(entry: Mapping[str, Any], threshold: float) -> list[bool]:
    """Return for each output whether a detector caught it; None scores are no verdict."""
    scores = [held for held in (entry.get("detector_results") or {}).values() if held]
    count = max((len(held) for held in scores), default=0)
    return [
        any(
            place < len(held) and held[place] is not None and held[place] >= threshold
            for held in scores
        )
        for place in range(count)
    ]


def _garak_opens(head: str) -> bool:
    return _REPORT.match(head) is not None or _HIT.match(head) is not None


GARAK = LogReader(name="garak", rows=read_garak, opens=_garak_opens)

# Exports of Langfuse: scores (JSON, JSONL or CSV), with their dataset item and run.


_ITEM = ("datasetItemId", "dataset_item_id", "Dataset Item Id")
_RUN = ("datasetRunName", "dataset_run_name", "datasetRunId", "dataset_run_id")
_TRACE = ("traceId", "trace_id")
_NAMES = frozenset({"traceid", "trace_id"})


def read_langfuse(file: File) -> list[Log]:
    """Read scores as one log per dataset run.

    Items are matched by the dataset item. Without it, by the trace: that only matches if the runs
    share traces, so export scores together with their dataset items. A categorical score has no
    number and is left out.
    """
    rows: Iterable[Mapping[str, Any]]
    if file.name.lower().removesuffix(".gz").endswith(".csv"):
        rows = csv_rows(file)
    else:
        rows = (row for _, row in json_rows(file))
    runs: dict[str, Scores] = {}
    unscored: dict[str, int] = {}
    for row in rows:
        item = first_of(row, _ITEM) or _of_trace(row) or first_of(row, _TRACE)
        run = str(first_of(row, _RUN) or file.path.name.partition(".")[0])
        for name, value in _langfuse_scored(row):
            if value is None or item is None:
                unscored[run] = unscored.get(run, 0) + 1
                continue
            runs.setdefault(run, {}).setdefault(name, {}).setdefault(str(item), []).append(value)
    if not runs:
        raise FileError(f"{file.name} holds no score with a number and an item")
    return [Log(run, "", file.name, held, unscored.get(run, 0)) for run, held in runs.items()]


def _of_trace(row: Mapping[str, Any]) -> Any:
    trace = row.get("trace")
    metadata = trace.get("metadata") if isinstance(trace, dict) else row.get("metadata")
    return first_of(metadata, _ITEM) if isinstance(metadata, dict) else None


def _langfuse_scored(row: Mapping[str, Any]) -> list[tuple[str, float | None]]:
    """Return the scores of a row: one per row, or a list inside an item of a run."""
    inside = row.get("scores") or row.get("evaluations")
    if isinstance(inside, list):
        return [(str(one.get("name")), _value(one.get("value"))) for one in inside]
    return [(str(row.get("name", "score")), _value(row.get("value")))]


def _value(cell: Any) -> float | None:
    if isinstance(cell, str):
        try:
            return number(float(cell))
        except ValueError:
            return {"true": 1.0, "false": 0.0}.get(cell.strip().lower())
    return number(cell)


def _langfuse_opens(head: str) -> bool:
    header = csv_header(head)
    if header:
        lower = {name.lower() for name in header}
        return bool(_NAMES & lower) and {"name", "value"} <= lower
    start = re.match(r"[\[{]", head)
    traced = '"traceId"' in head and ('"value"' in head or '"scores"' in head)
    return bool(start) and (traced or '"datasetRunName"' in head or '"datasetItemId"' in head)


LANGFUSE = LogReader(
    name="langfuse",
    read=lambda files: [read_langfuse(file) for file in files],
    opens=_langfuse_opens,
)

# Evaluation tables of MLflow: ``eval_results_table.json``, or its rows as CSV.


_MLFLOW_OPENING = re.compile(r'\{\s*"columns"\s*:\s*\[', re.DOTALL)
_SCORE = re.compile(r"(?P<name>.+?)(/v\d+)?(/score|/value)?")
_ENDINGS = ("/score", "/value")
_ASKED = ("inputs", "inputs/question", "request", "question", "input")
_TRUE = ("ground_truth", "targets", "target", "expectations", "expected_response")
_WORDS = {"yes": 1.0, "true": 1.0, "pass": 1.0, "no": 0.0, "false": 0.0, "fail": 0.0}


def read_mlflow(file: File) -> Log:
    """Read one table; a metric is a column such as ``exact_match/v1`` or ``correctness/value``.

    Items are matched by their inputs. Judgements written as yes and no count 1 and 0.
    """
    scores: Scores = {}
    unscored = 0
    for row in _rows(file):
        asked = first_of(row, _ASKED)
        item = content_key(asked, first_of(row, _TRUE))
        found = {
            name: value
            for column, cell in row.items()
            if (name := _metric(column)) is not None and (value := _mlflow_value(cell)) is not None
        }
        unscored += not found
        for name, value in found.items():
            scores.setdefault(name, {}).setdefault(item, []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no column of scores, such as exact_match/v1")
    folder = file.path.resolve().parent.name
    stem = file.path.name.partition(".")[0]
    model = folder if stem == "eval_results_table" and folder else stem
    return Log(model, "", file.name, scores, unscored)


def _rows(file: File) -> Iterable[Mapping[str, Any]]:
    if file.name.lower().removesuffix(".gz").endswith(".csv"):
        return csv_rows(file)
    held = document(file)
    columns, data = held.get("columns"), held.get("data")
    if not isinstance(columns, list) or not isinstance(data, list):
        raise FileError(f"{file.name} is not a table with columns and data: log it again")
    return [dict(zip(map(str, columns), row, strict=False)) for row in data]


def _metric(column: str) -> str | None:
    """Return the metric that a column holds, None for anything else."""
    if not column.endswith(_ENDINGS) and not re.search(r"/v\d+$", column):
        return None
    found = _SCORE.fullmatch(column)
    return found["name"] if found else None


def _mlflow_value(cell: Any) -> float | None:
    if isinstance(cell, str):
        word = cell.strip().lower()
        if word in _WORDS:
            return _WORDS[word]
        try:
            return number(float(word))
        except ValueError:
            return None
    return number(cell)


def _mlflow_opens(head: str) -> bool:
    names = csv_header(head)
    if names:
        return any(name in names for name in _ASKED) and any(map(_metric, names))
    if _MLFLOW_OPENING.match(head) is None:
        return False
    listed = re.findall(r'"([^"]+)"', head.partition("]")[0])
    return any(map(_metric, listed))


MLFLOW = LogReader(
    name="mlflow", read=lambda files: [[read_mlflow(file)] for file in files], opens=_mlflow_opens
)

# Output items of OpenAI's evals API: what each grader said of each item of a run.


def read_openai_api(file: File) -> list[Log]:
    """Read output items as one log per run: a grader's ``score``, and ``GRADER/passed``.

    Items are matched by the identifier of the data source item. Items that failed have no score.
    """
    runs: dict[str, Scores] = {}
    unscored: dict[str, int] = {}
    models: dict[str, str] = {}
    for place, row in json_rows(file, "data"):
        if "datasource_item_id" not in row:
            raise FileError(
                f"{file.name}, {place} has no datasource_item_id: it is not an output item"
            )
        run = str(row.get("run_id", ""))
        sample = row.get("sample")
        models.setdefault(run, str((sample or {}).get("model") or file.path.stem))
        found = _openai_api_scored(row)
        unscored[run] = unscored.get(run, 0) + (not found)
        held = runs.setdefault(run, {})
        for name, value in found.items():
            held.setdefault(name, {}).setdefault(str(row["datasource_item_id"]), []).append(value)
    logs = [
        Log(
            models[run],
            "",
            file.name,
            without_twins(held, "passed"),
            unscored[run],
            facts={"run": run},
        )
        for run, held in runs.items()
        if held
    ]
    if not logs:
        raise FileError(f"{file.name} holds no result of a grader")
    return logs


def _openai_api_scored(row: Mapping[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for one in row.get("results") or ():
        name = str(one.get("name", "score"))
        score, passed = number(one.get("score")), one.get("passed")
        if score is not None:
            found[name] = score
        if isinstance(passed, bool):
            found[f"{name}/passed"] = float(passed)
    return found


OPENAI_API = LogReader(
    name="openai-api",
    read=lambda files: [read_openai_api(file) for file in files],
    opens=lambda head: '"eval.run.output_item"' in head or '"datasource_item_id"' in head,
)

# Experiments of Arize Phoenix, from its JSON download: one record per run of an example.


_PHOENIX_OPENING = re.compile(r'\[\s*\{[^\[]*"example_id"', re.DOTALL)


def read_phoenix(file: File) -> Log:
    """Read one experiment: every annotation with a score is a metric, repetitions are replicates.

    ``latency_ms`` is a metric too.
    """
    scores: Scores = {}
    unscored = 0
    for place, row in json_rows(file):
        if "example_id" not in row:
            raise FileError(
                f"{file.name}, {place} has no example_id: it is not a Phoenix experiment"
            )
        found = {
            str(one.get("name")): value
            for one in row.get("annotations") or ()
            if (value := number(one.get("score"))) is not None
        }
        unscored += not found
        latency = number(row.get("latency_ms"))
        if latency is not None:
            found["latency_ms"] = latency
        for name, value in found.items():
            scores.setdefault(name, {}).setdefault(str(row["example_id"]), []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no annotation with a score")
    return Log(file.path.name.partition(".")[0], "", file.name, scores, unscored)


PHOENIX = LogReader(
    name="phoenix",
    read=lambda files: [[read_phoenix(file)] for file in files],
    opens=lambda head: _PHOENIX_OPENING.match(head) is not None and '"annotations"' in head,
)

# Results of ragas: ``result.to_pandas()`` as CSV or JSON, and the list of scores.


_RAGAS_ASKED = ("user_input", "question")
_TEXTS = frozenset(
    {
        "user_input",
        "question",
        "response",
        "answer",
        "contexts",
        "retrieved_contexts",
        "reference",
        "reference_contexts",
        "ground_truth",
        "ground_truths",
        "rubrics",
    }
)
"""Columns that ragas copies from the data set; every other column is a metric."""
_RAGAS_OPENING = re.compile(r'[\[{][^\[{]*\{?\s*"(user_input|question)"\s*:')
_KNOWN = (
    "faithfulness",
    "answer_relevancy",
    "context_precision",
    "context_recall",
    "answer_correctness",
    "factual_correctness",
    "semantic_similarity",
    "answer_similarity",
    "context_entity_recall",
    "noise_sensitivity",
    "exact_match",
    "string_present",
    "non_llm_string_similarity",
    "bleu_score",
    "rouge_score",
)
"""Metrics of ragas, one of which its results have."""


def read_ragas(file: File) -> Log:
    """Read one result; items are matched by what was asked, and by the reference if there is one.

    A metric without a number (ragas writes NaN where a grader failed) has no score.
    """
    rows: Iterable[Mapping[str, Any]]
    if file.name.lower().removesuffix(".gz").endswith(".csv"):
        rows = csv_rows(file)
    else:
        rows = (row for _, row in json_rows(file, "scores", "data"))
    scores: Scores = {}
    unscored = 0
    for row in rows:
        item = content_key(
            first_of(row, _RAGAS_ASKED), first_of(row, ("reference", "ground_truth"))
        )
        found = {name: _number(value) for name, value in row.items() if name not in _TEXTS}
        known = {name: value for name, value in found.items() if name and value is not None}
        unscored += not known
        for name, value in known.items():
            scores.setdefault(name, {}).setdefault(item, []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no metric with a number")
    return Log(file.path.name.partition(".")[0], "", file.name, scores, unscored)


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            return number(float(value))
        except ValueError:
            return None
    return number(value)


def _ragas_opens(head: str) -> bool:
    header = csv_header(head)
    if header:
        return bool(set(header) & set(_RAGAS_ASKED)) and any(
            name.startswith(_KNOWN) for name in header
        )
    return _RAGAS_OPENING.match(head) is not None and any(f'"{name}' in head for name in _KNOWN)


RAGAS = LogReader(
    name="ragas", read=lambda files: [[read_ragas(file)] for file in files], opens=_ragas_opens
)

# Delimited exports of evaluation tools as rows, before any rule for tables applies.


def csv_table(file: File) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV file; headers may repeat."""
    with checked(file) as text, text.path.open(encoding="utf-8-sig", newline="") as stream:
        try:
            with wide_cells():
                rows = list(csv.reader(stream))
        except csv.Error as error:
            message = f"{file.name} is not CSV ({error}): export the results again"
            raise FileError(message) from error
    if len(rows) < 2:
        raise FileError(f"{file.name} has no rows: export the results again")
    return rows[0], [row for row in rows[1:] if row]


def csv_rows(file: File) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a CSV file by header."""
    header, rows = csv_table(file)
    for row in rows:
        yield dict(zip(header, row, strict=False))


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
