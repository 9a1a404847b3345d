import numpy as np
import pytest

from tallystick.data import answered
from tallystick.dynamic import LABEL_COST
from tallystick.errors import InputError


@pytest.fixture(scope="module")
def iris():
    from sklearn.datasets import load_iris

    features, labels = load_iris(return_X_y=True)
    columns = {f"x{k}": features[:, k].tolist() for k in range(4)}
    return {**columns, "note": ["text"] * 150, "kind": labels.tolist()}


def test_a_table_of_numbers_gets_the_price_of_a_label(iris):
    asked = {"truth": "kind", "learner": "bayes", "rollouts": 4, "start": 30, "batch": 2}
    found = answered(LABEL_COST, iris, {**asked, "rounds": 3})
    assert found.features == ("x0", "x1", "x2", "x3")
    assert "one adversarial label was worth" in found.verdict
    assert [row["labels"] for row in found.rows()][-1] == "uniform"
    assert found.cost.search > 1


def test_what_cannot_be_learnt_from_is_refused(iris):
    with pytest.raises(InputError, match="name the column of labels"):
        answered(LABEL_COST, iris, {})
    with pytest.raises(InputError, match="no numeric column is left"):
        answered(LABEL_COST, {"a": list("xy") * 60, "kind": [0, 1] * 60}, {"truth": "kind"})
    few = {name: cells[:50] for name, cells in iris.items()}
    with pytest.raises(InputError, match="100 complete rows or more, got 50"):
        answered(LABEL_COST, few, {"truth": "kind"})
    gaps = {**iris, "x0": [np.nan] * 60 + iris["x0"][60:]}
    with pytest.raises(InputError, match="got 90"):
        answered(LABEL_COST, gaps, {"truth": "kind"})
