"""Mutation run: whether a test fails when the code is wrong.

``python -m benchmarks.mutants`` changes one operator or constant of the code at a time, 120 times,
and runs the quick tests until one fails: first the examples of the file and the tests that bear its
name, then those of its room, then the corpus, then all that ``make test`` runs. A mutant that no test
notices has survived. Mutants are chosen by a seeded rule: a room in turn, then one of its files, then
one place in it. The first 60 are from all rooms, the others from those whose numbers all verbs share.
``--write`` keeps the outcome in benchmarks/results.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.record import record

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "tallystick"
STATE = ROOT / "benchmarks" / "mutants.json"
MUTANTS = 120
SHARED = ("papers", "results", "stats/few", "table/tally", "verbs/dynamic")
"""Where the last 60 come from."""
SECONDS = 1800

SWAPS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Is: ("is", "is not"),
    ast.In: ("in", "not in"),
}


@dataclass(frozen=True)
class Mutant:
    """One change: the module, the line and its text, the place in it, the old word and the new.

    The text of the line finds the place again after the lines above it have changed.
    """

    module: str
    line: int
    text: str
    start: int
    old: str
    new: str

    @property
    def stages(self) -> list[list[str]]:
        """What to run, nearest first; each stage is left out once a test has failed."""
        path = Path(self.module)
        room = path.parts[1] if path.parts[0] == "verbs" and len(path.parts) > 2 else path.parts[0]
        folders = ["tests/data", "tests/io", "tests/tally", "tests/values"]
        near = folders if room == "table" else [f"tests/{room}"]
        named = {
            str(one.relative_to(ROOT))
            for folder in near
            for one in (ROOT / folder).rglob("test_*.py")
            if _bears(one.stem.removeprefix("test_"), path)
        }
        return [
            sorted(named),
            [folder for folder in near if (ROOT / folder).is_dir()],
            ["tests/corpus", "tests/known", "tests/first"],
            ["tests", "docs", "README.md"],
        ]


def _bears(name: str, module: Path) -> bool:
    """Whether tests of this name are about a file: test_few_labels about few_labels_fit.py."""
    return any(
        name.startswith(stem) or f"{stem}_".startswith(f"{name}_")
        for stem in (module.stem, module.parent.name)
        if stem not in ("__init__", *module.parts[:1])
    )


def places(module: Path) -> list[Mutant]:
    """Return every change that can be made to a module."""
    text = module.read_text(encoding="utf-8")
    starts = [0]
    lines = text.splitlines(keepends=True)
    for row in lines:
        starts.append(starts[-1] + len(row.encode("utf-8")))
    data = text.encode("utf-8")
    name = str(module.relative_to(SOURCE))
    found = []
    for place, old, new in _changes(ast.parse(text), starts, data):
        line = bisect_right(starts, place)
        found.append(Mutant(name, line, lines[line - 1], place - starts[line - 1], old, new))
    return found


def _changes(tree: ast.Module, starts: list[int], data: bytes) -> Iterator[tuple[int, str, str]]:
    def offset(line: int, column: int) -> int:
        return starts[line - 1] + column

    def between(left: ast.expr, right: ast.expr, kind: type) -> tuple[int, str, str] | None:
        if kind not in SWAPS or left.end_lineno is None or left.end_col_offset is None:
            return None
        old, new = SWAPS[kind]
        low = offset(left.end_lineno, left.end_col_offset)
        place = data.find(old.encode(), low, offset(right.lineno, right.col_offset))
        return None if place < 0 else (place, old, new)

    skipped = {
        id(one)
        for node in ast.walk(tree)
        for held in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if held is not None
        for one in ast.walk(held)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or id(node) in skipped:
            continue
        change = None
        if isinstance(node, ast.Compare):
            change = between(node.left, node.comparators[0], type(node.ops[0]))
        elif isinstance(node, ast.BinOp):
            change = between(node.left, node.right, type(node.op))
        elif isinstance(node, ast.BoolOp):
            change = between(node.values[0], node.values[1], type(node.op))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            place = offset(node.lineno, node.col_offset)
            change = (place, "not ", "")
        elif isinstance(node, ast.Constant) and node.end_col_offset is not None:
            low = offset(node.lineno, node.col_offset)
            high = offset(node.end_lineno or node.lineno, node.end_col_offset)
            old = data[low:high].decode()
            if isinstance(node.value, bool):
                change = (low, old, str(not node.value))
            elif isinstance(node.value, int) and old.isdecimal():
                change = (low, old, str(node.value + 1))
        if change is not None:
            yield change


def chosen(count: int, *, seed: int = 0, within: tuple[str, ...] = ("",)) -> list[Mutant]:
    """Return mutants of files whose path begins so: rooms in turn, a file and a place by lot."""
    rng = random.Random(seed)
    packages: dict[str, list[Path]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE)
        if not name.as_posix().startswith(within):
            continue
        room = "/".join(name.parts[:2]) if name.parts[0] == "verbs" else name.parts[0]
        packages.setdefault(room if len(name.parts) > 1 else ".", []).append(path)
    found: list[Mutant] = []
    while len(found) < count:
        for _, modules in sorted(packages.items()):
            options = places(rng.choice(modules))
            if options and len(found) < count:
                one = rng.choice(options)
                if one not in found:
                    found.append(one)
    return found


def outcome(one: Mutant, *, stages: int) -> str:
    """Run *stages* of the tests on a copy of the code with this change; say killed or survived."""
    out = ROOT / "out"  # inside of the project, or pytest would name examples without their file
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as home:
        copy = Path(home) / "src" / "tallystick"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        target = copy / one.module
        rows = target.read_bytes().splitlines(keepends=True) if target.exists() else []
        alike = [place for place, row in enumerate(rows) if row == one.text.encode()]
        if not alike:
            return "gone: the line has changed"
        place = min(alike, key=lambda place: abs(place + 1 - one.line))
        row, end = rows[place], one.start + len(one.old)
        rows[place] = row[: one.start] + one.new.encode() + row[end:]
        target.write_bytes(b"".join(rows))
        held = zip(one.stages, (target, None, None, copy), strict=True)
        for stage, examples in list(held)[:stages]:
            tests = [*stage, *([] if examples is None else [str(examples)])]
            found, failed = _run(tests, copy.parent)
            if found == "survived":
                continue
            # A test that fails without the change, too, has noticed nothing.
            failed = [re.sub(r"^out/[^/]+/", "", name) for name in failed]
            if failed and set(_run(failed, ROOT / "src", every=True)[1]) >= set(failed):
                return f"not run: {failed[0]} fails without the change"
            return found
    return "survived"


def _run(tests: list[str], source: Path, *, every: bool = False) -> tuple[str, list[str]]:
    """Run *tests* on the code in *source*, until one fails or *every* one; return which did."""
    workers = "0" if tests[0].endswith(".py") else "auto"
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider"),
        *(() if every else ("-x",)),
        *("-m", "not slow", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)),
        *("--doctest-modules", *tests),
    ]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(source)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "killed (no end)", []
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if done.returncode not in (0, 1, 2, 5):  # 5: there was nothing to run
        return f"not run: {done.stdout[-200:]}", []
    return "killed" if done.returncode in (1, 2) else "survived", failed


def show(results: dict[str, dict[str, Any]]) -> None:
    """Show and keep the sums, and what survived the first run."""
    told = [one for one in results.values() if not one["first"].startswith(("gone", "not run"))]
    before = sum(one["first"].startswith("killed") for one in told)
    after = sum(one.get("now", one["first"]).startswith("killed") for one in told)
    why = sum("why" in one for one in told)
    note = (
        f"One change to the code at a time, {len(told)} in all, chosen by a seeded rule over all"
        " rooms; the examples of the file and the tests of its room are run first, then all others."
        " A mutant that no test notices has survived."
    )
    rows = [
        {"run": name, "killed": f"{killed} of {len(told)}", "explained": by, "survived": left}
        for name, killed, by, left in (
            ("first run", before, "", len(told) - before),
            ("now", after, why, len(told) - after - why),
        )
    ]
    record("mutants", "Mutants", rows, notes=[note])
    survivors = [
        {
            "place": place,
            "change": one["change"],
            "first run": one["first"],
            "now": one.get("why", one.get("now", one["first"])),
        }
        for place, one in results.items()
        if one.get("first", "") == "survived"
    ]
    record("mutants-survivors", "Mutants that survived the first run", survivors, notes=[note])


def main() -> None:
    """Run the mutants that have no result yet, or those that survived again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=MUTANTS, help="how many to run now")
    parser.add_argument("--again", action="store_true", help="run the survivors again")
    parser.add_argument("--only", type=int, help="run this one again, counted from 1")
    parser.add_argument("--stages", type=int, default=4, help="how far to look: 1 to 4")
    parser.add_argument("--list", action="store_true", help="only show which are chosen")
    parser.add_argument("--write", action="store_true", help="keep it in benchmarks/results")
    given = parser.parse_args()
    results = json.loads(STATE.read_text(encoding="utf-8")) if STATE.exists() else {}
    left = given.count
    kept = [Mutant(**entry["mutant"]) for entry in results.values()]
    if not kept:
        kept = chosen(MUTANTS // 2)
    more = [one for one in chosen(MUTANTS, seed=1, within=SHARED) if one not in kept]
    kept += more[: MUTANTS - len(kept)]
    for number, one in enumerate(kept, start=1):
        place = f"{one.module}:{one.line}:{one.start}"
        if given.list:
            sys.stdout.write(f"{number}: {place} {one.old!r} -> {one.new!r}\n")
            continue
        known = results.get(place)
        alive = known is not None and known.get("now", known["first"]) == "survived"
        todo = known is None or (given.again and alive and "why" not in known)
        if number != given.only if given.only else not todo or left <= 0:
            continue
        left -= 1
        found = outcome(one, stages=given.stages)
        entry = results.setdefault(
            place,
            {
                "change": f"`{one.old.strip()}` to `{one.new.strip()}`",
                "first": found,
                "mutant": asdict(one),
            },
        )
        if known is not None:
            entry["now"] = found
        STATE.write_text(json.dumps(results, indent=1), encoding="utf-8")
        sys.stdout.write(f"{place} {one.old!r} -> {one.new!r}: {found}\n")
        sys.stdout.flush()
    if given.write:
        show(results)


if __name__ == "__main__":
    main()
