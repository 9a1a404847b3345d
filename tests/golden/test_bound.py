"""Numbers measured with another program (the paper's recipe on youtube, plug-in bounds at threshold
.526)."""

import numpy as np
import pytest

from tallystick import bound
from tallystick.table import Tally

ORACLE = (0.823, 0.897)


def test_the_oracle_plug_in_of_youtube_is_within_three_hundredths(shared_data):
    linear_model = pytest.importorskip("sklearn.linear_model")
    parquet = pytest.importorskip("pyarrow.parquet")
    frame = parquet.read_table(shared_data / "bound" / "youtube.parquet").to_pydict()
    features = np.load(shared_data / "bound" / "youtube_minilm.npz")["E"]
    weak = [name for name in frame if name.startswith("lf_")]
    votes = np.column_stack([frame[name] for name in weak]).astype(np.int64)
    y, part = np.array(frame["y"]), np.array(frame["split"])
    _, place = np.unique(votes, axis=0, return_inverse=True)
    place = place.reshape(-1)
    share = (np.bincount(place, weights=y) / np.bincount(place))[place]
    law = np.column_stack([1 - share, share])
    train, test = part == "train", part == "test"
    learner = linear_model.LogisticRegression(C=1.0, max_iter=300).fit(
        np.tile(features[train], (2, 1)),
        np.repeat([0, 1], train.sum()),
        sample_weight=law[train].T.ravel(),
    )
    h = (learner.predict_proba(features[test])[:, 1] >= 0.526).astype(int)
    rows = {
        name: [None if v < 0 else int(v) for v in votes[test, j]] for j, name in enumerate(weak)
    }
    tally = Tally.of({**rows, "h": h})
    known = {row.tobytes(): p for row, p in zip(votes, law, strict=True)}
    table = bound.weak_table(tally, weak=weak, prediction="h", classes=[0, 1])
    model = bound.label_models.given(
        table, np.array([known[row.tobytes()] for row in table.votes]), name="oracle"
    )
    _, found = bound.bound(  # the robust range comes first
        tally,
        prediction="h",
        weak=weak,
        label_models=[model],
        fitting=bound.Fitting(classes=[0, 1]),
    ).bounds
    assert (found.plugin_lower, found.plugin_upper) == pytest.approx(ORACLE, abs=0.03)
    assert found.low <= (h == y[test]).mean() <= found.high
