"""A result in MLflow: numbers, verdict, gates and page, read back from a real store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tallystick import compare
from tallystick.integrations.mlflow import log_result, metrics_of


def test_everything_can_be_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="the library mlflow is not installed")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    scores = {"old": [1, 0, 0, 0] * 50, "new model!": [1, 1, 0, 1] * 50}
    result = compare(scores, gates=("'new model!' >= old",))
    with mlflow.start_run() as run:
        log_result(result)
    kept = mlflow.get_run(run.info.run_id)
    assert kept.data.metrics["compare/new model_/score"] == 0.75
    assert kept.data.metrics["compare/new model_/interval_low"] == pytest.approx(0.6857, abs=1e-4)
    assert kept.data.tags["tallystick.compare.verdict"] == result.verdict
    assert kept.data.tags["tallystick.compare.gate.1"].startswith("passed: ")
    folder = Path(
        mlflow.artifacts.download_artifacts(
            run_id=run.info.run_id, artifact_path="compare", dst_path=str(tmp_path)
        )
    )
    assert (
        json.loads((folder / "result.json").read_text(encoding="utf-8"))["schema"] == result.schema
    )
    assert result.verdict.split(":")[0] in (folder / "report.html").read_text(encoding="utf-8")


def test_a_number_that_is_unknown_is_left_out() -> None:
    result = compare({"a": [1, 0] * 20, "b": [0, 1] * 20})
    assert all(isinstance(value, float) for value in metrics_of(result).values())
