"""A log format or a chart kind is one entry and one line in its registry."""

from __future__ import annotations

import json

from tallystick.report import kinds, page_of
from tallystick.report.chart import Plot
from tallystick.report.kinds import Kind
from tallystick.report.svg import Mark, Track, Tracks
from tallystick.results import Figure, Result
from tallystick.table import logs, scan
from tallystick.table.logs import FORMATS, LogFormat, ScoreFields


def test_a_toy_log_format_is_detected_and_read(monkeypatch, tmp_path):
    toy = LogFormat(
        name="toy",
        keys=("toy", "answers"),
        rows=("answers",),
        item="q",
        scores=(ScoreFields(keys="(right)"),),
        model="toy",
    )
    monkeypatch.setattr(logs, "FORMATS", (*FORMATS, toy))
    for model, right in (("a", [1, 0]), ("b", [1, 1])):
        rows = [{"q": f"q{k}", "right": value} for k, value in enumerate(right, start=1)]
        (tmp_path / f"{model}.json").write_text(json.dumps({"toy": model, "answers": rows}))

    with scan([str(tmp_path / "a.json"), str(tmp_path / "b.json")]) as table:
        assert table.columns == ("item", "a", "b")
        assert table.relation.fetchall() == [("q1", 1.0, 1.0), ("q2", 0.0, 1.0)]
        assert table.notes[0] == "read as toy logs: 2 models on 2 items"


class Drawn(Result):
    def figures(self):
        return (Figure("dots", "Three dots", {"v": [1, 2, 3]}, {"x": "v"}),)


def draw_dots(figure):
    dots = tuple(
        Mark(shape="circle", look="dot", points=((value / 4, 10.0),), radius=4.0)
        for value in figure.columns["v"]
    )
    return Tracks(heads=("", "", ""), tracks=(Track(name="all", marks=dots),), ticks=())


def test_a_toy_chart_kind_is_drawn_saved_and_put_on_a_page(monkeypatch, tmp_path):
    kind = Kind(
        name="dots",
        words="Dots",
        draw=draw_dots,
        key=lambda figure: ["dot: a number"],
        thin=lambda figure: (figure, ""),
    )
    monkeypatch.setitem(kinds.KINDS, kind.name, kind)
    result = Drawn(verdict="Three.", n_items=3)

    Plot(result.figures()[0]).save(tmp_path / "dots.svg")
    assert "dot: a number" in (tmp_path / "dots.svg").read_text(encoding="utf-8")
    assert "Dots: Three dots; dot: a number" in page_of(result)


def test_no_two_entries_have_one_name():
    assert len({one.name for one in FORMATS}) == len(FORMATS)
