import csv
import gzip
from dataclasses import replace

import numpy as np
import pytest

from tallystick.verbs.dynamic.analyse import analyse
from tallystick.verbs.dynamic.reading import item_rows
from tests.dynamic.logs import read_log

MODELS = ("a", "b", "c", "d")


def table(items=60, rounds=2, seed=0, labels="xyz"):
    """A wide log of models that fail together, with validators, counts and costs."""
    rng = np.random.default_rng(seed)
    hard = 0.8 * rng.standard_normal(items)
    wrong = hard + 0.6 * rng.standard_normal((len(MODELS), items)) > 0.3
    other = rng.integers(1, len(labels), wrong.shape)
    said = rng.random((items, 3)) < np.where(rng.random(items) < 0.4, 0.5, 0.05)[:, None]
    return {
        "uid": [f"i{k}" for k in range(items)],
        "round": [1 + k * rounds // items for k in range(items)],
        "gold": [labels[0]] * items,
        "said": ["".join(labels[int(v)] for v in row) for row in said],
        "w": rng.integers(0, 4, items).tolist(),
        "cost": rng.integers(1, 9, items).tolist(),
        **{
            name: [labels[k] for k in np.where(wrong[m], other[m], 0)]
            for m, name in enumerate(MODELS)
        },
    }


def wide(columns, **options):
    named = {
        "round": "round",
        "truth": "gold",
        "models": MODELS,
        "item": "uid",
        "validators": "said",
        "cost": "cost",
    }
    return read_log(columns, **{**named, **options})


def long(columns, *, on_path=False, answers=True, count=True):
    """The same as a long log; on a path each model is a round."""
    rows = [(k, m) for k in range(len(columns["uid"])) for m in range(len(MODELS))]
    of = {
        name: [columns[name][k] for k, _ in rows]
        for name in ("uid", "round", "gold", "said", "w", "cost")
    }
    calls = [columns[MODELS[m]][k] for k, m in rows]
    log = {
        "item": of["uid"],
        "round": [m + 1 for _, m in rows] if on_path else of["round"],
        "model": [MODELS[m] for _, m in rows],
        "correct": [int(call == gold) for call, gold in zip(calls, of["gold"], strict=True)],
        "cost": of["cost"],
    }
    if answers:
        log |= {"prediction": calls, "truth": of["gold"], "validators": of["said"]}
    if count:
        log["count"] = of["w"]
    roles = [name for name in ("prediction", "truth", "validators", "cost", "count") if name in log]
    return read_log(log, **{name: name for name in roles})


def copies(columns):
    """Each row as often as its count says, each copy under a name of its own."""
    again = [(k, c) for k, count in enumerate(columns["w"]) for c in range(count)]
    out = {name: [values[k] for k, _ in again] for name, values in columns.items()}
    return {**out, "uid": [f"{columns['uid'][k]}, copy {c}" for k, c in again]}


def said(log):
    return analyse(log)


@pytest.mark.parametrize(
    ("counted", "plain"),
    [
        (lambda t: wide(t, count="w"), wide),
        (long, lambda t: long(t, count=False)),
        (lambda t: long(t, on_path=True), lambda t: long(t, on_path=True, count=False)),
        (lambda t: long(t, answers=False), lambda t: long(t, answers=False, count=False)),
    ],
    ids=["wide", "long", "path", "right and wrong"],
)
def test_a_counted_log_says_number_for_number_what_the_repeated_one_says(counted, plain):
    columns = table()
    one, all_of_them = counted(columns), plain(copies(columns))
    by_count, by_copy = said(one), said(all_of_them)
    assert by_count.to_dict() == by_copy.to_dict()
    rows, more = item_rows(one, by_count).columns, item_rows(all_of_them, by_copy).columns
    assert len(rows["item"]) == sum(columns["w"])
    for name in set(rows) - {"item"}:
        assert sorted(map(str, rows[name])) == sorted(map(str, more[name])), name


@pytest.mark.parametrize(
    "make", [lambda t: wide(t), lambda t: long(t, count=False), lambda t: long(t, answers=False)]
)
def test_the_errors_of_the_vote_average_to_the_risk_of_the_round(make):
    log = make(table(items=80, rounds=4))
    result = said(log)
    rows = item_rows(log, result).columns
    for each in result.rounds:
        where = np.array(rows["round"]) == each.round
        assert np.mean(np.array(rows["vote_error"])[where]) == pytest.approx(each.risk)


def test_long_and_wide_logs_give_the_same_rows():
    columns = table()
    one, other = wide(columns, count="w"), long(columns)
    assert item_rows(one, said(one)).columns == item_rows(other, said(other)).columns


def test_rows_stand_in_the_order_of_the_log_with_its_names():
    columns = {name: values[::-1] for name, values in table().items()}
    log = wide(columns)
    rows = item_rows(log, said(log)).columns
    assert rows["item"] == columns["uid"]
    assert rows["round"] == columns["round"]
    assert rows["wrong"] == [sum(columns[m][k] != "x" for m in MODELS) for k in range(60)]
    assert set(rows["answered"]) == {4}


SMALL = {
    "round": [1, 1, 2, 2],
    "gold": list("aaaa"),
    "m": list("abbb"),
    "n": list("abca"),
    "o": list("acba"),
    "p": list("acba"),
}


def test_a_tie_is_said_with_its_answers_and_counts_for_its_share():
    log = read_log(SMALL, round="round", truth="gold", models=list("mnop"))
    rows = item_rows(log, said(log)).columns
    assert rows["vote"] == ["a", "b | c", "b", "a"]
    assert rows["tie"] == [False, True, False, False]
    assert rows["vote_error"] == [0.0, 1.0, 1.0, 0.0]
    two = read_log(SMALL, round="round", truth="gold", models=["m", "o"])
    assert item_rows(two, said(two)).columns["vote_error"] == [0.0, 1.0, 1.0, 0.5]


def test_without_answers_the_vote_is_right_or_wrong():
    rows = [
        (name, number, m, ok)
        for name, number, all_ok in (("u", 1, "10"), ("v", 1, "11"), ("w", 2, "00"), ("x", 2, "11"))
        for m, ok in zip("mn", all_ok, strict=True)
    ]
    item, number, model, correct = map(list, zip(*rows, strict=True))
    log = read_log({"item": item, "round": number, "model": model, "correct": correct})
    found = item_rows(log, said(log)).columns
    assert found["vote"] == ["right | wrong", "right", "wrong", "right"]
    assert found["tie"] == [True, False, False, False]
    assert "truth" not in found
    assert "validators" not in found


def test_items_are_checked_by_errors_then_agreement_then_dissent_then_place():
    columns = {
        "round": [1, 1, 1, 2, 2, 2],
        "gold": list("aaaaaa"),
        "said": ["aaa", "aaa", "aba", "aaa", "aaa", "bba"],
        "m": list("abbbba"),
        "n": list("abbbca"),
        "o": list("aabbba"),
    }
    log = read_log(columns, round="round", truth="gold", models=["m", "n", "o"], validators="said")
    assert item_rows(log, said(log)).columns["check_order"] == [6, 4, 1, 2, 3, 5]


def test_random_labels_are_a_probability_only_where_their_share_is_a_number():
    log = wide(table(items=200))
    result = said(log)
    rows = item_rows(log, result).columns
    doubted = [
        p for p, v in zip(rows["random_label"], rows["validators_disagree"], strict=True) if v == 2
    ]
    trusted = [
        p for p, v in zip(rows["random_label"], rows["validators_disagree"], strict=True) if v == 0
    ]
    assert max(trusted) < min(doubted) <= 1
    kept = wide({**table(items=200), "said": ["xx", "xyx"] * 100})
    rows = item_rows(kept, said(kept))
    assert rows.columns["random_label"] == [None] * 200
    assert rows.columns["validators_disagree"] == [0, 1] * 100
    assert [note for note in rows.notes if note.startswith("random_label is blank: only items")]


def test_validators_without_a_true_label_are_left_out_and_it_is_said():
    log = replace(long(table(), answers=False, count=False), validators=tuple(table()["said"]))
    rows = item_rows(log, said(log))
    assert not any("validators" in name or name == "random_label" for name in rows.columns)
    assert rows.notes == (
        "validators are left out: the log has no true label to hold theirs against (--truth)",
    )


def test_a_path_has_no_round():
    walk = long(table(), on_path=True, count=False)
    found = item_rows(walk, said(walk))
    assert found.columns["round"] == [None] * 60
    assert found.notes[0] == "round is blank: on a path every item is tried in every round"


def test_anli_lists_first_the_items_that_all_models_get_wrong_alike(shared_data):
    with gzip.open(
        shared_data / "dynamic" / "anli_dev_rounds_8models.csv.gz", "rt", encoding="utf-8"
    ) as lines:
        rows = list(csv.DictReader(lines))
    models = list(rows[0])[7:]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    log = read_log(
        columns,
        round="round",
        truth="gold",
        models=models,
        item="uid",
        validators="verifier_labels",
    )
    found = item_rows(log, said(log)).columns
    all_wrong = sum(wrong == 5 for wrong in found["wrong"])
    first = np.argsort(found["check_order"])[:all_wrong]
    assert {found["wrong"][k] for k in first} == {5}
    top = first[:100]
    assert all(
        rows[k][models[0]] == rows[k][name] != rows[k]["gold"] for k in top for name in models
    )
