"""The glossary knows the words that verdicts use, each in one sentence."""

from __future__ import annotations

import re
from pathlib import Path

GLOSSARY = Path(__file__).parents[2] / "src/tallystick/report/words.md"

WORDS = [
    "tally",
    "pattern",
    "item",
    "judge",
    "vote",
    "grade",
    "label",
    "truth",
    "system",
    "model",
    "score",
    "interval",
    "exact",
    "anytime",
    "approximate",
    "under",
    "decision",
    "needed",
    "tier",
    "contender",
    "slice",
    "gate",
    "stratum",
    "noise",
    "support",
]


def entries() -> dict[str, str]:
    found = re.findall(r"^\*\*(.+?)\*\*: (.+)$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(found) == len(dict(found)), "the glossary explains a word twice"
    return dict(found)


def test_the_glossary_explains_every_public_word():
    assert [word for word in WORDS if word not in entries()] == []


def test_an_explanation_is_one_sentence_that_does_not_repeat_its_word_alone():
    for word, text in entries().items():
        assert text.endswith("."), word
        assert len(re.findall(r"[.!?](?:\s|$)", text)) == 1, word
        assert 30 <= len(text) <= 260, word
