"""Dynabench's export: one object per attempt, as ``/tasks/ID/rounds/ID/export`` returns it."""

import json

from tallystick.table import scan
from tallystick.verbs.dynamic import evaluate


def attempt(k, *, wrong, votes=(), **more):
    own = {
        "id": k,
        "cid": 7,
        "metadata_json": json.dumps({"annotator_id": f"w{k % 3}"}),
        "target_pred": "1",
        "model_preds": "0.2|0.8",
        "target_model": "roberta-r1",
        "model_wrong": wrong,
        "retracted": False,
        "flagged": False,
        "generated_datetime": "2021-03-01 10:00:00",
        "time_elapsed": "0:01:30",
        "context": {"id": 7, "r_realid": 11},
        "validations": [[vote, "user", f"v{j}"] for j, vote in enumerate(votes)],
    }
    return {**own, **more}


def test_attempts_votes_rounds_and_times_are_read(tmp_path):
    rows = [
        attempt(0, wrong=True, votes=("correct", "incorrect", "flagged")),
        attempt(1, wrong=False, anon_uid="h1"),
        attempt(2, wrong=True, retracted=True),
    ]
    file = tmp_path / "export.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    table = scan(file)
    cells = table.relation.fetchall()
    read = dict(zip(table.columns, zip(*cells, strict=True), strict=True))
    assert read["annotator"] == ("w0", "h1", "w2")
    assert (read["votes_yes"], read["votes_no"]) == (("1", "0", "0"), ("1", "0", "0"))
    assert read["round"] == ("11", "11", "11")
    found = evaluate(file)
    (only,) = found.rounds
    assert (only.fooling.successes, only.success.successes) == (1, 0)
    assert only.unchecked == 1
    assert found.notes[0] == "read as dynabench: 3 rows"


def test_lines_of_objects_are_read_too(tmp_path):
    file = tmp_path / "export.jsonl"
    lines = [json.dumps(attempt(k, wrong=k % 2 == 0, rid=1 + k // 3)) for k in range(6)]
    file.write_text("\n".join(lines), encoding="utf-8")
    assert [each.round for each in evaluate(file).rounds] == [1, 2]
