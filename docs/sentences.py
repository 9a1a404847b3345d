"""Every sentence that a user may read, collected from the code.

Error messages, verdicts, warnings and notes, and the help of options are string literals, so the
syntax tree lists them all, with the file and the line where each is made. The page
docs/reference/sentences.md is filled with the list when the site is built, so it is never stale;
``make sentences`` writes the same list to a file, to be read aloud.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "tallystick"
KINDS = {
    "verdict": "Verdicts, and what they rest on",
    "note": "Warnings, notes and messages",
    "help": "Help of commands and options",
    "error": "Errors, and questions to the user",
}
LEAST_WORDS = 3
"""Words from which a string is taken for a sentence."""

# Strings that no user reads: queries, markup, styles, headers of requests.
_CODE = re.compile(
    r"^\s*(select|with|create|insert|copy|pivot|update|delete|pragma|union|alter|drop|from|begin)\b"
    r"|[<>]{1}/?[a-z]+[ >]|</|\bselect\b.*\bfrom\b|[{};]\s*$|::|==|\w+\(\)",
    re.IGNORECASE,
)


@dataclass(frozen=True, order=True)
class UserSentence:
    """One string that a user may read; ``{…}`` stands for what is filled in."""

    path: str
    line: int
    kind: str
    text: str


def sentences(source: Path = SOURCE) -> list[UserSentence]:
    """Return every sentence of the package, by file and line."""
    found: set[UserSentence] = set()
    for path in source.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found.update(of_file(tree, path.relative_to(source)))
    return sorted(found)


def page(source: Path = SOURCE) -> str:
    """Return the list as Markdown, by kind and file."""
    every = sentences(source)
    lines = [f"{len(every):,} sentences. `{{…}}` stands for what is filled in."]
    for kind, title in KINDS.items():
        own = [one for one in every if one.kind == kind]
        lines += ["", f"## {title}", "", f"{len(own):,} sentences."]
        last = ""
        for one in own:
            if one.path != last:
                lines += ["", f"### {one.path}", ""]
                last = one.path
            lines.append(f"- {one.line}: {_escaped(one.text)}")
    return "\n".join(lines) + "\n"


def of_file(tree: ast.Module, where: Path) -> Iterator[UserSentence]:
    """Return the sentences of one file; what only reproduces a paper speaks to nobody."""
    if "papers" in where.parts or where.name == "papers.py":
        return
    path, nodes = str(where), list(ast.walk(tree))
    skipped = {id(part) for node in _unread(nodes) for part in ast.walk(node)}
    raised = {
        id(part)
        for node in nodes
        if isinstance(node, ast.Raise) and node.exc is not None
        for part in ast.walk(node.exc)
    }
    helped = {id(part) for node in nodes if isinstance(node, ast.Call) for part in _help_of(node)}
    for node in nodes:
        if id(node) in skipped or not isinstance(node, ast.JoinedStr | ast.Constant):
            continue
        text = _written(node)
        if len(re.findall(r"[A-Za-z]{2,}", text.replace("{…}", " "))) < LEAST_WORDS:
            continue
        if " " not in text.strip() or _CODE.search(text.replace("{…}", "…")):
            continue
        kind = "note"
        if id(node) in raised:
            kind = "error"
        elif id(node) in helped or path.endswith("roles.py"):
            kind = "help"
        elif path.endswith("verdict.py"):
            kind = "verdict"
        yield UserSentence(path, node.lineno, kind, " ".join(text.split()))


def _unread(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """Return docstrings, comments in the form of strings, queries, annotations, and the parts of
    f-strings, each of which is one sentence.
    """
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in (
                "query",
                "derive",
                "arrow",
                "execute",
                "sql",
                "compile",
                "filter",
            ):
                yield from node.args
        elif isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.JoinedStr):
            yield from node.values


def _help_of(node: ast.Call) -> Iterator[ast.AST]:
    """Return the strings of ``option(default, "help")`` and of ``help="…"``."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "option" and len(node.args) > 1:
        yield from ast.walk(node.args[1])
    for given in node.keywords:
        if given.arg in ("help", "summary", "short_help"):
            yield from ast.walk(given.value)


def _written(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "{…}" for part in node.values
    )


def _escaped(text: str) -> str:
    return re.sub(r"([<>*_`|\[\]])", r"\\\1", text)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    text = page()
    if target is None:
        sys.stdout.write(text)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
