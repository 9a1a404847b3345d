import json
import re
import sys
from dataclasses import dataclass, field
from typing import Any, ClassVar
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError, MissingExtra
from tallystick.results import (
    Figure,
    Interval,
    Needed,
    Result,
    Slice,
    Unknown,
    check_gates,
    to_json,
)


@dataclass(frozen=True)
class Row:
    name: str
    accuracy: Any
    interval: Any


@dataclass(frozen=True, kw_only=True)
class Sample(Result):
    verb: ClassVar[str] = "sample"
    judges: tuple[Row, ...] = ()
    table: Any = None
    raw: Any = field(default=None, metadata={"private": True})

    def rows(self):
        return [
            {"name": r.name, "accuracy": r.accuracy, "interval": r.interval} for r in self.judges
        ]


INTERVAL = Interval(0.5, 0.75, guarantee="exact")


def sample(**more):
    rows = (
        Row("gpt", 0.625, INTERVAL),
        Row("<b>llama</b>", Unknown("it never voted"), Unknown("it never voted")),
    )
    return Sample(
        verdict="gpt is right on 62% of items, at least 50%.", n_items=40, judges=rows, **more
    )


@pytest.mark.parametrize(
    "bad",
    [
        {"low": 2, "high": 1},
        {"low": float("nan"), "high": 1},
        {"low": 0, "high": 1, "level": 1},
        {"low": 0, "high": 1, "guarantee": "sure"},
        {"low": 0, "high": 1, "guarantee": "under"},
        {"low": 0, "high": 1, "guarantee": "exact", "assumption": "independence"},
    ],
)
def test_an_interval_that_makes_no_sense_is_refused(bad):
    with pytest.raises(InputError):
        Interval(**bad)


def test_the_dictionary_of_a_result_is_the_frozen_schema():
    assert sample(needed=Needed(12, "labels"), decision="undecided", seed=3).to_dict() == {
        "schema": 1,
        "verb": "sample",
        "verdict": "gpt is right on 62% of items, at least 50%.",
        "decision": "undecided",
        "needed": {"count": 12, "of": "labels"},
        "n_items": 40,
        "assumptions": [],
        "warnings": [],
        "reading": None,
        "seed": 3,
        "judges": [
            {
                "name": "gpt",
                "accuracy": 0.625,
                "interval": [0.5, 0.75],
                "interval_guarantee": "exact",
            },
            {"name": "<b>llama</b>", "accuracy": None, "interval": None},
        ],
        "table": None,
        "gates": [],
        "notes": [],
        "unknown": {"judges[1].accuracy": "it never voted", "judges[1].interval": "it never voted"},
    }


