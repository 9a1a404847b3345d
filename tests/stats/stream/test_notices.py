"""Facts about a block."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tallystick.stats.stream import NoticeBoard, count_blocks


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
