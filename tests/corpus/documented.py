"""The commands of README and docs, each on a small table such as its page speaks of; the demos."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from tests.corpus import tables
from tests.corpus.run import Table, commands
from tests.corpus.tables import some, write_csv, write_lines, written

LOGS = Path(__file__).resolve().parents[1] / "io" / "logs" / "fixtures"


def files(folder: Path) -> None:
    """The tables that README names."""
    write_csv(folder / "outputs.csv", tables.outputs())
    two_systems = {"old": 0.6, "new": 0.8}
    write_csv(folder / "two.csv", tables.outputs(systems=two_systems))
    write_csv(folder / "votes.csv", tables.votes())
    write_csv(folder / "weak.csv", {k: v for k, v in tables.weak().items() if k != "label"})
    write_csv(folder / "log.csv", tables.round_log())
    two = tables.scores()
    for name in ("old", "new"):
        write_csv(folder / f"{name}.csv", {"id": two["id"], "correct": two[name]})
    asked = {name: tables.api_items(120)[name] for name in ("id", "text", "y", "spring")}
    write_csv(folder / "items.csv", asked)
    (folder / "judge.txt").write_text("Is this good or bad? {text}", encoding="utf-8")


def parquet(folder: Path) -> None:
    """Tables in Parquet: all that an audit looks at, and votes to count."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(9)
    table: dict[str, Any] = tables.votes(240, judges={"gpt": 0.9, "claude": 0.8})
    table = {name: table[name] for name in ("id", "gpt", "claude", "gold")}
    table["spring"] = tables.flipped(rng, np.array(table["gpt"]), 0.95, ("pass", "fail")).tolist()
    pq.write_table(pa.table(table), folder / "answers.parquet")
    judges = tables.votes(200, labels=("yes", "no"), judges={"judge_a": 0.9, "judge_b": 0.8})
    judges["other"] = judges["judge_a"]
    pq.write_table(pa.table(judges), folder / "votes.parquet")
    shift = {name: column for name, column in tables.api_items(300).items() if name != "noisy"}
    shift["label"], shift["answer"] = shift.pop("y"), shift.pop("spring")
    pq.write_table(pa.table(shift), folder / "items.parquet")


def gates(folder: Path) -> None:
    """Scores of two models, as one table and as two runs."""
    two = tables.scores(400)
    write_csv(folder / "scores.csv", two)
    rng = np.random.default_rng(10)
    for run, level in (("run_a", 1.0), ("run_b", 0.8)):
        ms = (1000 * level * rng.lognormal(0, 0.8, 300)).round(1).tolist()
        ids = [f"q{k}" for k in range(300)]
        right = (rng.random(300) < 0.6 + 0.1 * (run == "run_b")).astype(int).tolist()
        write_csv(folder / f"{run}.csv", {"item": ids, "correct": right, "latency_ms": ms})


def logs(tool: str) -> Table:
    """The logs of another tool that its reader is tested with."""

    def table(folder: Path) -> None:
        shutil.copytree(LOGS / tool, folder / tool)

    return table


def tickets(folder: Path) -> None:
    """What an API answered in March and what it answers now, and a table with one row per night."""
    items = tables.api_items(200)
    table = {"id": items["id"], "text": items["text"], "team": items["y"]}
    write_csv(folder / "tickets.csv", {**table, "answer_march": items["spring"]})
    (folder / "prompt.txt").write_text("Is this good or bad? {text}", encoding="utf-8")
    reviews = {"label": items["y"], "answer_spring": items["spring"], "score": items["confidence"]}
    write_csv(folder / "reviews.csv", {"id": items["id"], "review": items["text"], **reviews})


