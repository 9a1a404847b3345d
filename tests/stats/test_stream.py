"""A stream of votes: series, bets, notices, alarms, dates and names."""

from __future__ import annotations

import collections
import itertools
import json

import numpy as np
import pytest
from scipy.special import ndtri

from tallystick.results import Unknown
from tallystick.stats import stream as module
from tallystick.stats.stream import (
    OTHER,
    Detector,
    Notice,
    NoticeBoard,
    WatchOptions,
    count_blocks,
    hashed_uniform,
    lay_out,
    rank_bet,
    slowdown,
)
from tallystick.stats.stream_watch import Naming, StreamAlarm, Watch, change_point, explain

# What a block of votes is reduced to, against loops over items.


def by_loops(block, judge, labels):
    """Return A's parts, dissent and share counts of one judge by the words of the page."""
    agree = faced = 0.0
    dissent, share = collections.Counter(), collections.Counter()
    for row in block:
        vote = row[judge]
        if vote < 0:
            continue
        share[vote] += 1
        others = collections.Counter(v for j, v in enumerate(row) if j != judge and v >= 0)
        if not others:
            continue
        faced += 1
        most = max(others.values())
        winners = [label for label, n in others.items() if n == most]
        if len(winners) > 1:
            agree += 0.5 * (vote in winners)
        else:
            agree += vote in winners
            dissent[vote] += vote not in winners
    return agree, faced, [dissent[label] for label in labels], [share[label] for label in labels]


@pytest.mark.parametrize("seed", range(6))
def test_counts_equal_loops_over_items(seed):
    rng = np.random.default_rng(seed)
    judges, labels = int(rng.integers(1, 6)), int(rng.integers(2, 5))
    blocks = rng.integers(-1, labels, (3, 25, judges))
    counts = count_blocks(blocks, labels)
    for k, block in enumerate(blocks):
        for j in range(judges):
            agree, faced, dissent, share = by_loops(block, j, range(labels))
            assert counts.agree[k, j] == agree
            assert counts.faced[k, j] == faced
            assert counts.dissent[k, j].tolist() == dissent
            assert counts.label[k, j].tolist() == share
            assert counts.votes[k, j] == (block[:, j] >= 0).sum()


def test_a_block_without_a_vote_skips_all_but_missing():
    block = np.zeros((1, 25, 3), dtype=int)
    block[0, :, 1] = -1
    layout = lay_out(3, [0, 1])
    values = dict(zip(layout.series, layout.values(count_blocks(block, 2))[0], strict=True))
    for series, value in values.items():
        if series.judge == 1:
            assert np.isnan(value) == (series.kind != "missing")
    assert values[next(s for s in values if s.name == "missing 1")] == 1


def test_agreement_leaves_out_items_where_no_other_judge_voted():
    block = np.full((1, 4, 3), -1)
    block[0, :, 0] = 0
    block[0, 0, 1:] = 0
    layout = lay_out(3, [0, 1])
    values = layout.values(count_blocks(block, 2))[0]
    assert values[0] == 1  # one item, confirmed
    assert values[[s.name for s in layout.series].index("share 0 0")] == 1  # of four votes


def test_the_two_of_a_pair_share_one_agreement_with_the_whole_weight():
    layout = lay_out(2, [0, 1])
    assert [s.name for s in layout.series if s.kind == "agreement"] == ["agreement"]
    assert layout.weights[0] == pytest.approx(0.6)
    block = np.array([[[0, 0], [1, 0], [1, 1], [1, -1]]])
    assert layout.values(count_blocks(block, 2))[0, 0] == pytest.approx(2 / 3)


def test_weights_of_four_judges_are_those_of_the_page():
    layout = lay_out(4, [0, 1])
    weight = dict.fromkeys(("agreement", "dissent", "share", "missing"), 0.0)
    for series, w in zip(layout.series, layout.weights, strict=True):
        weight[series.kind] += w
    assert weight == pytest.approx(
        {"agreement": 0.6, "dissent": 0.15, "share": 0.15, "missing": 0.1}
    )
    assert layout.weights[0] == pytest.approx(0.15)


