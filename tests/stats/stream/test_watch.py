"""A stream under watch: alarms, restarts, batches, and what is promised about false alarms."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tallystick.stats.stream import Notice, WatchOptions
from tallystick.stats.stream_watch import Naming, StreamAlarm, Watch

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


def test_clean_streams_alarm_no_more_often_than_promised():
    """150 streams of 60 blocks; alpha = .2 per 60 blocks."""
    options = {"block": 20, "horizon": 1200, "alpha": 0.2}
    rng = np.random.default_rng(9)
    false = 0
    for k in range(150):
        watch = Watch.start(3, WatchOptions(key=f"clean {k}", **options))
        false += bool(alarms(watch.update(votes(rng, 1200, (0.9, 0.8, 0.7)), LABELS)))
    assert false / 150 <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 150)


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
