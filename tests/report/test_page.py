import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from tallystick.errors import FileError
from tallystick.report import Provenance, page_of, write_page
from tallystick.results import Needed
from tallystick.table import Case, Cases, Tally, describe
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
    text = page_of(
        hostile, provenance=Provenance(command="tallystick <b>", digests={"</code><script>": "00"})
    )
    seen = tags(text)
    found = [tag for tag, _ in seen]
    assert set(found).isdisjoint({"iframe", "object", "embed", "link", "form", "img"})
    assert found.count("script") == 1, "ours and no other"
    assert not any(name.startswith("on") for _, attributes in seen for name in attributes)
    assert not any("style" in attributes for _, attributes in seen)
    addresses = [v for _, attributes in seen for k, v in attributes.items() if k in ("src", "href")]
    assert addresses
    assert all(address.startswith(("data:", "#")) for address in addresses)
    assert "{{ 7*7 }}" in text, "a template inside the data was run"


def test_marks_that_turn_the_direction_of_text_are_written_out():
    """One of them in a label would turn all that follows it on the page."""
    turned = {"gpt\u202e": ["yes\u2067", "no\u200f"]}
    text = page_of(describe(Tally.of(turned)))
    assert "gpt\\u202e" in text
    assert not set(text) & set("\u202e\u2067\u200f\u202a\u2066\u2069\u061c")


def test_the_policy_allows_our_script_and_our_style_alone_and_no_network(hostile):
    text = page_of(hostile)
    [policy] = [
        a["content"] for tag, a in tags(text) if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        [inside] = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in policy


def test_the_answer_the_picture_and_the_next_step_come_before_every_fold(hostile):
    text = page_of(result(["a", "b"], needed=Needed(40, "labels")))
    order = ["<h1>a leads<", "<figure>", "Next: get about 40 more labels.", "<details"]
    places = [text.index(mark) for mark in order]
    assert places == sorted(places)


def test_every_fold_gives_its_answer_in_one_line(hostile):
    lines = re.findall(r"<summary><h2>(.*?)</h2><span>(.*?)</span></summary>", page_of(hostile))
    assert [title for title, _ in lines][-1] == "Command"
    assert all(line.strip() for _, line in lines), lines


def test_a_result_that_needs_nothing_has_no_next_step():
    assert "Next:" not in page_of(result(["a", "b"]))


def case(n, **more):
    return Case(
        item=f"q{n}", kind="too kind" if n % 2 else "too strict", summary="person fail", **more
    )


def test_the_items_behind_a_claim_are_listed_with_their_texts_and_the_rest_is_counted():
    texts = (("prompt", "<b>Why</b>\u202e?"),)
    listed = tuple(case(n, texts=texts, votes=(("gpt", "pass"),)) for n in range(3))
    found = Cases(
        title="Outputs", line="9 differ.", kinds=(("too strict", 5), ("too kind", 4)), cases=listed
    )
    text = page_of(result(["a", "b"]), cases=found)
    assert text.count('<details class="item') == 3
    assert "&lt;b&gt;Why&lt;/b&gt;" in text
    assert "3 of 9 are listed" in text
    assert 'value="k2"> too kind 4' in text
    assert 'class="item k2"' in text


def test_the_json_twin_is_the_dictionary_of_the_result(hostile):
    [link] = [a["href"] for tag, a in tags(page_of(hostile)) if "download" in a]
    assert json.loads(base64.b64decode(link.split(",", 1)[1])) == hostile.to_dict()


def test_unknown_numbers_are_a_dash_and_the_verdict_comes_first(hostile):
    text = page_of(result(["a", "b"]))
    assert text.index("a leads") < text.index("<figure>") < text.index("<table")
    assert '<td class="n" data-l="score"><bdi>–</bdi></td>' in text
    assert "nan" not in text.lower().split("sortable")[1].split("</table>")[0]


def test_a_leaderboard_of_thousands_makes_a_small_page():
    text = page_of(result([f"model {i}" for i in range(5000)]))
    assert len(text.encode()) < 2_000_000
    assert "The first 300 of 5,000 rows" in text


def test_the_same_result_makes_the_same_bytes(hostile):
    assert page_of(hostile) == page_of(hostile)


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