def test_labels_that_come_later_share_one_slot():
    layout = lay_out(3, [0, 1])
    block = np.zeros((1, 10, 3), dtype=int)
    block[0, :4, 0] = [2, 3, 3, 4]
    names = [s.name for s in layout.series]
    values = layout.values(count_blocks(block, 5))[0]
    assert values[names.index("share 0 other")] == pytest.approx(0.4)
    assert values[names.index("dissent 0 other")] == pytest.approx(0.4)
    assert values[names.index("share 1 other")] == 0
    slot = layout.series[names.index("share 0 other")].slot
    assert slot == OTHER


def test_a_slot_whose_label_is_not_in_the_counts_is_zero():
    layout = lay_out(3, [0, 1, 2])
    values = layout.values(count_blocks(np.zeros((1, 10, 3), dtype=int), 2))[0]
    assert values[[s.name for s in layout.series].index("share 0 2")] == 0


@pytest.mark.parametrize("judges", [1, 2, 3, 7])
@pytest.mark.parametrize("labels", [[0], [0, 1], [0, 1, 3]])
def test_weights_sum_to_one_over_the_series_that_exist(judges, labels):
    layout = lay_out(judges, labels)
    assert layout.weights.sum() == pytest.approx(1)
    assert (layout.weights > 0).all()
    assert len({s.name for s in layout.series}) == len(layout.series)


def test_one_judge_uses_the_whole_weight_on_shares_and_missing_votes():
    layout = lay_out(1, [0, 1])
    assert {s.kind for s in layout.series} == {"share", "missing"}
    assert layout.weights[-1] == pytest.approx(0.1 / 0.25)


# Ranks, bets and the bound on false alarms.


FALLS = np.array([1 / 3, 1 / 3, 1 / 6, 1 / 6])
EVEN = np.full(4, 0.25)


def ranks(monkeypatch, values, theta):
    """Return the U of (S1), read from the last Z."""
    from scipy.special import ndtr

    monkeypatch.setattr(module, "hashed_uniform", lambda *_: theta)
    detector, found = Detector.start(["x"], key="k"), []
    for value in values:
        detector.update([value])
        found.append(float(ndtr(detector.lags[0, 0])))
    return found


def bets(us, v, *, kappa=1.0):
    capital, found = np.zeros((1, 4)), []
    kappas = np.broadcast_to(kappa, len(us))
    for u, k in zip(us, kappas, strict=True):
        capital = rank_bet(capital, np.array([ndtri(u)]), np.array([k]))
        found.append(float(capital[0] @ v))
    return found


def test_printed_ranks(monkeypatch):
    found = ranks(monkeypatch, [0.80, 0.84, 0.76, 0.80, 0.64], 0.5)
    assert found == pytest.approx([0.5, 0.75, 0.1667, 0.5, 0.1], abs=5e-5)
    found = ranks(monkeypatch, [0.80, 0.84, 0.84], 0.3)
    assert found == pytest.approx([0.3, 0.65, 0.5333], abs=5e-5)


def test_printed_bets():
    us = [0.5, 0.1, 0.05, 0.02]
    assert bets(us, FALLS) == pytest.approx([0.6846, 2.3456, 8.0167, 38.8781], abs=5e-5)
    assert bets(us, EVEN) == pytest.approx([0.6846, 1.8881, 6.1132, 29.2324], abs=5e-5)
    slowed = bets([0.9, 0.3, 0.02], EVEN, kappa=[1, 1, 1.5275])
    assert slowed == pytest.approx([1.1275, 1.3381, 2.7474], abs=5e-5)


def test_printed_slowdowns():
    assert slowdown(10, 15, 100) == pytest.approx(1.5275, abs=5e-5)
    assert slowdown(10, 11, 16) == 1
    assert slowdown(10, 25, 100) == pytest.approx(4.3589, abs=5e-5)
    assert slowdown(10, 25, 9) == 1
    assert slowdown(0, 0, 50) == 1


