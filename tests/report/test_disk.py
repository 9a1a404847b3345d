"""Where a report cannot be written: the old one stays, and the answer is said all the same."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).with_name("tallystick"))


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(
        "item,ann,bob\n" + "".join(f"{i},{i % 2},{i % 3 % 2}\n" for i in range(60)),
        encoding="utf-8",
    )
    return path


def tally(votes, page, most_bytes=None):
    """Run the installed command; *most_bytes* is all that the system lets it write into one
    file."""
    limit = (most_bytes, most_bytes)
    return subprocess.run(
        [COMMAND, "tally", str(votes), "--html", str(page), "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        preexec_fn=(
            None if most_bytes is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        ),
    )


def test_an_old_report_survives_when_there_is_no_room_for_the_new_one(votes, tmp_path):
    page = tmp_path / "report.html"
    assert tally(votes, page).returncode == 0
    old = page.read_bytes()
    assert len(old) > 8_000
    done = tally(votes, page, most_bytes=8_000)
    assert done.returncode == 1
    assert "report.html cannot be written: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)["verb"] == "tally", "the answer itself was lost"
    assert page.read_bytes() == old
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "votes.csv"]


@pytest.mark.parametrize("target", ["nowhere/report.html", "votes.csv/report.html", "."])
def test_a_path_that_cannot_be_written_is_named_before_any_work(votes, tmp_path, target):
    done = tally(votes, tmp_path / target)
    assert done.returncode == 1
    assert not done.stdout
    assert "--html" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["votes.csv"]
