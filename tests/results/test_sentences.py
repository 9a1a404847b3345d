from tallystick.results import Needed, Result, Sentences


def test_the_verdict_is_all_but_the_next_step():
    told = Sentences(
        answer="a leads.", contrast="b looked better.", open="Not settled: c.", next="Next: d."
    )
    assert told.verdict == "a leads. b looked better. Not settled: c."
    assert Sentences(answer="a leads.").verdict == "a leads."


def test_a_result_without_sentences_opens_with_its_verdict_and_what_is_needed():
    result = Result(verdict="v.", n_items=1, decision="undecided", needed=Needed(40, "labels"))
    assert result.opening == Sentences(answer="v.", next="Next: get about 40 more labels.")
    assert "sentences" not in result.to_dict()
    assert "basis" not in result.to_dict()
