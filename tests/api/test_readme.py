"""What README shows is what the program prints today."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from tallystick.cli.app import app
from tallystick.table import write_csv
from tallystick.verbs.score.question import demo

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_terminal_output_is_what_the_command_prints(tmp_path: Path) -> None:
    [shown] = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    command, _, expected = shown.partition("\n\n")
    words = command.removeprefix("$ tallystick ").split()
    write_csv(tmp_path / "outputs.csv", demo(15).table)
    words = [str(tmp_path / word) if word.endswith(".csv") else word for word in words]
    run = CliRunner().invoke(app, words, env={"COLUMNS": "100", "NO_COLOR": "1"})
    printed = [line.rstrip() for line in run.output.replace("\xa0", " ").splitlines()]
    for line in expected.strip("\n").splitlines():
        assert line.rstrip() in printed, line


def test_the_first_sentence_is_about_that_output() -> None:
    assert "judge says 90%" in README
    assert "system-a    90.2%   41.8%" in README


def test_every_file_that_it_names_exists() -> None:
    root = Path(__file__).parents[2]
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (root / target).exists(), target
