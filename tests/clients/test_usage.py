from tallystick.clients import CallPrices, Journal, JournalEntry, Reply, usage_warnings


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