def test_sums_hold_differences_of_lag_one_and_two_from_the_third_block_on():
    detector, seen = Detector.start(["x"], key="k"), []
    for value in np.random.default_rng(1).random(30):
        detector.update([value])
        seen.append(detector.lags[0, 0])
    z = np.array(seen)
    known = [((z[2:] - z[1:-1]) ** 2).sum(), ((z[2:] - z[:-2]) ** 2).sum()]
    assert detector.sums[0] == pytest.approx(known)
    assert detector.terms[0] == 28


def test_a_skipped_block_changes_nothing_of_its_series():
    """The hash takes the number of blocks of the series where no number is given."""
    plain, gapped = Detector.start(["x"], key="k"), Detector.start(["x"], key="k")
    for value in (0.5, 0.6, 0.4, 0.7):
        one = plain.update([value])
        gapped.update([np.nan])
        other = gapped.update([value])
    assert (one == other).all()


def test_clean_streams_alarm_no_more_often_than_promised():
    """400 series of 60 blocks, alpha = .2: the share that reaches the bar is at most .2."""
    rng = np.random.default_rng(7)
    alpha, blocks = 0.2, 60
    detector = Detector.start([f"s{i}" for i in range(400)], key="clean")
    bar = blocks / alpha
    alarmed = np.zeros(400, dtype=bool)
    for _ in range(blocks):
        alarmed |= detector.update(rng.binomial(25, 0.8, 400) / 25) >= bar
    assert alarmed.mean() <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / 400)
    assert alarmed.any()  # the bound is not reached by a detector that never speaks


def test_a_reference_is_ranked_against_and_not_bet_on():
    detector = Detector.start(["x"], key="k", reference=[[0.5], [0.6], [np.nan]])
    assert detector.histogram.sum() == 2
    assert detector.evidence[0] == 0


def test_a_checkpoint_goes_on_without_changing_a_digit():
    rng = np.random.default_rng(6)
    values = rng.binomial(25, 0.7, (80, 3)) / 25
    values[rng.random(values.shape) < 0.1] = np.nan
    whole = Detector.start("abc", key="k", falls=[True, False, False])
    part = Detector.start("abc", key="k", falls=[True, False, False])
    for row in values:
        one = whole.update(row)
        part = Detector.from_dict(json.loads(json.dumps(part.to_dict(), allow_nan=False)))
        other = part.update(row)
        assert (one == other).all()
    assert (whole.histogram == part.histogram).all()
    assert part.to_dict() == whole.to_dict()


def test_evidence_mixes_the_bets_with_falls_counting_double():
    detector = Detector.start(["a", "b"], key="k", falls=[True, False])
    for value in (0.9, 0.8, 0.85, 0.3):
        evidence = detector.update([value, value])
    assert evidence == pytest.approx([detector.capital[0] @ FALLS, detector.capital[1] @ EVEN])


def test_evidence_never_overflows():
    detector = Detector.start(["x"], key="k", reference=np.full((10_000, 1), 0.9))
    for _ in range(2000):
        evidence = detector.update([0.0])
    assert np.isfinite(evidence).all()


def test_random_ranks_depend_on_stream_series_and_block():
    base = hashed_uniform("s", "a", 1)
    assert 0 < base < 1
    assert base == hashed_uniform("s", "a", 1)
    others = {hashed_uniform("t", "a", 1), hashed_uniform("s", "b", 1), hashed_uniform("s", "a", 2)}
    assert len(others | {base}) == 4
    many = np.array([hashed_uniform("s", "a", k) for k in range(2000)])
    assert abs(many.mean() - 0.5) < 0.03


# Facts about a block.


def block(votes, n_labels=4):
    return count_blocks(np.array(votes)[None], n_labels)


def board_after(blocks, judges=2):
    board = NoticeBoard.start(judges)
    for k in range(blocks):
        assert board.update(block(np.zeros((25, judges), dtype=int)), block=k) == []
    return board


