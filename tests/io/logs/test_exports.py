"""Readers of nine tools: what each gives, from the fixtures (see fixtures/README.md)."""

from pathlib import Path

import pytest

from tallystick import compare
from tallystick.errors import FileError
from tallystick.table import Door, read, scan
from tallystick.table.formats import detect
from tallystick.table.sources import File

FIXTURES = Path(__file__).parent / "fixtures"
DOOR = Door(want="models", repeats=True, runs=True)

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
    result = compare.evaluate([str(file) for file in files], metric=metric)
    new, old = result.models
    assert (new.name.removeprefix("gpt-"), old.name.removeprefix("gpt-")) == ("new", "old")
    assert result.n_items == 6
    assert (new.score, old.score) == (pytest.approx(5 / 6), 0.5)
    assert (result.metric, result.better) == (metric, "higher")


def test_swe_bench_names_the_model_by_the_file_and_offers_the_repository():
    result = compare.evaluate(str(FIXTURES / "swe_bench"))
    assert [row.name for row in result.models] == ["acme/new", "acme/old"]
    assert any("--cluster repository" in note for note in result.notes)
    few = compare.evaluate(str(FIXTURES / "swe_bench"), cluster="repository")
    assert few.decision == "unknowable"
    assert "3 clusters cannot show" in few.verdict


def test_phoenix_repetitions_are_replicates_and_latency_is_a_metric():
    folder = str(FIXTURES / "phoenix")
    result = compare.evaluate(folder, metric="matches")
    assert (result.replicates.fewest, result.replicates.most) == (2, 2)
    assert compare.evaluate(folder, metric="pass@2:matches").metric == "pass@2"
    assert compare.evaluate(folder).metric == "matches"


def test_promptfoo_csv_has_one_model_per_prompt_and_leaves_failed_calls_out():
    two = compare.evaluate(str(FIXTURES / "promptfoo" / "two-prompts.csv"), metric="success")
    assert [row.name for row in two.models] == [
        "acme:small: Think, then add: {{sum}}",
        "acme:small: Add: {{sum}}",
    ]
    assert any("1 samples failed" in text for text in two.warnings)
    assert two.n_items == 6


def test_promptfoo_csv_of_older_versions_says_pass_before_the_output():
    found = compare.evaluate(str(FIXTURES / "promptfoo" / "prefixed.csv"))
    assert [row.name for row in found.models] == ["acme:large", "acme:small"]
    assert found.metric == "success"


def test_mlflow_judgements_of_yes_and_no_are_scores():
    found = compare.evaluate(str(FIXTURES / "mlflow"), metric="correctness")
    assert found.models[1].score == 0.5


def test_langfuse_categories_have_no_number(tmp_path):
    only = tmp_path / "scores.json"
    only.write_text('{"data": [{"traceId": "t", "name": "tone", "value": "kind"}]}')
    assert detect(File(only, str(only))) == "langfuse"
    with pytest.raises(FileError, match="no score with a number"):
        scan(str(only))


def test_a_damaged_export_is_refused_by_name(tmp_path):
    bad = tmp_path / "report.json"
    bad.write_text('{"testCases": [], "metricsData": []}')
    with pytest.raises(FileError, match=r"report\.json holds no test case"):
        scan(str(bad))


def test_an_ordinary_table_is_not_taken_for_an_export(tmp_path):
    plain = tmp_path / "table.csv"
    plain.write_text("question,gpt,claude\nq1,1,0\nq2,0,1\n")
    assert detect(File(plain, str(plain))) == "delimited"


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


@pytest.mark.parametrize(("word", "value"), [("yes", 1.0), ("No", 0.0), ("P", 0.5), ("0.25", 0.25)])
def test_inspect_scores_may_be_words_or_letters(word, value):
    from tallystick.table.logs_harness import _of_text

    assert _of_text(word) == value
    assert _of_text("maybe") is None
