"""One meaning of count and of weight, in every verb and from every source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tallystick.errors import InputError, UsageError
from tallystick.table import Tally, read, write_csv
from tallystick.table.panel import Panel
from tallystick.verbs import bound, compare, judge, score

N = 60
JUDGES = "gpt,claude,llama"


def table(*, seed: int = 3, labels: int = 3, rows: int = N) -> dict[str, list[Any]]:
    """Votes of three judges, the truth, and a label on one row in some."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(rows) < 0.6, "pass", "fail")
    columns: dict[str, list[Any]] = {}
    for name, right in (("gpt", 0.85), ("claude", 0.8), ("llama", 0.7)):
        wrong = np.where(truth == "pass", "fail", "pass")
        columns[name] = np.where(rng.random(rows) < right, truth, wrong).tolist()
    columns["truth"] = truth.tolist()
    columns["gold"] = [one if i % labels == 0 else None for i, one in enumerate(truth.tolist())]
    columns["round"] = [1 + i % 2 for i in range(rows)]
    return columns


def some(*names: str) -> dict[str, list[Any]]:
    return {name: column for name, column in table().items() if name in names}


VOTES = ("gpt", "claude", "llama")
VERBS: dict[str, tuple[Any, dict[str, list[Any]], dict[str, Any]]] = {
    "judge": (judge, some(*VOTES, "gold"), {"judges": JUDGES, "truth": "gold"}),
    "judge without labels": (judge, some(*VOTES), {"judges": JUDGES}),
    "bound": (
        bound,
        some(*VOTES, "gold"),
        {"prediction": "gpt", "weak": "claude,llama", "truth": "gold"},
    ),
    "score": (score, some(*VOTES, "gold"), {"judges": JUDGES, "truth": "gold"}),
    "compare": (compare, some(*VOTES, "truth"), {"models": JUDGES, "truth": "truth"}),
    "compare with few labels": (
        compare,
        some(*VOTES, "gold"),
        {"models": JUDGES, "truth": "gold"},
    ),
}


def said(verb: Any, rows: Any, **options: Any) -> str:
    """Return the JSON of an answer, without what was said of the reading."""
    found = verb.evaluate(rows, **options).to_dict()
    for aside in ("notes", "reading"):
        found.pop(aside, None)
    return json.dumps(found, sort_keys=True, default=str)


def written_out(rows: dict[str, list[Any]], counts: list[int]) -> dict[str, list[Any]]:
    return {
        name: [cell for cell, k in zip(column, counts, strict=True) for _ in range(k)]
        for name, column in rows.items()
    }


# -- the two laws


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize("weight", [3, 0.1])
def test_equal_weights_change_nothing_at_all(name: str, weight: float) -> None:
    verb, rows, options = VERBS[name]
    heavy = {**rows, "w": [weight] * N}
    assert said(verb, heavy, weight="w", **options) == said(verb, rows, **options)


@pytest.mark.parametrize("name", VERBS)
def test_a_count_is_the_rows_that_it_stands_for_to_the_last_digit(name: str) -> None:
    verb, rows, options = VERBS[name]
    counts = np.random.default_rng(5).integers(0, 4, N).tolist()
    counted = said(verb, {**rows, "times": counts}, count="times", **options)
    assert counted == said(verb, written_out(rows, counts), **options)


def test_rows_of_count_or_weight_nothing_are_as_if_they_were_not_there() -> None:
    verb, rows, options = VERBS["compare"]
    kept = [int(i % 4 > 0) for i in range(N)]
    there = said(verb, written_out(rows, kept), **options)
    assert said(verb, {**rows, "w": [2.5 * k for k in kept]}, weight="w", **options) == there
    assert said(verb, {**rows, "k": kept}, count="k", **options) == there


def test_the_copies_of_an_item_belong_together_over_systems() -> None:
    rows = {name: column * 2 for name, column in some(*VOTES, "gold").items()}
    rows |= {"system": ["old"] * N + ["new"] * N, "id": [f"q{i}" for i in range(N)] * 2}
    counts = [1 + i % 3 for i in range(N)] * 2
    again = written_out(rows, counts)
    again["id"] = [
        f"{item}.{c}" for item, k in zip(rows["id"], counts, strict=True) for c in range(k)
    ]
    asked = {"judges": JUDGES, "truth": "gold", "system": "system", "item": "id"}
    counted = score.evaluate({**rows, "times": counts}, count="times", **asked)
    assert counted.pairs == score.evaluate(again, **asked).pairs
    assert counted.n_labels == sum(
        k for k, one in zip(counts, rows["gold"], strict=True) if one is not None
    )


