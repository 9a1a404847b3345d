import json

import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.verbs.dynamic import theory


def test_theory_states_every_theorem_that_applies():
    known = theory(0.1, rounds=3)
    text = " ".join(known.statements)
    assert all(
        name in text
        for name in (
            "Theorem 3.4",
            "Theorem 3.5",
            "Theorem 4.1",
            "Theorem 4.2",
            "A.2",
        )
    )
    assert isinstance(known.rounds[2].risk, Unknown)
    assert known.rounds[2].worst_case == pytest.approx(0.05)
    assert json.dumps(known.to_dict(), allow_nan=False)


def test_theory_refuses_nonsense():
    with pytest.raises(InputError):
        theory(0.1, rounds=0)
    with pytest.raises(InputError):
        theory(0.7)
