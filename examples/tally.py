"""Count once, conclude many times: the tally behind everything else."""

# %% Votes of three judges, as they come from anywhere: a dictionary, a data frame, a Parquet file, a stream.
import tempfile
from pathlib import Path

import numpy as np

import tallystick as ts

rng = np.random.default_rng(0)
truth = rng.random(200_000) < 0.3
votes = {
    name: np.where(rng.random(truth.size) < skill, truth, ~truth)
    for name, skill in [("a", 0.9), ("b", 0.8), ("c", 0.7)]
}

# %% Counting reads the rows once; a million rows become eight numbers.
tally = ts.Tally.of(votes)
print(tally)
print(tally.frame().to_pandas().to_string(index=False))

# %% Shards merge in any order, so counting can happen anywhere.
first = ts.Tally.of({name: column[:50_000] for name, column in votes.items()})
second = ts.Tally.of({name: column[50_000:] for name, column in votes.items()})
assert second + first == tally

# %% Keep it, take it up again, go on with new votes.
with tempfile.TemporaryDirectory() as folder:
    tally.save(Path(folder) / "votes.tally")
    again = ts.Tally.load(Path(folder) / "votes.tally")
again.update({name: column[:10] for name, column in votes.items()})
print(f"{again.n:,} items after ten more")

# %% The pattern is the unit of inference; the item is a join.
places = tally.locate({name: column[:5] for name, column in votes.items()})
print("patterns of the first five items:", places.tolist())
