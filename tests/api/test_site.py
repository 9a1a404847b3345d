"""The documentation site: a stranger finds every page, and every capability has its three sorts of
page."""

import json
import re
from pathlib import Path

import pytest
import yaml

from benchmarks import record

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def places(entry):
    if isinstance(entry, str):
        return [entry]
    return [
        place
        for part in (entry.values() if isinstance(entry, dict) else entry)
        for place in places(part)
    ]


def test_every_page_is_in_the_navigation_or_in_a_generated_index():
    listed = set(places(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    generated = {page for page in pages if page.startswith("benchmarks/")}
    assert pages - generated - listed == set(), "add them to nav in mkdocs.yml"
    assert listed <= pages


def test_the_pages_of_measurements_are_those_that_the_data_make():
    kept = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "benchmarks").iterdir()}
    assert kept == record.pages(), "run: make results"
    for name in set(kept) - {"index.md"}:
        assert f"]({name})" in kept["index.md"]


def test_every_measurement_has_its_question_and_its_rows_on_one_page():
    text = "\n".join(record.pages().values())
    asked = re.findall(r"^## \S.*\? \{#([\w-]+)\}$", text, re.MULTILINE)
    kept = [path.stem for path in record.RESULTS.glob("*.json")]
    assert sorted(asked) == sorted(kept), "ask its question in benchmarks/results/pages.toml"
    assert len(re.findall(r"^\|(?:---\|)+\n\| ", text, re.MULTILINE)) == len(kept)


def test_figures_that_are_measured_again_and_equal_keep_their_date(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    path = tmp_path / "speed.json"
    for seconds, date in ((0.123449, "2020-01-01"), (0.12341, "2020-01-02"), (0.2, "2020-01-03")):
        monkeypatch.setattr(record.time, "strftime", lambda _, date=date: date)
        record.keep("speed", "Speed", [{"n": 3, "s": seconds}, {"n": 4}], ["A note."], command="x")
        kept = json.loads(path.read_text(encoding="utf-8"))
        assert kept["date"] == ("2020-01-03" if seconds == 0.2 else "2020-01-01")
        assert kept["rows"] == [[3, 0.2 if seconds == 0.2 else 0.1234], [4, ""]]
    assert '\n[3, 0.2],\n[4, ""]\n' in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("capability", ["score", "compare", "judge", "bound", "shift", "dynamic"])
def test_every_capability_has_a_tutorial_a_how_to_and_a_theory_page(capability):
    home = (DOCS / "index.md").read_text(encoding="utf-8")
    [row] = [
        line for line in home.splitlines() if line.startswith("|") and f"`{capability}`" in line
    ]
    for sort in ("tutorials", "how-to", "theory"):
        found = re.findall(rf"\(({sort}/[\w-]+\.md)\)", row)
        assert found, f"{capability} has no page under {sort}"
        assert all((DOCS / page).is_file() for page in found)
