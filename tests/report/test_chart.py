import math

import pytest

from tallystick.errors import InputError
from tallystick.report.chart import chart
from tallystick.report.kinds import kind_of
from tallystick.report.kinds.forest import MOST_NAMES
from tallystick.report.kinds.lines import MOST_POINTS
from tallystick.report.kinds.matrix import MOST_SIDE
from tallystick.report.plot import Plot, plot
from tallystick.report.shorten import shorten
from tallystick.report.theme import THEMES, contrast, readable_on
from tallystick.results import Figure, Result


def thin(figure):
    return kind_of(figure).thin(figure)


def key(figure):
    return "; ".join(kind_of(figure).key(figure))


LINE = {
    "x": [1, 2, 3],
    "y": [0.1, None, 0.3],
    "lo": [0.0, 0.1, 0.2],
    "hi": [0.2, 0.3, 0.4],
    "g": ["a", "a", "b"],
}
FIGURES = [
    Figure("forest", "f", {"n": ["a", "b"], "s": [1.0, 2.0]}, {"name": "n", "x": "s"}),
    Figure(
        "forest",
        "f",
        {"n": ["a", "a"], "s": [1.0, 2.0], "g": ["u", "v"], "t": ["p", "q"]},
        {"name": "n", "x": "s", "group": "g", "text": "t", "mark": "g"},
    ),
    Figure("bands", "b", LINE, {"x": "x", "low": "lo", "high": "hi", "group": "g"}),
    Figure(
        "bands",
        "b",
        LINE,
        {
            "x": "x",
            "y": "y",
            "low": "lo",
            "high": "hi",
            "outer_low": "lo",
            "outer_high": "hi",
            "mark": "y",
        },
    ),
    Figure("rounds", "r", LINE, {"x": "x", "y": "y"}),
    Figure("curve", "c", {"x": ["jan", "feb"], "y": [1.0, 2.0]}, {"x": "x", "y": "y"}),
    Figure("curve", "c", {"x": [0.001, 1.0], "y": [10, 100_000]}, {"x": "x", "y": "y"}),
    Figure(
        "matrix",
        "m",
        {"r": ["a", "b"], "c": ["a", "a"], "v": [-0.1, None]},
        {"row": "r", "column": "c", "value": "v"},
    ),
    Figure("matrix", "m", {"r": [], "c": [], "v": []}, {"row": "r", "column": "c", "value": "v"}),
    *(
        Figure(
            kind,
            "nothing is known",
            {"n": ["a", "b"], "v": [None, math.nan]},
            dict.fromkeys(("name", "x", "row", "column"), "n")
            | dict.fromkeys(("y", "value", "low", "high", "outer_low", "outer_high", "mark"), "v"),
        )
        for kind in ("forest", "bands", "rounds", "curve", "matrix")
    ),
]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.kind)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_kind_is_drawn(figure, mode):
    svg = Plot(figure, mode).svg()
    assert svg.startswith("<svg")
    assert "NaN" not in svg


def inline(spec):
    return (
        spec["data"]["values"]
        if "values" in spec["data"]
        else next(iter(spec["datasets"].values()))
    )


def test_an_estimate_and_its_interval_stand_where_they_should():
    figure = Figure(
        "forest",
        "f",
        {"n": ["a"], "s": [1.0], "l": [0.5], "h": [2.0]},
        {"name": "n", "x": "s", "low": "l", "high": "h"},
    )
    spec = chart(figure).to_dict()
    [row] = inline(spec)
    assert row == {"place": 0, "name": "a", "x": 1.0, "low": 0.5, "high": 2.0}


def test_sizes_over_two_decades_are_drawn_on_a_logarithmic_axis():
    spec = chart(FIGURES[6]).to_dict()
    scales = {
        layer["encoding"][axis]["scale"].get("type") for layer in spec["layer"] for axis in "xy"
    }
    assert scales == {"log"}


def test_a_leaderboard_of_thousands_is_cut_and_says_so():
    n = 5000
    figure = Figure(
        "forest", "f", {"n": [f"m{i}" for i in range(n)], "s": [0.5] * n}, {"name": "n", "x": "s"}
    )
    drawn, note = thin(figure)
    assert len(drawn.columns["n"]) == MOST_NAMES
    assert note == "the first 60 of 5,000 are drawn"
    assert len(Plot(figure).svg()) < 100_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [("short", "short"), ("a\nb\tc", "a b c"), ("x‮y", "xy"), ("é" * 60, "é" * 47 + "…")],
)
def test_text_from_the_data_is_cut_to_one_harmless_line(text, shown):
    assert shorten(text) == shown


def test_a_picture_is_saved_in_the_format_of_its_ending(tmp_path):
    picture = Plot(FIGURES[0])
    for ending, start in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".html", b"<!DOCTYPE html>")):
        picture.save(tmp_path / f"p{ending}")
        assert (tmp_path / f"p{ending}").read_bytes().startswith(start)
    with pytest.raises(InputError, match=r"\.svg, \.png or \.html"):
        picture.save(tmp_path / "p.gif")


