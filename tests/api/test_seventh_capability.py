"""A new capability is a folder and one line in the registry: nothing else has to know it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tallystick import registry
from tallystick.cli.app import app

LINE = registry.Entry("coins", "tests.toy.coins:CAPABILITY", "Is this coin fair?")


@pytest.fixture
def coins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENTRIES", registry.ENTRIES)
    registry.ENTRIES.append(LINE)
    yield
    registry.ENTRIES.remove(LINE)


@pytest.mark.usefixtures("coins")
def test_it_is_listed_and_described(tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    assert "coins" in shown
    assert "Is this coin fair?" in shown
    own = CliRunner().invoke(app, ["coins", "--help"]).output
    assert "--side" in own
    assert "--missing" in own
    assert "--html" in own


@pytest.mark.usefixtures("coins")
def test_it_answers_as_a_verb_with_slices_json_and_a_page(tmp_path: Path) -> None:
    table = tmp_path / "tosses.csv"
    rows = "".join(f"{i},{'heads' if i % 3 else 'tails'},{i % 2}\n" for i in range(90))
    table.write_text(f"id,toss,thrower\n{rows}")
    page = tmp_path / "page.html"
    asked = [
        "coins",
        str(table),
        *"--judges toss --by thrower --json --html".split(),
        str(page),
    ]
    done = CliRunner().invoke(app, asked)
    body = json.loads(done.stdout)
    assert done.exit_code == 0
    assert body["share"] == pytest.approx(2 / 3)
    assert [part["slice"] for part in body["slices"]] == ["0", "1"]
    assert "is not fair" in page.read_text()
