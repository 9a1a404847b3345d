"""Numeric scores are added up in the engine only where rows do not fit."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tallystick.table import Data, LabelRules, Roles, engines
from tallystick.verbs.compare import CompareQuestion
from tallystick.verbs.compare.answer import rank_counted


def _data(**more: str) -> Data:
    draw = np.random.default_rng(4)
    frame = pl.LazyFrame(
        {
            "x": [None, *draw.random(199)],
            "y": draw.random(200),
            "doc": [f"d{i % 20}" for i in range(200)],
            "w": np.ones(200),
        }
    )
    roles = Roles(models=("x", "y"), **more)
    return Data(held=frame, roles=roles, rules=LabelRules(), source="the frame")


def test_rows_that_fit_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rank_counted(_data(), CompareQuestion()) is None
    monkeypatch.setattr(engines, "fits", lambda size: False)
    assert rank_counted(_data(weight="w"), CompareQuestion()) is None


def test_clusters_and_lost_items_are_counted_in_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "fits", lambda size: False)
    found = rank_counted(_data(cluster="doc"), CompareQuestion())
    assert found is not None
    assert found.n_items == 199
    assert found.warnings[0].startswith("1 of 200 items are left out")
