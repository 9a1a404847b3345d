"""In a notebook a result is a table, and a plot is a picture; nothing from the data becomes
markup."""

from tallystick.report import plot
from tests.report.conftest import HOSTILE
from tests.report.test_page import tags


def test_a_result_is_a_table_with_its_verdict_and_its_notes(hostile):
    seen = [tag for tag, _ in tags(hostile._repr_html_())]
    assert seen.count("table") == 1
    assert seen.count("svg") == 1
    assert seen.count("th") == 2  # name; score with its interval
    assert seen.count("tr") == 1 + len(HOSTILE)


def test_a_plot_is_a_picture_without_script(hostile):
    bundle = plot(hostile)._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "<script" not in bundle["image/svg+xml"]
    assert bundle["text/plain"] == HOSTILE[0]
