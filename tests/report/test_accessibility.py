"""The page for those who do not see it, do not use a mouse, or need contrast: looked at in a real
browser."""

from itertools import pairwise

import pytest

from tallystick.audit import audit
from tallystick.report import write_page
from tallystick.report.theme import THEMES, contrast
from tests.report.conftest import result

CONTRAST = """
(() => {
  const parts = text => text.match(/[\\d.]+/g).map(Number);
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


@pytest.fixture(params=["alone", "composed"])
def page(request, tmp_path):
    more = {"warnings": ("careful",), "assumptions": ("items are drawn at random",)}
    one = result([f"model {i}" for i in range(6)], **more)
    if request.param == "composed":
        votes = {"a": [0, 1, 1, 0] * 20, "b": [0, 1, 0, 0] * 20, "gold": [0, 1, 1, 1] * 20}
        one = audit(votes, truth="gold", judges=("a", "b"))
    write_page(tmp_path / "page.html", one)
    return tmp_path / "page.html"


@pytest.fixture
def visit(browser, page):
    with browser.visit(page) as opened:
        yield opened


def test_the_page_says_its_language_and_its_title(visit):
    assert visit.evaluate("document.documentElement.lang") == "en"
    assert visit.evaluate("document.title").endswith(": Tallystick")


def test_headings_begin_with_one_and_skip_no_level(visit):
    levels = visit.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_a_screen_reader_hears_a_name_for_every_picture_table_and_region(visit):
    visit.send("Accessibility.enable")
    nodes = visit.send("Accessibility.getFullAXTree")["nodes"]
    names = {}
    for node in nodes:
        if not node.get("ignored"):
            names.setdefault(node["role"]["value"], []).append(
                node.get("name", {}).get("value", "")
            )
    assert len(names["image"]) == visit.evaluate(
        "document.querySelectorAll('figure').length"
    )  # light or dark, not both
    for role in ("image", "table", "region", "navigation", "link"):
        assert names[role], role
        assert all(name.strip() for name in names[role]), (role, names[role])
    assert all(": " in name for name in names["image"]), "what kind of picture it is, and its title"
    assert names["columnheader"]
    assert names["rowheader"]


def test_the_keyboard_reaches_everything_and_shows_where_it_is(visit):
    seen = []
    for _ in range(40):
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
    wanted = visit.evaluate("document.querySelectorAll('a[href], [tabindex=\"0\"]').length")
    assert len(seen) >= wanted


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
    assert visit.evaluate("[...document.images].every(image => image.currentSrc === image.src)")


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_colour_of_a_chart_stands_out_from_its_paper(mode):
    theme = THEMES[mode]
    assert min(contrast(colour, theme.paper) for colour in theme.series) >= 3
    assert contrast(theme.ink, theme.paper) >= 7