def asked(folder: Path) -> None:
    """Answers of two bots, and a judge's replies in words; two answers per question."""
    rng = np.random.default_rng(11)
    truth = rng.choice(["good", "bad"], 160, p=(0.7, 0.3))
    said = tables.flipped(rng, truth, 0.9, ("good", "bad"))
    replies = [f"It is {word}." if k % 9 else "I can't judge." for k, word in enumerate(said)]
    text = [f"answer {k} [{word}]" for k, word in enumerate(truth)]
    bots = {"question": [f"q{k % 80}" for k in range(160)], "bot": ["old"] * 80 + ["new"] * 80}
    base = {"id": list(range(160)), **bots, "text": text}
    write_csv(folder / "answers.csv", {**base, "reply": replies})
    human = some(rng, truth.tolist(), 60)
    judges = {
        name: tables.flipped(rng, truth, right, ("good", "bad")).tolist()
        for name, right in (("gpt", 0.9), ("claude", 0.85))
    }
    write_csv(folder / "votes.csv", {**base, **judges, "human": human})
    (folder / "judge.txt").write_text("Grade: {labels}. {text}", encoding="utf-8")
    first = [f"one {k}" for k in range(60)]
    pair = {"id": list(range(60)), "answer_a": first, "answer_b": [f"two {k}" for k in range(60)]}
    write_csv(folder / "pairs.csv", {**pair, "won": rng.choice(["A", "B", "tie"], 60).tolist()})
    (folder / "compare.txt").write_text(
        "Which of [A] and [B]? {answer_a} {answer_b}", encoding="utf-8"
    )


def trusted(folder: Path) -> None:
    """Votes, votes in both orders, and votes of one judge that was asked again."""
    four = {"gpt": 0.9, "claude": 0.85, "llama": 0.75, "qwen": 0.7}
    write_csv(folder / "votes.csv", tables.votes(400, judges=four))
    rng = np.random.default_rng(12)
    better = rng.choice(["A", "B"], 200)
    columns: dict[str, Any] = {"id": list(range(200))}
    for judge, first in (("gpt", 0.05), ("llama", 0.3)):
        for order, place in (("ab", "A"), ("ba", "B")):
            said = tables.flipped(rng, better, 0.85, ("A", "B"))
            columns[f"{judge}_{order}"] = np.where(rng.random(200) < first, place, said).tolist()
    write_csv(folder / "pairs.csv", columns)
    runs = {f"run{k}": tables.flipped(rng, better, 0.9, ("A", "B")).tolist() for k in (1, 2, 3)}
    write_csv(folder / "runs.csv", {"id": list(range(200)), **runs})
    panel = tables.votes(900)
    turned = {"pass": "fail", "fail": "pass"}
    panel["gpt"][500:] = [turned[cell] for cell in panel["gpt"][500:]]  # a judge that changed
    write_csv(folder / "stream.csv", {name: panel[name] for name in ("gpt", "claude", "llama")})


def sms(folder: Path) -> None:
    """Rules that seldom fire, and rules with labels."""
    rng = np.random.default_rng(13)
    truth = np.where(rng.random(600) < 0.13, "spam", "ham")
    columns: dict[str, Any] = {}
    for name, fires in (("lf_free", 0.15), ("lf_call", 0.2), ("lf_thanks", 0.2), ("lf_short", 0.3)):
        vote = tables.flipped(rng, truth, 0.9, ("ham", "spam"))
        columns[name] = [v if f < fires else -1 for v, f in zip(vote, rng.random(600), strict=True)]
    columns["h"] = tables.flipped(rng, truth, 0.93, ("ham", "spam")).tolist()
    write_csv(folder / "sms.csv", columns)
    some_rules = tables.weak(400, 50)
    rules = {name.replace("lf_", "rule_"): column for name, column in some_rules.items()}
    write_csv(folder / "messages.csv", {**rules, "classifier": rules["h"]})


def dynabench(folder: Path) -> None:
    """Logs of attempts: a table, and the export of a platform."""
    log = tables.attempts()
    write_csv(folder / "attempts.csv", log)
    rows = [
        {
            "id": k,
            "anon_uid": log["annotator"][k],
            "target_model": "roberta-r1",
            "target_pred": "1",
            "model_wrong": bool(log["model_wrong"][k]),
            "retracted": False,
            "context": {"r_realid": 11},
            "time_elapsed": "0:02:30",
            "validations": [["correct", "user", f"v{j}"] for j in range(3 * log["model_wrong"][k])],
        }
        for k in range(len(log["round"]))
    ]
    write_lines(folder / "export.jsonl", rows)


