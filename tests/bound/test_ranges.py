"""Without labels: ranges with an "if", which decide nothing and move with nothing but the data."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from tallystick import Tally, bound
from tallystick.errors import InputError, NotIdentifiable
from tallystick.verbs.bound.question import spam

WEAK = ["links", "words", "sender", "caps"]
N = 600


def ask(rows, prediction="classifier", **options):
    if "weak" not in options:
        options["weak"] = [name for name in rows if name in WEAK or name.startswith("w")]
    return bound(rows, prediction=prediction, **options)


def ends(result):
    return {(b.metric, b.label_model): tuple(b.interval) for b in result.bounds}


def test_two_label_models_are_shown_and_nothing_is_decided():
    result = ask(spam(1500, rng=3), at_least=0.3)
    assert [row["label_model"] for row in result.rows()] == ["majority", "dawid-skene"]
    assert all(one.interval.low < 0.85 < one.interval.high for one in result.bounds)
    assert all(one.interval.low > 0.3 for one in result.bounds)
    assert (result.decision, result.needed.count) == ("undecided", 20)
    assert result.verdict.startswith("Without labels we cannot tell whether the accuracy of")
    assert result.verdict.count("Errors that the weak labels share break these ranges") == 1


def test_headline_page_and_json_show_the_same_interval():
    result = ask(spam(N, rng=3), label_model="majority")
    low, high = (f"{100 * end:.1f}" for end in result.bounds[0].interval)
    assert low in result.verdict
    assert high in result.verdict
    [row] = result.folds()[0].rows
    assert row["range"].replace("\xa0", " ") == f"{low}% to {high}%"
    [said] = result.to_dict()["bounds"]
    assert said["interval"] == list(result.bounds[0].interval)
    assert result.to_dict()["schema"] == 2
    assert [section.title for section in result.folds()] == ["Range", "Weak labels"]


@pytest.mark.parametrize("seed", range(3))
def test_results_do_not_move_with_columns_names_of_classes_or_the_seed(seed):
    rows = spam(N, rng=seed)
    draw = np.random.default_rng(seed)
    for name in WEAK[:2]:
        gone = draw.random(N) < 0.3
        rows[name] = [None if g else int(v) for v, g in zip(rows[name], gone, strict=True)]
    asked = {"metrics": ("accuracy", "macro-f1", "recall")}
    first = ask(rows, positive=1, **asked)
    turned = ask(dict(reversed(rows.items())), weak=WEAK[::-1], positive=1, seed=99, **asked)
    words = {0: "zebra", 1: "ant", None: None}
    renamed = {name: [words[v if v is None else int(v)] for v in rows[name]] for name in rows}
    again = ask(renamed, positive="ant", **asked)
    for key, value in ends(first).items():
        assert ends(turned)[key] == pytest.approx(value, abs=1e-12)
        assert ends(again)[key] == pytest.approx(value, abs=1e-9)
    assert first.label_models[1].votes_contradict == again.label_models[1].votes_contradict
    assert first.label_models[1].class_balance["1"] == pytest.approx(
        again.label_models[1].class_balance["ant"]
    )


def test_the_ranges_of_a_score_hold_together_and_contain_those_of_one_threshold():
    rows = spam(N, rng=3)
    rows["score"] = [0.2 + 0.6 * int(h) for h in rows.pop("classifier")]
    one, many = (
        bound(rows, score="score", weak=WEAK, thresholds=cuts) for cuts in ((0.5,), (0.1, 0.5, 0.9))
    )
    [narrow] = [b.interval for b in one.bounds if b.label_model == "majority"]
    wide = next(b.interval for b in many.bounds if b.threshold == 0.5)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert many.figures()[0].kind == "bands"
    assert "the accuracy of score is not settled" in many.verdict
    with pytest.raises(InputError, match="claim on one prediction"):
        bound(rows, score="score", weak=WEAK, thresholds=(0.1, 0.5), at_least=0.5)


def test_a_score_of_the_other_class_mirrors_votes_and_score():
    rows = spam(N, rng=3)
    rows["score"] = [0.2 + 0.6 * int(h) for h in rows.pop("classifier")]
    mirrored = {name: [1 - v for v in rows[name]] for name in rows}
    asked = {"score": "score", "weak": WEAK, "thresholds": (0.5,), "metrics": ("f1",)}
    one = bound(rows, positive=1, **asked)
    turned = bound(mirrored | {"score": rows["score"]}, positive=0, **asked)
    for key, value in ends(one).items():
        assert ends(turned)[key] == pytest.approx(value, abs=1e-9)


# The caller's own label model


@pytest.fixture(scope="module")
def laws():
    """Return a table with items, and P(Y | item) that depends on the votes alone."""
    data = {"item": [f"m{i}" for i in range(N)], **spam(N, rng=3)}
    share = np.mean([np.asarray(data[name]) for name in WEAK], axis=0) * 0.8 + 0.1
    return data, np.column_stack([1 - share, share])


def by_votes(votes):
    share = votes.mean(axis=1) * 0.8 + 0.1
    return np.column_stack([1 - share, share])


def write(path, header, table):
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(table)
    return str(path)


@pytest.mark.parametrize("kind", ["by item", "by order", "npy", "patterns", "object"])
def test_a_file_or_an_object_is_the_model_that_made_it(laws, tmp_path, kind):
    data, p = laws
    path: object
    if kind == "npy":
        path = str(tmp_path / "p.npy")
        np.save(path, p)
    elif kind == "by order":
        path = write(tmp_path / "p.csv", ["prob_0", "prob_1"], p)
    elif kind == "patterns":
        votes = np.column_stack([data[name] for name in WEAK])
        seen = np.unique(votes, axis=0)
        table = [[*row, *law] for row, law in zip(seen, by_votes(seen), strict=True)]
        path = write(tmp_path / "p.csv", [*WEAK, "0", "1"], table)
    elif kind == "object":
        path = type("Model", (), {"predict_proba": staticmethod(by_votes)})()
    else:
        order = np.random.default_rng(1).permutation(N)
        path = write(tmp_path / "p.csv", ["item", "0", "1"], [[f"m{i}", *p[i]] for i in order])
    found = ask(data, weak=WEAK, item="item", label_model=path)
    same = ask(data, weak=WEAK, item="item", label_model=by_votes)
    assert found.rows()[0]["label_model"] == (path if isinstance(path, str) else "given")
    assert tuple(found.bounds[0].interval) == pytest.approx(tuple(same.bounds[0].interval))


def test_what_does_not_fit_is_refused_with_the_way_out(laws, tmp_path):
    data, p = laws

    def refused(name, header, table, match):
        with pytest.raises(InputError, match=match):
            ask(data, weak=WEAK, item="item", label_model=write(tmp_path / name, header, table))

    refused("short.csv", ["0", "1"], p[:10], "one row per item in the order")
    refused(
        "lacking.csv",
        ["item", "0", "1"],
        [["m0", 0.5, 0.5]],
        "one row per 'item', and has not for 'm1'",
    )
    refused("bad.csv", ["0", "1"], [[0.5, 0.5]] * (N - 1) + [[0.5, 0.9]], f"row {N}")
    refused("nameless.csv", ["a", "b"], p, "one column of probabilities per class")
    refused("twice.csv", ["item", "0", "1"], [["m0", 0.5, 0.5]] * 2, "has not for")
    with pytest.raises(InputError, match="label model must be one of"):
        ask(data, weak=WEAK, label_model="triplet")
    path = write(tmp_path / "p.csv", ["0", "1"], p)
    with pytest.raises(InputError, match="saved tally has no items"):
        ask(Tally.of(spam(N, rng=3)), weak=WEAK, label_model=path)
    with pytest.raises(InputError, match="sum to 1"):
        ask(data, weak=WEAK, label_model=lambda votes: np.full((len(votes), 2), 0.4))


def test_patterns_that_the_label_model_does_not_know_widen_the_answer_and_are_stated():
    rows = spam(1500, rng=3)

    def partly(votes):
        p = by_votes(votes)
        p[votes.sum(axis=1) == 4] = np.nan
        return p

    known, unknown = (ask(rows, weak=WEAK, label_model=one) for one in (by_votes, partly))
    assert any("says nothing about" in text for text in unknown.warnings)
    assert unknown.bounds[0].interval.width > known.bounds[0].interval.width
    assert unknown.label_models[0].unknown_mass > 0


# Bad input: a clear error, or a stated, wider, still valid answer


def test_the_silence_of_a_rule_for_one_class_is_a_vote():
    draw = np.random.default_rng(1)
    truth = draw.random(2000) < 0.4
    data = {}
    for c in (0, 1):
        for j in range(3):
            fires = draw.random(2000) < np.where(truth == c, 0.5, 0.05)
            data[f"w{c}{j}"] = [c if fired else None for fired in fires]
    data["h"] = np.where(draw.random(2000) < 0.9, truth, ~truth).astype(int).tolist()
    result = ask(data, prediction="h")
    assert all(one.interval.low < 0.9 < one.interval.high for one in result.bounds)
    assert len(result.bounds) == 2


def test_a_fit_that_empties_a_class_for_which_rows_vote_is_refused():
    draw = np.random.default_rng(1)
    truth = draw.choice(2, 400, p=[0.86, 0.14])
    data = {}
    for c, rules in ((0, 2), (1, 8)):  # keywords that seldom fire, and hardly ever together
        for j in range(rules):
            fires = draw.random(400) < np.where(truth == c, 0.08, 0.004)
            data[f"w_{c}_{j}"] = [c if fired else None for fired in fires]
    data["h"] = truth
    with pytest.raises(NotIdentifiable, match="rows lead to it: label some rows"):
        ask(data, prediction="h", label_model="dawid-skene")
    # With labels the label model is not needed, so its refusal is a warning.
    known = set(draw.choice(400, 60, replace=False).tolist())
    labelled = data | {"y": [int(y) if i in known else None for i, y in enumerate(truth)]}
    found = ask(labelled, prediction="h", truth="y", label_model="dawid-skene")
    assert found.decision == "decided"
    assert any("was left out" in text for text in found.warnings)


def test_seventy_weak_labels_on_five_hundred_rows_give_a_valid_answer():
    draw = np.random.default_rng(2)
    truth = draw.random(500) < 0.3
    data = {}
    for j in range(70):
        said = np.where(draw.random(500) < 0.75, truth, ~truth).astype(int)
        speaks = draw.random(500) < 0.15
        data[f"w{j}"] = [int(v) if s else None for v, s in zip(said, speaks, strict=True)]
    data["h"] = np.where(draw.random(500) < 0.85, truth, ~truth).astype(int).tolist()
    result = ask(data, prediction="h")
    assert all(one.interval.low < 0.85 < one.interval.high for one in result.bounds)


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ({"w1": [None] * 30, "h": [0, 1] * 15}, "abstains on every row|no column"),
        ({"w1": [0, 1], "h": [0, 1]}, "too few"),
        ({"w1": [0, 1], "h": [0, None]}, "blank on 1 row"),
        ({"w1": [1] * 30, "h": [1] * 30}, "only the class 1 occurs.*--labels"),
    ],
)
def test_tables_that_make_no_question_are_refused(rows, match):
    with pytest.raises(InputError, match=match):
        ask(rows, prediction="h", label_model="majority")


def test_a_table_with_one_row_per_vote_of_a_labelling_function_is_turned() -> None:
    rows: dict[str, list] = {"item": [], "lf": [], "vote": [], "h": []}
    for i in range(90):
        for k in range(4):
            rows["item"].append(i)
            rows["lf"].append(k)
            rows["vote"].append(-1 if (i + k) % 5 == 0 else int((i * (k + 3)) % 7 < 3))
            rows["h"].append(int(i % 7 < 3))
    result = bound(rows, prediction="h", item="item", judge="lf", vote="vote")
    assert result.n_items == 90
    assert "weak labels 0, 1, 2, 3 (lf)" in result.reading.line()
