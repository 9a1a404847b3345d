"""Execute the notebooks of this folder and store their outputs; no Jupyter is needed.

A cell is executed as Python, what it prints becomes a stream, and its last expression is shown as
Jupyter would show it (text, and a picture where the object has one).
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def notebooks() -> list[Path]:
    """Return all notebooks of the folder."""
    return sorted(HERE.glob("*.ipynb"))


def executed(path: Path) -> dict[str, Any]:
    """Return a notebook with the outputs of its cells, run in order in the notebook's folder."""
    book: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    scope: dict[str, Any] = {"__name__": "__main__"}
    import pandas as pd

    before = Path.cwd()
    os.chdir(path.parent)
    try:
        # Tables are as wide as they are, not as the terminal that happens to run this.
        with pd.option_context("display.width", 200, "display.max_columns", None):
            count = 0
            for cell in book["cells"]:
                if cell["cell_type"] == "code":
                    count += 1
                    cell["execution_count"] = count
                    cell["outputs"] = _run("".join(cell["source"]), scope, count)
    finally:
        os.chdir(before)
    return book


def texts(book: dict[str, Any]) -> list[str]:
    """Return what every code cell shows as text, for comparing two executions."""
    return [
        "".join("".join(one.get("text") or one["data"]["text/plain"]) for one in cell["outputs"])
        for cell in book["cells"]
        if cell["cell_type"] == "code"
    ]


def as_markdown(book: dict[str, Any]) -> str:
    """Return a notebook as a page: text, code, outputs, pictures."""
    import base64

    parts = []
    for cell in book["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```py\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            picture = "".join(data.get("image/svg+xml", ()))
            if picture:
                coded = base64.b64encode(picture.encode()).decode()
                parts.append(
                    f'<img alt="The result as a picture" src="data:image/svg+xml;base64,{coded}">'
                )
            else:
                text = "".join(output.get("text") or data["text/plain"]).rstrip()
                parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def _run(source: str, scope: dict[str, Any], count: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    scope["_"] = None
    # As in a shell, the value of the last line is called _.
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        tree.body[-1] = ast.Assign(targets=[ast.Name("_", ast.Store())], value=last.value)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.fix_missing_locations(tree), "<cell>", "exec"), scope)
    value = scope["_"]
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_mimebundle_"):
            own = value._repr_mimebundle_()
            data |= {kind: str(text).splitlines(keepends=True) for kind, text in own.items()}
        shown = {"output_type": "execute_result", "execution_count": count, "metadata": {}}
        outputs.append({**shown, "data": data})
    return outputs


if __name__ == "__main__":
    for one in notebooks():
        text = json.dumps(executed(one), indent=1, ensure_ascii=False)
        one.write_text(text + "\n", encoding="utf-8")
        sys.stdout.write(f"{one.name}\n")
