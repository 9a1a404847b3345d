"""The comparison page claims no more than the measurements that it links to have shown."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "comparison.md").read_text(encoding="utf-8")
NUMBER = r"\d[\d,]*\.?\d*(?:e[+-]?\d+)?|\.\d+"
CLAIMS = re.findall(r"\[([^\]]*)\]\(benchmarks/([\w-]+\.md#[\w-]+)\)", PAGE)


def section(place):
    """Return what stands on a page of measurements below one anchor."""
    page, _, anchor = place.partition("#")
    text = (DOCS / "benchmarks" / page).read_text(encoding="utf-8")
    [found] = [part for part in text.split("\n## ") if f"{{#{anchor}}}" in part]
    return found


def numbers(text):
    return [float(found.replace(",", "")) for found in re.findall(NUMBER, text)]


def is_measured(claim, measured):
    """Whether some measured number is the one that is claimed, as it was rounded; a share may be
    told in per cent."""
    if "more than" in claim:
        return all(
            any(number <= seen <= 3 * number for seen in measured) for number in numbers(claim)
        )
    for text in re.findall(NUMBER, claim):
        places = len(text.partition(".")[2])
        scale = 100 if "%" in claim else 1
        if not any(round(scale * seen, places) == float(text) for seen in measured):
            return False
    return True


@pytest.mark.parametrize(("claim", "place"), [part for part in CLAIMS if re.search(r"\d", part[0])])
def test_the_figure_stands_where_the_link_leads(claim, place):
    assert is_measured(claim, numbers(section(place))), f"{claim!r}: see docs/benchmarks/{place}"


def test_every_link_leads_to_one_measurement():
    assert len(CLAIMS) == PAGE.count("](benchmarks/") > 10


def test_a_claim_that_was_not_measured_is_found():
    assert is_measured("more than 200 times", [211.0])
    assert not is_measured("more than 200 times", [150.0])
    assert is_measured("cover 65%", [0.6535])
    assert not is_measured("cover 65%", [0.7])
    assert is_measured("between .15 and .36", [0.1534, 0.3578])


def test_the_versions_are_those_that_the_benchmarks_install():
    wanted = (DOCS.parent / "benchmarks" / "requirements.txt").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([\w-]+)==([\w.]+)$", wanted, re.MULTILINE))
    peers = ("truescore", "judgy", "cje-eval", "judgekeeper")
    for name in ("crowd-kit", "ntqr", "statsmodels", "ppi_python", *peers):
        assert f"{name} {pins[name]}" in PAGE
