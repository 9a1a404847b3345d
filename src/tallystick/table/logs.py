"""Logs of evaluation tools and exports of annotation tools: what is read, declared as data.

One `LogFormat` says how the logs of one tool are recognised and where their items, models, scores
or labels stand. To add a tool, add its declaration to `FORMATS`: detection, reading and messages
find it there. Paths are those of `log_rows.find`: ``a.b`` steps into objects and into every entry
of a list, ``a|b`` is the first of the two that is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tallystick.table.log_rows import (
    Rows,
    argilla_rows,
    csv_header,
    garak_rows,
    inspect_archive,
    label_studio_rows,
    prodigy_rows,
    promptfoo_csv,
    swe_bench_rows,
)
from tallystick.table.sources import File


@dataclass(frozen=True, kw_only=True)
class Marks:
    """How a file is recognised; every condition that is given must hold.

    Parameters
    ----------
    opens
        A regular expression for the beginning of the text.
    keys
        Names (``a|b`` for either) that stand as JSON keys in the first 64 KB.
    header
        Expressions for names in the header of a CSV file, each of which one of them matches. A
        CSV file is recognised by its header alone, every other text by the rest.
    entries
        Expressions for names in a zip archive; then nothing else counts.
    """

    opens: str = ""
    keys: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()

    def fit(self, head: str) -> bool:
        """Say whether a text that starts like this is marked so."""
        names = csv_header(head)
        if names:
            return bool(self.header) and all(
                any(re.fullmatch(mark, name) for name in names) for mark in self.header
            )
        if not (self.opens or self.keys) or head[:1] not in "[{":
            return False
        if not re.match(self.opens, head, re.DOTALL):
            return False
        return all(re.search(rf'"(?:{key})"\s*:', head) for key in self.keys)

    def fit_archive(self, names: Sequence[str]) -> bool:
        """Say whether a zip archive with these entries is marked so."""
        return bool(self.entries) and all(
            any(re.match(mark, name) for name in names) for mark in self.entries
        )


@dataclass(frozen=True, kw_only=True)
class ScoreFields:
    """Where a row holds scores by name.

    Parameters
    ----------
    at
        The path of a list of entries, or of an object with one field per name; empty for the row.
    name, value
        The paths of name and value inside an entry. Without *name* the keys of the object are the
        names, without *value* its fields are the values.
    keys
        Which keys count; the first group of the expression that matches is the name.
    listed, filtered
        The path of a list of the keys that count, and of what follows the name, ``none`` aside.
    called
        The name of all of them, instead of their own.
    suffix
        What is put behind a name.
    when, unless
        Rows with this value at a path; entries with nothing at a path.
    """

    at: str = ""
    name: str = ""
    value: str = ""
    keys: str = "(.+)"
    listed: str = ""
    filtered: str = ""
    called: str = ""
    suffix: str = ""
    when: tuple[str, str] | None = None
    unless: str = ""


@dataclass(frozen=True, kw_only=True)
class LogFormat:
    """How the files of one tool are recognised and read.

    Parameters
    ----------
    name
        The format, as notes and errors call it.
    marks
        How it is recognised: one of these fits.
    read
        Reads a file into its head and its rows, where a JSON document, JSON lines or CSV is not
        enough.
    rows
        Paths of the lists of rows in a document; the usual names by default.
    heads
        Keys of the lines that are no rows, and are put together as the head.
    needed
        Fields that every row has, and what to do about a file without them.
    checks
        Path, allowed values (none: any), and the message for another one.
    skipped
        A path; rows with something there are left out.
    same
        Two paths; rows in which they differ are left out.
    item, rules, asked
        The name of an item; what a second time makes another item of the name; and what was asked,
        by which items without a name are matched.
    required, failed
        Paths without which, and a value of a path with which, a row is a failed call without score.
    unscored
        Whether a row without a score is a failed sample. Not in a stream of events.
    scores
        Where scores stand.
    words
        Words that are scores here, besides yes and no, true and false, pass and fail.
    twin
        A pattern of metrics, and the metric that each is dropped for where the two are equal.
    run, model, models, variant
        Paths in a row or in the head: what tells runs of one file apart, the name of the model, its
        name where a file holds several, and what else is in its name then.
    file
        An expression for the name of the file with the groups ``model``, ``task`` or ``run``.
    folder
        When the folder of a file names its model: ``always``, or ``several`` where files stand in
        different folders or hold different tasks, or where the file has this name.
    task, facts, groups, reported
        The task; what else names a run; an object with groups of items, and which of its fields
        are; the means that the tool itself reports.
    is_table
        Whether the rows are those of a table, and no scores of a model.
    columns, counts
        The columns of that table, name to path, all fields of the rows by default; and a list in a
        row, with column to the entries that it counts.
    """

    name: str
    marks: tuple[Marks, ...]
    read: Callable[[File], Rows] | None = None
    rows: tuple[str, ...] = ("data", "results", "testCases", "test_results", "rows", "samples")
    heads: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    other: str = "it was written by another version"
    checks: tuple[tuple[str, tuple[Any, ...], str], ...] = ()
    skipped: str = ""
    same: tuple[str, str] | None = None
    item: str = ""
    rules: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    failed: tuple[str, Any] | None = None
    unscored: bool = True
    scores: tuple[ScoreFields, ...] = ()
    words: Mapping[str, float] = field(default_factory=dict)
    twin: tuple[str, str] | None = None
    run: str = ""
    model: str = ""
    models: str = ""
    variant: str = ""
    file: str = ""
    folder: str = ""
    task: str = ""
    facts: tuple[str, ...] = ()
    groups: tuple[str, str] | None = None
    reported: ScoreFields | None = None
    is_table: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    counts: tuple[str, Mapping[str, str]] | None = None

    def holds(self, head: str) -> bool:
        """Say whether a text that starts like this is of this format."""
        return any(mark.fit(head) for mark in self.marks)


_LM_EVAL = LogFormat(
    name="lm-eval",
    # The first line may be longer than what is looked at: then it ends inside the document.
    marks=(
        Marks(
            opens=r'\{"doc_id":\s*\d+,(.*"(doc_hash|filtered_resps|resps)"|\s*"doc":\s*\{[^\n]*\Z)'
        ),
    ),
    needed=("doc_hash", "filter", "metrics"),
    other="it was written by another version of lm-eval (0.4.3 or newer is read); run it again, or"
    " make a table with one column per model",
    item="doc_hash",
    scores=(ScoreFields(listed="metrics", filtered="filter"),),
    # One folder per model, which is not named inside.
    folder="several",
    file=r"samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl",
    groups=(
        "doc",
        "subject|category|topic|domain|group|type|level|source|document|passage_id|story_id"
        "|language",
    ),
)

_INSPECT = LogFormat(
    name="inspect-json",
    marks=(Marks(opens=r'\{\s*"version":\s*\d+,\s*"status":\s*"\w+",\s*"eval":\s*\{'),),
    rows=("samples",),
    checks=(
        (
            "version",
            (2,),
            "is an inspect_ai log of version {found!r}, version 2 is read: convert it with"
            " 'inspect log convert'",
        ),
        (
            "status",
            ("success",),
            "is the log of a run that ended with {found!r}: the items it scored are not a fair"
            " sample; finish it with 'inspect eval-retry'",
        ),
    ),
    item="id",
    scores=(ScoreFields(at="scores", value="value"),),
    # Correct, incorrect, partial, no answer: the numbers that inspect_ai gives to these letters.
    words={"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0},
    model="eval.model",
    task="eval.task",
    facts=("plan.steps.params", "eval.task_args", "eval.solver_args"),
    groups=("metadata", ".+"),
    reported=ScoreFields(
        at="results.scores", name="name", value="metrics.accuracy.value|metrics.mean.value"
    ),
)

_INSPECT_ARCHIVE = replace(
    _INSPECT,
    name="inspect-eval",
    marks=(
        Marks(entries=("_journal/start.json",)),
        Marks(entries=("samples/", "header.json")),
    ),
    read=inspect_archive,
)

_HELM = LogFormat(
    name="helm",
    marks=(Marks(opens=r'\[\s*\{[^\[]*"instance_id"[^\[]*"train_trial_index"'),),
    needed=("stats", "instance_id"),
    other="it is of another version of HELM",
    skipped="perturbation",
    item="instance_id",
    scores=(ScoreFields(at="stats", name="name.name", value="mean", unless="name.perturbation"),),
    # ``mmlu:subject=anatomy,model=openai_gpt-4``: the model stands only in the name of the folder.
    folder="always",
    file=r"(?P<task>.*?)(?:^|[,:])model=(?P<model>[^,]+)(?P<more>.*)",
)

_OPENAI_EVALS = LogFormat(
    name="openai-evals",
    marks=(Marks(opens=r'\{"spec":\s*\{[^\n]*"(completion_fns|eval_name)"'),),
    heads=("spec", "final_report"),
    checks=(("final_report", (), "has no final report: the run did not finish; run it again"),),
    item="sample_id",
    unscored=False,
    scores=(
        ScoreFields(at="data", keys="(correct)", called="match", when=("type", "match")),
        ScoreFields(at="data", when=("type", "metrics")),
    ),
    model="spec.completion_fns|spec.model_name",
    task="spec.base_eval",
)

_ASSERTED = "testCase.assert|gradingResult.componentResults.assertion"

_PROMPTFOO = LogFormat(
    name="promptfoo",
    marks=(
        Marks(
            opens=r'\{\s*"evalId":[^{]*"results":\s*\{\s*"version":|\{"cost":[^\n]*"gradingResult":'
        ),
    ),
    rows=("results.results",),
    needed=("prompt", "provider", "score", "success", "vars"),
    other="it was written by another version of promptfoo",
    checks=(
        (
            "results.version",
            (2, 3),
            "holds promptfoo results of version {found!r}, versions 2 and 3 are read: export them"
            " again ('promptfoo export eval ID -o results.json')",
        ),
    ),
    # A question that is scored by other rules is another item.
    item="vars",
    rules=(_ASSERTED, "testCase.assertScoringFunction", "testCase.threshold"),
    # A failure of the call is 2; a failed assertion, 1, is a score.
    required=("gradingResult", _ASSERTED),
    failed=("failureReason", 2),
    scores=(ScoreFields(keys="(success|score)"), ScoreFields(at="namedScores")),
    twin=("score", "success"),
    run="promptIdx",
    model="provider.label|provider.id|provider",
    variant="prompt.label",
)

_PROMPTFOO_CSV = LogFormat(
    name="promptfoo-csv",
    marks=(Marks(header=(r"(?s)\[[^\]]+\] ?.*", "Status|Grader Reason")),),
    read=promptfoo_csv,
    asked=("vars",),
    scores=(ScoreFields(keys="(success|score)"), ScoreFields(at="namedScores")),
    twin=("score", "success"),
    run="promptIdx",
    model="provider",
    variant="prompt",
)

_DEEPEVAL = LogFormat(
    name="deepeval",
    marks=(
        Marks(
            keys=(
                "testCases|test_cases|testRunData",
                "metricsData|metrics_data|metricsMetadata|conversationalTestCases",
            )
        ),
    ),
    rows=(
        "testRunData.testCases|testCases|test_cases",
        "testRunData.conversationalTestCases|conversationalTestCases",
    ),
    # Test cases are numbered anew in every run.
    asked=("input|turns|name", "expectedOutput|expected_output"),
    scores=(
        ScoreFields(
            at="metricsData|metrics_data|metricsMetadata", name="name|metric", value="score"
        ),
        ScoreFields(
            at="metricsData|metrics_data|metricsMetadata",
            name="name|metric",
            value="success",
            suffix="/success",
        ),
    ),
    twin=(r"(.+)/success", r"\1"),
    model="testRunData.hyperparameters.model|hyperparameters.model|hyperparameters.Model",
    facts=("testRunData.hyperparameters|hyperparameters",),
)

_RAGAS_METRIC = (
    r"(?:faithfulness|answer_relevancy|context_precision|context_recall|answer_correctness"
    r"|factual_correctness|semantic_similarity|answer_similarity|context_entity_recall"
    r"|noise_sensitivity|exact_match|string_present|non_llm_string_similarity|bleu_score"
    r'|rouge_score)[^"]*'
)

_RAGAS = LogFormat(
    name="ragas",
    marks=(
        Marks(
            opens=r'[\[{][^\[{]*\{?\s*"(user_input|question)"\s*:',
            keys=(_RAGAS_METRIC,),
            header=("user_input|question", _RAGAS_METRIC),
        ),
    ),
    rows=("scores", "data"),
    asked=("user_input|question", "reference|ground_truth"),
    # What ragas copies from the data set is no metric, every other column is one.
    scores=(
        ScoreFields(
            keys=r"(?!(?:user_input|question|response|answer|contexts|retrieved_contexts|reference"
            r"|reference_contexts|ground_truth|ground_truths|rubrics)$)(.+)"
        ),
    ),
)

_MLFLOW = LogFormat(
    name="mlflow",
    marks=(
        Marks(
            opens=r'\{\s*"columns"\s*:\s*\[[^\]]*"[^"]+(/v\d+|/score|/value)"',
            header=("inputs|inputs/question|request|question|input", r".+/v\d+|.+/(?:score|value)"),
        ),
    ),
    asked=(
        "inputs|inputs/question|request|question|input",
        "ground_truth|targets|target|expectations|expected_response",
    ),
    scores=(ScoreFields(keys=r"(.+?)(?:/v\d+)?/(?:score|value)|(.+)/v\d+"),),
    folder="eval_results_table",
)

_OPENAI_API = LogFormat(
    name="openai-api",
    marks=(Marks(keys=("datasource_item_id",)), Marks(opens=r'.*"eval\.run\.output_item"')),
    rows=("data",),
    needed=("datasource_item_id",),
    other="it is not an output item",
    item="datasource_item_id",
    scores=(
        ScoreFields(at="results", name="name", value="score"),
        ScoreFields(at="results", name="name", value="passed", suffix="/passed"),
    ),
    twin=(r"(.+)/passed", r"\1"),
    run="run_id",
    model="sample.model",
    facts=("run_id",),
)

_SWE_BENCH = LogFormat(
    name="swe-bench",
    marks=(
        Marks(
            keys=("resolved_ids|no_generation|no_logs", "resolved_ids|resolved_instances|resolved")
        ),
        Marks(keys=(r"\w+__[\w.-]+-\d+", "resolved")),
    ),
    read=swe_bench_rows,
    item="item",
    scores=(ScoreFields(keys="(resolved)"),),
    # MODEL.RUN_ID.json, with "/" in the name of the model written as "__".
    file=r"(?P<model>[^.]+)(?:\.(?P<run>.*))?\.json",
    groups=("groups", "repository"),
)

_PHOENIX = LogFormat(
    name="phoenix",
    marks=(Marks(opens=r'\[\s*\{[^\[]*"example_id"', keys=("annotations",)),),
    needed=("example_id",),
    other="it is not a Phoenix experiment",
    item="example_id",
    scores=(
        ScoreFields(at="annotations", name="name", value="score"),
        ScoreFields(keys="(latency_ms)"),
    ),
)

_BRAINTRUST = LogFormat(
    name="braintrust",
    marks=(
        Marks(
            keys=(
                "scores",
                "root_span_id|experiment_id|span_attributes|_xact_id|dataset_record_id",
            ),
            header=("scores", "expected|span_id"),
        ),
    ),
    rows=("events", "data"),
    # A span below the root is a step inside a test case.
    same=("root_span_id", "span_id"),
    item="dataset_record_id",
    asked=("input", "expected"),
    scores=(ScoreFields(at="scores"),),
    models="metadata.model|model",
    facts=("experiment_name|experiment_id",),
)

_LANGSMITH = LogFormat(
    name="langsmith",
    marks=(
        Marks(
            keys=("reference_example_id|example_id", "feedback_stats"),
            header=("reference_example_id|example_id|id", r"feedback\..+", r"inputs?\..+"),
        ),
    ),
    rows=("runs", "data"),
    item="reference_example_id|example_id|id",
    scores=(ScoreFields(at="feedback_stats", value="avg"), ScoreFields(keys=r"feedback\.(.+)")),
    models="extra.metadata.ls_model_name|metadata.model|model",
    run="session_name|session_id",
)

_LANGFUSE = LogFormat(
    name="langfuse",
    marks=(
        Marks(
            keys=("datasetRunName|datasetItemId|traceId", "value|scores|evaluations"),
            header=("(?i:trace[_ ]?id)", "(?i:name)", "(?i:value)"),
        ),
    ),
    # Without a data set, runs match only if they share traces.
    item="datasetItemId|dataset_item_id|Dataset Item Id|trace.metadata.datasetItemId"
    "|metadata.datasetItemId|traceId|trace_id|Trace ID",
    scores=(
        ScoreFields(at="scores|evaluations", name="name", value="value"),
        ScoreFields(keys="([vV]alue)", called="name|Name"),
    ),
    run="datasetRunName|dataset_run_name|datasetRunId|dataset_run_id",
    models="model|metadata.model|trace.metadata.model",
)

_DYNABENCH = LogFormat(
    name="dynabench",
    is_table=True,
    marks=(Marks(keys=("model_wrong", "anon_uid|metadata_json|validations|target_pred")),),
    columns={
        "item": "id|eid|uuid",
        "annotator": "anon_uid|uid|annotator_id|metadata_json.annotator_id",
        "round": "round|rid|round_id|context.rid|context.round|context.r_realid|r_realid",
        "model": "target_model|model_endpoint_name|model",
        "model_wrong": "model_wrong",
        "retracted": "retracted",
        "seconds": "time_elapsed",
        "created_at": "generated_datetime",
    },
    # A validator who flags an item casts no vote on its label.
    counts=("validations", {"votes_yes": "correct", "votes_no": "incorrect"}),
)

_GARAK = LogFormat(
    name="garak",
    marks=(
        Marks(opens=r'\{[^\n]*"entry_type"\s*:\s*"(start_run setup|init|attempt|config)"'),
        Marks(
            opens=r'\{[^\n]*"detector"\s*:[^\n]*"attempt_id"|\{[^\n]*"attempt_id"[^\n]*"detector"\s*:'
        ),
    ),
    read=garak_rows,
    is_table=True,
)

_LABEL_STUDIO = LogFormat(
    name="label-studio",
    marks=(Marks(opens=r"\[\s*\{", keys=("annotations", "result|cancelled_annotations", "data")),),
    read=label_studio_rows,
    is_table=True,
)

_ARGILLA = LogFormat(
    name="argilla",
    marks=(Marks(keys=("fields", "responses", "suggestions")),),
    read=argilla_rows,
    is_table=True,
)

_PRODIGY = LogFormat(
    name="prodigy", marks=(Marks(keys=("_task_hash", "answer")),), read=prodigy_rows, is_table=True
)

FORMATS: tuple[LogFormat, ...] = (
    _LM_EVAL,
    _INSPECT_ARCHIVE,
    _INSPECT,
    _HELM,
    _OPENAI_EVALS,
    _PROMPTFOO,
    _PROMPTFOO_CSV,
    _DEEPEVAL,
    _RAGAS,
    _MLFLOW,
    _OPENAI_API,
    _SWE_BENCH,
    _PHOENIX,
    _BRAINTRUST,
    _LANGSMITH,
    _LANGFUSE,
    _DYNABENCH,
    _GARAK,
    _LABEL_STUDIO,
    _ARGILLA,
    _PRODIGY,
)
"""They are asked in this order; the first that recognises a file wins."""
