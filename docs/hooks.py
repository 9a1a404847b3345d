"""Fill pages when the site is built: what ``tallystick explain`` says, notebooks, sentences."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

WORDS = "<!-- the words of tallystick explain -->"
VERBS = "<!-- the verbs of tallystick explain -->"
NOTEBOOK = re.compile(r"<!-- notebook: (\w+\.ipynb) -->")
SENTENCES = "<!-- every sentence that a user may read -->"
EXPLAINED = Path(__file__).resolve().parent.parent / "src" / "tallystick" / "cli" / "explained"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put what a page asks for into its place."""
    folder = Path(page.file.abs_src_path).parent
    if WORDS in markdown:
        markdown = markdown.replace(
            WORDS, (EXPLAINED.parents[1] / "report" / "words.md").read_text(encoding="utf-8")
        )
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
    pages = sorted(EXPLAINED.glob("*.md"))
    texts = [path.read_text(encoding="utf-8").replace("# How", "## How", 1) for path in pages]
    return "\n\n".join(texts)
