"""Readers of nine tools: what each gives, from the fixtures (see fixtures/README.md)."""

import json
from pathlib import Path

import pytest

from tallystick import compare
from tallystick.errors import FileError, InputError
from tallystick.table import Door, read, scan
from tallystick.table.scanning import detect
from tallystick.table.sources import File

FIXTURES = Path(__file__).parent / "fixtures"
DOOR = Door(verb="compare", want="models", repeats=True, runs=True)

TOOLS = [
    ("deepeval", "deepeval", "json", "Exact"),
    ("ragas", "ragas", "csv", "exact_match"),
    ("ragas", "ragas", "json", "exact_match"),
    ("mlflow", "mlflow", "json", "exact_match"),
    ("langfuse", "langfuse", "json", "exact_match"),
    ("braintrust", "braintrust", "jsonl", "ExactMatch"),
    ("openai_api", "openai-api", "json", "exact"),
]


@pytest.mark.parametrize(("folder", "kind", "ending", "metric"), TOOLS)
def test_two_runs_are_recognised_matched_and_compared(folder, kind, ending, metric):
    files = [FIXTURES / folder / f"{run}.{ending}" for run in ("old", "new")]
    assert [detect(File(file, str(file))) for file in files] == [kind, kind]
    result = compare([str(file) for file in files], metric=metric)
    new, old = result.models
    assert (new.name.removeprefix("gpt-"), old.name.removeprefix("gpt-")) == ("new", "old")
    assert result.n_items == 6
    assert (new.score, old.score) == (pytest.approx(5 / 6), 0.5)
    assert (result.metric, result.better) == (metric, "higher")


def test_swe_bench_names_the_model_by_the_file_and_offers_the_repository():
    result = compare(str(FIXTURES / "swe_bench"))
    assert [row.name for row in result.models] == ["acme/new", "acme/old"]
    assert any("--cluster repository" in note for note in result.notes)
    with pytest.raises(InputError, match="3 clusters cannot show"):
        compare(str(FIXTURES / "swe_bench"), cluster="repository")


def test_phoenix_repetitions_are_replicates_and_latency_is_a_metric():
    folder = str(FIXTURES / "phoenix")
    with pytest.raises(InputError, match="at least k = 3 runs"):
        compare(folder, metric="pass@3:matches")
    assert compare(folder, metric="pass@2:matches").metric == "pass@2"
    # The latency is the same in both runs, so it is no score that could be meant.
    assert compare(folder).metric == "matches"


def test_mlflow_judgements_of_yes_and_no_are_scores():
    found = compare(str(FIXTURES / "mlflow"), metric="correctness")
    assert found.models[1].score == 0.5


def test_langfuse_categories_have_no_number(tmp_path):
    only = tmp_path / "scores.json"
    only.write_text('{"data": [{"traceId": "t", "name": "tone", "value": "kind"}]}')
    assert detect(File(only, str(only))) == "langfuse"
    with pytest.raises(FileError, match="holds no score that is a number"):
        scan(str(only))


def test_a_damaged_export_is_refused_by_name(tmp_path):
    bad = tmp_path / "report.json"
    bad.write_text('{"testCases": [], "metricsData": []}')
    with pytest.raises(FileError, match=r"report\.json holds no score"):
        scan(str(bad))


def test_one_model_with_two_prompts_is_told_apart_by_the_prompt():
    files = [str(FIXTURES / "inspect" / f"prompt-{name}.json") for name in ("short", "steps")]
    with read(files, DOOR) as data:
        assert data.roles.models == (
            "mockllm/acme (Answer with a number.)",
            "mockllm/acme (Think step by step, then answer with a …)",
        )
        assert data.metric == "match"
        assert "chapter" in data.table.columns


def test_a_harness_log_whose_first_line_is_longer_than_64_kb_is_recognised(tmp_path):
    [source] = (FIXTURES / "lm_eval" / "beta").glob("*.jsonl")
    long = tmp_path / source.name
    long.write_text(source.read_text().replace('"question": "', '"question": "' + "x" * 100_000, 1))
    assert detect(File(long, str(long))) == "lm-eval"


