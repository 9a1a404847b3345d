import pytest

from tallystick.errors import InputError
from tallystick.report.chart import chart
from tallystick.report.plot import Plot, plot
from tallystick.report.shorten import MOST_NAMES, MOST_POINTS, MOST_SIDE, shorten, thin
from tallystick.results import Figure, Result

LINE = {"x": [1, 2, 3], "y": [0.1, None, 0.3], "lo": [0.0, 0.1, 0.2], "hi": [0.2, 0.3, 0.4], "g": ["a", "a", "b"]}
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
        {"x": "x", "y": "y", "low": "lo", "high": "hi", "outer_low": "lo", "outer_high": "hi", "mark": "y"},
    ),
    Figure("rounds", "r", LINE, {"x": "x", "y": "y"}),
    Figure("curve", "c", {"x": ["jan", "feb"], "y": [1.0, 2.0]}, {"x": "x", "y": "y"}),
    Figure("curve", "c", {"x": [0.001, 1.0], "y": [10, 100_000]}, {"x": "x", "y": "y"}),
    Figure(
        "matrix", "m", {"r": ["a", "b"], "c": ["a", "a"], "v": [-0.1, None]}, {"row": "r", "column": "c", "value": "v"}
    ),
    Figure("matrix", "m", {"r": [], "c": [], "v": []}, {"row": "r", "column": "c", "value": "v"}),
]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.kind)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_kind_is_drawn(figure, mode):
    svg = Plot(figure, mode).svg()
    assert svg.startswith("<svg")
    assert "NaN" not in svg


def test_an_estimate_and_its_interval_stand_where_they_should():
    figure = Figure(
        "forest",
        "f",
        {"n": ["a"], "s": [1.0], "l": [0.5], "h": [2.0]},
        {"name": "n", "x": "s", "low": "l", "high": "h"},
    )
    spec = chart(figure).to_dict()
    [row] = spec["data"]["values"] if "values" in spec["data"] else next(iter(spec["datasets"].values()))
    assert row == {"place": 0, "name": "a", "x": 1.0, "low": 0.5, "high": 2.0}


def test_sizes_over_two_decades_are_drawn_on_a_logarithmic_axis():
    spec = chart(FIGURES[6]).to_dict()
    scales = {layer["encoding"][axis]["scale"].get("type") for layer in spec["layer"] for axis in "xy"}
    assert scales == {"log"}


def test_a_leaderboard_of_thousands_is_cut_and_says_so():
    n = 5000
    figure = Figure("forest", "f", {"n": [f"m{i}" for i in range(n)], "s": [0.5] * n}, {"name": "n", "x": "s"})
    drawn, note = thin(figure)
    assert len(drawn.columns["n"]) == MOST_NAMES
    assert note == "the first 60 of 5,000 are drawn"
    assert len(Plot(figure).svg()) < 100_000


@pytest.mark.parametrize(
    ("text", "shown"), [("short", "short"), ("a\nb\tc", "a b c"), ("x‮y", "xy"), ("é" * 60, "é" * 47 + "…")]
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
