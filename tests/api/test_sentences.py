"""One generated page lists every sentence that a user may read, and each of them is plain English."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def docs():
    """The scripts of docs/, which are no package."""
    sys.path.insert(0, str(DOCS))
    try:
        import hooks
        import sentences
    finally:
        sys.path.remove(str(DOCS))
    return SimpleNamespace(hooks=hooks, every=sentences.sentences(), collect=sentences)


def test_the_page_is_filled_with_the_list_when_the_site_is_built(docs, monkeypatch) -> None:
    # The source is read once for all tests of this file.
    monkeypatch.setattr(docs.collect, "sentences", lambda source: docs.every)
    monkeypatch.setattr(docs.hooks, "_script", {"sentences.py": docs.collect}.__getitem__)
    path = DOCS / "reference" / "sentences.md"
    page = SimpleNamespace(file=SimpleNamespace(abs_src_path=str(path)))
    shown = docs.hooks.on_page_markdown(path.read_text(encoding="utf-8"), page=page)
    assert docs.hooks.SENTENCES not in shown
    assert shown.count("\n- ") >= len(docs.every)


def test_all_kinds_of_sentences_are_found_where_they_are_made(docs, tmp_path) -> None:
    (tmp_path / "verdict.py").write_text(
        '"""Not this docstring, nobody reads it."""\n'
        'SAID = "nothing is settled yet"\n'
        'FIELD = option(3, "How many rounds there are.")\n'
        "def f(x):\n"
        '    table.query("select one from rows where two is null")\n'
        '    raise InputError(f"x must be at least 1, got {x}")\n',
        encoding="utf-8",
    )
    found = docs.collect.sentences(tmp_path)
    assert [(one.line, one.kind, one.text) for one in found] == [
        (2, "verdict", "nothing is settled yet"),
        (3, "help", "How many rounds there are."),
        (6, "error", "x must be at least 1, got {…}"),
    ]


@pytest.mark.parametrize(
    "phrase",
    [
        r"\bwhat is none\b",
        r"\b(\d+|\{…\}) at least\b(?! one)",  # at least 20, not 20 at least
        r"\ba judge are\b",
        r"\bforetells?\b",
        r"\be-?value\b",
        r"\bconcord\b",
        r"\d\.\d{4,} ?%",
    ],
)
def test_phrases_that_the_voice_forbids_do_not_come_back(docs, phrase) -> None:
    found = [
        f"{one.path}:{one.line} {one.text}" for one in docs.every if re.search(phrase, one.text)
    ]
    assert not found, "\n".join(found)


def test_no_message_ends_like_a_cut_sentence(docs) -> None:
    cut = [
        f"{one.path}:{one.line} {one.text}"
        for one in docs.every
        if one.kind == "error" and re.search(r"(;|,| and| or| the| to)$", one.text)
    ]
    assert not cut, "\n".join(cut)
