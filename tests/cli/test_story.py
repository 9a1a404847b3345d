"""The demonstration keeps its promise: judges wrong, the corrected score right, then settled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.cli.first import tell_story


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    import contextlib
    import io

    folder = tmp_path_factory.mktemp("story")
    out, words = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(words):
        page = tell_story(folder)
    return page, out.getvalue() + words.getvalue()


def test_the_judges_name_the_wrong_winner_and_the_corrected_score_the_right_one(
    told: tuple[Path, str],
) -> None:
    text = told[1]
    assert "Your judges alone name another winner: they put system-a first" in text
    assert text.index("system-b is better than system-a") < text.index("$ tallystick label")
    assert "knows: system-b 87.9%, system-c 65.7%, system-a 49.5%" in text


def test_what_was_open_is_settled_by_the_labels_and_rightly(told: tuple[Path, str]) -> None:
    text = told[1]
    assert "Not settled: whether system-b is also better than system-c" in text
    assert "system-b is better (95%, whenever you stop)" in text


def test_everything_is_in_the_folder(told: tuple[Path, str]) -> None:
    names = {path.name for path in told[0].parent.iterdir()}
    assert {"outputs.csv", "open.csv", "open.label", "report.html"} <= names
    # A reader of the queue must not see what people said before.
    assert "human" not in (told[0].parent / "open.csv").read_text(encoding="utf-8").split("\n")[0]
