import base64
import json
from html.parser import HTMLParser

import pytest

from tallystick.errors import FileError
from tallystick.report import Provenance, page, write_page
from tallystick.tally import Tally, describe
from tests.report.conftest import result


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def tags(text):
    parser = Tags()
    parser.feed(text)
    return parser.seen


def test_nothing_from_the_data_becomes_markup(hostile):
    text = page(
        hostile, provenance=Provenance(command="tallystick <b>", digests={"</code><script>": "00"})
    )
    seen = tags(text)
    assert {tag for tag, _ in seen}.isdisjoint(
        {"script", "iframe", "object", "embed", "link", "form"}
    )
    assert not any(name.startswith("on") for _, attributes in seen for name in attributes)
    addresses = [
        v for _, attributes in seen for k, v in attributes.items() if k in ("src", "href", "srcset")
    ]
    assert addresses
    assert all(address.startswith(("data:", "#")) for address in addresses)
    assert "{{ 7*7 }}" in text, "a template inside the data was run"


def test_marks_that_turn_the_direction_of_text_are_written_out():
    """One of them in a label would turn all that follows it on the page."""
    turned = {"gpt\u202e": ["yes\u2067", "no\u200f"]}
    text = page(describe(Tally.of(turned)))
    assert "gpt\\u202e" in text
    assert not set(text) & set("\u202e\u2067\u200f\u202a\u2066\u2069\u061c")


def test_the_policy_forbids_scripts_and_the_network(hostile):
    [policy] = [
        a["content"]
        for tag, a in tags(page(hostile))
        if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'")
    assert "script-src" not in policy


def test_the_pictures_carry_no_script(hostile):
    images = [
        a.get("src") or a["srcset"] for tag, a in tags(page(hostile)) if tag in ("img", "source")
    ]
    assert len(images) == 6
    for image in images:
        svg = base64.b64decode(image.split(",", 1)[1]).decode("utf-8")
        assert "<script" not in svg
        assert "<image" not in svg


def test_the_json_twin_is_the_dictionary_of_the_result(hostile):
    [link] = [a["href"] for tag, a in tags(page(hostile)) if "download" in a]
    assert json.loads(base64.b64decode(link.split(",", 1)[1])) == hostile.to_dict()


def test_unknown_numbers_are_a_dash_and_the_verdict_comes_first(hostile):
    text = page(result(["a", "b"]))
    assert text.index("a leads") < text.index("<figure>") < text.index("<table>")
    assert '<td class="number">–</td>' in text
    assert "nan" not in text.lower().split("<table>")[1].split("</table>")[0]


def test_a_leaderboard_of_thousands_makes_a_small_page():
    text = page(result([f"model {i}" for i in range(5000)]))
    assert len(text.encode()) < 2_000_000
    assert "The first 300 of 5,000 rows" in text


def test_the_same_result_makes_the_same_bytes(hostile):
    assert page(hostile) == page(hostile)


def test_an_old_report_survives_a_write_that_fails(tmp_path, monkeypatch):
    target = tmp_path / "r.html"
    target.write_text("old", encoding="utf-8")
    import os

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        write_page(target, result(["a", "b"]))
    assert target.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_a_path_that_cannot_be_written_is_refused_by_name(tmp_path):
    with pytest.raises(FileError, match="nowhere"):
        write_page(tmp_path / "nowhere" / "r.html", result(["a", "b"]))
