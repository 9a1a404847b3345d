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


def counted(tally: Tally) -> dict[Any, Any]:
    """Patterns and counts, whatever the order of the columns; 1 and True are two labels."""
    names = sorted(tally.names, key=lambda name: int(name[1:]))
    words = [tally.column(name) for name in names]
    cells = [tuple((type(x), x) for x in row) for row in zip(*words, strict=True)]
    return dict(zip(cells, tally.counts.tolist(), strict=True))


@FORMS
@settings(max_examples=50)
@given(data=st.data())
def test_any_order_sharding_and_batching_counts_what_a_dictionary_counts(
    form: str, data: st.DataObject
) -> None:
    table = data.draw(tables(form=form))
    plain: Counter[Any] = Counter()
    for row, weight in zip(table.rows, table.weights or [1] * len(table.rows), strict=True):
        plain[tuple((type(label), label) for label in row)] += weight
    want = {key: n for key, n in plain.items() if n}
    whole = table.tally()
    assert counted(whole) == want
    assert whole.n == sum(plain.values())

    rows = data.draw(st.permutations(range(len(table.rows))))
    columns = data.draw(st.permutations(range(len(table.names))))
    turned = Table(
        tuple(table.names[j] for j in columns),
        [tuple(table.rows[i][j] for j in columns) for i in rows],
        None if table.weights is None else [table.weights[i] for i in rows],
    )
    assert turned.tally() == whole
    assert counted(turned.tally()) == want

    cuts = sorted(data.draw(st.lists(st.integers(0, len(table.rows)), max_size=4)))
    edges = list(pairwise([0, *cuts, len(table.rows)]))
    shards = [turned.tally(a, b) for a, b in edges]
    assert counted(sum(data.draw(st.permutations(shards)), Tally())) == want
    stream = table.tally(0, 0)
    for a, b in edges:
        stream.update(table.columns(a, b))
    assert stream == whole


@FORMS
@settings(max_examples=25)
@given(data=st.data())
def test_tallies_are_a_commutative_monoid_and_their_parts_and_marginals_add_up(
    form: str, data: st.DataObject
) -> None:
    a, b, c = (data.draw(tables(form=form)).tally() for _ in range(3))
    assert a + Tally() == a == Tally() + a
    assert a + b == b + a
    assert (a + b) + c == a + (b + c) == sum([a, b, c])
    names = data.draw(st.lists(st.sampled_from(a.names), min_size=1, unique=True))
    assert (a + b).marginal(names) == a.marginal(names) + b.marginal(names)
    parts = [a.where(c0=label) for label in a.labels["c0"]]
    assert sum(parts, a.where() if not parts else Tally()) == a


@FORMS
@settings(max_examples=25)
@given(data=st.data())
def test_a_saved_tally_comes_back_and_finds_its_rows(
    form: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    table = data.draw(tables(form=form))
    tally = table.tally()
    path = tmp_path_factory.mktemp("saved") / "t.tally"
    tally.save(path)
    loaded = Tally.load(path)
    assert loaded == tally
    assert loaded.counts.dtype == tally.counts.dtype
    assert loaded + tally == tally + tally
    places, weights = loaded.locate(table.columns()), table.weights or [1] * len(table.rows)
    assert all(n == 0 for place, n in zip(places, weights, strict=True) if place < 0)
    held = [(place, n) for place, n in zip(places, weights, strict=True) if place >= 0]
    found = np.bincount([place for place, _ in held], [n for _, n in held], tally.patterns)
    assert found.tolist() == tally.counts.tolist()


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
    want = Counter(((int, a), (int, b)) for batch in batches for a, b in batch)
    assert counted(stream) == want if batches else stream == Tally()