def test_a_judge_that_falls_silent_is_noticed_once():
    board = board_after(10)
    quiet = np.zeros((25, 2), dtype=int)
    quiet[:, 1] = -1
    (notice,) = board.update(block(quiet), block=10)
    assert (notice.kind, notice.judge, notice.of, notice.before) == ("silent", 1, 25, 1.0)
    assert board.update(block(quiet), block=11) == []
    board.update(block(np.zeros((25, 2), dtype=int)), block=12)
    assert len(board.update(block(quiet), block=13)) == 1


@pytest.mark.parametrize(("votes", "said"), [(2, False), (3, True), (14, True)])
def test_a_new_label_needs_three_votes_and_a_tenth(votes, said):
    board = board_after(20)
    new = np.zeros((25, 2), dtype=int)
    new[:votes, 1] = 3
    found = board.update(block(new), block=20)
    assert bool(found) == said
    if said:
        notice = found[0]
        assert (notice.kind, notice.judge, notice.label) == ("new label", 1, 3)
        assert (notice.votes, notice.of) == (votes, 25)
        assert board.update(block(new), block=21) == []  # once


def test_a_change_in_mid_block_starts_with_two_votes_and_is_noticed_in_the_next():
    board = board_after(20)
    new = np.zeros((25, 2), dtype=int)
    new[:2, 0] = 2
    assert board.update(block(new), block=20) == []
    new[:20, 0] = 2
    assert len(board.update(block(new), block=21)) == 1


def test_a_board_survives_a_restart():
    board = board_after(20)
    again = NoticeBoard.from_dict(json.loads(json.dumps(board.to_dict())))
    new = np.zeros((25, 2), dtype=int)
    new[:, 1] = 1
    assert again.update(block(new), block=20) == board.update(block(new), block=20) != []


def test_a_judge_that_skips_many_items_is_not_noticed():
    board = NoticeBoard.start(1)
    sparse = np.full((25, 1), -1)
    sparse[:20] = 0
    for k in range(10):
        board.update(block(sparse), block=k)
    assert board.update(block(np.full((25, 1), -1)), block=10) == []


def test_a_judge_that_never_voted_is_not_noticed():
    assert NoticeBoard.start(1).update(block(np.full((25, 1), -1)), block=0) == []


def test_labels_of_the_first_twenty_blocks_are_not_new():
    board = board_after(19)
    new = np.zeros((25, 2), dtype=int)
    new[:, 1] = 1
    assert board.update(block(new), block=19) == []
    assert board.update(block(new), block=20) == []


# A stream under watch: alarms, restarts, batches, and what is promised about false alarms.


ACCURACY = (0.9, 0.85, 0.8, 0.85)
LABELS = ["fail", "pass"]


def votes(rng, n, accuracy=ACCURACY, share=0.5):
    truth = (rng.random(n) < share).astype(int)
    right = rng.random((n, len(accuracy))) < accuracy
    return np.where(right, truth[:, None], 1 - truth[:, None])


def drifted(seed, *, at=3000, n=6000, to=(0.7, 0.85, 0.8, 0.85), share=0.5):
    rng = np.random.default_rng(seed)
    return np.vstack((votes(rng, at), votes(rng, n - at, to, share)))


def alarms(events):
    return [event for event in events if isinstance(event, StreamAlarm)]


def test_a_judge_that_gets_worse_raises_an_alarm_with_place_and_name():
    watch = Watch.start(4, WatchOptions(key="a"))
    events = watch.update(drifted(1), LABELS)
    first, *others = alarms(events)
    assert 3000 < first.item <= 3600
    assert first.items[0] <= 3000 <= first.items[1]
    assert first.evidence >= 1
    assert first.explanations.likely.judge == 0
    assert others == []
    (naming,) = [event for event in events if isinstance(event, Naming)]
    assert (naming.block - naming.alarm_block) * 25 == 1000
    assert naming.explanations.likely.judge == 0


def test_a_new_mix_is_named_as_that():
    watch = Watch.start(4, WatchOptions(key="a"))
    first = alarms(watch.update(drifted(2, to=ACCURACY, share=0.75), LABELS))[0]
    assert first.explanations.likely.kind == "mix"


