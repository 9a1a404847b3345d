"""What every test may ask for: the real data, if it is here, and a place to keep a coverage
table."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from benchmarks.record import keep, shown

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile(
    "house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests with Spark first, so that one process runs them all and starts one Spark."""
    items.sort(key=lambda item: "spark" not in getattr(item, "fixturenames", ()))


@pytest.fixture
def in_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a verb in this process: starting an interpreter for each would cost more than all of them
    together."""
    from tallystick.cli import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code: object = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            code = leaving.code or 0
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess([*map(str, arguments)], int(str(code)), out, err)

    return run


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data; the test is skipped, with this reason, where it is absent."""
    folder = Path(os.environ.get("TALLYSTICK_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("real data is absent: set TALLYSTICK_DATA to its folder")
    return folder


@pytest.fixture
def publish_coverage(
    request: pytest.FixtureRequest,
) -> Callable[[str, str, Sequence[Mapping[str, Any]]], None]:
    """Keep the rows of a slow simulation as benchmarks/results/coverage-NAME.json if a page shows
    them, with a sentence that says what they are."""

    def publish(name: str, sentence: str, rows: Sequence[Mapping[str, Any]]) -> None:
        command = f"pytest -m slow {request.path.relative_to(ROOT).as_posix()}"
        title = f"Coverage: {name.replace('-', ' ')}"
        if f"coverage-{name}" in shown():  # what no page shows is held by its test alone
            keep(f"coverage-{name}", title, rows, [sentence], command=command)

    return publish


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One local Spark for all tests of a process: it takes seconds to start."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17, and there is no java on this machine")
    sql = pytest.importorskip("pyspark.sql")
    session = (
        sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        # Queries on a few rows end before compiling them pays: half of the time without.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .getOrCreate()
    )
    yield session
    session.stop()
