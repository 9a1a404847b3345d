"""The worker's work is done in this process: starting one per test would take longer than the test."""

from __future__ import annotations

import pytest

from tallystick.serve.service import Service
from tests.serve.queue.people import InProcess


@pytest.fixture(autouse=True)
def no_worker_process(service: Service) -> None:
    service.worker = InProcess(service.store)
