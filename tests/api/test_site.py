"""The documentation site: a stranger finds every page, and every capability has its three sorts of
page."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
spec = importlib.util.spec_from_file_location("hooks", DOCS / "hooks.py")
hooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hooks)


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
    generated = {page for page in pages if page.startswith(("benchmarks/", "coverage/"))}
    assert pages - generated - listed == set(), "add them to nav in mkdocs.yml"
    assert listed <= pages


@pytest.mark.parametrize("folder", ["benchmarks", "coverage"])
def test_the_index_of_generated_pages_lists_them_all(folder):
    assert hooks.MARKER in (DOCS / folder / "index.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([\w-]+\.md)\)", hooks.listed(DOCS / folder))
    assert sorted([*linked, "index.md"]) == sorted(
        path.name for path in (DOCS / folder).glob("*.md")
    )


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
