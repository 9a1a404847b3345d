"""Reports of garak, as ``garak.….report.jsonl`` holds them."""

import json

import pytest

from tallystick.errors import FileError
from tallystick.verbs.dynamic import evaluate


def report(tmp_path, entries, name="garak.report.jsonl"):
    file = tmp_path / name
    file.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    return file


SETUP = {
    "entry_type": "start_run setup",
    "run.eval_threshold": 0.5,
    "plugins.target_name": "llama-3",
}


def attempt(probe, scores, status=2):
    return {
        "entry_type": "attempt",
        "uuid": f"{probe}-{scores}",
        "status": status,
        "probe_classname": probe,
        "outputs": ["…"] * len(scores),
        "detector_results": {"detector.A": scores, "detector.B": [None] * len(scores)},
    }


def test_every_output_of_an_evaluated_attempt_is_a_try_of_its_probe(tmp_path):
    entries = [SETUP, attempt("dan.Dan", [1.0, 0.2]), attempt("dan.Dan", [0.0, 0.0], status=1)]
    entries += [attempt("encoding.Hex", [0.0, 0.5]), {"entry_type": "eval", "passed": 3}]
    found = evaluate(report(tmp_path, entries))
    (only,) = found.rounds
    assert (only.success.annotators, only.success.attempts, only.success.successes) == (2, 4, 2)
    assert found.rounds[0].models == ("llama-3",)


def test_a_hit_log_is_refused_because_it_has_no_failures(tmp_path):
    hit = {"goal": "g", "prompt": "p", "score": 1.0, "attempt_id": "a", "detector": "d.A"}
    with pytest.raises(FileError, match=r"only the attempts that succeeded.*report\.jsonl"):
        evaluate(report(tmp_path, [hit], "garak.hitlog.jsonl"))


def test_a_scan_that_did_not_finish_is_refused(tmp_path):
    with pytest.raises(FileError, match="no evaluated attempt"):
        evaluate(report(tmp_path, [SETUP, attempt("dan.Dan", [0.1], status=1)]))
