"""Rows that are kept: the same codes, without reading the table again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tallystick.table import data as module
from tallystick.table import read
from tallystick.table.data import RowMemory

TABLE = {"gpt": ["yes", "no", None, "no"], "llama": ["no", "no", "yes", "no"], "id": [1, 2, 1, 3]}


def kept():
    return replace(read(TABLE, judges=("gpt", "llama")), memory=RowMemory())


def test_words_labels_and_groups_are_those_of_the_table():
    plain, data = read(TABLE, judges=("gpt", "llama")), kept()
    for _ in range(2):  # read, then from memory
        for ask in ("words", "labels"):
            one, two = getattr(plain, ask)("gpt", "llama"), getattr(data, ask)("gpt", "llama")
            assert one.labels == two.labels
            np.testing.assert_array_equal(one.codes, two.codes)
        assert data.groups("id").tolist() == plain.groups("id").tolist()


def test_what_is_kept_is_not_read_again():
    data = kept()
    one = data.patterns("gpt", "llama")
    data.groups("id")
    data.table.close()
    gone = replace(data, held=None)
    assert gone.patterns("gpt", "llama") is one
    assert gone.groups("id").tolist() == [0, 1, 0, 2]


def test_each_pattern_says_where_it_first_stands_and_how_often():
    found = kept().patterns("gpt", "llama")
    assert found.codes[found.place].tolist() == [[0, 1], [1, 1], [-1, 0], [1, 1]]
    assert dict(zip(found.first.tolist(), found.counts.tolist(), strict=True)) == {0: 1, 1: 2, 2: 1}


def test_a_part_of_the_rows_does_not_inherit_the_memory_of_all():
    data = kept()
    data.patterns("gpt")
    assert len(data.where("llama", "no").words("gpt").codes) == 3


def test_columns_with_too_many_distinct_rows_are_not_kept(monkeypatch):
    monkeypatch.setattr(module, "MOST_PATTERNS", 2)
    data = kept()
    assert len(data.patterns("gpt", "llama").first) == 3
    assert not data.memory.patterns
    assert not data.memory.whole
