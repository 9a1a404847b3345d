"""How tables of known meaning are read: right at once, after a printed command, wrong, refused.

Four measurements, all of the roles that a verb's door gives to columns. *Tables*: random tables of
judges, outputs, models and weak labels, wide and long, most with metadata, many with names that are
on no list, 30% with fewer than 100 rows. *Truth not seen*: its name is on no list, and the answer,
which rests on no labels, decides nothing. *Metadata*: a good table and one more column, under 100
names and contents. *Renamed*: one judge's column under 200 words. *Shapes*: one table as every
kind of source. The tables are drawn from a seed, so the rules can be repaired on one seed and
measured on another; they are of the same author as the rules.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.record import record
from tallystick import Tally
from tallystick.errors import AskError, TallystickError
from tallystick.registry import capabilities
from tallystick.table import GROUPS, read

TABLES = 300
Rng = np.random.Generator
Columns = dict[str, Any]
Told = Mapping[str, Any]

DOORS = {one.verb: one.door for one in capabilities()}
WANT = {"judge": "judges", "score": "judges", "compare": "models", "bound": "weak"}
FAMILIES = (
    ("gpt", "claude", "llama", "qwen"),
    ("judge_1", "judge_2", "judge_3", "judge_4"),
    ("strict", "Level", "source", "points"),
    ("gpt-4o", "mistral large", "Sonnet", "r1"),
)
MODELS = (("base", "new", "tuned"), ("model_a", "model_b", "model_c"), ("alt", "neu", "best"))
RULES = (("lf_a", "lf_b", "lf_c"), ("keyword", "regex", "caps"))
TRUTHS = ("gold", "human", "truth", "label", "expert", "y_true", "human_label", "qa_team", "soll")
ITEMS = ("id", "question_id", "Nr", "case", "uid", "ticket")
SYSTEMS = ("system", "model", "bot", "Version")
JUDGES = ("judge", "annotator", "rater", "who")
VOTES = ("vote", "score", "label", "says")
WORDS: Mapping[str, tuple[Any, ...]] = {
    "numbers": (0, 1),
    "pass": ("fail", "pass"),
    "yes": ("no", "yes"),
    "bool": (False, True),
    "classes": ("billing", "bug", "login", "refund"),
}


def said(rng: Rng, truth: Any, right: float, n: int) -> Any:
    """Return answers of one voter."""
    other = (truth + rng.integers(1, n, len(truth))) % n
    return np.where(rng.random(len(truth)) < right, truth, other)


def metadata(rng: Rng, kind: str, rows: int, own: Columns) -> Any:
    """Return a column that is nobody's vote."""
    made: Columns = {
        "flag": lambda: (rng.random(rows) < rng.choice([0.05, 0.3, 0.5])).astype(int).tolist(),
        "rare": lambda: [1 if one < 0.1 else None for one in rng.random(rows)],
        "constant": lambda: [1] * rows,
        "counter": lambda: list(range(7, 7 + rows)),
        "seconds": lambda: rng.exponential(2.0, rows).round(3).tolist(),
        "share": lambda: rng.random(rows).round(2).tolist(),
        "few": lambda: rng.integers(1, 5, rows).tolist(),
        "tokens": lambda: rng.integers(20, 900, rows).tolist(),
        "topic": lambda: rng.choice(["a", "b", "c", "other"], rows).tolist(),
        "date": lambda: [f"2026-03-{1 + k % 28:02d}" for k in range(rows)],
        "text": lambda: [f"text number {k}, said twice" for k in range(rows)],
        "words": lambda: rng.choice(["low", "high"], rows).tolist(),
        "copy": lambda: list(next(iter(own.values()))),
    }
    return made[kind]()


KINDS: tuple[str, ...] = (
    *("flag", "rare", "constant", "counter", "seconds", "share", "few", "tokens", "topic"),
    *("date", "text", "words"),
)
META = (
    *("cached", "turn", "threshold", "se", "confidence", "hour", "latency_ms", "retries", "lang"),
    *("split", "fold", "batch", "tool_used", "answered", "priority", "tier", "region", "length"),
    *("tokens_in", "cost", "difficulty", "channel", "refused", "streaming", "depth"),
)


