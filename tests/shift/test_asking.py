import asyncio

import numpy as np
import pytest

from tallystick.clients import Client
from tallystick.verbs.shift import Items, ShiftQuestion, run


class Counting(Client):
    """Answers 'b' to a tenth of the items, always; counts what it is asked."""

    def __init__(self):
        self.asked = []

    @property
    def description(self):
        return {"kind": "counting"}

    async def answer(self, row):
        await asyncio.sleep(0)
        self.asked.append(row["n"])
        return "b" if row["n"] % 10 == 0 else "a"


@pytest.fixture(scope="module")
def done():
    client = Counting()
    items = Items.of(["a"] * 200, old=["a"] * 200)
    rows = [{"n": n} for n in range(200)]
    return client, run(items, client, rows, ShiftQuestion(budget=120, seed=3))


def test_the_budget_is_a_hard_limit_and_repeats_are_part_of_it(done):
    client, result = done
    assert len(client.asked) <= 120
    assert result.calls == len(client.asked)
    assert result.noise.repeats > 0


def test_only_flips_are_asked_again(done):
    client, _ = done
    numbers = np.array(client.asked)
    twice = [n for n in set(client.asked) if (numbers == n).sum() > 1]
    assert twice
    assert all(n % 10 == 0 for n in twice)


def test_a_confirmed_change_is_beyond_noise(done):
    result = done[1]
    assert result.noise.confirmed == result.noise.repeats
    assert result.noise.beyond.interval.low > 0
