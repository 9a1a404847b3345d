"""Results that promptfoo itself wrote (see fixtures/README.md), and what is refused."""

import json
from pathlib import Path

import pytest

from tallystick.errors import FileError, InputError
from tallystick.table import scan
from tallystick.table.logs import read_logs
from tallystick.table.sources import resolve

HERE = Path(__file__).parent / "fixtures" / "promptfoo"
TWO, OLDER, REPEATED = HERE / "two-prompts.json", HERE / "version-2.json", HERE / "repeated.jsonl"


def logs(path):
    return {log.model: log for log in read_logs(resolve(path), ["promptfoo"])}


def changed(path, tmp_path, change):
    """Copy results with every one of them passed through *change*."""
    held = json.loads(path.read_text())
    held["results"]["results"] = [change(row) for row in held["results"]["results"]]
    copy = tmp_path / path.name
    copy.write_text(json.dumps(held))
    return copy


def test_every_provider_and_prompt_is_a_model():
    with scan(str(TWO), metric="success") as table:
        assert table.columns == (
            "item",
            "old: What is {{a}} + {{b}}?",
            "old: Answer briefly: {{a}} + {{b}} =",
            "new: What is {{a}} + {{b}}?",
            "new: Answer briefly: {{a}} + {{b}} =",
        )
        found = {row[0].split(" #")[0]: row[1:] for row in table.relation.fetchall()}
    assert found == {
        '{"a": 1, "b": 1}': (1, 1, 1, 1),
        '{"a": 2, "b": 2}': (0, 0, 1, 1),
        '{"a": 1, "b": 6}': (1, 0, 1, 1),
        '{"a": 9, "b": 9}': (None, None, 1, 0),
    }


def test_a_call_that_failed_is_missing_and_said():
    with scan(str(TWO), metric="right") as table:
        assert any("2 samples failed" in note for note in table.notes)
    assert [log.unscored for log in logs(TWO).values()] == [1, 1, 0, 0]
    log = logs(TWO)["old: What is {{a}} + {{b}}?"]
    partly = {item.split(" #")[0]: scores for item, scores in log.scores["score"].items()}
    assert partly['{"a": 2, "b": 2}'] == [0.75]  # of a weighted assertion
    assert set(log.scores) == {"success", "score", "right"}


def test_repeated_tests_are_replicates_of_one_item():
    with scan(str(REPEATED)) as table:
        assert table.columns == ("item", "replicate", "sums:old", "sums:new")
        assert [row[1:] for row in table.relation.fetchall()] == [
            (1, 1.0, 1.0),
            (2, 1.0, 0.0),
            (1, 0.0, 1.0),
            (2, 0.0, 1.0),
        ]


def test_version_two_holds_the_same_scores_of_the_same_items():
    older, newer = logs(OLDER), logs(TWO)
    assert {name: log.scores for name, log in older.items()} == {
        name: log.scores for name, log in newer.items()
    }
    assert {name: log.unscored for name, log in older.items()} == {
        name: log.unscored for name, log in newer.items()
    }


def test_the_same_models_in_two_files_are_told_apart_by_the_file():
    with scan([str(TWO), str(OLDER)], metric="right") as table:
        assert "old: What is {{a}} + {{b}}? (two-prompts)" in table.columns
        assert "old: What is {{a}} + {{b}}? (version-2)" in table.columns
        assert len(table.columns) == 9


def test_a_question_that_is_scored_by_other_rules_is_another_item(tmp_path):
    def stricter(row):
        return row | {"testCase": row["testCase"] | {"threshold": 0.9}}

    with pytest.raises(InputError, match="no common item"):
        scan([str(TWO), str(changed(TWO, tmp_path, stricter))], metric="right")


@pytest.mark.parametrize("version", [1, 4, None])
def test_another_version_is_refused(version, tmp_path):
    held = json.loads(TWO.read_text())
    held["results"]["version"] = version
    path = tmp_path / "results.json"
    path.write_text(json.dumps(held))
    with pytest.raises(FileError, match=f"version {version}, versions 2 and 3 are read"):
        scan(str(path), metric="right")


def test_a_result_without_a_score_field_is_refused_by_its_place(tmp_path):
    path = changed(
        TWO, tmp_path, lambda row: {key: value for key, value in row.items() if key != "success"}
    )
    with pytest.raises(FileError, match="entry 1 has no 'success'"):
        scan(str(path), metric="right")


def test_tests_without_assertions_have_no_score(tmp_path):
    path = changed(TWO, tmp_path, lambda row: row | {"testCase": row["testCase"] | {"assert": []}})
    with pytest.raises(
        FileError, match="holds no score that is a number: its calls failed, or nothing was scored"
    ):
        scan(str(path))


def test_long_prompts_are_cut_and_alike_ones_numbered(tmp_path):
    def longer(row):
        return row | {"prompt": {"label": "word " * 20 + row["prompt"]["label"]}}

    names = list(logs(changed(TWO, tmp_path, longer)))
    assert names[0] == "old: " + "word " * 7 + "word…"
    assert names[1] == names[0] + " (2)"
