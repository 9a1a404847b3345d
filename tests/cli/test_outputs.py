"""Nothing is overwritten that is not meant to be: refused before any work is done."""

import os
from pathlib import Path

import pytest

from tallystick.cli.deliver import check_outputs, named_files
from tallystick.errors import InputError


@pytest.mark.parametrize(
    "arguments",
    [
        ("tally", "votes.csv", "-o", "votes.csv"),
        ("tally", "votes.csv", "--html", "votes.csv"),
        ("tally", "*.csv", "-o", "votes.csv"),
        ("tally", "votes.csv", "-o", "link.csv"),
        ("judge", "votes.csv", "--html", "votes.csv"),
        ("judge", "votes.csv", "--truth-file", "gold.csv", "--html", "gold.csv"),
        ("judge", "votes.csv", "--known", "gold.csv", "--html", "gold.csv"),
        ("score", "votes.csv", "--truth-file", "gold.csv", "--junit", "gold.csv"),
        ("ask", "votes.csv", "--prompt", "{item}", "--api", "replay:ann", "-o", "votes.csv"),
        "ask votes.csv --prompt gold.csv --api replay:ann --journal gold.csv".split(),
        ("shift", "votes.csv", "--truth", "ann", "--new", "bob", "--journal", "votes.csv"),
        ("shift", "votes.csv", "--truth", "ann", "--new", "bob", "--history", "votes.csv"),
        ("label", "votes.csv", "--question", "judge", "--session", "votes.csv"),
        ("label", "--session", "s.label", "--add", "gold.csv", "--out", "gold.csv"),
        ("audit", "votes.csv", "--html", "votes.csv"),
        ("merge", "t.tally", "-o", "t.tally"),
        ("dynamic", "analyse", "votes.csv", "--html", "votes.csv"),
    ],
)
def test_an_output_over_an_input_is_refused(in_process, votes, tmp_path, arguments):
    (tmp_path / "gold.csv").write_text("item,gold\n1,spam\n", encoding="utf-8")
    (tmp_path / "t.tally").write_bytes(b"not read yet")
    (tmp_path / "link.csv").symlink_to(votes)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = in_process(*arguments)
    assert done.returncode == 1, done.stderr
    assert "is the input: name another file" in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("tally", "votes.csv", "-o", "x", "--html", "x"),
        ("tally", "votes.csv", "-o", "x", "--html", "./sub/../x"),
        ("score", "votes.csv", "--html", "x", "--junit", "x"),
        ("shift", "votes.csv", "--journal", "x", "--history", "x"),
        ("label", "votes.csv", "--question", "judge", "--session", "x", "--out", "x"),
    ],
)
def test_two_outputs_of_one_name_are_refused(in_process, votes, tmp_path, arguments):
    (tmp_path / "sub").mkdir()
    done = in_process(*arguments)
    assert done.returncode == 1
    assert "is that of --" in done.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFO")
@pytest.mark.parametrize(
    ("verb", "option"),
    [("tally", "-o"), ("tally", "--html"), ("score", "--junit"), ("tally", "--summary")],
)
def test_a_fifo_is_not_replaced(in_process, votes, tmp_path, verb, option):
    os.mkfifo(tmp_path / "pipe")
    done = in_process(verb, votes, option, "pipe")
    assert done.returncode == 1
    assert "no regular file" in done.stderr
    assert (tmp_path / "pipe").is_fifo()


def test_names_that_are_no_files_are_passed_over(tmp_path):
    assert named_files("x" * 5000) == []
    assert named_files("a\0b") == []
    assert named_files(tmp_path / "absent.csv") == []
    (tmp_path / "a[1].csv").write_text("", encoding="utf-8")
    assert named_files(tmp_path / "a[1].csv") == [tmp_path / "a[1].csv"]
    assert named_files(tmp_path) == [tmp_path / "a[1].csv"]


def test_a_hard_link_is_the_same_file(tmp_path):
    (tmp_path / "a.csv").write_text("", encoding="utf-8")
    (tmp_path / "b.csv").hardlink_to(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"--html .*b.csv is the input"):
        check_outputs({"--html": tmp_path / "b.csv"}, [tmp_path / "a.csv"])
    check_outputs({"--html": Path(tmp_path / "c.html")}, [tmp_path / "a.csv"])