def test_what_is_not_a_number_becomes_null_with_a_reason():
    out = sample(
        table={
            "a": float("nan"),
            "b": [1.0, float("inf")],
            "c": np.array([1, 2]),
            "d": np.float64(2),
        }
    ).to_dict()
    assert out["table"] == {"a": None, "b": [1.0, None], "c": [1, 2], "d": 2.0}
    assert out["unknown"]["table.a"] == "not a number"
    assert out["unknown"]["table.b[1]"] == "unbounded"
    json.loads(to_json(out), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_every_nested_value_has_a_strict_json_form(value):
    text = to_json(sample(table=value).to_dict())
    assert json.loads(text)["verb"] == "sample"


def test_a_value_without_json_form_is_refused_by_path():
    with pytest.raises(InputError, match=r"table\.x: a object has no JSON form"):
        sample(table={"x": object()}).to_dict()


def test_the_frame_splits_an_interval_into_its_ends():
    frame = sample().to_frame()
    assert frame.column_names == ["name", "accuracy", "interval_low", "interval_high"]
    assert frame["interval_low"].to_pylist() == [0.5, None]


def test_the_summary_opens_with_the_verdict_and_ends_with_what_it_rests_on():
    text = sample(
        assumptions=("items drawn at random",),
        warnings=("few items",),
        needed=Needed(None, "labels"),
    ).summary()
    lines = text.splitlines()
    assert lines[0].startswith("gpt is right")
    assert lines[1] == "Next: get more labels."
    assert lines[-2:] == [
        "Intervals: 95%, exact. Rests on: items drawn at random.",
        "! few items",
    ]
    assert any("llama" in line and "never voted" not in line for line in lines[2:-2]), "the table"


def test_html_is_escaped():
    page = sample()._repr_html_()
    assert "<b>llama" not in page
    assert "&lt;b&gt;llama" in page


def test_the_columns_of_a_figure_have_one_length():
    Figure("forest", "t", {"a": [1], "b": [2]}, {"x": "a"})
    with pytest.raises(InputError, match="equal lengths"):
        Figure("forest", "t", {"a": [1], "b": []}, {})


def test_a_notebook_shows_the_first_rows_and_says_so():
    rows = tuple(Row(f"m{i}", 0.5, INTERVAL) for i in range(201))
    page = Sample(verdict="v", n_items=1, judges=rows)._repr_html_()
    assert "m199" in page
    assert "m200" not in page
    assert "The first 200 of 201 rows are shown." in page


def with_gate(low, high, text="a >= 0.5"):
    return check_gates([text], margin=lambda gate: Interval(low, high))


def test_gates_notes_and_slices_are_part_of_every_dictionary():
    part = Slice("de", sample())
    held = sample(
        gates=with_gate(0.6, 0.7), notes=("judges: gpt",), slices=(part, Slice(None, "no items"))
    ).to_dict()
    assert [gate["passed"] for gate in held["gates"]] == [True]
    assert held["notes"] == ["judges: gpt"]
    assert [one["slice"] for one in held["slices"]] == ["de", None]
    assert held["slices"][0]["verdict"] == sample().verdict
    assert held["slices"][1]["unknown"] == {"verdict": "no items"}
    assert "slices" not in sample().to_dict()
    json.loads(to_json(held))


def test_the_main_table_goes_to_pandas_and_polars():
    names = ["name", "accuracy", "interval_low", "interval_high"]
    pandas, polars = sample().to_pandas(), sample().to_polars()
    assert list(pandas.columns) == polars.columns == names
    assert pandas["interval_high"][0] == polars["interval_high"][0] == 0.75
    assert polars["accuracy"].to_list() == [0.625, None]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_absent_is_asked_for_by_its_extra(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'tallystick\[{library}\]'"):
        getattr(sample(), f"to_{library}")()


def test_the_main_table_goes_to_markdown():
    assert sample().to_markdown().splitlines() == [
        "| name | accuracy |",
        "|---|---:|",
        "| gpt | 0.62 [0.50, 0.75] |",
        "| &lt;b>llama&lt;/b> | – |",
    ]


@pytest.mark.parametrize("name", ["a|b", "`rm`", "[x](http://y)", "*b*", "line\nbreak", "\\|"])
def test_no_name_breaks_out_of_its_cell(name):
    table = Sample(verdict="v", n_items=1, judges=(Row(name, 0.5, INTERVAL),)).to_markdown()
    row = table.splitlines()[2]
    assert len(table.splitlines()) == 3
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3
    assert "](" not in row.replace("\\]", "")


def test_gates_are_written_for_a_build_server():
    gates = with_gate(0.6, 0.7) + with_gate(0.1, 0.2, "'<b>' >= 0.5") + with_gate(0.4, 0.6)
    root = ElementTree.fromstring(sample(gates=gates).to_junit())
    [suite] = root
    assert suite.attrib == {
        "name": "tallystick sample",
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    assert [case.get("name") for case in suite] == ["a >= 0.5", "'<b>' >= 0.5", "a >= 0.5"]
    assert [case[0].tag for case in suite] == ["system-out", "failure", "error"]


def test_an_interval_says_what_it_promises():
    assert INTERVAL.promise == "exact"
    assert (
        Interval(0, 1, guarantee="under", assumption="independence").promise == "under independence"
    )
    assert str(INTERVAL) == "[0.500, 0.750] (95%, exact)"
    assert 0.5 in INTERVAL
    assert 0.75 in INTERVAL
    assert 0.76 not in INTERVAL
    assert INTERVAL.width == 0.25
