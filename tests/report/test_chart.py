import math
from xml.etree import ElementTree

import pytest

from tallystick.errors import InputError
from tallystick.report.chart import Plot, chart, plot
from tallystick.report.kinds import MOST_NAMES, MOST_PANELS, MOST_POINTS, MOST_SIDE, kind_of
from tallystick.report.svg import TOKENS
from tallystick.results import Figure, Result, shorten


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


def marks(figure, look, place=0):
    """The marks of one look in one track or panel."""
    drawn = chart(figure).drawing
    rows = drawn.tracks if hasattr(drawn, "tracks") else drawn.panels
    return [mark for mark in rows[place].marks if mark.look == look]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.kind)
@pytest.mark.parametrize("mode", ["light", "dark", "auto"])
def test_every_kind_is_drawn_as_sound_xml(figure, mode):
    svg = Plot(figure, mode).svg()
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert "nan" not in svg.lower()


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.kind)
def test_every_kind_is_drawn_for_a_page_without_a_style_of_its_own(figure):
    html = chart(figure).html()
    assert html.count("<svg") == 2, "one for a screen and one for a phone"
    assert "style" not in html, "the policy of a page forbids inline styles"
    assert "nan" not in html.lower()


def test_an_estimate_and_its_interval_stand_where_they_should():
    figure = Figure(
        "forest",
        "f",
        {"n": ["a"], "s": [0.5], "l": [0.2], "h": [1.0]},
        {"name": "n", "x": "s", "low": "l", "high": "h"},
        unit="share",
    )
    [track] = chart(figure).drawing.tracks
    assert (track.name, track.value, track.interval) == ("a", "50.0%", "[20.0, 100.0]")
    assert [tick.text for tick in chart(figure).drawing.ticks][::4] == ["20%", "100%"]
    [bar], [dot] = marks(figure, "bar"), marks(figure, "dot")
    assert [x for x, _ in bar.points] == [0.0, 1.0]
    assert dot.points[0][0] == pytest.approx(0.375)
    assert dot.hover == "a 50.0% [20.0, 100.0]"


def test_a_ring_outside_the_interval_is_drawn_for_attention_and_labelled():
    columns = {"n": ["a", "b"], "s": [0.5, 0.5], "l": [0.4, 0.4], "h": [0.6, 0.6], "j": [0.9, 0.5]}
    roles = {"name": "n", "x": "s", "low": "l", "high": "h", "mark": "j"}
    figure = Figure("forest", "f", columns, roles, {"mark": "judges alone"}, unit="share")
    assert len(marks(figure, "ring off", 0)) == 1
    assert len(marks(figure, "ring off", 1)) == 0
    assert len(marks(figure, "ring", 1)) == 1
    assert marks(figure, "ring off", 0)[0].hover == "judges alone 90.0%"


def test_what_is_not_settled_is_an_open_dot_and_differences_have_a_zero_line():
    columns = {
        "n": ["a", "b"],
        "d": [0.2, 0.1],
        "l": [0.1, -0.1],
        "h": [0.3, 0.3],
        "s": [True, False],
    }
    roles = {"name": "n", "x": "d", "low": "l", "high": "h", "settled": "s"}
    figure = Figure("forest", "f", columns, roles, unit="points")
    assert len(marks(figure, "dot open", 0)) == 0
    assert len(marks(figure, "dot open", 1)) == 1
    assert len(marks(figure, "zero", 0)) == 1
    assert "open dot: not settled" in key(figure)


def test_rows_of_one_name_stand_together_under_it():
    columns = {"n": ["a", "b", "a", "b"], "g": ["u", "u", "v", "v"], "s": [1.0, 2.0, 3.0, 4.0]}
    figure = Figure("forest", "f", columns, {"name": "n", "group": "g", "x": "s"})
    tracks = chart(figure).drawing.tracks
    assert [track.name for track in tracks] == ["a", "u", "v", "b", "u", "v"]
    assert [track.heading for track in tracks] == [True, False, False] * 2


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
    for ending, start in ((".svg", b"<svg"), (".png", b"\x89PNG")):
        picture.save(tmp_path / f"p{ending}")
        assert (tmp_path / f"p{ending}").read_bytes().startswith(start)
    with pytest.raises(InputError, match=r"\.svg or \.png"):
        picture.save(tmp_path / "p.gif")


def test_a_large_matrix_shows_its_corner_and_a_long_line_is_thinned():
    names = [str(i) for i in range(50)]
    cells = {"r": [a for a in names for _ in names], "c": names * 50, "v": [0.1] * 2500}
    drawn, note = thin(Figure("matrix", "m", cells, {"row": "r", "column": "c", "value": "v"}))
    assert len(drawn.columns["v"]) == MOST_SIDE**2
    assert note == "the first 30 of 50 are drawn"
    line = Figure("curve", "c", {"x": range(10_001), "y": range(10_001)}, {"x": "x", "y": "y"})
    drawn, note = thin(line)
    assert len(drawn.columns["x"]) <= MOST_POINTS
    assert note == "one in 6 of 10,001 points is drawn"


