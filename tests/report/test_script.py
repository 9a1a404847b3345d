"""The one script of a page sorts and filters; without it everything is still there."""

import pytest

from tallystick.report import write_page
from tallystick.table import Case, Cases
from tests.report.conftest import result

NAMES = "[...document.querySelectorAll('table.sortable tbody tr')].filter(row => !row.hidden).map(row => row.cells[0].innerText)"
OPEN = "document.querySelectorAll('details').forEach(fold => { fold.open = true; })"
SHOWN = "[...document.querySelectorAll('.item')].filter(one => one.checkVisibility()).length"


@pytest.fixture
def page(tmp_path):
    rows = [f"model {i}" for i in (3, 10, 2, *range(20, 32))]
    listed = tuple(
        Case(item=f"q{n}", kind="odd" if n % 2 else "even", summary="s") for n in range(5)
    )
    cases = Cases(title="Items", line="Five.", kinds=(("even", 3), ("odd", 2)), cases=listed)
    write_page(tmp_path / "page.html", result(rows), cases=cases)
    return tmp_path / "page.html"


def test_a_click_on_a_heading_sorts_and_a_second_click_turns_it_around(browser, page):
    with browser.visit(page) as visit:
        visit.evaluate(OPEN)
        assert visit.evaluate(NAMES)[:3] == ["model 3", "model 10", "model 2"]
        click = "document.querySelector('table.sortable th button').click()"
        visit.evaluate(click)
        assert visit.evaluate(NAMES)[:3] == ["model 2", "model 3", "model 10"]
        sort = "document.querySelector('table.sortable th').getAttribute('aria-sort')"
        assert visit.evaluate(sort) == "ascending"
        visit.evaluate(click)
        assert visit.evaluate(NAMES)[0] == "model 31"
        assert visit.complaints == []


def test_typing_filters_the_rows(browser, page):
    with browser.visit(page) as visit:
        visit.evaluate(OPEN)
        visit.evaluate(
            "(() => { const find = document.querySelector('.find'); find.value = 'MODEL 10';"
            " find.dispatchEvent(new Event('input')); })()"
        )
        assert visit.evaluate(NAMES) == ["model 10"]


@pytest.mark.parametrize("script", [True, False])
def test_items_are_filtered_by_kind_with_and_without_javascript(browser, page, script):
    with browser.visit(page) as visit:
        if not script:
            visit.send("Emulation.setScriptExecutionDisabled", value=True)
            visit.send("Page.reload")
            browser.wait(visit, "Page.loadEventFired")
            assert visit.evaluate("document.querySelectorAll('th button').length") == 0
        visit.evaluate(OPEN)
        assert visit.evaluate(SHOWN) == 5
        visit.evaluate("document.querySelector('[value=k2]').checked = true")
        assert visit.evaluate(SHOWN) == 2


def test_without_javascript_every_row_and_every_fold_can_be_read(browser, page):
    with browser.visit(page) as visit:
        visit.send("Emulation.setScriptExecutionDisabled", value=True)
        visit.send("Page.reload")
        browser.wait(visit, "Page.loadEventFired")
        visit.evaluate("document.querySelectorAll('summary').forEach(one => one.click())")
        assert len(visit.evaluate(NAMES)) == 15
        closed = "[...document.querySelectorAll('details.fold')].filter(one => !one.open).length"
        assert visit.evaluate(closed) == 0


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_nothing_is_cut_at_the_width_of_a_phone_or_a_screen(browser, page, width, mode):
    with browser.visit(page) as visit:
        visit.prefer(color_scheme=mode)
        visit.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=800,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        visit.evaluate(OPEN)
        assert visit.evaluate("document.documentElement.scrollWidth") <= width
        outside = """
          [...document.querySelectorAll('main h1, main p, main td, main th, main code')].filter(one =>
            !one.closest('.scroll, .hidden') && !one.classList.contains('hidden')
            && one.getBoundingClientRect().right > innerWidth + 1).length"""
        assert visit.evaluate(outside) == 0