# -- what it is for: a weight makes no labels


def test_a_gate_that_fails_with_40_labels_fails_with_weight_3() -> None:
    rows = {name: column for name, column in table(rows=120).items() if name in (*VOTES, "gold")}
    asked: dict[str, Any] = {"judges": JUDGES, "truth": "gold"}
    low = score.evaluate(rows, **asked).systems[0].interval.low
    asked["gates"] = (f"all outputs > {low + 0.01:.4f}",)
    heavy = score.evaluate({**rows, "w": [3] * 120}, weight="w", **asked)
    counted = score.evaluate({**rows, "times": [3] * 120}, count="times", **asked)
    assert (heavy.n_labels, counted.n_labels) == (40, 120)
    assert not heavy.gates[0].passed
    assert counted.gates[0].passed


def test_a_panel_holds_numbers_of_items_and_their_weights_apart() -> None:
    rows = {"gpt": [1, 1, 0, 0], "gold": [1, 1, None, 0], "w": [1.0, 3.0, 1.0, 3.0]}
    panel = read(rows, judges="gpt", truth="gold", weight="w").panel("judges")
    assert (panel.n, panel.n_labels, sorted(panel.weight)) == (4, 3, [0.5, 0.5, 1.5, 1.5])
    assert float(panel.counts @ panel.weight) == panel.n
    assert panel.blind.counts.tolist() == [2.0, 2.0]
    assert panel.blind.weight is None
    alike = read({**rows, "w": [3] * 4}, judges="gpt", truth="gold", weight="w").panel("judges")
    assert alike.weight is None
    assert alike.counts.tolist() == [1, 1, 2]
    assert Panel.of(Tally.of(rows), truth="gold", weight="w").names == ("gpt",)


def test_a_weight_of_its_own_for_every_row_makes_every_row_an_entry() -> None:
    rows = 10_400
    votes = {"gpt": [0, 1, 1, 0] * 2600, "gold": [0, None, 1, 1] * 2600}
    weights = (1 + np.arange(rows) / rows).tolist()
    panel = read({**votes, "w": weights}, judges="gpt", truth="gold", weight="w").panel("judges")
    assert (len(panel.counts), panel.n, panel.n_labels) == (rows, rows, 7800)
    share = sum(weights[i] for i in range(rows) if votes["gpt"][i]) / sum(weights)
    assert panel.blind.counts[1] / rows == pytest.approx(share)


# -- one answer from every source


def from_every_source(rows: dict[str, list[Any]], folder: Path) -> dict[str, Any]:
    write_csv(folder / "rows.csv", rows)
    write_csv(folder / "rows.parquet", rows)
    frame = pd.DataFrame(rows)
    return {
        "csv": folder / "rows.csv",
        "parquet": folder / "rows.parquet",
        "arrow": pa.table(rows),
        "pandas": frame,
        "polars": pl.DataFrame(rows),
        "lazy": pl.LazyFrame(rows),
        "duckdb": duckdb.from_arrow(pa.table(rows)),
    }


@pytest.mark.parametrize("role", ["count", "weight"])
def test_every_source_gives_one_answer(role: str, tmp_path: Path) -> None:
    _, rows, options = VERBS["judge without labels"]
    held = {**rows, "k": [1 + i % 3 for i in range(N)]}
    answers = {
        name: said(judge, source, **{role: "k"}, **options)
        for name, source in from_every_source(held, tmp_path).items()
    }
    assert len(set(answers.values())) == 1, answers

    read(held, judges=JUDGES, **{role: "k"}).tally("judges", "weight").save(tmp_path / "t.tally")
    named = {"weight": "k"} if role == "weight" else {}
    if role == "weight":  # unnamed it is no judge
        assert judge.evaluate(tmp_path / "t.tally").judges == judge.evaluate(rows).judges
    saved = judge.evaluate(tmp_path / "t.tally", **named, **options)
    here = judge.evaluate(held, **{role: "k"}, **options)
    assert saved.judges == here.judges
    assert saved.n_items == here.n_items == (N if role == "weight" else 2 * N)


@pytest.mark.parametrize("role", ["count", "weight"])
def test_a_large_frame_of_another_engine_gives_the_answer_of_its_rows(role: str) -> None:
    rows = {name: column * 900 for name, column in some(*VOTES).items()}
    rows["k"] = [1 + i % 3 for i in range(N)] * 900
    lazy = judge.evaluate(pl.LazyFrame(rows), judges=JUDGES, **{role: "k"})
    here = judge.evaluate(pa.table(rows), judges=JUDGES, **{role: "k"})
    assert lazy.judges == here.judges
    assert lazy.n_items == here.n_items


