from tallystick.results import Figure, Needed, Result, Section, Sentences, Slice

FIGURE = Figure("curve", "c", {"x": [1]}, {"x": "x"})


class Tabled(Result):
    def rows(self):
        return [{"a": 0.5}]

    def units(self):
        return {"a": "share"}

    def figures(self):
        return (FIGURE, FIGURE)


def test_by_default_the_table_and_all_but_the_first_picture_are_one_fold():
    [section] = Tabled(verdict="v", n_items=1).folds()
    wanted = Section(
        title="Table", line="1 row.", rows=[{"a": 0.5}], units={"a": "share"}, figures=(FIGURE,)
    )
    assert section == wanted


def test_a_result_that_has_only_a_verdict_has_no_fold():
    assert Result(verdict="v", n_items=1).folds() == ()


def test_tables_for_pull_requests_are_in_per_cent_too():
    result = Tabled(verdict="v", n_items=1)
    assert "| 50.0% |" in result.to_markdown()


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


def test_a_slice_is_its_verdict_or_why_there_is_none():
    slices = (
        Slice("en", Result(verdict="It holds.", n_items=3)),
        Slice("de", "no"),
        Slice(None, "one item is too few"),
    )
    shown = str(Result(verdict="v", n_items=3, slices=slices)).splitlines()
    found = shown[shown.index("By slice:") + 1 :]
    assert found == ["  en: It holds.", "  de: no", "  (blank): one item is too few"]
