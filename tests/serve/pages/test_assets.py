"""One owner for the look: what report/ says holds on every page, and is written once."""

from __future__ import annotations

from pathlib import Path

from tallystick.report import svg as theme
from tallystick.serve.pages import site as assets
from tallystick.serve.pages.site import ASSETS, asset


def test_pages_of_the_service_have_the_look_of_reports() -> None:
    sheet = asset("style.css").decode()
    for name in ("marks.css", "shared.css", "narrow.css"):
        assert theme._file(name) in sheet
        assert theme._file(name) in theme.style()
    for mode in ("light", "dark"):
        assert theme._tokens(mode) in sheet


def test_no_rule_stands_in_both_stylesheets() -> None:
    own = Path(assets.__file__).with_name("style.css").read_text(encoding="utf-8").splitlines()
    shared = [theme._file(name).splitlines() for name in ("shared.css", "narrow.css", "marks.css")]
    rules = {line.strip() for sheet in shared for line in sheet if "{" in line and "}" in line}
    assert len(rules) > 80
    assert [line for line in own if line.strip() in rules] == []


def test_every_asset_is_there() -> None:
    assert all(asset(name) for name, _ in ASSETS)
