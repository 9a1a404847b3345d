"""Fill the indexes of generated pages when the site is built: a new table is found without being
listed by hand.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

MARKER = "<!-- every page of this folder -->"
WORDS = "<!-- the words of tallystick explain -->"
VERBS = "<!-- the verbs of tallystick explain -->"
NOTEBOOK = re.compile(r"<!-- notebook: (\w+\.ipynb) -->")
SENTENCES = "<!-- every sentence that a user may read -->"
EXPLAINED = Path(__file__).resolve().parent.parent / "src" / "tallystick" / "cli" / "explained"
TOPICS = (
    "audit",
    "bound",
    "compare",
    "dynamic",
    "judge",
    "peers",
    "sampling",
    "shift",
    "tally",
    "transport",
)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put a list of its neighbours into a page that asks for it."""
    folder = Path(page.file.abs_src_path).parent
    if MARKER in markdown:
        markdown = markdown.replace(MARKER, listed(folder))
    if WORDS in markdown:
        markdown = markdown.replace(WORDS, (EXPLAINED / "words.md").read_text(encoding="utf-8"))
    if VERBS in markdown:
        markdown = markdown.replace(VERBS, _verbs())
    if SENTENCES in markdown:
        markdown = markdown.replace(SENTENCES, _script("sentences.py").page())
    if found := NOTEBOOK.search(markdown):
        markdown = markdown.replace(found[0], _notebook(folder / found[1]))
    return markdown


def _script(name: str) -> Any:
    """Return a script of docs/ as a module; the folder is no package."""
    path = Path(__file__).resolve().parent / name
    found = importlib.util.spec_from_file_location(f"docs_{path.stem}", path)
    if found is None or found.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module  # dataclasses look their module up
    found.loader.exec_module(module)
    return module


def _notebook(path: Path) -> str:
    """Return an executed notebook as a page, with a link to the file itself."""
    book = json.loads(path.read_text(encoding="utf-8"))
    shown: str = _script("notebooks/run.py").as_markdown(book)
    return f"{shown}\n[Download this notebook]({path.name})\n"


def _verbs() -> str:
    """Return what ``tallystick explain`` says about every verb, one heading lower."""
    pages = [path for path in sorted(EXPLAINED.glob("*.md")) if path.name != "words.md"]
    texts = [path.read_text(encoding="utf-8").replace("# How", "## How", 1) for path in pages]
    return "\n\n".join(texts)


def listed(folder: Path) -> str:
    """Return the titles of all pages in *folder* as links, by topic."""
    topics: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.md")):
        if path.name != "index.md":
            head = path.stem.partition("-")[0]
            topics.setdefault(head if head in TOPICS else "mathematics", []).append(
                f"- [{title(path)}]({path.name})"
            )
    return "\n\n".join(
        f"## {topic.capitalize()}\n\n" + "\n".join(lines) for topic, lines in sorted(topics.items())
    )


def title(path: Path) -> str:
    """Return the first heading of a page, without the word that all of its folder begin with."""
    found = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    words = found[1] if found else path.stem
    return re.sub(r"^(Coverage|Speed|Dynamic benchmarks|Transport): ", "", words)