def test_clean_streams_alarm_no_more_often_than_promised_of_watch():
    """60 streams of 60 blocks; alpha = .2 per 60 blocks."""
    options = {"block": 20, "horizon": 1200, "alpha": 0.2}
    rng = np.random.default_rng(9)
    false = 0
    for k in range(60):
        watch = Watch.start(3, WatchOptions(key=f"clean {k}", **options))
        false += bool(alarms(watch.update(votes(rng, 1200, (0.9, 0.8, 0.7)), LABELS)))
    assert false / 60 <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 60)


def same(one, other):
    return json.dumps(one.to_dict(), sort_keys=True) == json.dumps(other.to_dict(), sort_keys=True)


@pytest.mark.parametrize("sizes", [(1,), (7, 13), (25,), (24, 26, 900), (3000,)])
def test_batch_borders_have_no_effect(sizes):
    data = drifted(5, at=1500, n=3000)
    data[np.random.default_rng(0).random(data.shape) < 0.05] = -1
    whole = Watch.start(4, WatchOptions(key="b"))
    known = whole.update(data, LABELS)
    parts, found, place, k = Watch.start(4, WatchOptions(key="b")), [], 0, 0
    while place < len(data):
        size = sizes[k % len(sizes)]
        found += parts.update(data[place : place + size], LABELS)
        place, k = place + size, k + 1
    assert found == known
    assert len(alarms(known)) == 1
    assert same(whole, parts)


def test_a_restart_from_a_checkpoint_equals_an_uninterrupted_run():
    data = drifted(6, at=1500, n=4000)
    whole = Watch.start(4, WatchOptions(key="c"))
    known = whole.update(data, LABELS)
    watch, found = Watch.start(4, WatchOptions(key="c")), []
    for batch in np.array_split(
        data, 37
    ):  # one of them inside the first 20 blocks, one at each end
        text = json.dumps(watch.to_dict(), allow_nan=False)
        watch = Watch.from_dict(json.loads(text))
        found += watch.update(batch, LABELS)
    assert found == known
    assert alarms(known)
    assert same(watch, whole)


def test_after_an_alarm_the_blocks_behind_the_change_are_the_reference():
    watch = Watch.start(4, WatchOptions(key="a"))
    data = drifted(1)
    first = alarms(watch.update(data, LABELS))[0]
    again = Watch.start(4, WatchOptions(key="a"))
    again.update(data[: first.item], LABELS)
    assert len(again.memory) == (first.item - first.around) // 25
    assert (again.detector.capital == 0).all()
    assert (again.detector.terms == 0).all()
    assert again.detector.histogram[0].sum() == len(again.memory)


def test_no_alarm_comes_before_block_twenty():
    rng = np.random.default_rng(1)
    data = np.vstack((votes(rng, 200, (0.99,) * 3), votes(rng, 1000, (0.2,) * 3)))
    watch = Watch.start(3, WatchOptions(key="a", horizon=500))
    first = alarms(watch.update(data, LABELS))[0]
    assert first.block >= 19


def test_memory_is_bounded():
    watch = Watch.start(3, WatchOptions(key="m", memory=40, block=5, horizon=10**9))
    watch.update(votes(np.random.default_rng(1), 1000, (0.9, 0.8, 0.7)), LABELS)
    assert len(watch.memory) == 40
    assert watch.n_items == 1000


def test_a_replay_gives_the_same_alarms_and_another_key_other_ranks():
    data = drifted(7, at=600, n=1000)
    one, two, other = (Watch.start(4, WatchOptions(key=key)) for key in "kkl")
    assert one.update(data, LABELS) == two.update(data, LABELS)
    other.update(data, LABELS)
    assert other.detector.lags.tolist() != one.detector.lags.tolist() == two.detector.lags.tolist()


def test_the_order_in_which_a_call_lists_its_labels_does_not_matter():
    data = drifted(8, at=1000, n=2000)
    one, two = (Watch.start(4, WatchOptions(key="k")) for _ in range(2))
    one.update(data, ["fail", "pass"])
    two.update(1 - data, ["pass", "fail"])
    assert same(one, two)


