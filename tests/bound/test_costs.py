import pytest

from tallystick.errors import InputError
from tallystick.verbs.bound.forward import read_costs


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_are_put_in_the_order_of_the_classes(tmp_path):
    path = written(tmp_path / "c.csv", "prediction,spam,ham\nspam,0,5\nham,1,0\n")
    assert read_costs(path, ("ham", "spam")) == [[0.0, 1.0], [5.0, 0.0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prediction,ham\nham,0\n", "has no column 'spam'"),
        ("prediction,ham,spam\nham,0,1\n", "has no row for the prediction 'spam'"),
        (
            "prediction,ham,spam\nham,0,1\nham,0,2\nspam,1,0\n",
            "has 2 rows for the prediction 'ham'",
        ),
        ("prediction,ham,spam\nham,0,much\nspam,1,0\n", "costs must be numbers"),
    ],
)
def test_a_table_that_leaves_a_cost_open_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_costs(written(tmp_path / "c.csv", text), ("ham", "spam"))
