"""``tallystick explain WORD|VERB``: what a word means, or how to read what a verb prints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

import click

from tallystick.errors import InputError

__all__ = ["explain", "explained", "pages", "words"]

_ENTRY = re.compile(r"^\*\*(.+?)\*\*: (.+)$", re.MULTILINE)


@cache
def words() -> Mapping[str, str]:
    """Return the glossary: each word with its sentence.

    >>> words()["flip"]
    'An item whose answer from the new version of an API differs from the old answer.'
    """
    text = (_folder() / "words.md").read_text(encoding="utf-8")
    return dict(_ENTRY.findall(text))


@cache
def pages() -> Mapping[str, str]:
    """Return how to read each verb's answer, as Markdown."""
    return {
        path.name.removesuffix(".md"): path.read_text(encoding="utf-8")
        for path in sorted(_folder().iterdir(), key=lambda path: path.name)
        if path.name.endswith(".md") and path.name != "words.md"
    }


def _folder() -> Any:
    return files("tallystick.cli") / "explained"


def explained(term: str) -> str:
    """Return what is to be said about a word or a verb; refuse an unknown one with the nearest.

    >>> explained("Flips").partition(":")[0]
    'flip'
    >>> explained("compare").splitlines()[0]
    'How to read tallystick compare'
    """
    wanted = " ".join(term.lower().replace("_", " ").split())
    if wanted.partition(" ")[0] in pages():
        parts = [_plain(pages()[wanted.partition(" ")[0]])]
        # Some verbs are words of the glossary as well: score, judge, label.
        if wanted in words():
            parts.append(_word(wanted))
        return "\n\n".join(parts)
    for name in (wanted, wanted.removesuffix("s"), wanted.replace("-", " ")):
        if name in words():
            return _word(name)
    known = list(dict.fromkeys([*pages(), *words()]))
    near = get_close_matches(wanted, known, n=3)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else "There are:"
    listed = "" if near else f" {', '.join(known)}"
    raise InputError(f"there is no explanation of {term!r}. {hint}{listed}")


def _word(name: str) -> str:
    import textwrap

    return textwrap.fill(f"{name}: {words()[name]}", 96, break_on_hyphens=False)


def _plain(markdown: str) -> str:
    """Return Markdown as a terminal shows it: the signs go, paragraphs are filled to 96 columns."""
    import textwrap

    text = re.sub(r"^# ", "", markdown.replace("**", "").replace("`", ""), flags=re.MULTILINE)
    paragraphs = [" ".join(block.split()) for block in text.split("\n\n") if block.strip()]
    return "\n\n".join(textwrap.fill(block, 96, break_on_hyphens=False) for block in paragraphs)


def _run(term: tuple[str, ...]) -> None:
    """Explain a word of the answers, or how to read what a verb prints."""
    if not term:
        click.echo(f"Verbs: {', '.join(pages())}\n")
        click.echo(f"Words: {', '.join(sorted(words()))}\n")
        click.echo("tallystick explain WORD tells what one means.")
        return
    click.echo(explained(" ".join(term)))


explain: Any = click.Command(
    "explain",
    callback=_run,
    help=_run.__doc__,
    params=[click.Argument(["term"], nargs=-1)],
    context_settings={"help_option_names": ["-h", "--help"]},
)
