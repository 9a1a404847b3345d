import csv

import numpy as np
import pytest

from tallystick import Tally, bound
from tallystick.errors import InputError
from tallystick.verbs.bound.question import spam

WEAK = ["links", "words", "sender", "caps"]
N = 300


@pytest.fixture(scope="module")
def rows():
    data = {"item": [f"m{i}" for i in range(N)], **spam(N, rng=3)}
    table = bound.weak_table(Tally.of(spam(N, rng=3)), weak=WEAK, prediction="classifier")
    model = bound.label_models.dawid_skene(table)
    votes = np.column_stack([np.asarray(data[name]) for name in WEAK])
    return data, model.predict(votes)


def write(path, header, table):
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(table)
    return str(path)


def ask(data, model):
    return bound.evaluate(
        data, prediction="classifier", weak=WEAK, item="item", label_models=(model,)
    )


@pytest.mark.parametrize("kind", ["by item", "by order", "npy"])
def test_a_file_with_one_row_per_item_is_the_model_that_made_it(rows, tmp_path, kind):
    data, p = rows
    if kind == "npy":
        path = str(tmp_path / "p.npy")
        np.save(path, p)
    elif kind == "by order":
        path = write(tmp_path / "p.csv", ["prob_0", "prob_1"], p)
    else:
        order = np.random.default_rng(1).permutation(N)
        table = [[f"m{i}", *p[i]] for i in order]
        path = write(tmp_path / "p.csv", ["item", "0", "1"], table)
    found = ask(data, path)
    table = bound.weak_table(Tally.of(spam(N, rng=3)), weak=WEAK, prediction="classifier")
    model = bound.label_models.given(
        table, bound.label_models.dawid_skene(table).probabilities(table), name="same"
    )
    same = ask(data, model)
    assert found.bounds[1].label_model == path
    assert found.bounds[1].plugin_lower == pytest.approx(same.bounds[1].plugin_lower)
    assert found.bounds[1].plugin_upper == pytest.approx(same.bounds[1].plugin_upper)


def test_what_does_not_fit_is_refused_with_the_way_out(rows, tmp_path):
    data, p = rows
    short = write(tmp_path / "short.csv", ["0", "1"], p[:10])
    with pytest.raises(InputError, match="one row per item, in the same order"):
        ask(data, short)
    lacking = write(tmp_path / "lacking.csv", ["item", "0", "1"], [["m0", 0.5, 0.5]])
    with pytest.raises(InputError, match="no row for the item 'm1'"):
        ask(data, lacking)
    bad = write(tmp_path / "bad.csv", ["0", "1"], [[0.5, 0.5]] * (N - 1) + [[0.5, 0.9]])
    with pytest.raises(InputError, match=f"row {N}"):
        ask(data, bad)
    nameless = write(tmp_path / "nameless.csv", ["a", "b"], p)
    with pytest.raises(InputError, match="one column of probabilities per class"):
        ask(data, nameless)
    twice = write(tmp_path / "twice.csv", ["item", "0", "1"], [["m0", 0.5, 0.5]] * 2)
    with pytest.raises(InputError, match="twice"):
        ask(data, twice)


def test_a_saved_tally_has_no_items(rows, tmp_path):
    _, p = rows
    path = write(tmp_path / "p.csv", ["0", "1"], p)
    tally = Tally.of(spam(N, rng=3))
    with pytest.raises(InputError, match="saved tally has no items"):
        bound.evaluate(tally, prediction="classifier", weak=WEAK, label_models=(path,))
