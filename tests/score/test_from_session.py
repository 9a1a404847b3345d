"""A labelling session as the truth of ``score``: intervals that know how outputs were drawn."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from tallystick import score
from tallystick.errors import InputError
from tallystick.verbs.label import begin, reopen
from tests.score.test_labelling import outputs, run

ROLES = {"system": "system", "judges": ("gpt", "claude"), "item": "item"}


def saved(folder, rows):
    path = folder / "outputs.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))
    return path


def session(folder, rows, truth, **options):
    table = saved(folder, rows)
    path = folder / "s.label"
    with begin(path, str(table), question="score", reading=ROLES, options=options) as work:
        found = run(work, truth)
    return table, path, found


def test_the_scores_are_those_of_the_session(tmp_path):
    rows, truth, _ = outputs()
    table, path, found = session(tmp_path, rows, truth)
    result = score(str(table), truth_file=str(path), **ROLES)
    by_name = {row.name: row for row in result.systems}
    for one in found.measures:
        assert by_name[one.name].score == pytest.approx(one.estimate)
        assert by_name[one.name].interval.low == pytest.approx(one.interval.low)
        assert by_name[one.name].interval.high == pytest.approx(one.interval.high)
    assert "drawn at random" in " ".join(result.assumptions)


def test_systems_share_their_items_and_a_known_one_is_not_drawn_any_more(tmp_path):
    rng = np.random.default_rng(5)
    rows, truth, _ = outputs(300, quality={"a": 0.5, "b": 0.98})
    truth[1::2] = (rng.random(300) < 0.98).astype(int)
    _, path, found = session(tmp_path, rows, truth)
    with reopen(path, write=False) as work:
        asks, session_ = work.session.asks, work.session
    by_item = {}
    for ask in asks:
        by_item.setdefault(ask.item, set()).add(ask.system)
    first = [ask for ask in asks if ask.batch == 0]
    assert all(len(by_item[ask.item]) == 2 for ask in first)
    last = [ask.system for ask in asks if ask.batch == len(session_.batches) - 1]
    assert set(last) == {"a"}  # b is known well enough
    assert found.stop == "precision"


def test_a_skip_counts_both_ways(tmp_path):
    rows, truth, _ = outputs(100, quality={"a": 0.8})
    widths = []
    for skip in (False, True):
        with begin(tmp_path / f"{skip}.label", rows, question="score", reading=ROLES) as work:
            for place, ask in enumerate(work.next(40)):
                label = None if skip and place < 5 else truth[ask.row].item()
                work.answer(ask.number, label, reader="1")
        result = score(rows, truth_file=str(tmp_path / f"{skip}.label"), **ROLES)
        widths.append(result.systems[0].interval.width)
    assert widths[1] > widths[0] + 0.03


def test_a_system_without_a_draw_has_no_score(tmp_path):
    rows, truth, _ = outputs(60)
    with begin(tmp_path / "s.label", rows, question="score", reading=ROLES) as work:
        [ask] = work.next(1)
        work.answer(ask.number, truth[ask.row].item(), reader="1")
    result = score(rows, truth_file=str(tmp_path / "s.label"), **ROLES)
    known = [isinstance(row.score, float) for row in result.systems]
    assert sorted(known) == [False, True]


@pytest.mark.parametrize(
    ("goal", "option"),
    [
        ("mean", {"certified": True}),
        ("difference", {"population": "new"}),
        ("best", {"by": "item"}),
    ],
)
def test_what_draws_by_strata_cannot_say_is_refused(tmp_path, goal, option):
    rows, truth, _ = outputs(60)
    begun = begin(
        tmp_path / "s.label", rows, question="score", reading=ROLES, options={"goal": goal}
    )
    with begun as work:
        for ask in work.next(20):
            work.answer(ask.number, truth[ask.row].item(), reader="1")
    with pytest.raises(InputError, match="drawn by strata"):
        score(rows, truth_file=str(tmp_path / "s.label"), **ROLES, **option)


def test_an_empty_session_is_refused(tmp_path):
    rows, _, _ = outputs(60)
    with begin(tmp_path / "s.label", rows, question="score", reading=ROLES):
        pass
    with pytest.raises(InputError, match="no labels to read yet"):
        score(rows, truth_file=str(tmp_path / "s.label"), **ROLES)


def test_what_needs_a_random_draw_is_refused_with_a_way_out(tmp_path):
    rows, truth, _ = outputs(60)
    rows = {**rows, "topic": ["x", "y"] * 60, "length": list(range(120))}
    with begin(tmp_path / "s.label", rows, question="score", reading=ROLES) as work:
        for ask in work.next(20):
            work.answer(ask.number, truth[ask.row].item(), reader="1")
    with pytest.raises(InputError, match="graded in a column of the table"):
        score(rows, truth_file=str(tmp_path / "s.label"), criterion="topic", **ROLES)
