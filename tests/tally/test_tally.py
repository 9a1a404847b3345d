"""What a tally says, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tallystick.errors import InputError, MergeError
from tallystick.table import Tally


def test_labels_are_kept_as_written_and_ordered_by_type_then_value() -> None:
    tally = Tally.of({"a": ["spam", None, 2, True, "ham", -1, 0.5]})
    assert tally.labels["a"] == (True, -1, 0.5, 2, "ham", "spam", None)
    assert [type(label) for label in tally.labels["a"]][:4] == [bool, int, float, int]


def test_patterns_come_in_lexicographic_order() -> None:
    tally = Tally.of({"a": [1, 0, 1, 0], "b": ["y", "y", "x", "y"]})
    assert tally.codes.tolist() == [[0, 1], [1, 0], [1, 1]]
    assert tally.counts.tolist() == [2, 1, 1]
    assert tally.frame().to_pydict() == {"a": [0, 1, 1], "b": ["y", "x", "y"], "count": [2, 1, 1]}


def test_whole_numbers_beside_fractions_are_a_column_of_numbers() -> None:
    tally = Tally.of({"a": np.array([1.0, 0.5, 0.0, 0.5])})
    assert repr(tally.labels["a"]) == "(0, 0.5, 1)"
    assert tally.frame().to_pydict() == {"a": [0.0, 0.5, 1.0], "count": [1, 2, 1]}


def test_masked_and_strided_arrays_are_read_right() -> None:
    votes = np.arange(300_000, dtype=np.int8).reshape(-1, 3) % 2
    strided = Tally.of({f"c{j}": votes[:, j] for j in range(3)})
    assert strided == Tally.of({f"c{j}": votes[:, j].copy() for j in range(3)})
    masked = np.ma.MaskedArray([1, 0, 1], mask=[False, True, False])
    assert Tally.of({"a": masked}) == Tally.of({"a": [1, None, 1]})


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"a": ["1", "0"], "b": [1, 0]},
            r"'0' \(text, in column 'a'\).*0 \(integer, in column 'b'\)",
        ),
        ({"a": [1, "1.0"]}, r"1 \(integer.*'1\.0' \(text"),
        ({"a": [1, True]}, r"True \(boolean.*1 \(integer"),
    ],
)
def test_two_spellings_of_one_label_are_refused_unless_coerced(
    columns: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        Tally.of(columns)
    assert 1 in Tally.of(columns, coerce=True).labels["a"]


def test_spellings_that_meet_in_a_sum_or_a_stream_are_refused() -> None:
    with pytest.raises(MergeError, match="text, in column 'a'"):
        Tally.of({"a": ["1"]}) + Tally.of({"a": [1]})
    stream = Tally.of({"a": ["1"]})
    with pytest.raises(InputError, match="text, in column 'a'"):
        stream.update({"a": np.array([1], np.int8)})
    assert stream == Tally.of({"a": ["1"]})


def test_a_column_apart_may_have_its_own_vocabulary() -> None:
    data = {"vote": ["1", "0"], "slice": [1, 0]}
    tally = Tally.of(data, apart=["slice"])
    assert tally.labels == {"vote": ("0", "1"), "slice": (0, 1)}
    assert (tally + tally).n == 4


def test_coerced_rows_are_located_by_their_common_spelling() -> None:
    data = {"a": ["1", "0"], "b": [1, 0]}
    assert Tally.of(data, coerce=True).locate(data).tolist() == [1, 0]


def test_missing_tokens_match_by_spelling_and_numbers_by_value() -> None:
    assert Tally.of({"a": ["-1.0", "-1", "1"]}, missing=["-1"]).labels == {"a": ("1", None)}
    data = {"a": [-1, 1, 0], "b": ["NA", "yes", " "]}
    assert Tally.of(data, missing=[-1, "NA"]).labels == {"a": (0, 1, None), "b": ("yes", None)}


def test_cut_puts_a_number_into_its_bin() -> None:
    tally = Tally.of({"s": [0.0, 0.5, 0.99, 1.0, np.nan]}, cut={"s": [0, 0.5, 1]})
    assert tally.labels == {"s": (0, 1, None)}
    assert tally.counts.tolist() == [1, 3, 1]
    assert tally.cut == {"s": (0.0, 0.5, 1.0)}
    with pytest.raises(InputError, match=r"column 's' holds 2\.0, outside"):
        Tally.of({"s": [2.0]}, cut={"s": [0, 0.5, 1]})
    with pytest.raises(MergeError, match="cut="):
        tally + Tally.of({"s": [0.1]}, cut={"s": [0, 1]})


@pytest.mark.parametrize("edges", [[0], [1, 0], [0, 0], [0, float("nan")]])
def test_edges_must_rise(edges: list[float]) -> None:
    with pytest.raises(InputError, match="at least two rising edges"):
        Tally.of({"s": [0.1]}, cut={"s": edges})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Tally.of({"claude": [1]}, columns=["cluade"]), "did you mean 'claude'"),
        (lambda: Tally.of({"a": [1]}, columns="a"), r"write columns=\['a'\]"),
        (lambda: Tally.of({"a": [1]}, columns=["a", "a"]), "must name different columns"),
        (lambda: Tally.of({"a": [1]}, columns=[]), "must name different columns"),
        (
            lambda: Tally.of({"a": [1], "w": [1]}, columns=["a", "w"], weight="w"),
            "and not the weight",
        ),
        (lambda: Tally.of({"a": [1]}, missing="NA"), "missing must be a sequence"),
        (lambda: Tally.of({"w": [1]}, weight="w"), "no column to count"),
        (lambda: Tally.of({"a": [1]}, weight="xyz"), "no column 'xyz'; there are 'a'"),
        (
            lambda: Tally.of({"a": [1], "s": [0]}, columns=["a"], cut={"s": [0, 1]}),
            "columns= leaves out 's', which cut names",
        ),
        (lambda: Tally.of({"a": [1, 2], "b": [1]}), "equal lengths"),
        (lambda: Tally.of({"a": np.zeros((2, 2))}), "one-dimensional"),
        (
            lambda: Tally.of({"a": np.array(["2020-01-01"], "datetime64[D]")}),
            "has dtype datetime64",
        ),
        (lambda: Tally.of({"a": [b"x"]}), "holds a bytes"),
        (lambda: Tally.of({"a": [float("inf")]}), "infinite"),
        (lambda: Tally.of({"a": [2**60]}), r"beyond 2\^53"),
        (lambda: Tally.of(42), "got a int"),
        (lambda: Tally.of(pd.DataFrame([[1, 2]])), "named by text"),
        (
            lambda: Tally.of(pd.DataFrame([[1, 2]], columns=["a", "a"])),
            "same name|duplicate|more than one",
        ),
        (lambda: Tally.of({"a": [1]}).where(a=7), "no label 7: it has 1"),
        (lambda: Tally.of({"a": [1]}).where(b=1), "no column 'b'"),
        (lambda: Tally.of({"a": [1]}).marginal("a"), "sequence"),
        (lambda: Tally.of({"a": [1]}).marginal(["b"]), "no column 'b'"),
        (lambda: Tally().locate({"a": [1]}), "empty"),
        (lambda: Tally.from_patterns({"a": [1, 2]}, [1]), "one entry per pattern"),
        (lambda: Tally.from_patterns({"a": [1]}, [-1]), "not negative"),
        (
            lambda: Tally.of({"a": ["x", "y"], "w": [1e308, 1e308]}, weight="w"),
            "add up to more than a number holds",
        ),
    ],
)
def test_what_cannot_be_counted_is_refused_by_name(call: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()


def test_tallies_that_do_not_fit_are_refused() -> None:
    a, b = Tally.of({"a": [1]}), Tally.of({"b": [1]})
    with pytest.raises(MergeError, match=r"\('a',\) with one of \('b',\)"):
        a + b
    with pytest.raises(MergeError, match="weight"):
        a + Tally.of({"a": [1], "w": [1.0]}, weight="w")
    with pytest.raises(MergeError, match="missing"):
        a + Tally.of({"a": [1]}, missing=["NA"])


def test_counts_that_leave_64_bits_are_refused() -> None:
    large = Tally.from_patterns({"a": [0, 1]}, [2**62, 2**61])
    assert large.n == 2**62 + 2**61
    with pytest.raises(InputError, match="more than a 64-bit integer"):
        large + large


def test_where_keeps_columns_and_label_sets() -> None:
    tally = Tally.of({"a": [0, 1, 1], "b": [True, True, None]}, apart=["b"])
    part = tally.where(a=1, b=None)
    assert (part.n, part.names, part.labels) == (1, tally.names, tally.labels)
    assert tally.where(a=1.0).n == 2


def test_what_a_tally_hands_out_cannot_be_written_to() -> None:
    tally = Tally.of({"a": [0, 1]})
    with pytest.raises(ValueError, match="read-only"):
        tally.counts[0] = 5
    tally.labels["a"] = ()  # a copy
    assert tally.labels["a"] == (0, 1)


def test_a_sum_does_not_change_when_its_parts_grow() -> None:
    stream = Tally()
    for _ in range(3):
        stream.update({"a": np.array([0, 1], np.int8)})
    total = stream + Tally()
    stream.update({"a": np.array([0, 1], np.int8)})
    assert (total.n, stream.n) == (6, 8)


def test_a_tally_shows_itself() -> None:
    assert repr(Tally()) == "<Tally: empty>"
    weighted = Tally.of({"a": [1, 0], "w": [0.5, 0.25]}, weight="w")
    assert repr(weighted) == "<Tally of 1 column (a): 2 patterns, weight = 0.75>"
    assert weighted.weighted
    with pytest.raises(TypeError, match="unhashable"):
        hash(weighted)