# -- refusals


@pytest.mark.parametrize("name", ["judge", "compare"])
@pytest.mark.parametrize(
    ("role", "value", "shown"),
    [
        ("count", "1.5", "'1.5'"),
        ("count", "-1", "'-1'"),
        ("count", "", "blank"),
        ("count", "many", "'many'"),
        ("weight", "-0.5", "'-0.5'"),
        ("weight", "", "blank"),
        ("weight", "inf", "'inf'"),
    ],
)
def test_a_cell_that_is_no_count_or_weight_is_refused_by_its_row(
    name: str, role: str, value: str, shown: str, tmp_path: Path
) -> None:
    verb, rows, options = VERBS[name]
    write_csv(tmp_path / "rows.csv", {**rows, "k": [*["2"] * 4, value, *["1"] * (N - 5)]})
    with pytest.raises(InputError, match=rf"row 5 of .*the {role} 'k' is {shown}"):
        verb.evaluate(tmp_path / "rows.csv", **{role: "k"}, **options)


@pytest.mark.parametrize("role", ["count", "weight"])
def test_a_column_of_zeros_leaves_no_row_and_is_refused(role: str) -> None:
    verb, rows, options = VERBS["judge"]
    with pytest.raises(InputError, match=f"every {role} in 'k' is 0"):
        verb.evaluate({**rows, "k": [0] * N}, **{role: "k"}, **options)


@pytest.mark.parametrize("name", ["bound", "compare with few labels"])
def test_unequal_weights_are_refused_where_an_interval_would_be_wrong(name: str) -> None:
    verb, rows, options = VERBS[name]
    with pytest.raises(InputError, match="weights"):
        verb.evaluate({**rows, "w": [1 + i % 3 for i in range(N)]}, weight="w", **options)


@pytest.mark.parametrize("name", ["judge", "score"])
def test_unequal_weights_move_the_estimate_and_not_the_number_of_labels(name: str) -> None:
    verb, rows, options = VERBS[name]
    heavy = {**rows, "w": [1 + 4 * (i % 2) for i in range(N)]}
    weighed, plain = (
        json.loads(said(verb, heavy, weight="w", **options)),
        json.loads(said(verb, rows, **options)),
    )
    assert (weighed["n_labels"], weighed["n_items"]) == (plain["n_labels"], plain["n_items"])
    of = "judges" if name == "judge" else "systems"
    assert weighed[of][0]["interval"] != plain[of][0]["interval"]


def test_sums_of_weights_are_not_numbers_of_labels() -> None:
    rows = {**some(*VOTES, "gold"), "w": [3.0] * N}
    weighted = Tally.of(rows, weight="w")
    for verb, options in (
        (judge, {"truth": "gold"}),
        (bound, {"prediction": "gpt", "weak": "claude,llama"}),
        (score, {"judges": JUDGES}),
        (compare, {"models": JUDGES, "truth": "gold"}),
    ):
        with pytest.raises(InputError, match=r"sums of weights.*--count C"):
            verb.evaluate(weighted, **options)
    assert judge.evaluate(weighted, judges=JUDGES).decision != "decided"
    whole = weighted.as_rows()
    assert judge.evaluate(whole, truth="gold").n_labels == 60


@pytest.mark.parametrize("name", ["count", "n", "freq", "Count"])
def test_a_column_named_like_a_count_is_asked_about(name: str) -> None:
    verb, rows, options = VERBS["judge"]
    # Every third row has a label: not all of them may have one count, which would be a doubt.
    asked = {**rows, name: [1 + i % 4 for i in range(N)]}
    with pytest.raises(UsageError, match=rf"--count {name} or --weight {name}"):
        verb.evaluate(asked, **options)
    ignored = said(verb, asked, ignore=name, **options)
    assert ignored == said(verb, rows, **options)


def test_weighted_scores_are_weighted_means() -> None:
    rng = np.random.default_rng(11)
    right = rng.random((300, 2)) < np.array([0.7, 0.6])
    weight = np.where(right[:, 0], 1 / 0.9, 1 / 0.3)
    rows = {name: right[:, j].astype(int) for j, name in enumerate("ab")}
    answer = compare.evaluate({**rows, "w": weight}, models="a,b", weight="w")
    found = {one.name: one.score for one in answer.models}
    want = {name: np.average(column, weights=weight) for name, column in rows.items()}
    assert found == pytest.approx(want)
    assert all(one.interval.low < want[one.name] < one.interval.high for one in answer.models)
