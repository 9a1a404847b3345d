from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import NotIdentifiable
from tallystick.stats.exact_tails import smallest


@given(answer=st.integers(0, 10**9), start=st.integers(0, 10**6))
def test_the_first_number_that_holds_is_found(answer, start):
    assert smallest(lambda n: n >= answer, start=start) == max(answer, start)


def test_few_questions_are_asked():
    asked = []
    smallest(lambda n: bool(asked.append(n)) or n >= 1_000_003)
    assert len(asked) < 45


def test_a_condition_that_never_holds_is_refused():
    with pytest.raises(NotIdentifiable, match="no n up to 1,000 is enough"):
        smallest(lambda n: n > 5000, limit=1000)
