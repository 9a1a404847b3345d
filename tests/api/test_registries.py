"""Adding a log format, a chart kind or an interval touches one existing file: its registry."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import tallystick
from tallystick.errors import InputError
from tallystick.io import scan
from tallystick.io.logs import Log, LogReader, log_readers, registry
from tallystick.io.logs.json_text import document
from tallystick.report import kinds, page
from tallystick.report.drawing import Mark, Track, Tracks
from tallystick.report.kinds import Kind, chart_kinds
from tallystick.report.plot import Plot
from tallystick.results import Figure, Result

SOURCE = Path(tallystick.__file__).parent


def install(monkeypatch, home, name, **content):
    """Make a module that exists only in this test, and register it after the others."""
    module = ModuleType(name)
    for key, value in content.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(home, "MODULES", (*home.MODULES, name))


@cache
def strings(path: Path) -> tuple[str, ...]:
    """Return every text in the code of a file, docstrings apart."""
    return tuple(_strings(path))


def _strings(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.value)
        for parent in ast.walk(tree)
        if isinstance(getattr(parent, "body", None), list)
        for node in parent.body
        if isinstance(node, ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def files_with(word: str, *folders: str) -> set[str]:
    """Return the files of source whose code holds *word* as a text, or as the end of a module."""
    return {
        str(path.relative_to(SOURCE))
        for folder in folders
        for path in (SOURCE / folder).rglob("*.py")
        if any(text == word or text.endswith(f".{word}") for text in strings(path))
    }


def read_toy(files):
    logs = []
    for file in files:
        held = document(file)
        scores = {"right": {item: [float(value)] for item, value in held["right"].items()}}
        logs.append([Log(held["toy"], "", file.name, scores)])
    return logs


def test_a_toy_log_format_is_detected_and_read(monkeypatch, tmp_path):
    reader = LogReader(name="toy", read=read_toy, opens=lambda head: head.startswith('{"toy"'))
    install(monkeypatch, registry, "toy_log", READER=reader)
    for model, right in (("a", {"q1": 1, "q2": 0}), ("b", {"q1": 1, "q2": 1})):
        (tmp_path / f"{model}.json").write_text(json.dumps({"toy": model, "right": right}))

    with scan([str(tmp_path / "a.json"), str(tmp_path / "b.json")]) as table:
        assert table.columns == ("item", "a", "b")
        assert table.relation.fetchall() == [("q1", 1.0, 1.0), ("q2", 0.0, 1.0)]
        assert table.notes[0] == "read as toy logs: 2 models on 2 items"


def test_an_unknown_log_format_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="'toy' is not a log format: it is one of lm-eval"):
        registry.read_logs([], ["toy"])


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
    install(monkeypatch, kinds, "toy_kind", KIND=kind)
    result = Drawn(verdict="Three.", n_items=3)

    Plot(result.figures()[0]).save(tmp_path / "dots.svg")
    assert "dot: a number" in (tmp_path / "dots.svg").read_text(encoding="utf-8")
    assert "Dots: Three dots; dot: a number" in page(result)


def test_a_kind_that_nobody_registered_is_refused_when_it_is_drawn():
    with pytest.raises(InputError, match="'dots' is not a kind of chart: choose one of forest"):
        Plot(Drawn(verdict="Three.", n_items=3).figures()[0]).svg()


@pytest.mark.parametrize("module", registry.MODULES)
def test_a_log_format_is_named_by_its_own_file_and_the_registry_only(module):
    name, file = import_module(module).READER.name, module.rpartition(".")[2]
    named = files_with(name, ".") | files_with(file, ".")
    # What logs to a tool has the tool's name, too, and reads none of its logs.
    named = {one for one in named if not one.startswith("integrations/")}
    assert named == {f"io/logs/{file}.py", "io/logs/registry.py"}


@pytest.mark.parametrize("module", kinds.MODULES)
def test_a_chart_kind_is_named_by_its_own_file_and_the_registry_only(module):
    name = import_module(module).KIND.name
    assert module.endswith(f".{name}")
    named = files_with(name, "report", "results", "cli")
    assert named == {f"report/kinds/{name}.py", "report/kinds/__init__.py"}


def test_every_file_of_a_registry_is_registered():
    support = {"registry", "log", "json_text", "json_rows", "csv_rows", "naming"}
    support |= {"side_by_side", "inspect_log", "__init__"}
    logs = {path.stem for path in (SOURCE / "io" / "logs").glob("*.py")} - support
    assert {name.rpartition(".")[2] for name in registry.MODULES} == logs
    assert len(log_readers()) == len(logs)

    drawn = {path.stem for path in (SOURCE / "report" / "kinds").glob("*.py")}
    assert set(chart_kinds()) == drawn - {"kind", "lines", "__init__"}


def test_an_interval_is_listed_by_its_own_file_and_its_package_only():
    home = SOURCE / "stats" / "intervals"
    support = {"__init__", "array", "bounds", "side"}
    files = [path for path in home.glob("[a-z]*.py") if path.stem not in support]
    assert len(files) >= 9

    exported = import_module("tallystick.stats.intervals").__all__
    for path in files:
        own = import_module(f"tallystick.stats.intervals.{path.stem}").__all__
        assert any(name.startswith(path.stem) and name in exported for name in own), path.stem
        # Everybody else imports the package, so that a file may be renamed or split.
        users = [
            str(other.relative_to(SOURCE))
            for other in SOURCE.rglob("*.py")
            if f"tallystick.stats.intervals.{path.stem} import" in other.read_text("utf-8")
        ]
        assert all(user.startswith("stats/intervals/") for user in users), users
