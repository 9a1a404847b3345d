"""A session from its first draw to its last answer."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import pytest

from tallystick import judge
from tallystick._rng import spawn
from tallystick.errors import FileError, InputError
from tallystick.results import Unknown
from tallystick.sampling.draws import DrawJournal, draw_batch
from tallystick.sampling.tasks import journal_of
from tallystick.verbs.label import begin, reopen
from tallystick.verbs.label.work import standing
from tests.label.conftest import JUDGES, WORDS, draw, fill


def test_a_session_runs_to_its_precision_and_covers_the_truth(start, truth):
    with start("judge") as work:
        fill(work, truth)
        result = work.result()
    assert result.stop == "precision"
    assert result.interval.width / 2 <= 0.05 + 1e-9
    assert result.interval.guarantee == "approximate"
    assert result.anytime_interval.guarantee == "anytime"
    _, votes = draw()
    for measure, vote in zip(result.measures, votes, strict=True):
        right = float((vote == truth).mean())
        assert right in measure.anytime_interval
    assert result.decision == "decided"


def test_the_draws_can_be_replayed_from_the_seed(start, truth):
    with start("judge", seed=5) as work:
        fill(work, truth, limit=70)
        task, session = work.task, work.session
    journal = journal_of(session, task.strata)
    # Batch b is drawn with its own seed, whatever was answered before.
    again = DrawJournal.empty(task.strata.sizes, half_width=session.head.target)
    for number, batch in enumerate(session.batches):
        spread, rng = np.ones(len(task.strata)), spawn(5, number + 1)[number]
        again = draw_batch(task.strata, again, size=len(batch.units), spread=spread, rng=rng)
    assert again.item.tolist() == journal.item.tolist()
    assert again.q.tolist() == journal.q.tolist()


def test_only_a_prefix_of_the_draws_is_read(start, truth):
    with start("prevalence") as work:
        asks = work.next(10)
        for ask in asks[5:]:
            work.answer(ask.number, WORDS[truth[ask.row]], reader="1")
        assert work.standing().read.n == 0
        assert any("not counted yet" in text for text in work.result().warnings)
        for ask in asks[:5]:
            work.answer(ask.number, WORDS[truth[ask.row]], reader="1")
        assert work.standing().read.n == 10


def test_undo_takes_back_the_latest_answer_only(start, truth):
    with start("prevalence") as work:
        first, second = work.next(2)
        work.answer(first.number, "pass", reader="1")
        work.answer(second.number, "fail", reader="1")
        assert work.undo("1").ask == second.number
        assert work.session.done(first.number)
        assert not work.session.done(second.number)
        work.undo("1")
        assert work.undo("1") is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"target": 1.0}, r"target must be in \(0, 1\), got 1.0"),
        ({"alpha": 0.0}, "alpha must be in"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"readers": 4}, "readers must be at most 3"),
        ({"origin": "some"}, "origin must be one of random, unknown"),
    ],
)
def test_settings_out_of_range_are_refused(start, settings, said):
    with pytest.raises(InputError, match=said):
        start("judge", **settings)


def test_wrong_answers_are_named_and_refused(start):
    with start("judge") as work:
        [ask] = work.next(1)
        with pytest.raises(InputError, match="one of fail, pass, or skip, got 'maybe'"):
            work.answer(ask.number, "maybe", reader="1")
        with pytest.raises(InputError, match="no reader '2': there are 1"):
            work.answer(ask.number, "pass", reader="2")
        with pytest.raises(InputError, match="never drawn"):
            work.answer(99, "pass", reader="1")
        assert not work.session.answers


def test_the_table_may_not_change_under_a_session(start, table, tmp_path):
    start("judge").close()
    text = table.read_text()
    table.write_text(text.replace("pass", "fail", 1))
    with pytest.raises(InputError, match="drawn from other data"):
        reopen(tmp_path / "s.label")
    table.write_text(text.replace("text 7", "text seven", 1))  # no column that strata depend on
    reopen(tmp_path / "s.label").close()


def test_a_table_that_has_grown_goes_on_with_the_rows_it_began_with(start, truth, table, tmp_path):
    with start("prevalence") as work:
        fill(work, truth, limit=20)
        before = work.result()
    more = table.read_text() + "".join(f"x{i},new {i},pass,pass,fail\n" for i in range(40))
    table.write_text(more)
    with reopen(tmp_path / "s.label") as again:
        after = again.result()
        assert after.notes[-1] == "rows added since this session began: 40, no part of it"
        assert after.interval == before.interval
        assert all(ask.row < 300 for ask in again.next(30))
    table.write_text(more.replace("pass", "fail", 1))
    with pytest.raises(InputError, match="drawn from other data"):
        reopen(tmp_path / "s.label")


def test_an_earlier_answer_is_corrected_and_the_latest_counts(start, truth):
    with start("judge") as work:
        fill(work, truth, limit=20)
        before = work.standing().measures
        first, label = work.session.asks[0], work.session.labels(0)[0]
        work.answer(first.number, "fail" if label == "pass" else "pass", reader="1")
        assert work.standing().measures != before
        work.answer(first.number, label, reader="1")
        assert work.standing().measures == before
        assert [answer.ask for _, answer in work.given("1")] == list(range(20))


def test_an_answer_by_which_somebody_left_a_contest_is_not_corrected(tmp_path):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 400)
    table = {
        name: np.where(rng.random(400) < rate, truth, 1 - truth).tolist()
        for name, rate in (("good", 0.9), ("fair", 0.85), ("bad", 0.1))
    }
    reading = {"models": ("good", "fair", "bad")}
    with begin(tmp_path / "s.label", table, question="compare", reading=reading) as work:
        for _ in range(6):
            for ask in work.next(20):
                work.answer(ask.number, int(truth[ask.row]), reader="1")
        assert not work.standing().best.live.all()
        for ask in work.session.asks[:20]:
            with contextlib.suppress(InputError):
                work.answer(ask.number, 1 - int(truth[ask.row]), reader="1")
        last = work.session.asks[19]
        with pytest.raises(InputError, match="cannot be corrected"):
            work.answer(last.number, 1 - int(truth[last.row]), reader="1")
        assert work.standing().read.n


def test_an_existing_session_is_not_begun_again(start):
    start("judge").close()
    with pytest.raises(FileError, match="exists already"):
        start("judge")


def test_the_budget_and_the_items_end_a_session(start, truth):
    with start("judge", target=0.01, budget=30) as work:
        fill(work, truth)
        assert work.result().answered == 20  # 30 would never reach one point
        assert work.result().stop == "not-worth-it"
    with start("prevalence", name="b.label", target=0.2, budget=15) as work:
        for ask in work.next(100):
            work.answer(ask.number, WORDS[truth[ask.row]], reader="1")
        assert work.result().stop == "budget"
        assert work.result().answered == 15


def test_all_items_labelled_is_certain(start, truth):
    with start("prevalence", target=0.01) as work:
        for ask in work.next(300):
            work.answer(ask.number, WORDS[truth[ask.row]], reader="1")
        result = work.result()
    assert result.stop == "certain"
    assert result.interval.low == result.interval.high == pytest.approx(truth.mean())


def test_a_pair_of_models_is_labelled_only_where_they_differ(start, truth):
    with start("compare", reading={"models": ("gpt", "llama")}) as work:
        fill(work, truth)
        result = work.result()
    _, votes = draw()
    asked = {ask.row for ask in work.session.asks}
    assert all(votes[0][row] != votes[2][row] for row in asked)
    lead = float((votes[0] == truth).mean() - (votes[2] == truth).mean())
    assert result.winner == ("gpt" if lead > 0 else "llama")
    assert lead in result.measures[0].anytime_interval


def test_the_best_of_three_models_is_named(start, truth):
    with start("compare", target=0.05) as work:
        fill(work, truth)
        result = work.result()
    _, votes = draw()
    scores = [float((vote == truth).mean()) for vote in votes]
    assert scores[JUDGES.index(result.winner)] >= max(scores) - 0.05
    assert isinstance(result.interval, Unknown)
    assert result.batch == ()


def test_a_claim_on_a_classifier_is_settled_anytime(start, truth):
    reading = {"prediction": ("gpt",), "weak": ("claude", "llama")}
    for limit, said in ((0.6, "above"), (0.99, "below")):
        with start(
            "bound",
            name=f"{limit}.label",
            reading=reading,
            options={"at_least": limit, "label_model": "majority"},
        ) as work:
            fill(work, truth)
            result = work.result()
        assert result.stop in ("verdict", "certain")
        assert result.measures[0].verdict == said


@pytest.mark.parametrize("metric", ["precision", "recall", "f1"])
def test_claims_on_ratios_are_settled_too(start, truth, metric):
    _, votes = draw()
    hit = (votes[0] == 1) & (truth == 1)
    true = {
        "precision": hit.sum() / (votes[0] == 1).sum(),
        "recall": hit.sum() / (truth == 1).sum(),
        "f1": 2 * hit.sum() / ((votes[0] == 1).sum() + (truth == 1).sum()),
    }[metric]
    options = {"at_least": 0.7, "metrics": (metric,), "positive": "pass"}
    reading = {"prediction": ("gpt",), "weak": ("claude", "llama")}
    with start("bound", reading=reading, options=options) as work:
        fill(work, truth)
        result = work.result()
    assert true > 0.7
    assert result.measures[0].verdict == "above"


def test_at_least_twenty_asks_are_read_twice(start):
    with start("prevalence", readers=2) as work:
        work.next(15)
        assert all(ask.twice for ask in work.session.asks)
        work.next(300)
        asks = work.session.asks
        assert sum(ask.twice for ask in asks) == max(20, -(-len(asks) // 10))


def test_two_readers_and_a_third_for_disagreements(start, truth):
    with start("prevalence", readers=3) as work:
        for ask in work.next(40):
            work.answer(ask.number, WORDS[truth[ask.row]], reader="1")
        second = work.session.open_asks("2")
        assert len(second) == 20
        assert work.session.open_asks("3") == []
        for k, ask in enumerate(second):
            label = WORDS[truth[ask.row]] if k >= 4 else WORDS[1 - truth[ask.row]]
            work.answer(ask.number, label, reader="2")
        before = work.result()
        assert (before.readers.twice, before.readers.disagreed) == (20, 4)
        assert before.readers.unresolved == 4
        assert any("third reader" in text for text in before.warnings)
        third = work.session.open_asks("3")
        assert len(third) == 4
        for ask in third:
            work.answer(ask.number, WORDS[truth[ask.row]], reader="3")
        after = work.result()
        assert after.readers.unresolved == 0
        assert before.readers.error == pytest.approx((1 - np.sqrt(1 - 2 * 0.2)) / 2)


def test_a_session_of_disagreements_grades_no_judge(start, truth, table, tmp_path):
    with start("compare", reading={"models": ("gpt", "llama")}) as work:
        fill(work, truth, limit=20)
    with pytest.raises(InputError, match="only where models differ"):
        judge(str(table), judges=("gpt", "llama"), truth_file=str(tmp_path / "s.label"))


_TASKS = {
    "judge": ("judge", {"judges": ("a", "b", "c")}, {}),
    "prevalence": ("prevalence", {"judges": ("a", "b", "c")}, {}),
    "two models": ("compare", {"models": ("a", "b")}, {}),
    "three models": ("compare", {"models": ("a", "b", "c")}, {}),
    "bound": ("bound", {"prediction": ("a",), "weak": ("b", "c")}, {"at_least": 0.7}),
    "mean": ("score", {"judges": ("a", "b"), "system": "system", "item": "id"}, {}),
    "difference": (
        "score",
        {"judges": ("a", "b"), "system": "system", "item": "id"},
        {"goal": "difference"},
    ),
    "best": ("score", {"judges": ("a", "b"), "system": "system", "item": "id"}, {"goal": "best"}),
}


@pytest.mark.parametrize("name", _TASKS)
@pytest.mark.parametrize("held", [False, True], ids=["unlabelled", "some labelled"])
def test_every_question_stands_where_it_stood_when_its_session_is_opened_again(
    name, held, tmp_path
):
    question, reading, options = _TASKS[name]
    rng = np.random.default_rng(1)
    truth = (rng.random(240) < 0.6).astype(int)
    votes = {j: np.where(rng.random(240) < 0.8, truth, 1 - truth).tolist() for j in "abc"}
    table = {"id": [i // 2 for i in range(240)], "system": ["old", "new"] * 120, **votes}
    if question != "score":
        del table["id"], table["system"]
    if held:
        table["gold"] = [int(t) if row % 7 == 0 else None for row, t in enumerate(truth)]
        reading = {**reading, "truth": "gold"}
    with begin(
        tmp_path / "s.label", table, question=question, reading=reading, options=options
    ) as work:
        for _ in range(3):
            for ask in work.next(20):
                work.answer(ask.number, int(truth[ask.row]), reader="1")
        before, upcoming = work.result().to_dict(), work.standing().progress
    with reopen(tmp_path / "s.label", table, write=False) as again:
        assert again.result().to_dict() == before
        assert again.standing().progress == upcoming


def test_a_number_with_few_labels_of_its_own_has_no_forecast_or_an_honest_one(tmp_path):
    """Twenty labels shared by two systems: ten each say little, and 20 more are not enough."""
    rng = np.random.default_rng(7)
    passed = rng.random((150, 2)) < (0.6, 0.7)
    table = {
        "id": np.repeat(np.arange(150), 2).tolist(),
        "system": ["a", "b"] * 150,
        "gpt": np.where(rng.random(300) < 0.8, passed.ravel(), ~passed.ravel()).astype(int),
    }
    reading = {"judges": ("gpt",), "system": "system", "item": "id"}
    with begin(tmp_path / "f.label", table, question="score", reading=reading) as work:
        assert work.result().needed.count is None
        for ask in work.next(20):
            work.answer(ask.number, int(passed.ravel()[ask.row]), reader="1")
        assert work.result().forecast > 100


def test_the_output_that_comes_first_is_drawn(tmp_path):
    """Always the same system on the left would tell readers whose output they read."""
    table = {
        "id": np.repeat(np.arange(100), 2).tolist(),
        "system": ["a", "b"] * 100,
        "gpt": [0, 1, 1, 1] * 50,
        "text": [f"text {k}" for k in range(200)],
    }
    reading = {"judges": ("gpt",), "system": "system", "item": "id"}
    for goal in ("difference", "mean", "best"):
        path, options = tmp_path / f"{goal}.label", {"goal": goal}
        with begin(path, table, question="score", reading=reading, options=options) as work:
            first = {ask.system for ask in work.next(40)[::2]}
        assert first == {"a", "b"}


def test_a_session_of_the_second_version_counts_what_is_missing_in_draws_of_all_systems(tmp_path):
    """Each of its draws was counted for every system: summed up it gave up half way."""
    rng = np.random.default_rng(7)
    passed = rng.random(120) < 0.65
    table = {
        "id": np.repeat(np.arange(60), 2).tolist(),
        "system": ["a", "b"] * 60,
        "gpt": np.where(rng.random(120) < 0.8, passed, ~passed).astype(int),
    }
    reading = {"judges": ("gpt",), "system": "system", "item": "id"}
    with begin(tmp_path / "o.label", table, question="score", reading=reading) as work:
        for ask in work.next(20):
            work.answer(ask.number, int(passed[ask.row]), reader="1")
        head, task = work.session.head, work.task
        options = {name: one for name, one in head.options.items() if name != "rule"}
        old = replace(work.session, head=replace(head, options=options))
    where = standing(old, task)
    assert where.stop is None
    assert where.forecast <= 100