def two_days(folder: Path) -> None:
    """The votes of two days, which are counted apart and added."""
    day = tables.votes(200)
    for name, part in (("monday", slice(0, 120)), ("tuesday", slice(120, 200))):
        write_csv(folder / f"{name}.csv", {key: column[part] for key, column in day.items()})


JUDGES = "--judges gpt,claude,llama"
LABEL = f"label votes.csv --question judge {JUDGES}"
COUNTED = "tally votes.csv --columns gpt,claude,llama,gold -o votes.tally"


def _docs(table: Any, *lines: str, **more: Any) -> Any:
    lines = (*lines[:-1], lines[-1] + " --json")
    return commands(table, *lines, of="docs", name=more.pop("name", lines[-1][:-7]), **more)


README = [
    "score outputs.csv --item question --system system --judges gpt,claude,llama --truth human",
    "score outputs.csv --system system --judges gpt,claude --truth human",
    "score outputs.csv",
    "compare old.csv new.csv --metric correct",
    "judge votes.csv --truth gold",
    "judge votes.csv --truth gold --items-out items.csv",
    "label outputs.csv --question score --session s.label",
    "label two.csv --question difference --label-draw random --session o.label",
    "bound weak.csv --prediction h --weak 'lf_*'",
    "shift items.csv --truth y --old spring --api openai:m@{api}/v1 --prompt judge.txt"
    " --answer words --budget 20",
    "ask items.csv --api openai:m@{api}/v1 --prompt judge.txt --as gpt -o votes2.csv"
    " --labels good,bad --answer words",
    "dynamic analyse log.csv",
    "audit outputs.csv",
    "plan --difference .02 --disagreement .1",
    "plan old.csv new.csv --metric correct",
]

PAGES = [
    (parquet, "audit answers.parquet"),
    (parquet, "tally votes.parquet --columns 'judge_*'"),
    (sms, "bound sms.csv --prediction h --weak 'lf_*' --label-model majority"),
    (sms, "bound messages.csv --prediction classifier --weak 'rule_*' --at-least .6 --truth label"),
    (gates, "compare scores.csv"),
    (gates, "compare scores.csv --gate 'new >= old - 0.01'"),
    (gates, "compare scores.csv --gate 'new >= old + 0.08' --summary s.md --junit j.xml"),
    (gates, "compare --run old=run_a.csv --run new=run_b.csv --metric latency_ms"),
    (gates, "compare run_a.csv run_b.csv"),
    (gates, "compare scores.csv --stop-early"),
    (gates, "compare scores.csv --cluster doc"),
    (gates, "plan scores.csv --difference 0.02"),
    (
        written("battles.csv", tables.battles),
        "score battles.csv --judges gpt --truth human --gate 'new > old'",
    ),
    (trusted, "judge pairs.csv --judges gpt_ab,gpt_ba,llama_ab,llama_ba --method position-bias"),
    (
        trusted,
        "judge pairs.csv --judges gpt_ab,gpt_ba,llama_ab,llama_ba --method position-bias"
        " --recorded answer",
    ),
    (trusted, "judge runs.csv --judges 'run*' --method self-consistency"),
    (trusted, f"label plan votes.csv {JUDGES}"),
    (asked, "score votes.csv --system bot --item question --truth human"),
    (
        asked,
        "ask answers.csv --api openai:gpt-x@{api}/v1 --prompt judge.txt --labels good,bad"
        " --answer words --as gpt -o graded.csv --journal gpt.journal --price '2.5,10 USD'"
        " --request '{\"max_tokens\": 50}' --max-cost 5",
    ),
    (
        asked,
        "ask answers.csv --api replay:reply --as gpt --labels good,bad --answer words -o o.csv",
    ),
    (
        asked,
        "ask answers.csv --api replay:reply --as gpt --labels good,bad --answer exact -o o.csv",
    ),
    (
        asked,
        "ask pairs.csv --api openai:m@{api}/v1 --pair answer_a,answer_b --prompt compare.txt"
        " --labels A,B,tie --answer words --as winner -o out.csv",
    ),
    (
        tickets,
        "shift --data tickets.csv --item id --truth team --old answer_march"
        " --api openai:gpt-4o-mini@{api}/v1 --prompt @prompt.txt --answer words --budget 60"
        " --price .0004 --max-cost .5 --journal june.journal",
    ),
    (
        tickets,
        "shift reviews.csv --truth label --old answer_spring --confidence score"
        ' --api "{api}/v1/sentiment#$.label" --request \'{"text": "{review}"}\''
        " --budget 60 --price .002 --max-cost 1.5 --journal may.journal",
    ),
    (
        parquet,
        "shift --data items.parquet --item id --truth label --old answer --api replay:june"
        " --budget 150 --gate 'flip_rate <= 1%' --journal n.journal --history history.ndjson",
    ),
    (dynabench, "dynamic analyse attempts.csv"),
    (dynabench, "dynamic analyse export.jsonl"),
    (None, "dynamic theory --epsilon .1 --rounds 5"),
    (None, "dynamic simulate --epsilon .1 --rounds 5 --rollouts 50"),
]

