"""The worker's work is done in this process: starting one per test would take longer than the test."""

from __future__ import annotations

import inspect

import pytest

from tallystick.serve.jobs import Service
from tests.serve.queue.people import InProcess


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Whatever uses the service holds on both engines."""
    asked = set(inspect.signature(metafunc.function).parameters)
    if asked & {"service", "web", "far", "readers"}:
        metafunc.parametrize("engine", ["sqlite", "postgres"], indirect=True)


@pytest.fixture(autouse=True)
def no_worker_process(service: Service) -> None:
    service.worker = InProcess(service.store)
