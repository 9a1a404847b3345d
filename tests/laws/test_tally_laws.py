"""The laws of a tally, over every form: dense, sparse, weighted, labels of every type, missing
votes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.table import Tally

# One vocabulary without two spellings of one value, so that any two tables of it may be merged.
VOCABULARY = [True, 2, -3, 0.5, "yes", "no", "2 of 3", None]
WIDE = 17  # 2^17 patterns of two labels are more than a dense table holds


@dataclass
class Table:
    """Rows of labels, with weights that add up without rounding."""

    names: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    weights: list[float] | None

    def tally(self, start: int = 0, stop: int | None = None) -> Tally:
        return Tally.of(self.columns(start, stop), weight=None if self.weights is None else "w")

    def columns(self, start: int = 0, stop: int | None = None) -> dict[str, list[Any]]:
        rows = self.rows[start:stop]
        columns = {name: [row[j] for row in rows] for j, name in enumerate(self.names)}
        return columns if self.weights is None else {**columns, "w": self.weights[start:stop]}


@st.composite
def tables(draw: st.DrawFn, *, form: str) -> Table:
    """A table of the given form; all tables of one form and kind have the same columns."""
    k = WIDE if form == "sparse" else 2
    labels = [0, 1] if form == "sparse" else VOCABULARY
    rows = draw(st.lists(st.tuples(*[st.sampled_from(labels)] * k), max_size=12))
    # both labels in every column, so that the table of all patterns is too large
    if form == "sparse":
        rows = [(0,) * k, (1,) * k, *rows]
    weights = [draw(st.integers(0, 64)) / 8 for _ in rows] if form == "weighted" else None
    return Table(tuple(f"c{j}" for j in range(k)), rows, weights)


FORMS = pytest.mark.parametrize("form", ["dense", "sparse", "weighted"])


@FORMS
@settings(max_examples=25)
@given(data=st.data())
def test_tallies_are_a_commutative_monoid(form: str, data: st.DataObject) -> None:
    a, b, c = (data.draw(tables(form=form)).tally() for _ in range(3))
    assert a + Tally() == a == Tally() + a
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert sum([a, b, c]) == a + b + c


@FORMS
@settings(max_examples=25)
@given(data=st.data())
def test_the_order_of_rows_does_not_matter(form: str, data: st.DataObject) -> None:
    table = data.draw(tables(form=form))
    order = data.draw(st.permutations(range(len(table.rows))))
    weights = None if table.weights is None else [table.weights[i] for i in order]
    assert Table(table.names, [table.rows[i] for i in order], weights).tally() == table.tally()


@FORMS
@settings(max_examples=25)
@given(data=st.data())
def test_the_order_of_columns_does_not_matter(form: str, data: st.DataObject) -> None:
    table = data.draw(tables(form=form))
    order = data.draw(st.permutations(range(len(table.names))))
    turned = Table(
        tuple(table.names[j] for j in order),
        [tuple(row[j] for j in order) for row in table.rows],
        table.weights,
    )
    assert turned.tally() == table.tally()
    assert turned.tally() + table.tally() == table.tally() + turned.tally()


@FORMS
@settings(max_examples=25)
@given(data=st.data())
def test_any_sharding_gives_the_same_tally(form: str, data: st.DataObject) -> None:
    table = data.draw(tables(form=form))
    whole = table.tally()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(table.rows)), max_size=4)))
    edges = [0, *cuts, len(table.rows)]
    shards = [table.tally(a, b) for a, b in pairwise(edges)]
    assert sum(data.draw(st.permutations(shards)), Tally()) == whole


@FORMS
@settings(max_examples=25)
@given(data=st.data())
def test_updates_in_any_batching_equal_one_pass(form: str, data: st.DataObject) -> None:
    table = data.draw(tables(form=form))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(table.rows)), max_size=4)))
    edges = [0, *cuts, len(table.rows)]
    stream = table.tally(0, 0)
    for a, b in pairwise(edges):
        stream.update(table.columns(a, b))
    assert stream == table.tally()


@settings(max_examples=25)
@given(
    batches=st.lists(st.lists(st.tuples(*[st.integers(-128, 127)] * 2), max_size=6), max_size=5),
    dtype=st.sampled_from([np.int8, np.int16, np.int64]),
)
def test_a_stream_of_integer_arrays_equals_one_pass(
    batches: list[list[tuple[int, int]]], dtype: type
) -> None:
    stream = Tally()
    for batch in batches:
        stream.update({f"c{j}": np.array([row[j] for row in batch], dtype) for j in range(2)})
    rows = [row for batch in batches for row in batch]
    if batches:
        assert stream == Tally.of(
            {f"c{j}": np.array([row[j] for row in rows], dtype) for j in range(2)}
        )
    assert dict(zip(_patterns(stream), stream.counts.tolist(), strict=True)) == Counter(rows)


@FORMS
@settings(max_examples=25)
@given(data=st.data())
def test_save_and_load_return_the_same_tally(
    form: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tally = data.draw(tables(form=form)).tally()
    path = tmp_path_factory.mktemp("saved") / "t.tally"
    tally.save(path)
    loaded = Tally.load(path)
    assert loaded == tally
    assert loaded.counts.dtype == tally.counts.dtype
    assert loaded + tally == tally + tally


@FORMS
@settings(max_examples=25)
@given(data=st.data())
def test_the_marginal_of_a_sum_is_the_sum_of_the_marginals(form: str, data: st.DataObject) -> None:
    a, b = (data.draw(tables(form=form)).tally() for _ in range(2))
    names = data.draw(st.lists(st.sampled_from(a.names), min_size=1, unique=True))
    assert (a + b).marginal(names) == a.marginal(names) + b.marginal(names)


@FORMS
@settings(max_examples=25)
@given(data=st.data())
def test_the_parts_of_a_tally_add_up_to_it(form: str, data: st.DataObject) -> None:
    tally = data.draw(tables(form=form)).tally()
    parts = [tally.where(c0=label) for label in tally.labels["c0"]]
    assert sum(parts, tally.where() if not parts else Tally()) == tally


@FORMS
@settings(max_examples=25)
@given(data=st.data())
def test_locate_agrees_with_counting(form: str, data: st.DataObject) -> None:
    table = data.draw(tables(form=form))
    tally = table.tally()
    places = tally.locate(table.columns())
    weights = table.weights or [1] * len(table.rows)
    counted = np.zeros(tally.patterns)
    for place, weight in zip(places, weights, strict=True):
        assert place >= 0 or weight == 0
        if place >= 0:
            counted[place] += weight
    assert counted.tolist() == tally.counts.tolist()


@FORMS
@settings(max_examples=25)
@given(data=st.data())
def test_counts_equal_those_of_a_plain_dictionary(form: str, data: st.DataObject) -> None:
    table = data.draw(tables(form=form))
    plain: dict[Any, float] = {}
    for row, weight in zip(table.rows, table.weights or [1] * len(table.rows), strict=True):
        key = tuple((type(label), label) for label in row)
        plain[key] = plain.get(key, 0) + weight
    tally = table.tally()
    found = {
        tuple((type(label), label) for label in row): n
        for row, n in zip(_patterns(tally), tally.counts, strict=True)
    }
    assert found == {key: n for key, n in plain.items() if n}
    assert tally.n == sum(plain.values())


@settings(max_examples=25)
@given(data=st.data())
def test_many_columns_and_few_of_them_agree_exactly(data: st.DataObject) -> None:
    table = data.draw(tables(form="sparse"))
    few = list(table.names[:5])
    assert table.tally().marginal(few) == Tally.of(table.columns(), columns=few)


def _patterns(tally: Tally) -> list[tuple[Any, ...]]:
    return [
        tuple(tally.labels[name][code] for name, code in zip(tally.names, row, strict=True))
        for row in tally.codes.tolist()
    ]
