import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.compare import evaluate


@pytest.fixture(scope="module")
def board():
    rng = np.random.default_rng(0)
    return evaluate(
        {
            name: (rng.random(600) < p).astype(int)
            for name, p in zip("abc", (0.4, 0.8, 0.75), strict=True)
        },
        models=("a", "b", "c"),
    )


def test_a_pair_is_found_in_either_order_and_a_stranger_refused(board):
    assert board.pair("a", "b") == board.pair("b", "a")
    with pytest.raises(InputError, match="the pair 'a' and 'z' is not listed"):
        board.pair("a", "z")
