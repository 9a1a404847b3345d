from tallystick.results import Figure, Needed, Result, Section, Sentences, Slice, slice_lines

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


class Rowed(Result):
    def slice_cells(self):
        return {"items": "12", "difference": "+3.0 points [+1.0, +5.0]"}


def test_slices_whose_results_have_a_row_are_one_table_and_the_others_say_why_below():
    lines = slice_lines(
        [Slice("en", Rowed(verdict="a", n_items=12)), Slice(None, "one item is too few")]
    )
    assert lines == [
        "slice  items  difference",
        "en     12     +3.0 points [+1.0, +5.0]",
        "(blank): one item is too few",
    ]


def test_results_without_a_row_speak_in_sentences():
    lines = slice_lines([Slice("en", Result(verdict="It holds.", n_items=3)), Slice("de", "no")])
    assert lines == ["en: It holds.", "de: no"]
