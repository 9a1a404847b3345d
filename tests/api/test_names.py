"""One word, one thing: no two public classes share a name, and the glossary knows the words."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import tallystick

SOURCE = Path(tallystick.__file__).parent
GLOSSARY = Path(__file__).parents[2] / "src/tallystick/report/words.md"

PER_CAPABILITY = {"Question"}
"""The one exception: every capability has its own `Question`, the record of its options."""

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


def public_classes() -> dict[str, list[str]]:
    """Return every class that does not begin with an underscore, with the files that define it."""
    homes = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(SOURCE)))
    return homes


def entries() -> dict[str, str]:
    found = re.findall(r"^\*\*(.+?)\*\*: (.+)$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(found) == len(dict(found)), "the glossary explains a word twice"
    return dict(found)


def test_no_two_public_classes_share_a_name():
    shared = {
        name: files
        for name, files in public_classes().items()
        if len(files) > 1 and name not in PER_CAPABILITY
    }
    assert not shared


def test_a_capability_has_one_question():
    for name in PER_CAPABILITY:
        rooms = [file.split("/")[0] for file in public_classes()[name]]
        assert len(rooms) == len(set(rooms))


def test_the_glossary_explains_every_public_word():
    assert [word for word in WORDS if word not in entries()] == []


def test_an_explanation_is_one_sentence_that_does_not_repeat_its_word_alone():
    for word, text in entries().items():
        assert text.endswith("."), word
        assert len(re.findall(r"[.!?](?:\s|$)", text)) == 1, word
        assert 30 <= len(text) <= 260, word


def test_the_glossary_is_in_the_order_of_the_alphabet_within_each_part():
    parts = GLOSSARY.read_text(encoding="utf-8").split("\n## ")[1:]
    assert parts
    for part in parts:
        words = [word.lower() for word in re.findall(r"^\*\*(.+?)\*\*:", part, re.MULTILINE)]
        assert words == sorted(words)
