"""Labels that the table holds before a session begins."""

from __future__ import annotations

import numpy as np

from tallystick.label import SessionSettings, begin
from tallystick.results import Interval, Unknown
from tallystick.sampling.labels.answers import journal_of
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
        reading={"judges": JUDGES, "truth": "gold"},
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
        assert isinstance(work.result(final=False).interval, Interval)
        asks = work.next()
        assert not {ask.row for ask in asks} & some


def test_labels_drawn_among_disagreements_need_draws_from_the_rest(tmp_path, truth):
    _, votes = draw()
    apart = np.flatnonzero((np.stack(votes) != votes[0]).any(axis=0))
    some = set(np.random.default_rng(3).choice(apart, 30, replace=False).tolist())
    known = [WORDS[t] if i in some else None for i, t in enumerate(truth)]
    table = {name: [WORDS[v] for v in vote] for name, vote in zip(JUDGES, votes, strict=True)}
    with begin(
        tmp_path / "s.label",
        {**table, "gold": known},
        question="prevalence",
        reading={"judges": JUDGES, "truth": "gold"},
        settings=SessionSettings(origin="disagreements"),
    ) as work:
        refused = work.result(final=False)
        assert "Only disagreements are labelled" in refused.verdict
        assert isinstance(refused.interval, Unknown)
        fill(work, truth)
        result = work.result(final=False)
        journal = journal_of(work.session, work.task.strata)
        journal.check(range(journal.n_draws))
    assert truth.mean() in result.interval
    assert truth.mean() in result.anytime_interval


def test_labels_of_a_table_are_left_out_of_a_contest_of_systems_and_that_is_said(tmp_path):
    rows = {
        "id": [i // 2 for i in range(80)],
        "system": ["a", "b"] * 40,
        "gpt": [1, 0, 1, 1] * 20,
        "human": [1, 0] * 3 + [None] * 74,
    }
    with begin(
        tmp_path / "s.label",
        rows,
        question="score",
        reading={"judges": ("gpt",), "truth": "human", "system": "system", "item": "id"},
        options={"goal": "best"},
    ) as work:
        assert any("6 labels" in note for note in work.result(final=False).notes)
