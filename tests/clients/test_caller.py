import asyncio
import time

import pytest

from tallystick.clients import (
    AnswerReading,
    Caller,
    Client,
    ClientError,
    ClientQuestion,
    Fault,
    Journal,
    read_journal,
)
from tallystick.errors import BudgetError, InputError

BUSY = {"retry": True, "billed": False}
LABELS = ["five", "four", "six"]
ROWS = [{"id": f"i{number}"} for number in range(20)]


def caller_of(client, how, journal=None):
    return Caller(
        client,
        ROWS,
        how,
        Journal(journal, head={}),
        names=[row["id"] for row in ROWS],
        read=lambda text: AnswerReading("exact").code(text, LABELS),
    )


class Scripted(Client):
    """Answer as the script says: a text, or a fault to raise."""

    def __init__(self, *script):
        self.script, self.times = list(script), []

    @property
    def description(self):
        return {"kind": "scripted"}

    async def answer(self, row):
        self.times.append(time.monotonic())
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


def ask(client, *, how, journal=None, number=1):
    async def main():
        caller = caller_of(client, how, journal)
        return [await caller.ask(n) for n in range(number)], caller.journal

    return asyncio.run(main())


def test_a_server_that_asks_to_wait_is_not_asked_before():
    client = Scripted(Fault("busy", wait=0.3, **BUSY), Fault("busy", wait=0.2, **BUSY), "four")
    codes, journal = ask(client, how=ClientQuestion(wait=0.001))
    assert codes == [LABELS.index("four")]
    assert client.times[1] - client.times[0] >= 0.3
    assert client.times[2] - client.times[1] >= 0.2
    assert journal.sent.total() == 3
    assert journal.billed == 1


def test_an_item_is_tried_as_often_as_said_and_no_more():
    client = Scripted("five", *[Fault("busy", **BUSY) for _ in range(3)])
    codes, journal = ask(client, how=ClientQuestion(wait=0.001, attempts=3), number=2)
    assert codes == [LABELS.index("five"), None]
    assert journal.sent == {"1:i0": 1, "1:i1": 3}


def test_what_is_not_worth_a_retry_is_not_retried():
    client = Scripted("five", Fault("bad request", retry=False, billed=False))
    _, journal = ask(client, how=ClientQuestion(), number=2)
    assert journal.sent == {"1:i0": 1, "1:i1": 1}


def test_the_breaker_opens_after_so_many_failed_items_in_a_row_and_keeps_what_was_answered(
    tmp_path,
):
    broken = [Fault("broken", retry=False, billed=True) for _ in range(6)]
    client = Scripted("four", *broken[:2], "five", *broken[2:])
    with pytest.raises(ClientError, match="broken: stopped after 3 failed items"):
        ask(client, how=ClientQuestion(breaker=3), journal=tmp_path / "j", number=10)
    _, answers = read_journal(tmp_path / "j")
    told = {key: entry.code for key, entry in answers.items()}
    assert told == {
        "1:i0": LABELS.index("four"),
        "1:i1": None,
        "1:i2": None,
        "1:i3": LABELS.index("five"),
        "1:i4": None,
        "1:i5": None,
    }
    assert len(client.script) == 1, "nothing was asked after it opened"


def test_a_slow_answer_is_cut_off_and_may_have_been_billed():
    class Slow(Scripted):
        async def answer(self, row):
            self.times.append(0.0)
            await asyncio.sleep(0 if len(self.times) > 1 else 30)
            return "six"

    codes, journal = ask(Slow(), how=ClientQuestion(timeout=0.05, wait=0.001))
    assert codes == [LABELS.index("six")]
    assert journal.billed == 2


def test_a_retry_does_not_outspend_the_limit():
    client = Scripted(*[Fault("lost", retry=True, billed=True) for _ in range(5)])
    with pytest.raises(BudgetError, match="used up: 2 requests"):
        ask(client, how=ClientQuestion(wait=0.001, price=1.0, max_cost=2.0))


def test_nobody_asks_on_once_the_key_was_refused():
    client = Scripted(*[Fault("refused", retry=False, billed=False, fatal=True) for _ in range(5)])

    async def main():
        caller = caller_of(client, ClientQuestion(concurrency=1))
        return await asyncio.gather(*(caller.ask(n) for n in range(5)), return_exceptions=True)

    assert [type(one) for one in asyncio.run(main())] == [ClientError] * 5
    assert len(client.times) == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
@pytest.mark.parametrize("name", ["timeout", "max_cost", "wait"])
def test_limits_that_are_no_positive_number_are_refused_by_name(name, value):
    with pytest.raises(InputError, match=f"^{name} must be a positive number, got {value!r}"):
        ClientQuestion(**{"price": 1.0, name: value})


@pytest.mark.parametrize("wait", [1e300, float("inf"), 3600.0])
def test_a_server_that_asks_to_wait_for_ages_fails_the_call_and_is_quoted(tmp_path, wait):
    client = Scripted("five", Fault("busy", wait=wait, **BUSY))
    codes, journal = ask(client, how=ClientQuestion(), number=2, journal=tmp_path / "j")
    assert codes == [LABELS.index("five"), None]
    assert f"asks to wait {wait:g} s" in journal.answers["1:i1"].text
    assert journal.billed == 1
