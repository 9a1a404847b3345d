from tallystick.data import read


def test_coerced_rows_and_coerced_counts_say_the_same():
    table = {"gold": ["1", "2", "1"], "old": ["1.0", "2.0", "2.0"]}
    data = read(table, truth="gold", old="old", coerce=True)
    assert data.label_lists("gold", "old") == {"gold": [1, 2, 1], "old": [1, 2, 2]}
    assert data.tally("old").labels["old"] == (1, 2)
