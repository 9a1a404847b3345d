"""A fuzzer that knows the description finds no error of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.serve.schema import INSTALLED, fuzzed


@pytest.mark.skipif(not INSTALLED, reason="schemathesis is not installed")
def test_fifty_cases_give_no_error_of_ours(tmp_path: Path) -> None:
    cases, failed = fuzzed(tmp_path, 6)
    assert failed == ""
    assert cases >= 50
