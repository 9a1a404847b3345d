"""Pages without a worker process: its work is done in this one."""

from __future__ import annotations

import pytest

from tallystick.serve.service import Service
from tests.serve.queue.people import InProcess


@pytest.fixture(autouse=True)
def no_worker_process(service: Service) -> None:
    service.worker = InProcess(service.store)
