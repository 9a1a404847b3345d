"""Doubts about labels and rows: the answer decides nothing, passes no gate and says why."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from tallystick import bound, compare, judge, score, shift
from tallystick.table import Tally, read
from tallystick.table.data import BesideCounts
from tallystick.table.doubts import LEVEL, LabelView, find_doubt, label_doubt

# A doubt is a Python warning too; here the results are looked at.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

N = 600
ROLES = {"judges": ("x", "y", "z"), "truth": "gold"}
Columns = dict[str, list[Any]]


def votes(rng: np.random.Generator, n: int = N) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    truth = rng.integers(0, 2, n)
    return truth, {j: np.where(rng.random(n) < 0.8, truth, 1 - truth) for j in "xyz"}


def table(rng: np.random.Generator, known: np.ndarray, **more: Any) -> Columns:
    """Votes of three judges; *known* says which rows have a label."""
    truth, said = votes(rng, len(known))
    gold = [int(y) if one else None for y, one in zip(truth, known, strict=True)]
    return {**more, **{name: cells.tolist() for name, cells in said.items()}, "gold": gold}


def seen(given: Columns, **more: Any) -> str:
    found = find_doubt(read(given, **{**ROLES, **more}))
    return "" if found is None else found.seen.replace("\xa0", " ")


def test_labels_on_the_first_rows_decide_nothing_and_pass_no_gate() -> None:
    given = table(np.random.default_rng(1), np.arange(N) < 60)
    with pytest.warns(UserWarning, match="the labels were not drawn at random"):
        result = judge(given, **ROLES)
    assert result.verdict == (
        "The labels decide nothing, because they were not drawn at random: all 60 are on rows 1 to"
        " 60 of 600."
    )
    assert (result.decision, result.leader, result.rivals) == ("undecided", None, ())
    assert result.judges[0].interval.guarantee == "under"
    assert "the table is in random order" in result.assumptions
    assert str(result.needed) == "more labels on items drawn at random"
    gated = score(given, **ROLES, gates=("'all outputs' > 0.1",))
    assert [gate.passed for gate in gated.gates] == [None]
    assert "not drawn at random" in gated.gates[0].text


def test_a_method_that_reads_no_label_is_not_doubted_for_its_labels() -> None:
    given = table(np.random.default_rng(1), np.arange(N) < 60)
    result = judge(given, **ROLES, method="majority")
    assert result.verdict.startswith("If the majority is right on every item")


def days(hours: np.ndarray) -> list[str]:
    return [str(datetime(2026, 1, 1) + timedelta(hours=int(hour))) for hour in hours]


def looks() -> dict[str, tuple[np.ndarray, Columns, str]]:
    """Which rows have a label, the columns beside the votes, and what is said of it."""
    rng = np.random.default_rng(2)
    place, random = rng.permutation(N), rng.random(N) < 0.15
    stretch = np.where(np.isin(np.arange(N), range(200, 280)), rng.random(N) < 0.7, random & False)
    lang = np.where(rng.random(N) < 0.5, "en", "de")
    group, sure = place % 100, rng.random(N)
    who = [str(rng.choice(["ann", "bob"])) if one else None for one in random]
    stamps = np.where(random, 10_000 + np.arange(N), np.arange(N)).tolist()
    spent = np.where(random, rng.integers(5, 90, N), 0).tolist()
    written = {"updated": stamps, "who": who, "spent": spent, "done": random.tolist()}
    return {
        "stretch": (stretch, {}, "are on rows "),
        "time": (place >= N - 80, {"made": days(place)}, "with 'made' from 2026-01-22T16:00:00 to"),
        "number": (place < 60, {"uid": [str(one) for one in place]}, "'uid' from 0 to 59"),
        "confidence": (sure < 0.1, {"sure": sure.tolist()}, "'sure' from"),
        "slice": ((lang == "en") & (sure < 0.3), {"lang": lang.tolist()}, "'lang'"),
        "group": (group < 20, {"talk": [f"c{k}" for k in group]}, "on 20 of the 100 different"),
        "written by labelling": (random, written, ""),
        "all": (random | True, {}, ""),
        "none": (random & False, {}, ""),
    }


@pytest.mark.parametrize("name", looks())
def test_labels_that_depend_on_a_column_are_found_and_no_others(name: str) -> None:
    known, more, told = looks()[name]
    said = seen(table(np.random.default_rng(3), known, **more))
    assert told in said
    assert bool(told) == bool(said)


def test_a_table_that_was_sorted_by_its_labels_is_not_doubted() -> None:
    rng = np.random.default_rng(7)
    given = table(rng, rng.random(N) < 0.15, id=list(range(N)))
    for more in ({"item": "id"}, {}):
        own = given if more else {name: cells for name, cells in given.items() if name != "id"}
        gold = own["gold"]
        order = sorted(range(N), key=lambda k: (gold[k] is None, not more and (gold[k] or 0)))
        assert not seen({name: [cells[k] for k in order] for name, cells in own.items()}, **more)


def test_random_labels_are_doubted_no_more_often_than_the_level_says() -> None:
    rng = np.random.default_rng(8)
    doubted = 0
    for _ in range(300):
        n = int(rng.integers(60, 400))
        known = rng.permutation(n) < rng.integers(8, n // 2)
        columns = {
            "topic": rng.choice(list("abcd"), n).tolist(),
            "talk": rng.integers(0, n // 4, n).tolist(),
            "when": rng.permutation(n).tolist(),
        }
        doubted += bool(seen(table(rng, known, **columns)))
    assert doubted <= 3  # at most 0.1% each: the 1e-4 quantile of 300 is 3
    assert LEVEL == 0.001


@pytest.mark.parametrize("judges", [2, 3, 25])
def test_labels_where_voters_disagree_are_found_with_few_and_with_many_voters(judges: int) -> None:
    rng = np.random.default_rng(10)
    first = rng.integers(0, 2, (800, 1))
    codes = np.where(rng.random((800, judges)) < 0.99, first, 1 - first)
    apart = (codes != codes[:, :1]).any(axis=1)
    known = apart & (np.cumsum(apart) <= 40)
    names = tuple(f"j{k}" for k in range(judges))
    look = LabelView(kind="votes", names=names, codes=codes, labels=("a", "b"), known=known)
    found = label_doubt([look])
    assert found is not None
    assert found.seen.startswith("none of ")
    assert " agree, which are " in found.seen


def test_counts_are_doubted_as_their_rows_are() -> None:
    rng = np.random.default_rng(11)
    given = table(rng, np.zeros(N, bool))
    said = np.array(given["x"])
    given["gold"] = [int(v) if v == 1 and k % 3 == 0 else None for k, v in enumerate(said)]
    by_rows = judge(given, **ROLES, labels=(0, 1))
    by_counts = judge(Tally.of(given), **ROLES, labels=(0, 1))
    assert "are on rows where x says 1, which are" in by_rows.warnings[0]
    assert by_counts.verdict == by_rows.verdict
    assert by_counts.decision == "undecided"


def test_what_a_service_knows_beside_its_counts_is_looked_at() -> None:
    rng = np.random.default_rng(12)
    some = Tally.of(table(rng, np.arange(N) < 60))
    every = Tally.of(table(rng, np.ones(N, bool)))
    lang = {"lang": [("de", 300, 0), ("en", 300, 60)]}
    for tally, known, told in (
        (some, BesideCounts(labelled=(1, 60)), "all 60 are on rows 1 to 60 of 600"),
        (some, BesideCounts(parts=lang), "'lang'"),
        (some, BesideCounts(labelled=(3, 597)), ""),
        (every, BesideCounts(parts={"lang": [("de", 300, 300), ("en", 300, 300)]}), ""),
    ):
        found = find_doubt(replace(read(tally, **ROLES), beside=known))
        assert told in ("" if found is None else found.seen)
        assert bool(told) == (found is not None)


def test_systems_with_other_shares_of_labels_are_no_odd_draw_and_an_odd_system_is_named() -> None:
    codes = np.array([[0], [1]] * 4)
    known = np.array([False, False, True, True] * 2)
    part = np.array([0] * 4 + [1] * 4)
    fair = np.array([90.0, 10, 9, 1, 10, 90, 30, 270])
    about: dict[str, Any] = {"kind": "votes", "names": ("x",), "codes": codes, "labels": "ab"}
    together = LabelView(**about, known=known, counts=fair)
    assert label_doubt([together]) is not None
    apart = LabelView(**about, known=known, counts=fair, part=part, parts=("m1", "m2"))
    assert label_doubt([apart]) is None
    odd = np.array([90.0, 10, 9, 1, 200, 200, 0, 40])
    found = label_doubt(
        [LabelView(**about, known=known, counts=odd, part=part, parts=("m1", "m2"))]
    )
    assert found is not None
    assert found.seen.endswith("(of m2)")


def test_every_look_and_every_table_that_was_asked_about_is_corrected_for() -> None:
    rows = np.arange(100)[:, None]
    known = np.isin(np.arange(100), (0, 3, 7, 9, 13))
    block = LabelView(kind="order", names=(), codes=rows, labels=rows, known=known)
    topic = LabelView(kind="column", names=("t",), codes=rows % 2, labels=("a", "b"), known=known)
    assert label_doubt([block]) is None  # one of 31 facts
    known = np.isin(np.arange(100), (0, 1, 2, 3, 6))
    block = LabelView(kind="order", names=(), codes=rows, labels=rows, known=known)
    assert label_doubt([block]) is not None
    assert label_doubt([block, *[topic] * 200]) is None
    assert label_doubt([block], looked=200) is None


def test_whole_clusters_that_were_drawn_at_random_are_not_doubted() -> None:
    """Row by row the labels stand on few documents; each document counts once."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        doc = np.repeat(np.arange(120), 5)
        topic = np.array(["a", "b", "c"])[rng.integers(0, 3, 120)][doc]
        known = (rng.permutation(120) < 25)[doc]
        given = table(rng, known, doc=doc.tolist(), topic=topic.tolist())
        assert "different 'doc'" in seen(given)
        assert not seen(given, cluster="doc")


