from tallystick.clients import (
    CallPrices,
    Journal,
    JournalEntry,
    Reply,
    request_notes,
    usage_warnings,
)


def test_tokens_times_and_models_are_added_up():
    journal = Journal(None, head={})
    for n, model in enumerate(["m-1", "m-1", "m-2"]):
        facts = {"model": model, "seconds": 0.1 * (n + 1), "input_tokens": 10, "output_tokens": 2}
        journal.note_answer(f"1:{n}", JournalEntry(str(n), 0, "x", facts=facts))
    journal.note_answer("1:9", JournalEntry("9", None, "failed"))
    usage = journal.usage
    assert (usage.input_tokens, usage.output_tokens) == (30, 6)
    assert (usage.latency, usage.slowest) == (0.2, 0.3)
    assert usage.models == {"m-1": 2, "m-2": 1}
    assert "m-1 (2 answers), m-2 (1 answers)" in usage_warnings(usage)[0]


def test_an_api_that_says_nothing_leaves_it_unknown():
    usage = Journal(None, head={}).usage
    assert usage.input_tokens is None
    assert usage.latency is None
    assert usage_warnings(usage) == ()


def test_tokens_that_are_not_counted_cost_the_most_they_can():
    prices = CallPrices(input=1.0, output=2.0, max_tokens=1000)
    assert prices.exact(Reply(text="x"), most=0.5) == 0.5
    assert prices.bounded
    assert not CallPrices(output=2.0).bounded


def test_what_was_sent_answered_and_paid_is_said():
    journal = Journal(None, head={})
    assert request_notes(journal, "USD", reused=0) == ()
    for n in range(3):
        journal.note_sent(f"1:{n}", 0.5)
    journal.note_sent("1:0", 0.5)
    journal.note_unbilled("1:2")
    journal.note_answer("1:0", JournalEntry("0", 0, "x", facts={"cost": 0.4}))
    journal.note_answer("1:1", JournalEntry("1", None, "HTTP 500"))
    (text,) = request_notes(journal, "USD", reused=7)
    assert text.startswith("1 answers from 4 requests sent, 3 of which may have been billed; 1 q")
    assert "cost 1.4 USD; 7 answers came from the journal; 1 requests may have been paid" in text
