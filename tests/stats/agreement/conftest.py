"""Rating tables as text, and coefficients of other programs on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest


@pytest.fixture(scope="session")
def read() -> Callable[[str], np.ndarray]:
    """Turn words of digits into codes: one word per item, "." for a missing rating."""

    def codes(text: str) -> np.ndarray:
        return np.array([[-1 if c == "." else int(c) for c in word] for word in text.split()])

    return codes