def test_labels_on_all_disagreements_determine_a_difference() -> None:
    rng = np.random.default_rng(13)
    _, said = votes(rng)
    apart = said["x"] != said["y"]
    gold = [int(v) if one else None for v, one in zip(said["x"], apart, strict=True)]
    for k in np.flatnonzero(apart)[::3]:
        gold[k] = 1 - int(said["x"][k])
    given = {"x": said["x"].tolist(), "y": said["y"].tolist(), "gold": gold}
    roles = {"models": ("x", "y"), "truth": "gold"}
    assert "decide nothing" not in compare(given, **roles).verdict
    some = np.flatnonzero(apart)[: apart.sum() // 3]
    given["gold"] = [one if k in set(some.tolist()) else None for k, one in enumerate(gold)]
    assert "decide nothing" in compare(given, **roles).verdict


def test_confirmed_answers_and_chosen_predictions_decide_nothing_elsewhere() -> None:
    rng = np.random.default_rng(14)
    labels = np.array(["billing", "sales", "tech"])
    truth = labels[rng.choice(3, 900, p=[0.5, 0.3, 0.2])]
    old, new = (
        np.where(rng.random(900) < 0.75, truth, labels[rng.integers(0, 3, 900)]) for _ in "on"
    )
    known = (rng.random(900) < 0.4) & (old == truth)
    team = [str(y) if one else None for y, one in zip(truth, known, strict=True)]
    given = {"team": team, "march": old.tolist(), "june": new.tolist()}
    roles = {"truth": "team", "old": "march", "new": "june"}
    result = shift(given, **roles, gates=("accuracy_change > -1%",))
    assert [gate.passed for gate in result.gates] == [None]
    assert "they look like a copy: 'team' equals 'march'" in result.verdict
    given = table(rng, np.zeros(N, bool))
    given["gold"] = [v if v == 1 and k % 4 == 0 else None for k, v in enumerate(given["x"])]
    found = bound(given, prediction="x", weak=("y", "z"), truth="gold")
    assert found.verdict.startswith("The labels decide nothing")
    assert found.decision == "undecided"


def test_a_slice_is_doubted_by_its_own_labels() -> None:
    rng = np.random.default_rng(15)
    half = np.arange(N) < N // 2
    known = np.where(half, rng.random(N) < 0.3, np.arange(N) < N // 2 + 60)
    given = table(rng, known, lang=np.where(half, "en", "de").tolist())
    by = {one.label: one.answer for one in judge(given, **ROLES, by="lang").slices}
    assert "decide nothing" in by["de"].verdict
    assert "decide nothing" not in by["en"].verdict


def test_rows_that_belong_together_are_asked_to_be_a_cluster() -> None:
    rng = np.random.default_rng(16)
    old, new = (rng.random(40) < 0.45).astype(int), (rng.random(40) < 0.5).astype(int)
    order = np.repeat(np.arange(40), 25)
    given = {
        "id": list(range(1000)),
        "any name": [f"p{k}" for k in order],
        "old": old[order].tolist(),
        "new": new[order].tolist(),
    }
    roles = {"models": ("old", "new"), "item": "id"}
    result = compare(given, **roles)
    assert result.decision == "undecided"
    assert "1,000 rows have 40 different cells in 'any name'" in result.warnings[0]
    assert "--cluster 'any name'" in result.warnings[0]
    declared = compare(given, **roles, cluster="any name")
    assert "decide nothing" not in declared.verdict


def test_groups_that_are_hard_for_all_voters_alike_do_not_belong_together() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        talk = rng.integers(0, 60, N)
        easy = rng.uniform(0.5, 0.9, 60)[talk]
        given = {name: (rng.random(N) < easy).astype(int).tolist() for name in ("old", "new")}
        data = read({**given, "talk": talk.tolist()}, models=("old", "new"))
        assert find_doubt(data) is None
