import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.verbs.compare import Board


def test_answers_are_scored_against_the_truth():
    board = Board.of(
        {"gold": ["a", "b", "a"], "x": ["a", "a", "a"], "y": ["b", "b", "a"]},
        truth="gold",
        models=("x", "y"),
    )
    assert board.scores.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert board.answers is None


def test_replicates_are_averaged_within_the_item_and_said():
    data = {"q": ["1", "1", "2", "2"], "x": [1, 0, 1, 1], "y": [0, 0, 1, 0]}
    board = Board.of(data, item="q", models=("x", "y"))
    assert board.scores.tolist() == [[0.5, 0.0], [1.0, 0.5]]
    assert "2 of 2 items have several rows: each item counts once" in board.notes[0]


def test_an_item_in_two_clusters_is_refused():
    data = {"q": [1, 1, 2], "doc": ["a", "b", "a"], "x": [1, 0, 1], "y": [0, 0, 1]}
    with pytest.raises(InputError, match="item 1 has the clusters a and b"):
        Board.of(data, item="q", cluster="doc")


def test_no_common_item_is_refused():
    with pytest.raises(InputError, match="no item has an answer of every model"):
        Board.of({"x": [1, None], "y": [None, 1]}, models=("x", "y"))


@pytest.mark.parametrize(
    ("cells", "words"),
    [(["1", "good"], "is 'good'"), ([1.0, float("inf")], "is inf"), (["1", "0x1"], "is '0x1'")],
)
def test_cells_that_are_no_scores_are_refused_with_their_row(cells, words):
    with pytest.raises(InputError, match=rf"row 2.*{words}"):
        Board.of({"x": cells, "y": cells[:1] * 2}, models=("x", "y"))


def test_a_truth_that_is_blank_everywhere_is_refused():
    with pytest.raises(InputError, match="blank everywhere"):
        Board.of(
            pa.table(
                {"gold": pa.array([None, None], pa.string()), "x": ["a", "b"], "y": ["a", "a"]}
            ),
            truth="gold",
            models=("x", "y"),
        )


def test_two_spellings_of_an_answer_are_one_unless_the_truth_tells_them_apart():
    data = {"gold": ["Yes", "no"], "x": ["yes", "no"], "y": ["Yes", "no"]}
    roles = {"truth": "gold", "models": ("x", "y")}
    assert Board.of(data, **roles).scores.tolist() == [[1, 1], [1, 1]]
    data["gold"] = ["Yes", "yes"]
    with pytest.raises(InputError, match="coerce"):
        Board.of(data, **roles)
    assert Board.of(data, **roles, coerce=True).scores.tolist() == [[1, 1], [0, 0]]


def test_replicates_of_different_weight_are_refused_by_item():
    data = {"q": ["a", "b", "b"], "w": [1.0, 2.0, 3.0], "x": [1, 0, 1], "y": [0, 1, 1]}
    with pytest.raises(InputError, match=r"item 'b' has the weights 2\.0 and 3\.0"):
        Board.of(data, item="q", weight="w")
    assert Board.of(data | {"w": [1.0, 2.0, 2.0]}, item="q", weight="w").weights.tolist() == [1, 2]


def test_a_blank_cluster_is_refused_by_its_row():
    data = {"doc": ["d", None, " ", "d"], "x": [1, 0, 1, 1], "y": [0, 1, 1, 1]}
    with pytest.raises(InputError, match="row 2: the cluster 'doc' is blank"):
        Board.of(data, cluster="doc", models=("x", "y"))
    unused = data | {"doc": ["d", None, "e", "e"], "x": [1, None, 1, 1]}
    assert Board.of(unused, cluster="doc", models=("x", "y")).clusters == ("d", "e", "e")


def test_tokens_for_no_answer_leave_the_names_of_items_and_clusters_alone():
    data = {
        "q": ["NA", "b", "c"],
        "doc": ["NA", "NA", "d"],
        "x": ["1", "0", "NA"],
        "y": ["1", "1", "1"],
    }
    board = Board.of(data, item="q", cluster="doc", missing=["NA"], models=("x", "y"))
    assert (board.items, board.clusters) == (("NA", "b"), ("NA", "NA"))


def test_answers_that_share_no_label_with_the_truth_are_refused():
    data = {"gold": ["positive", "negative"], "x": ["pos", "neg"], "y": ["neg", "neg"]}
    with pytest.raises(
        InputError,
        match="'x' says 'neg', 'pos', and the truth 'gold' says 'negative', 'positive': no label",
    ):
        Board.of(data, truth="gold", models=["x", "y"])


def test_a_blank_true_label_of_an_item_that_is_left_out_hides_nothing():
    data = {
        "q": ["a", "b", "c"],
        "gold": ["x", None, "y"],
        "m": ["x", None, "x"],
        "n": ["x", "x", "y"],
    }
    board = Board.of(data, item="q", truth="gold", models=("m", "n"))
    assert board.answers is None
    assert board.scores.tolist() == [[1, 1], [0, 1]]
