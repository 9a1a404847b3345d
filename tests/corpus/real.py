"""Real files, where they are: TALLYSTICK_DATA, or ../shared/data beside the project."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.corpus.run import commands

DATA = Path(
    os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)


def linked(*names: str) -> Callable[[Path], None]:
    """Return what puts links to real files into a folder."""

    def table(folder: Path) -> None:
        for name in names:
            (folder / Path(name).name).symlink_to((DATA / name).resolve())

    return table


LINES = (
    ("judge/bluebirds.csv.gz", "judge bluebirds.csv.gz --judges w00,w01,w02 --truth truth"),
    (
        "judge/llmbar_swap0.csv.gz",
        "judge llmbar_swap0.csv.gz --judges 'ChatGPT*/CoT' --truth truth",
    ),
    (
        "compare/helm_lite_binary.parquet",
        "compare helm_lite_binary.parquet --models 01-ai_yi-34b,01-ai_yi-6b,ai21_j2-jumbo"
        " --cluster scenario --item item_id",
    ),
    (
        "compare/alpaca_eval2_winrate_805x.parquet",
        "compare alpaca_eval2_winrate_805x.parquet --models 'FuseChat-*' --bounds 0,1",
    ),
    ("bound/youtube_llama2_labels.parquet", "audit youtube_llama2_labels.parquet"),
    (
        "bound/youtube.parquet",
        "bound youtube.parquet --prediction lf_1 --weak lf_2,lf_3,lf_4 --truth y --missing=-1"
        " --label-model majority",
    ),
    (
        "shift/llmdrift_2023_03_vs_06.csv.gz",
        "shift llmdrift_2023_03_vs_06.csv.gz --truth true --old pred_old --new pred_new",
    ),
    (
        "shift/frugalml_2020_YELP.csv.gz",
        "shift frugalml_2020_YELP.csv.gz --truth true --old pred_Google --confidence conf_Google"
        " --api replay:pred_Baidu --budget 200 --deterministic",
    ),
    (
        "dynamic/anli_dev_rounds_8models.csv.gz",
        "dynamic analyse anli_dev_rounds_8models.csv.gz --truth gold",
    ),
    (
        "score/arena_4systems.csv.gz",
        "score arena_4systems.csv.gz --system system --judges judge_score --truth oracle_label"
        " --scale 0,1 --item prompt_id",
    ),
)

PAIRS = [commands(linked(file), f"{line} --json", of="real", name=line) for file, line in LINES]
