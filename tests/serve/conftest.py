"""A service for tests: in this process, on SQLite or PostgreSQL, with a clock that tests turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("msgspec", reason="the extra serve is not installed")

from tallystick.serve import export as nightly
from tallystick.serve.app import make_app, make_service
from tallystick.serve.database import open_store
from tallystick.serve.jobs import Config, Service
from tests.report.browser import ABSENT, CHROMIUM, Browser
from tests.serve.postgres import fresh_database, postgres_server
from tests.serve.queue.people import InProcess
from tests.serve.web import Clock, Loop, Web


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """One PostgreSQL for all tests of this process; skipped with a reason where there is none."""
    with postgres_server() as address:
        yield address


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One Chromium for all pages of servers on this machine: it takes seconds to start."""
    if CHROMIUM is None:
        pytest.skip(ABSENT)
    running = Browser(tmp_path_factory.mktemp("profile"), local=True)
    yield running
    running.close()


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """An empty database of its own."""
    with fresh_database(postgres) as address:
        yield address


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """``sqlite``; folders whose tests hold on both engines parametrise it."""
    return str(getattr(request, "param", "sqlite"))


@pytest.fixture
def service(
    tmp_path: Path,
    clock: Clock,
    engine: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Service]:
    """A service; its jobs run only by ``service.jobs.run_due()``, the daily check in this process."""
    place = (
        request.getfixturevalue("database") if engine == "postgres" else tmp_path / "serve.sqlite"
    )
    store = open_store(place, durability="normal")
    monkeypatch.setattr(nightly, "Workers", lambda address: InProcess(store))
    service = make_service(store, config=Config(job_pause=0.0, folder=tmp_path), clock=clock)
    yield service
    service.close()


@pytest.fixture
def loop() -> Iterator[Loop]:
    with Loop() as running:
        yield running


@pytest.fixture
def web(service: Service, loop: Loop) -> Web:
    """A client on loopback, without a key: it may do everything."""
    return Web(make_app(service), loop)


@pytest.fixture
def far(service: Service, loop: Loop) -> Callable[..., Web]:
    """Make a client that comes from another machine, with or without a key."""
    app = make_app(service)

    def make(key: str | None = None, **headers: str) -> Web:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if key is not None:
            given["authorization"] = f"Bearer {key}"
        return Web(app, loop, base="https://tally.example", peer="203.0.113.9", headers=given)

    return make


HERE = ("queue", "pages")
"""Folders whose worker works in this process."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    asked = set(metafunc.fixturenames) & {"service", "web", "far", "readers"}
    # Turns and answers hold on both engines; elsewhere a test says so by its mark.
    if asked and Path(metafunc.module.__file__).parts[-2:] == ("queue", "test_labels.py"):
        metafunc.parametrize("engine", ["sqlite", "postgres"], indirect=True)


@pytest.fixture(autouse=True)
def no_worker_process(request: pytest.FixtureRequest) -> None:
    if request.path.parent.name in HERE and "service" in request.fixturenames:
        service = request.getfixturevalue("service")
        service.worker = InProcess(service.store)