READ_LOGS = [
    "compare deepeval/old.json deepeval/new.json",
    "score deepeval/old.json deepeval/new.json",
    "compare inspect/old.json inspect/new.json --metric match",
    "compare inspect/prompt-short.json inspect/prompt-steps.json",
    "compare inspect/good.eval inspect/poor.eval --metric match",
    "compare lm_eval",
    "compare promptfoo/repeated.jsonl --metric success",
    "compare phoenix --metric pass@2:matches",
    "compare swe_bench --cluster repository",
    "compare ragas/old.csv ragas/new.csv",
    "compare braintrust",
    "compare langfuse",
    "compare helm --metric exact_match",
    "compare mlflow --metric exact_match",
    "compare openai_api",
    "compare openai_evals",
]

SESSIONS = [
    _docs(trusted, f"{LABEL} --show text --target 0.07 --session judges.label"),
    _docs(
        trusted,
        f"{LABEL} --session s.label --next 20 --out tasks.label-studio.json",
    ),
    _docs(
        trusted,
        f"{LABEL} --session s.label",
        "label --session s.label --next 50 --out records.argilla.json",
    ),
    _docs(
        trusted,
        COUNTED,
        "judge votes.tally --truth gold",
    ),
    _docs(
        two_days,
        "tally monday.csv --columns gpt,claude,llama,gold -o monday.tally",
        "tally tuesday.csv --columns gpt,claude,llama,gold -o tuesday.tally",
        "merge monday.tally tuesday.tally -o week.tally",
    ),
    _docs(
        two_days,
        "tally monday.csv -o monday.tally",
        "merge monday.tally monday.tally -o week.tally",
    ),
    commands(
        trusted,
        "judge - --follow --window 200 --state watch.json",
        of="docs",
        stdin="stream.csv",
    ),
    commands(None, "explain tier", of="docs"),
    commands(None, "plan", of="docs"),
    commands(
        files,
        "score outputs.csv --system system --judges gpt,claude,llama --truth human",
        of="terminal",
    ),
    commands(files, "judge votes.csv --truth gold", of="terminal"),
    commands(
        written("tickets.csv", tables.api_items),
        "shift tickets.csv --truth y --old spring --new june",
        of="terminal",
    ),
]

DEMOS = [
    commands(None, f"demo {verb} --json -o .", of="demo", name=f"demo {verb}")
    for verb in ("score", "compare", "judge", "shift", "dynamic", "ask", "audit")
]

PAIRS = [
    *(_docs(files, line) for line in README),
    *(_docs(table, line) for table, line in PAGES),
    *(_docs(logs(line.split()[1].partition("/")[0]), line) for line in READ_LOGS),
    *SESSIONS,
    *DEMOS,
]