def table(rng: Rng) -> tuple[str, Columns, Columns]:
    """Return a verb, a table, and its roles as their author means them."""
    verb = str(rng.choice(["judge", "score", "compare", "bound"]))
    n = int(rng.integers(30, 100)) if rng.random() < 0.3 else int(rng.integers(100, 1500))
    words = str(rng.choice(list(WORDS)))
    if verb == "score":
        words = str(rng.choice([one for one in WORDS if one != "classes"]))
    k = len(WORDS[words])
    truth, shown = rng.integers(0, k, n), np.array(WORDS[words], dtype=object)
    family = {"compare": MODELS, "bound": RULES}.get(verb, FAMILIES)
    voters = tuple(family[int(rng.integers(len(family)))][: int(rng.integers(2, 5))])
    item, gold = str(rng.choice(ITEMS)), str(rng.choice(TRUTHS))
    cells = {name: shown[said(rng, truth, rng.uniform(0.7, 0.92), k)].tolist() for name in voters}
    # Scores of models need no truth; answers do.
    known = verb in ("judge", "score") or words == "classes" or rng.random() < 0.4
    share = 1.0 if verb == "compare" or rng.random() < 0.5 else rng.uniform(0.15, 0.4)
    column = [t if rng.random() < share else None for t in shown[truth].tolist()]
    roles: Columns = {WANT[verb]: voters, "truth": gold if known else None}
    own: Columns = {item: [f"q{k:04d}" for k in range(n)], **cells}
    if verb == "bound":
        own["prediction"] = shown[said(rng, truth, 0.85, k)].tolist()
        roles["prediction"] = ("prediction",)
    if known:
        own[gold] = column
    if verb == "score" and rng.random() < 0.7:
        system = str(rng.choice(SYSTEMS))
        half = n // 2
        own[item] = [f"q{k % half:04d}" for k in range(2 * half)]
        own = {name: held[: 2 * half] for name, held in own.items()}
        own[system] = ["one"] * half + ["two"] * half
        roles["system"] = system
    elif verb in ("judge", "compare") and rng.random() < 0.3:
        who = str(rng.choice(JUDGES if verb == "judge" else SYSTEMS))
        vote = str(rng.choice([name for name in VOTES if name != gold]))
        own = long(own, item, voters, (who, vote), gold if known else None)
    rows = len(next(iter(own.values())))
    if rng.random() < 0.75:
        for name in rng.choice(META, int(rng.integers(1, 4)), replace=False):
            own[str(name)] = metadata(rng, str(rng.choice(KINDS)), rows, cells)
    names = list(own)
    rng.shuffle(names)
    return verb, {name: own[name] for name in names}, roles


def long(
    own: Columns, item: str, voters: tuple[str, ...], heads: tuple[str, str], gold: str | None
) -> Columns:
    """Return one row per vote."""
    who, vote = heads
    out: Columns = {name: [] for name in (item, who, vote, *([gold] if gold else []))}
    for k, key in enumerate(own[item]):
        for name in voters:
            row = (key, name, own[name][k], *([own[gold][k]] if gold else []))
            for column, cell in zip(out, row, strict=True):
                out[column].append(cell)
    return out


def given(call: str) -> Columns:
    """Return the options of a printed command as `read` takes them."""
    words = [part for word in shlex.split(call) for part in word.split("=", 1)]
    pairs = list(zip(words[::2], words[1::2], strict=False))
    several = {*GROUPS, "ignore", "missing", "never_true", "labels"}
    named = ((flag.removeprefix("--").replace("-", "_"), cell) for flag, cell in pairs)
    return {name: (cell,) if name in several else cell for name, cell in named}


def roles_of(verb: str, source: Any, options: Told) -> Columns:
    """Return who votes, the truth, and the system, as the verb reads them."""
    options = {name: cell for name, cell in options.items() if not name.endswith("is_better")}
    if verb == "bound":
        options = {"prediction": ("prediction",), **options}
    with read(source, DOORS[verb], **options) as data:
        held = data.roles
        out = {WANT[verb]: frozenset(getattr(held, WANT[verb])), "truth": held.truth}
        return out | ({"system": held.system} if verb == "score" else {})


def outcome(verb: str, source: Any, roles: Told) -> str:
    """Read once, then with each of the printed commands; say what came of it."""
    want: Columns = {WANT[verb]: frozenset(roles[WANT[verb]]), "truth": roles["truth"]}
    want |= {"system": roles.get("system")} if verb == "score" else {}
    try:
        found = roles_of(verb, source, {})
        if "--show" in sys.argv and found != want:
            print(found, want)
        if found == want:
            return "right"
        # Judge and bound decide nothing without labels, and the line says that there are none.
        whole = found[WANT[verb]] - {roles["truth"]} == want[WANT[verb]]
        unseen = verb in ("judge", "bound") and whole and found["truth"] is None
        return "truth not seen" if unseen else "wrong"
    except AskError as error:
        for call in error.calls:
            try:
                if roles_of(verb, source, given(call)) == want:
                    return "after pasting"
            except AskError as second:
                # A second question is answered as well, by its own commands.
                for more in second.calls:
                    try:
                        if roles_of(verb, source, {**given(call), **given(more)}) == want:
                            return "after pasting"
                    except TallystickError:
                        continue
            except TallystickError:
                continue
        return "asked in vain"
    except TallystickError:
        return "refused"