def test_columns_named_like_the_rows_stand_in_their_order():
    cells = {
        "r": ["a", "b", "c", "b", "c", "a"],
        "c": ["b", "a", "a", "c", "b", "c"],
        "v": [0.1] * 6,
    }
    drawn = chart(Figure("matrix", "m", cells, {"row": "r", "column": "c", "value": "v"})).drawing
    assert drawn.columns == ("a", "b", "c")
    assert [[cell is None for cell in row] for _, row in drawn.rows] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]


def test_an_interval_is_written_below_its_number_and_what_is_not_told_apart_has_no_colour():
    cells = {
        "r": ["a", "a"],
        "c": ["x", "y"],
        "v": [0.1, -0.2],
        "lo": [0.0, -0.3],
        "hi": [0.2, -0.1],
        "m": ["sure", ""],
    }
    roles = {"row": "r", "column": "c", "value": "v", "low": "lo", "high": "hi", "mark": "m"}
    figure = Figure("matrix", "m", cells, roles, unit="points")
    [(_, row)] = chart(figure).drawing.rows
    assert [cell.text for cell in row] == ["+10.0", "−20.0"]
    assert [cell.under for cell in row] == ["[0.0, +20.0]", "[−30.0, −10.0]"]
    assert row[0].tint > 0 == row[1].tint
    assert chart(figure).notes[-1] == "no colour: not sure"


def contrast(one, other):
    """Return the contrast of two colours as the Web Content Accessibility Guidelines count it."""

    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_and_marks_stand_out_from_the_paper(mode):
    token = TOKENS[mode]
    for ground in ("bg", "raise"):
        for ink in ("text", "muted", "blue", "orange"):
            assert contrast(token[ink], token[ground]) >= 4.5, (ink, ground)
    assert contrast(token["rule"], token["bg"]) >= 3


def test_a_file_of_one_look_names_its_colours_and_the_automatic_one_follows_the_reader():
    light, auto = (Plot(FIGURES[0], mode).svg() for mode in ("light", "auto"))
    assert "var(" not in light
    assert TOKENS["light"]["blue"] in light
    assert TOKENS["dark"]["blue"] not in light
    assert "prefers-color-scheme: dark" in auto


def test_marks_that_no_axis_names_are_explained_in_words():
    ends = {"lo": [0.4, 0.4], "hi": [0.6, 0.6], "doubt_low": [0.3, 0.3], "doubt_high": [0.7, 0.7]}
    roles = {"x": "n", "low": "lo", "high": "hi", "outer_low": "doubt_low"}
    figure = Figure(
        "rounds", "f", {"n": [1, 2], **ends}, roles | {"outer_high": "doubt_high"}, unit="share"
    )
    assert key(figure) == "pale band: doubt; band: lo to hi"
    assert len(marks(figure, "pale")) == 1
    assert len(marks(figure, "whisker")) == 2, "rounds have uprights, a curve has a band"


def test_every_group_has_its_own_small_plot_with_the_same_axes_and_many_are_cut():
    n = 20
    figure = Figure(
        "curve",
        "c",
        {"x": [1, 2] * n, "y": [1.0, 2.0] * n, "g": [g for g in range(n) for _ in "ab"]},
        {"x": "x", "y": "y", "group": "g"},
    )
    drawn = chart(figure)
    assert [panel.title for panel in drawn.drawing.panels] == [str(g) for g in range(MOST_PANELS)]
    assert drawn.notes == ("the first 12 of 20 are drawn",)


def test_a_picture_that_is_not_there_is_refused():
    class Pictured(Result):
        def figures(self):
            return (FIGURES[4],)

    assert plot(Pictured(verdict="v", n_items=1)).figure is FIGURES[4]
    with pytest.raises(InputError, match="figure 1 is not there: this result has 1 pictures"):
        plot(Pictured(verdict="v", n_items=1), figure=1)
    with pytest.raises(InputError, match="has 0 pictures"):
        plot(Result(verdict="v", n_items=1))


def test_a_chart_writes_an_estimate_and_its_ring_with_the_decimals_of_the_interval():
    from tallystick.report.kinds import forest

    figure = Figure(
        kind="forest",
        title="Scores",
        columns={"name": ["a"], "x": [4.0881], "low": [3.871], "high": [4.272], "ring": [4.0171]},
        roles={"name": "name", "x": "x", "low": "low", "high": "high", "mark": "ring"},
    )
    [track] = forest(figure).tracks
    assert (track.value, track.interval) == ("4.09", "[3.87, 4.27]")
    assert [mark.hover for mark in track.marks if mark.look == "ring"] == ["ring 4.02"]