def test_rare_labels_share_a_slot():
    rng = np.random.default_rng(2)
    data = rng.integers(0, 40, (600, 3))
    watch = Watch.start(3, WatchOptions(key="m", max_labels=4))
    watch.update(data, [f"text {k}" for k in range(40)])
    assert len(watch.layout.labels) == 4


def test_a_silent_judge_and_a_new_spelling_are_noticed_with_their_block():
    data = drifted(3, to=ACCURACY)
    data[3000:4000, 2] = -1
    data[4000:, 1] = np.where(data[4000:, 1] == 1, 2, data[4000:, 1])
    watch = Watch.start(4, WatchOptions(key="a"))
    events = watch.update(data, [*LABELS, "PASS."])
    silent, spelt = (event for event in events if isinstance(event, Notice))
    assert (silent.kind, silent.judge, silent.block) == ("silent", 2, 120)
    assert (spelt.kind, spelt.judge, spelt.block) == ("new label", 1, 160)
    assert watch.labels[spelt.label] == "PASS."
    assert len(alarms(events)) >= 2
    # After the alarm the new label has a slot of its own.
    assert 2 in watch.layout.labels


# Dating a change.


def test_printed_changes():
    page = change_point(
        [0.84, 0.80, 0.88, 0.84, 0.80, 0.92, 0.84, 0.88, 0.72, 0.76, 0.68, 0.80, 0.72, 0.76]
    )
    assert (page.split, page.low, page.high) == (8, 7, 9)
    corrected = change_point([1, 1, 1, 1, 0.96, 0.64, 0.88, 0.76, 0.92])
    assert (corrected.split, corrected.low, corrected.high) == (5, 1, 8)


@pytest.mark.parametrize(("before", "after"), [(0.9, 0.8), (0.99, 0.95), (0.9, 0.5)])
def test_the_range_covers_the_change_also_inside_a_block(before, after):
    """The corrections measured .95-.99; blocks of 25, the change after 60.4 blocks."""
    rng = np.random.default_rng(8)
    covered = []
    for _ in range(300):
        right = rng.random(120 * 25) < np.where(np.arange(3000) < 1510, before, after)
        found = change_point(right.reshape(120, 25).mean(axis=1))
        covered.append(25 * (found.low - 1) <= 1510 <= 25 * (found.high + 1))
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)


def test_values_before_and_after_are_means():
    found = change_point([0.9, 0.92, 0.88, 0.5, 0.52])
    assert found.before == pytest.approx(0.9)
    assert found.after == pytest.approx(0.51)


def test_a_series_without_noise_has_the_split_alone_as_range():
    found = change_point([0.8] * 5 + [0.6] * 4)
    assert (found.split, found.low, found.high) == (5, 5, 5)


# Naming what changed.


CODES = np.array(list(itertools.product([0, 1], repeat=3)))
BEFORE = [610, 50, 60, 30, 40, 45, 55, 610]


def p_values(found):
    return [one.p_value for one in found.tested]


def test_printed_p_values_when_the_first_judge_changed():
    found = explain(CODES, BEFORE, [175, 17, 20, 45, 42, 15, 18, 168], n_labels=2)
    first, *rest = p_values(found)
    assert first == pytest.approx(0.9999, abs=5e-5)
    assert all(p < 1e-4 for p in rest)  # the other judges, mix, fair draws
    assert [one.judge for one in found.kept] == [0]


def test_printed_p_values_when_the_mix_changed():
    found = explain(CODES, BEFORE, [260, 18, 22, 22, 16, 24, 28, 390], n_labels=2)
    known = [0.0001, 0.0003, 0.0004, 0.8763, 0.0008]
    assert p_values(found) == pytest.approx(known, abs=5e-5)
    assert found.likely.kind == "mix"


def test_printed_p_values_when_items_got_harder():
    found = explain(CODES, BEFORE, [172, 28, 33, 24, 22, 26, 31, 164], n_labels=2)
    *others, hard = p_values(found)
    assert all(p < 1e-4 for p in others)
    assert hard == pytest.approx(0.9883, abs=5e-5)
    assert found.likely.kind == "difficulty"
    assert found.likely.size[0] == pytest.approx(0.249, abs=5e-4)


