"""A labelling session as the truth of ``score``: intervals that know how outputs were drawn."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from tallystick import score
from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
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
    result = score.evaluate(str(table), truth_file=str(path), **ROLES)
    by_name = {row.name: row for row in result.systems}
    for one in found.measures:
        assert by_name[one.name].score == pytest.approx(one.estimate)
        assert by_name[one.name].interval.low == pytest.approx(one.interval.low)
        assert by_name[one.name].interval.high == pytest.approx(one.interval.high)
    assert any("drawn by label" in text for text in result.assumptions)
    assert "drawn at random" not in " ".join(result.assumptions)


def test_label_ends_in_the_result_of_score_itself(tmp_path):
    rows, truth, _ = outputs()
    _, path, _ = session(tmp_path, rows, truth)
    with reopen(path, write=False) as work:
        own = work.result().result
    assert own.verb == "score"
    assert own.decision == "decided"
    assert isinstance(own.judges[0].tpr.estimate, Unknown)


def test_every_label_counts_by_the_size_of_its_stratum(tmp_path):
    rng = np.random.default_rng(5)
    n = 400
    sure = np.arange(n) < 300  # the judges agree and are right; on the rest they guess
    truth = np.where(sure, 1, rng.random(n) < 0.3).astype(int)
    votes = np.where(sure, 1, np.arange(n) % 2)
    rows = {
        "item": [f"i{i}" for i in range(n)],
        "system": ["a"] * n,
        "gpt": votes.tolist(),
        "claude": np.where(sure, 1, 1 - votes).tolist(),
    }
    with begin(tmp_path / "s.label", rows, question="score", reading=ROLES) as work:
        for _ in range(4):
            for ask in work.next(20):
                work.answer(ask.number, truth[ask.row].item(), reader="1")
        strata = work.session.strata().astype(int)
        drawn = [ask.row for ask in work.session.asks]
    result = score.evaluate(rows, truth_file=str(tmp_path / "s.label"), **ROLES)

    sizes = np.bincount(strata)
    k = np.bincount(strata[drawn], minlength=sizes.size)
    x = np.bincount(strata[drawn], weights=truth[drawn], minlength=sizes.size)
    assert result.systems[0].score == pytest.approx((sizes * x / k).sum() / n)
    # Draws favour what the judges cannot tell, so the plain mean of the labels is another number.
    assert abs(truth[drawn].mean() - result.systems[0].score) > 0.005
    assert truth.mean() in result.systems[0].interval


def test_a_difference_session_gives_a_paired_interval(tmp_path):
    rows, truth, _ = outputs()
    table, path, found = session(tmp_path, rows, truth, goal="difference")
    result = score.evaluate(str(table), truth_file=str(path), **ROLES)
    [pair] = result.pairs
    assert pair.a == found.winner == "a"
    lead = truth[::2].mean() - truth[1::2].mean()
    assert lead in pair.interval
    gap = {row.name: row.score for row in result.systems}
    assert pair.difference == pytest.approx(gap["a"] - gap["b"])


def test_a_contest_is_read_as_truth_too(tmp_path):
    rows, truth, _ = outputs(200, quality={"a": 0.9, "b": 0.6, "c": 0.4})
    table, path, found = session(tmp_path, rows, truth, goal="best")
    result = score.evaluate(str(table), truth_file=str(path), **ROLES)
    assert found.winner == result.systems[0].name == "a"
    for row in result.systems:
        share = truth[np.array(rows["system"]) == row.name].mean()
        assert isinstance(row.interval, Interval)
        assert share in row.interval


def test_a_skip_counts_both_ways(tmp_path):
    rows, truth, _ = outputs(100, quality={"a": 0.8})
    widths = []
    for skip in (False, True):
        with begin(tmp_path / f"{skip}.label", rows, question="score", reading=ROLES) as work:
            for place, ask in enumerate(work.next(40)):
                label = None if skip and place < 5 else truth[ask.row].item()
                work.answer(ask.number, label, reader="1")
        result = score.evaluate(rows, truth_file=str(tmp_path / f"{skip}.label"), **ROLES)
        widths.append(result.systems[0].interval.width)
    assert widths[1] > widths[0] + 0.03


def test_a_system_without_a_draw_has_no_score(tmp_path):
    rows, truth, _ = outputs(60)
    with begin(tmp_path / "s.label", rows, question="score", reading=ROLES) as work:
        [ask] = work.next(1)
        work.answer(ask.number, truth[ask.row].item(), reader="1")
    result = score.evaluate(rows, truth_file=str(tmp_path / "s.label"), **ROLES)
    known = [isinstance(row.score, float) for row in result.systems]
    assert sorted(known) == [False, True]


@pytest.mark.parametrize("options", [{"certified": True}, {"population": "new"}])
def test_what_a_session_cannot_say_is_refused(tmp_path, options):
    rows, truth, _ = outputs(60)
    with begin(tmp_path / "s.label", rows, question="score", reading=ROLES) as work:
        for ask in work.next(20):
            work.answer(ask.number, truth[ask.row].item(), reader="1")
    with pytest.raises(InputError, match="drawn by strata"):
        score.evaluate(rows, truth_file=str(tmp_path / "s.label"), **ROLES, **options)


def test_an_empty_session_is_refused(tmp_path):
    rows, _, _ = outputs(60)
    with begin(tmp_path / "s.label", rows, question="score", reading=ROLES):
        pass
    with pytest.raises(InputError, match="no labels to read yet"):
        score.evaluate(rows, truth_file=str(tmp_path / "s.label"), **ROLES)


@pytest.mark.parametrize("role", [{"covariate": "length"}, {"criterion": "topic"}])
def test_what_needs_a_random_draw_is_refused_with_a_way_out(tmp_path, role):
    rows, truth, _ = outputs(60)
    rows = {**rows, "topic": ["x", "y"] * 60, "length": list(range(120))}
    with begin(tmp_path / "s.label", rows, question="score", reading=ROLES) as work:
        for ask in work.next(20):
            work.answer(ask.number, truth[ask.row].item(), reader="1")
    with pytest.raises(InputError, match="graded in a column of the table"):
        score.evaluate(rows, truth_file=str(tmp_path / "s.label"), **role, **ROLES)
