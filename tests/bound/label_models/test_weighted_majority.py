import numpy as np
import pytest

from tallystick.table import Tally
from tallystick.verbs.bound.label_models import consensus_of, vote_weights, weighted_majority
from tallystick.verbs.bound.weak_votes import weak_table


def table_of(patterns, counts, classes):
    """Return a table of votes; "-" abstains."""
    rows = [row for row, n in zip(patterns, counts, strict=True) for _ in range(n)]
    columns = {
        f"w{j}": [None if row[j] == "-" else int(row[j]) for row in rows]
        for j in range(len(patterns[0]))
    }
    table = weak_table(Tally.of(columns), weak=list(columns), classes=range(classes))
    return table, {
        "".join("-" if v < 0 else str(v) for v in z): i for i, z in enumerate(table.votes)
    }


def test_the_vector_of_the_methods_page():
    table, at = table_of(["001", "111", "1-1", "00-", "101"], [3, 4, 2, 5, 1], 2)
    p = weighted_majority(table).probabilities(table)[:, 1]
    found = [p[at[z]] for z in ("001", "111", "1-1", "00-", "101")]
    assert found == pytest.approx([0.0980, 0.9623, 0.8861, 0.0612, 0.7030], abs=5e-5)


def test_the_vector_of_the_corrections_with_three_classes_and_a_row_without_a_vote():
    table, at = table_of(["001", "111", "22-", "202", "--1", "---"], [4, 3, 2, 1, 2, 1], 3)
    accuracy, _ = vote_weights(table.votes, table.weight, 3)
    assert accuracy == pytest.approx([0.7083, 0.6667, 0.4500], abs=5e-5)
    p = weighted_majority(table).probabilities(table)
    assert p[at["001"]] == pytest.approx([0.8805, 0.0742, 0.0453], abs=5e-5)
    assert p[at["202"]] == pytest.approx([0.3089, 0.0772, 0.6138], abs=5e-5)
    assert p[at["---"]] == pytest.approx(1 / 3)


def test_accuracies_are_cut_so_that_no_vote_counts_for_nothing_or_everything():
    votes = np.array([[0, 0, 0, 1], [1, 1, 1, 0]])
    accuracy, weights = vote_weights(votes, np.array([500.0, 500.0]), 2)
    assert accuracy[0] == 0.98
    assert accuracy[3] == 0.51
    assert (weights > 0).all()


def test_the_consensus_is_the_likeliest_class():
    table, at = table_of(["001", "111"], [30, 40], 2)
    consensus = consensus_of(table)
    assert consensus[at["001"]] == 0
    assert consensus[at["111"]] == 1