def test_when_nothing_is_kept_more_than_one_thing_changed():
    found = explain(CODES, BEFORE, [100, 60, 70, 60, 20, 15, 35, 140], n_labels=2)
    assert found.kept == ()
    assert found.likely is None
    assert found.several


def counts(votes, all_codes):
    lookup = {tuple(code): k for k, code in enumerate(all_codes.tolist())}
    out = np.zeros(len(all_codes))
    for row in votes.tolist():
        out[lookup[tuple(row)]] += 1
    return out


def draw(rng, n, accuracy, share=0.5, hard=0.0):
    truth = (rng.random(n) < share).astype(int)
    right = rng.random((n, len(accuracy))) < accuracy
    coin = rng.random((n, len(accuracy))) < 0.5
    right = np.where((rng.random(n) < hard)[:, None], coin, right)
    return np.where(right, truth[:, None], 1 - truth[:, None])


@pytest.mark.parametrize(
    ("kind", "accuracy", "share", "hard"),
    [
        ("judge", [0.7, 0.85, 0.8, 0.85], 0.5, 0.0),
        ("mix", [0.9, 0.85, 0.8, 0.85], 0.75, 0.0),
        ("difficulty", [0.9, 0.85, 0.8, 0.85], 0.5, 0.3),
    ],
)
def test_the_right_one_is_kept_in_nearly_all_draws(kind, accuracy, share, hard):
    rng = np.random.default_rng(12)
    codes = np.array(list(itertools.product([0, 1], repeat=4)))
    kept = right = 0
    for _ in range(30):
        a = counts(draw(rng, 3000, [0.9, 0.85, 0.8, 0.85]), codes)
        b = counts(draw(rng, 1000, accuracy, share, hard), codes)
        found = explain(codes, a, b, n_labels=2)
        match = [one for one in found.kept if one.kind == kind and one.judge in (None, 0)]
        kept += bool(match)
        right += found.likely is not None and found.likely in match
    assert kept >= 27
    assert right >= 25


def test_three_labels_leave_cells_less_three_degrees_of_freedom():
    rng = np.random.default_rng(3)
    codes = np.array(list(itertools.product([0, 1, 2], repeat=3)))

    def votes(n, shares):
        truth = rng.choice(3, n, p=shares)
        return np.where(rng.random((n, 3)) < 0.85, truth[:, None], rng.integers(0, 3, (n, 3)))

    ps = []
    for _ in range(20):
        a, b = votes(4000, [0.4, 0.3, 0.3]), votes(2000, [0.6, 0.2, 0.2])
        mix = explain(codes, counts(a, codes), counts(b, codes), n_labels=3).tested[3]
        ps.append(mix.p_value)
        assert mix.size == pytest.approx([0.6, 0.2, 0.2], abs=0.08)
    assert np.mean(np.array(ps) >= 0.01) > 0.9
    assert 0.25 < np.mean(ps) < 0.75


def test_two_judges_cannot_name_the_mix():
    codes = [[0, 0], [0, 1], [1, 0], [1, 1]]
    found = explain(codes, [400, 100, 100, 400], [300, 50, 50, 600], n_labels=2)
    mix = found.tested[2]
    assert mix.kind == "mix"
    assert isinstance(mix.p_value, Unknown)
    assert not mix.kept


def test_patterns_unseen_before_go_into_the_merged_cell():
    codes = np.array(list(itertools.product([0, 1], repeat=3)))
    before = np.array([500, 0, 60, 30, 40, 45, 0, 500])
    found = explain(codes, before, [250, 40, 30, 15, 20, 22, 30, 250], n_labels=2)
    assert all(np.isfinite(p) for p in p_values(found))
    assert found.tested[3].p_value < 1e-4


def test_one_judge_names_nothing():
    found = explain([[0], [1]], [50, 50], [20, 80], n_labels=2)
    assert found.tested == ()
    assert not found.several
