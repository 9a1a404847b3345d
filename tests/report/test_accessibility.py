"""The page for those who do not see it, do not use a mouse, or need contrast: looked at in a real
browser."""

import os
from itertools import pairwise
from pathlib import Path

import pytest

from tallystick.report import write_page
from tallystick.table import Case, Cases
from tallystick.verbs.audit.answer import AuditResult, Skipped
from tests.report.conftest import result

CONTRAST = """
(() => {
  const parts = text => text.match(/[\\d.]+/g).map((part, i) => part * (text.startsWith('color(') && i < 3 ? 255 : 1));
  const linear = c => c / 255 <= .04045 ? c / 255 / 12.92 : ((c / 255 + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const paper = node => {
    for (; node; node = node.parentElement) {
      const found = parts(getComputedStyle(node).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), weak = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), holder = walker.currentNode.parentElement;
    if (!text) continue;
    const [a, b] = [light(parts(getComputedStyle(holder).color)), light(paper(holder))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) weak.push(text.slice(0, 40));
  }
  return weak;
})()
"""
FOCUS = """
(() => {
  const here = document.activeElement, style = getComputedStyle(here);
  const shown = here.getBoundingClientRect().right > 0;
  return [here.tagName, here.innerText.slice(0, 30), style.outlineStyle, parseFloat(style.outlineWidth), shown];
})()
"""


ITEMS = Cases(
    title="Outputs",
    line="Two differ.",
    kinds=(("too kind", 1), ("too strict", 1)),
    cases=tuple(
        Case(
            item=f"q{n}",
            of="system-a",
            kind=kind,
            summary="person fail · judges 2 of 3 pass",
            votes=(("gpt", "pass"), ("claude", "fail")),
            texts=(("prompt", "Why was I charged?"), ("answer", "שלום, 42 (sic)")),
        )
        for n, kind in enumerate(("too kind", "too strict"))
    ),
)


@pytest.fixture(params=["alone", "composed"])
def page(request, tmp_path):
    more = {"warnings": ("careful",), "assumptions": ("items are drawn at random",)}
    one = result([f"model {i}" for i in range(12)], **more)
    if request.param == "composed":
        one = AuditResult(
            verdict="model 0 is the best.",
            n_items=3,
            sections=(one,),
            skipped=(Skipped("shift", "no old answers"),),
        )
    cases = ITEMS if request.param == "alone" else None
    write_page(tmp_path / "page.html", one, cases=cases)
    return tmp_path / "page.html"


@pytest.fixture
def visit(browser, page):
    with browser.visit(page) as opened:
        yield opened


def test_the_page_says_its_language_and_its_title(visit):
    assert visit.evaluate("document.documentElement.lang") == "en"
    assert " · tallystick " in visit.evaluate("document.title")


def test_headings_begin_with_one_and_skip_no_level(visit):
    levels = visit.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


OPEN = "document.querySelectorAll('details').forEach(fold => { fold.open = true; })"
AXE = """
axe.run(document, {resultTypes: ['violations']}).then(found =>
  found.violations.map(one => [one.id, one.nodes.map(node => node.html.slice(0, 160))]))
"""


def axe():
    """The rules of axe-core: a newer copy may be named by TALLYSTICK_AXE (npm pack axe-core)."""
    named = os.environ.get("TALLYSTICK_AXE")
    if named:
        return Path(named).read_text(encoding="utf-8")
    held = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    return (Path(held.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_axe_finds_no_violation_with_all_folds_open(visit, mode):
    visit.prefer(color_scheme=mode)
    visit.evaluate(OPEN)
    visit.evaluate(axe())
    assert visit.evaluate(AXE) == []


def test_a_screen_reader_hears_a_name_for_every_table_region_and_link(visit):
    visit.evaluate(OPEN)
    visit.send("Accessibility.enable")
    nodes = visit.send("Accessibility.getFullAXTree")["nodes"]
    names = {}
    for node in nodes:
        if not node.get("ignored"):
            names.setdefault(node["role"]["value"], []).append(
                node.get("name", {}).get("value", "")
            )
    for role in ("table", "region", "link"):
        assert names[role], role
        assert all(name.strip() for name in names[role]), (role, names[role])
    charts = [name for name in names["image"] if ": " in name]
    assert charts, "what kind of picture it is, and its title"
    assert names["columnheader"]
    assert names["rowheader"]


def test_the_keyboard_reaches_everything_and_shows_where_it_is(visit):
    seen = []
    for _ in range(60):
        for kind in ("keyDown", "keyUp"):
            visit.send(
                "Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9
            )
        here = visit.evaluate(FOCUS)
        if here[0] == "BODY":
            break
        seen.append(here)
    assert seen[0][1] == "Skip to the answer"
    assert [where for where in seen if where[2] != "solid" or where[3] < 2 or not where[4]] == []
    shown = (
        "[...document.querySelectorAll('a[href], summary')].filter(one => one.checkVisibility())"
    )
    assert len(seen) >= visit.evaluate(f"{shown}.length")


def test_the_skip_link_leads_to_the_answer(visit):
    assert (
        visit.evaluate(
            "document.querySelector(document.querySelector('.skip').getAttribute('href')).tagName"
        )
        == "MAIN"
    )


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_all_text_stands_out_from_its_paper(visit, mode):
    visit.prefer(color_scheme=mode)
    assert visit.evaluate(CONTRAST) == []


def test_a_narrow_screen_scrolls_in_one_direction_only(visit):
    visit.send(
        "Emulation.setDeviceMetricsOverride",
        width=320,
        height=640,
        deviceScaleFactor=1,
        mobile=False,
    )
    assert visit.evaluate("document.scrollingElement.scrollWidth") <= 320


def test_on_paper_the_page_is_light_whatever_the_screen_prefers(visit):
    visit.send(
        "Emulation.setEmulatedMedia",
        media="print",
        features=[{"name": "prefers-color-scheme", "value": "dark"}],
    )
    assert visit.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    printed = """
      document.querySelectorAll('details.fold').forEach(fold => { fold.open = false; });
      dispatchEvent(new Event('beforeprint'));
      [...document.querySelectorAll('details.fold')].every(fold => fold.open)"""
    assert visit.evaluate(printed), "folds are open on paper"
