import asyncio
from collections import Counter

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


def test_flips_alone_are_asked_again_within_the_budget():
    client = Counting()
    items = Items.of(["a"] * 200, old=["a"] * 200)
    rows = [{"n": n} for n in range(200)]
    result = run(items, client, rows, ShiftQuestion(budget=120, seed=3))
    assert result.calls == len(client.asked) <= 120
    twice = [n for n, times in Counter(client.asked).items() if times > 1]
    assert twice
    assert all(n % 10 == 0 for n in twice)
    assert result.noise.confirmed == result.noise.repeats == len(twice)
    assert result.noise.beyond.interval.low > 0