def test_a_result_without_a_picture_says_so():
    with pytest.raises(InputError, match="has no picture"):
        plot(Result(verdict="v", n_items=1))


def test_a_large_matrix_shows_its_corner_and_a_long_line_is_thinned():
    names = [str(i) for i in range(50)]
    cells = {"r": [a for a in names for _ in names], "c": names * 50, "v": [0.1] * 2500}
    drawn, note = thin(Figure("matrix", "m", cells, {"row": "r", "column": "c", "value": "v"}))
    assert len(drawn.columns["v"]) == MOST_SIDE**2
    assert note == "the first 30 of 50 rows and 50 columns are drawn"
    line = Figure("curve", "c", {"x": range(10_001), "y": range(10_001)}, {"x": "x", "y": "y"})
    drawn, note = thin(line)
    assert len(drawn.columns["x"]) <= MOST_POINTS
    assert note == "one in 6 of 10,001 points is drawn"


def specification(figure, mode="light"):
    return chart(figure, mode=mode).to_dict()


def encodings(figure, channel):
    return [
        layer["encoding"][channel]
        for layer in specification(figure)["layer"]
        if channel in layer["encoding"]
    ]


def test_counts_have_whole_ticks():
    ranks = Figure("forest", "f", {"n": ["a", "b"], "r": [1, 2]}, {"name": "n", "x": "r"})
    assert {x["axis"]["tickMinStep"] for x in encodings(ranks, "x")} == {1}


def test_a_count_over_two_decades_stays_on_a_linear_axis():
    asked = Figure(
        "curve", "c", {"q": range(1, 601), "asked": range(1, 601)}, {"x": "q", "y": "asked"}
    )
    assert {x["scale"].get("type", "linear") for x in encodings(asked, "x")} == {"linear"}


def test_columns_named_like_the_rows_stand_in_their_order():
    cells = {
        "r": ["a", "b", "c", "b", "c", "a"],
        "c": ["b", "a", "a", "c", "b", "c"],
        "v": [0.1] * 6,
    }
    drawn = Figure("matrix", "m", cells, {"row": "r", "column": "c", "value": "v"})
    assert {tuple(x["sort"]) for x in encodings(drawn, "x")} == {("a", "b", "c")}


def test_an_interval_is_written_below_its_number_and_what_is_not_told_apart_is_pale():
    cells = {
        "r": ["a", "a"],
        "c": ["x", "y"],
        "v": [0.1, -0.2],
        "lo": [0.0, -0.3],
        "hi": [0.2, -0.1],
        "m": ["sure", ""],
    }
    roles = {"row": "r", "column": "c", "value": "v", "low": "lo", "high": "hi", "mark": "m"}
    spec = specification(Figure("matrix", "m", cells, roles))
    rows = inline(spec)
    assert [row["span"] for row in rows] == ["[0.000, 0.200]", "[-0.300, -0.100]"]
    assert rows[1]["strength"] < rows[0]["strength"] == 1
    assert spec["title"]["subtitle"] == ["pale: not sure"]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_numbers_in_a_matrix_can_be_read_on_their_cells(mode):
    theme = THEMES[mode]
    for share in [k / 20 for k in range(-20, 21)]:
        paper = theme.cell(share)
        assert contrast(readable_on(paper), paper) >= 4.5


def test_marks_that_no_axis_names_are_explained_in_words():
    columns = {
        "n": ["a"],
        "s": [0.5],
        "lo": [0.4],
        "hi": [0.6],
        "with_doubt_low": [0.3],
        "with_doubt_high": [0.7],
    }
    roles = {"name": "n", "value": "s", "low": "lo", "high": "hi"}
    roles |= {"outer_low": "with_doubt_low", "outer_high": "with_doubt_high"}
    assert (
        key(Figure("forest", "f", columns, roles))
        == "thin line: with doubt; thick line: lo to hi; point: s"
    )


def test_more_groups_than_colours_differ_by_their_dashes():
    n = 9
    figure = Figure(
        "curve",
        "c",
        {"x": [1] * n, "y": [1.0] * n, "g": list(range(n))},
        {"x": "x", "y": "y", "group": "g"},
    )
    [dashes] = encodings(figure, "strokeDash")
    turns = list(map(tuple, dashes["scale"]["range"]))
    assert turns[:7] == [turns[0]] * 7
    assert turns[7:] == [turns[8]] * 2 != [turns[0]] * 2
    assert dashes["scale"]["domain"] == [str(group) for group in range(n)]


def test_a_title_is_cut_at_one_hundred_and_ten_characters():
    columns = {"model": ["a"], "score": [0.7]}
    roles = {"name": "model", "x": "score"}

    def title(words):
        return chart(Figure("forest", words, columns, roles)).to_dict()["title"]["text"]

    assert title("x" * 110) == "x" * 110
    assert title("x" * 111) == shorten("x" * 111, 110) != "x" * 111
