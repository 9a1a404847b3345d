import json

import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.verbs.dynamic import theory


def test_theory_states_every_theorem_that_applies():
    known = theory(0.1, rounds=3, noise=0.2)
    text = " ".join(known.statements)
    assert all(
        name in text
        for name in (
            "Theorem 3.4",
            "Theorem 3.5",
            "Theorem 3.6",
            "Theorem 4.1",
            "Theorem 4.2",
            "A.2",
        )
    )
    assert isinstance(known.rounds[2].worst_case, Unknown)
    assert known.rounds[2].noise_share > known.rounds[0].noise_share == 0.2
    assert json.dumps(known.to_dict(), allow_nan=False)


def test_theory_takes_another_start_and_refuses_nonsense():
    near, far = theory(0.1, rounds=3), theory(0.1, rounds=3, distance=0.1)
    assert far.rounds[2].worst_case > near.rounds[2].worst_case == pytest.approx(0.05)
    for options in ({"rounds": 0}, {"noise": 1}, {"distance": 2}):
        with pytest.raises(InputError):
            theory(0.1, **options)
    with pytest.raises(InputError):
        theory(0.7)
