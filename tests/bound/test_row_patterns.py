import numpy as np

from tallystick.table import Door, read
from tallystick.verbs.bound.weak_votes import class_codes, row_patterns, weak_table


def test_every_row_finds_the_pattern_that_it_shows():
    table = {"a": ["x", "y", None, "x"], "b": ["x", "x", "y", "x"], "h": ["x", "y", "x", "x"]}
    data = read(table, Door(want="weak", pivots=False), weak=("a", "b"), prediction=("h",))
    votes = weak_table(data.tally("weak", "prediction"), weak=("a", "b"), prediction="h")
    found = row_patterns(data, votes)
    assert found[0] == found[3]
    assert len(set(found.tolist())) == 3
    codes = class_codes(data, ("a", "b"), votes.classes)
    assert np.array_equal(votes.votes[found], codes)
    assert codes[2, 0] == -1
