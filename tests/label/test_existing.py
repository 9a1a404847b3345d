"""Labels that the table holds before a session begins."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.results import Interval
from tallystick.verbs.label import SessionSettings, begin, reopen
from tests.label.conftest import JUDGES, WORDS, draw, fill


def test_labels_of_unknown_origin_are_counted_apart(tmp_path, truth):
    _, votes = draw()
    known = [WORDS[t] if i < 40 and t == 0 else None for i, t in enumerate(truth)]  # failures only
    table = {name: [WORDS[v] for v in vote] for name, vote in zip(JUDGES, votes, strict=True)}
    path = tmp_path / "s.label"
    with begin(
        path,
        {**table, "gold": known},
        question="prevalence",
        reading={"judges": JUDGES, "truth": "gold", "labels": WORDS},
    ) as work:
        assert len(work.session.apart) == sum(one is not None for one in known)
        assert work.result().decision == "undecided"
        fill(work, truth)
        asked = {ask.row for ask in work.session.asks}
        result = work.result()
    assert not asked & set(work.session.apart)
    assert truth.mean() in result.anytime_interval
    assert truth.mean() in result.interval
    assert any("counted apart" in text for text in result.warnings)


def test_labels_that_were_drawn_at_random_are_draws(tmp_path, truth):
    _, votes = draw()
    some = set(np.random.default_rng(3).choice(300, 45, replace=False).tolist())
    known = [WORDS[t] if i in some else None for i, t in enumerate(truth)]
    table = {name: [WORDS[v] for v in vote] for name, vote in zip(JUDGES, votes, strict=True)}
    with begin(
        tmp_path / "s.label",
        {**table, "gold": known},
        question="judge",
        reading={"judges": JUDGES, "truth": "gold"},
        settings=SessionSettings(origin="random"),
    ) as work:
        assert work.standing().read.n == 45
        drawn = [ask.row for ask in work.session.asks]
        # Their order is not known, so a random one is drawn; guesses learn from batch to batch.
        assert sorted(drawn) == sorted(some)
        assert drawn != sorted(some)
        assert len(work.session.batches) > 1
        assert isinstance(work.result().interval, Interval)
        asks = work.next()
        assert not {ask.row for ask in asks} & some


_READING = {"judges": ("gpt", "claude"), "truth": "human", "system": "system", "item": "id"}


def _outputs(items: int, graded: set[int], systems: tuple[str, ...] = ("a", "b"), *, rate=0.5):
    """Return outputs of systems with two judges, and human grades on the rows in *graded*."""
    rng = np.random.default_rng(5)
    k = len(systems)
    passed = rng.random((items, k)) < np.linspace(rate, rate + 0.35, k)
    judge = [np.where(rng.random(passed.shape) < 0.85, passed, ~passed).ravel() for _ in "12"]
    table = {
        "id": np.repeat(np.arange(items), k).tolist(),
        "system": list(systems) * items,
        "gpt": judge[0].astype(int).tolist(),
        "claude": judge[1].astype(int).tolist(),
        "human": [
            int(one) if row in graded else None for row, one in enumerate(passed.ravel().tolist())
        ],
    }
    return table, passed.ravel().astype(int)


def _begun(path, table, goal, origin):
    return begin(
        path,
        table,
        question="score",
        reading=_READING,
        options={"goal": goal},
        settings=SessionSettings(origin=origin),
    )


@pytest.mark.parametrize("goal", ["difference", "best"])
def test_items_that_were_graded_at_random_are_the_first_draws_of_a_contest(tmp_path, goal):
    items = np.random.default_rng(2).choice(200, 30, replace=False)
    graded = {2 * i + s for i in items.tolist() for s in (0, 1)} | {1 if 0 not in items else 0}
    table, passed = _outputs(200, graded)
    with _begun(tmp_path / "s.label", table, goal, "random") as work:
        assert work.standing().read.n == 30
        notes = work.result().notes
        assert ": 30 items are the first draws" in notes[0]
        drawn = {ask.row for ask in work.session.asks}
        assert not {ask.row for ask in work.next(20)} & drawn
        for ask in work.session.open_asks("1"):
            work.answer(ask.number, int(passed[ask.row]), reader="1")
        after = work.result()
    with reopen(tmp_path / "s.label", table) as again:
        assert again.result().to_dict() == after.to_dict()


@pytest.mark.parametrize("goal", ["difference", "best"])
def test_labels_of_unknown_origin_answer_an_item_once_it_is_drawn(tmp_path, goal):
    graded = set(range(0, 400, 2))  # every output of one system
    table, passed = _outputs(200, graded)
    with _begun(tmp_path / "s.label", table, goal, "unknown") as work:
        assert not work.standing().read.n
        assert "200 labels of column 'human' count when" in work.result().notes[0]
        asks = work.next(20)
        assert len(work.session.asks) == 20
        assert [ask.system for ask in asks] == ["b"] * 10  # what a holds is known already
        assert not any("not counted yet" in text for text in work.result().warnings)
        for ask in asks:
            work.answer(ask.number, int(passed[ask.row]), reader="1")
        assert work.standing().read.n == 10
        assert "no label was drawn" not in work.result().verdict.lower()


def test_labels_that_cannot_be_a_random_draw_are_not_taken_for_one(tmp_path):
    table, _ = _outputs(200, set())
    failed = [row for row in range(400) if table["gpt"][row] == table["claude"][row] == 0]
    table["human"] = [0 if row in failed[:60] else None for row in range(400)]
    table["human"][table["gpt"].index(1)] = 1
    with _begun(tmp_path / "s.label", table, "mean", "random") as work:
        assert work.session.head.origin == "unknown"
        assert len(work.session.apart) == 61
        assert "on rows where the consensus says 0" in (work.result().notes[0])


def test_labels_apart_count_for_which_of_two_models_is_better(tmp_path):
    """Old is right on the 60 disagreements that are known; new is on 40 of the 60 others."""
    truth = ["x"] * 120
    old = ["x"] * 60 + ["y"] * 40 + ["x"] * 20
    new = ["y"] * 60 + ["x"] * 40 + ["y"] * 20
    table = {"old": old, "new": new, "gold": ["x"] * 60 + [None] * 60}
    reading = {"models": ("old", "new"), "truth": "gold"}
    with begin(tmp_path / "s.label", table, question="compare", reading=reading) as work:
        assert len(work.session.apart) == 60
        while asks := work.next():
            for ask in asks:
                work.answer(ask.number, truth[ask.row], reader="1")
            if work.standing().winner:
                break
        assert work.standing().winner == "old"
        [lead] = work.standing().measures
    with reopen(tmp_path / "s.label", table) as again:
        assert again.standing().measures[0].interval == lead.interval


def test_random_labels_of_a_contest_in_which_a_model_leaves_early_are_one_batch(tmp_path):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 400)
    right = {"good": 0.9, "fair": 0.88, "bad": 0.2}
    table = {
        name: np.where(rng.random(400) < rate, truth, 1 - truth).tolist()
        for name, rate in right.items()
    }
    some = set(rng.choice(400, 150, replace=False).tolist())
    table["gold"] = [int(t) if row in some else None for row, t in enumerate(truth)]
    with begin(
        tmp_path / "s.label",
        table,
        question="compare",
        reading={"models": tuple(right), "truth": "gold"},
        settings=SessionSettings(origin="random"),
    ) as work:
        assert len(work.session.batches) == 1
        assert not work.standing().best.live[2]
        for _ in range(2):
            for ask in work.next(10):
                work.answer(ask.number, int(truth[ask.row]), reader="1")
        assert work.standing().read.n == len(work.session.batches[0].units) + 20
