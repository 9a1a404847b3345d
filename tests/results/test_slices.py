from tallystick.results import Result, Slice, slice_lines


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