def written(path, content):
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def cells(path):
    with scan(str(path)) as table:
        rows = table.relation.fetchall()
        return dict(zip(table.columns, map(list, zip(*rows, strict=True)), strict=True))


def test_a_task_of_label_studio_has_the_answers_of_people_as_truth_and_of_models_as_votes(tmp_path):
    def part(value):
        return {"from_name": "safe", "to_name": "text", "type": "choices", "value": value}

    tasks = [
        {
            "id": k,
            "data": {"text": f"text {k}"},
            "annotations": [
                {"completed_by": 1, "result": [part({"choices": [word]})]},
                {"completed_by": 1, "was_cancelled": True, "result": []},
            ],
            "predictions": [{"model_version": "gpt", "result": [part({"choices": ["yes"]})]}],
        }
        for k, word in enumerate(["yes", "no"])
    ]
    path = written(tmp_path / "export.json", tasks)
    assert cells(path) == {
        "item": ["0", "1"],
        "text": ["text 0", "text 1"],
        "human": ["yes", "no"],
        "gpt": ["yes", "yes"],
    }
    tasks[0]["annotations"][1] = {
        "completed_by": {"id": 2, "email": "ann@x"},
        "result": [part({"choices": ["no"]})],
    }
    found = cells(written(path, tasks))
    assert found["human 1"] == ["yes", "no"]
    assert found["human ann@x"] == ["no", None]


def test_responses_of_argilla_are_people_and_suggestions_are_models(tmp_path):
    records = [
        {
            "id": f"r{k}",
            "fields": {"text": "t"},
            "metadata": {},
            "responses": {"label": [{"value": word, "user_id": "u"}]},
            "suggestions": {"label": {"value": "pos", "score": 0.9, "agent": "gpt"}},
        }
        for k, word in enumerate(["pos", "neg"])
    ]
    found = cells(written(tmp_path / "records.json", records))
    assert (found["human"], found["gpt"]) == (["pos", "neg"], ["pos", "pos"])


def test_tasks_of_prodigy_are_joined_and_ignored_ones_are_blank(tmp_path):
    rows = [
        {"text": "a", "_task_hash": 1, "answer": "accept", "accept": ["x"], "_annotator_id": "ann"},
        {"text": "a", "_task_hash": 1, "answer": "accept", "accept": ["y"], "_annotator_id": "bob"},
        {"text": "b", "_task_hash": 2, "answer": "ignore", "accept": [], "_annotator_id": "ann"},
    ]
    path = written(tmp_path / "out.jsonl", "\n".join(map(json.dumps, rows)))
    assert cells(path) == {
        "item": ["1", "2"],
        "text": ["a", "b"],
        "human ann": ["x", None],
        "human bob": ["y", None],
    }


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        (
            "langfuse",
            [
                {"traceId": "t", "datasetItemId": k, "name": "right", "value": v, "model": model}
                for model, values in (("a", [1, 0]), ("b", [1, 1]))
                for k, v in enumerate(values)
            ],
        ),
        (
            "braintrust",
            [
                {"experiment_id": "e", "input": k, "scores": {"right": v}, "metadata": {"model": m}}
                for m, values in (("a", [1, 0]), ("b", [1, 1]))
                for k, v in enumerate(values)
            ],
        ),
        (
            "langsmith",
            [
                {
                    "reference_example_id": f"e{k}",
                    "extra": {"metadata": {"ls_model_name": m}},
                    "feedback_stats": {"right": {"n": 1, "avg": v}},
                }
                for m, values in (("a", [1, 0]), ("b", [1, 1]))
                for k, v in enumerate(values)
            ],
        ),
    ],
)
def test_one_file_with_a_column_of_models_holds_one_run_of_each(kind, rows, tmp_path):
    path = written(tmp_path / "export.json", rows)
    assert detect(File(path, str(path))) == kind
    found = cells(path)
    assert (found["a"], found["b"]) == ([1.0, 0.0], [1.0, 1.0])
