"""Numbers measured with another program (the paper's recipe on youtube, plug-in bounds at threshold
.526)."""

import numpy as np
import pytest

from tallystick import bound
from tallystick.papers.frechet_bounds import Summary, plug_in

ORACLE = (0.823, 0.897)
SIDES = ("lower", "upper")


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
    # Plug-in ends of the observed shares, pattern by pattern.
    _, place = np.unique(votes[test], axis=0, return_inverse=True)
    place = place.reshape(-1)
    counts = np.zeros((place.max() + 1, 2))
    np.add.at(counts, (place, h), 1)
    p = np.zeros_like(counts)
    p[place] = law[test]
    low, high = (float(plug_in(counts, p, Summary("accuracy"), side)[0]) for side in SIDES)
    assert (low, high) == pytest.approx(ORACLE, abs=0.03)

    # What the verb shows under the same label model holds the accuracy.
    rows = {
        name: [None if v < 0 else int(v) for v in votes[test, j]] for j, name in enumerate(weak)
    }
    known = {row.tobytes(): one for row, one in zip(votes, law, strict=True)}

    def oracle(asked):
        return np.array([known[row.tobytes()] for row in np.ascontiguousarray(asked)])

    [found] = bound(
        {**rows, "h": h}, prediction="h", weak=weak, label_model=oracle, labels=("0", "1")
    ).bounds
    assert found.interval.low <= (h == y[test]).mean() <= found.interval.high