def read_tables(seed: int, number: int) -> dict[str, float]:
    """Read random tables."""
    rng, found = np.random.default_rng(seed), Counter[str]()
    for _ in range(number):
        verb, own, roles = table(rng)
        result = outcome(verb, own, roles)
        found[result] += 1
        if "--show" in sys.argv and result in ("wrong", "refused", "asked in vain"):
            print(result, verb, {n: c[:5] for n, c in own.items()}, roles)
    return {name: found[name] / number for name in sorted(found)}


def good(rng: Rng, n: int = 600) -> tuple[Columns, Columns]:
    """Return a table that every rule reads: three judges and people's labels on some items."""
    truth = rng.integers(0, 2, n)
    own: Columns = {"id": [f"q{k:04d}" for k in range(n)]}
    voters = ("gpt", "claude", "llama")
    own |= {name: said(rng, truth, 0.85, 2).tolist() for name in voters}
    own["gold"] = [t if one < 0.4 else None for t, one in zip(truth, rng.random(n), strict=True)]
    own["gold"] = [None if t is None else int(t) for t in own["gold"]]
    return own, {"judges": voters, "models": voters, "truth": "gold"}


def read_metadata(rng: Rng) -> dict[str, float]:
    """Add one column of metadata: the answer does not move, or it asks."""
    found: Counter[str] = Counter()
    own, roles = good(rng)
    kinds = (*KINDS, "copy")
    for k in range(100):
        name, kind = META[k % len(META)], kinds[k % len(kinds)]
        wide = {**own, name: metadata(rng, kind, 600, {"gpt": own["gpt"]})}
        for verb in ("score", "judge", "compare"):
            found[outcome(verb, wide, roles)] += 1
    return {name: found[name] / 300 for name in sorted(found)}


LIKE = ("level", "order", "points", "source", "week", "time", "group", "rank", "count_x", "type")


def read_renamed(rng: Rng) -> dict[str, float]:
    """Call one judge by 200 other words: it is never left out in silence."""
    found: Counter[str] = Counter()
    own, roles = good(rng)
    words = [f"{word}{tail}" for word in (*LIKE, *META[:15]) for tail in ("", "_2", " v", "_llm")]
    for word in (*words, *(f"{one} {k}" for k in range(10) for one in LIKE))[:200]:
        renamed = {word if name == "llama" else name: cells for name, cells in own.items()}
        found[outcome("judge", renamed, {**roles, "judges": ("gpt", "claude", word)})] += 1
    return {name: found[name] / 200 for name in sorted(found)}


def shapes(own: Columns, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the same table as every kind of source."""
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = pa.table(own)
    frame = arrow.to_pandas()
    frame.to_csv(folder / "t.csv", index=False)
    pq.write_table(arrow, folder / "t.parquet")
    frame.to_json(folder / "t.jsonl", orient="records", lines=True)
    yield "CSV", str(folder / "t.csv")
    yield "Parquet", str(folder / "t.parquet")
    yield "JSON lines", str(folder / "t.jsonl")
    yield "pandas", frame
    yield "Polars", pl.from_arrow(arrow)
    yield "lazy Polars", pl.DataFrame(own).lazy()
    yield "DuckDB", duckdb.from_arrow(arrow)
    yield "list of dicts", arrow.to_pylist()
    yield (
        "long",
        pd.DataFrame(long(own, "id", ("gpt", "claude", "llama"), ("judge", "vote"), "gold")),
    )
    yield "tally", Tally.of(arrow, columns=["gpt", "claude", "llama", "gold"])


def main() -> int:
    """Measure; ``--seed`` for other tables, ``--write`` to keep the figures."""
    seed = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else 5
    rng = np.random.default_rng(seed)
    figures: Columns = {"tables": read_tables(seed, TABLES)}
    figures["metadata"] = read_metadata(rng)
    figures["renamed"] = read_renamed(rng)
    own, roles = good(rng)
    with tempfile.TemporaryDirectory() as folder:
        same = {name: outcome("judge", one, roles) for name, one in shapes(own, Path(folder))}
    figures["shapes"] = same
    own, _ = good(rng, 2000)
    wide = {**own, **{f"m{k}": metadata(rng, KINDS[k], 2000, own) for k in range(5)}}
    times = []
    for _ in range(15):
        began = process_time()
        with suppress(AskError):
            roles_of("judge", wide, {})
        times.append(1000 * (process_time() - began))
    figures["CPU ms for 2,000 x 10"] = sorted(times)[len(times) // 2]
    rows = [
        {"measured": name, "figures": held if isinstance(held, float) else str(held)}
        for name, held in figures.items()
    ]
    record("reading", "How tables of known meaning are read", rows, notes=(f"seed {seed}",))
    return 0


if __name__ == "__main__":
    sys.exit(main())
