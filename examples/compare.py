"""Which model is better, how sure is that, and what would settle the rest."""

# %% Scores of four models on 1,000 items: right or wrong
import numpy as np

from tallystick.verbs import compare

rng = np.random.default_rng(0)
hard = rng.random((1000, 1))
scores = (0.8 * hard + 0.2 * rng.random((1000, 4)) < [0.55, 0.56, 0.62, 0.4]).astype(int)
names = ["base", "tuned", "large", "small"]
board = compare.Board.of(
    {"item": [f"q{i}" for i in range(1000)], **dict(zip(names, scores.T, strict=True))},
    item="item",
    models=names,
)

# %% The answer, with ranks that hold all at once
result = compare.evaluate(board)
print(result.summary())

# %% Two models in detail, with an exact test and interval
pair = compare.evaluate(board.of_models(["base", "tuned"]), certified=True)
print(pair.verdict, pair.needed)

# %% Plan the next round
print(compare.plan(0.02, disagreement=0.1, models=4).summary())

# %% A few labels are enough: the truth of 300 items in random order
truth = rng.choice(["yes", "no"], 1000)
answers = {
    name: np.where(scores[:, j] == 1, truth, "?").tolist() for j, name in enumerate(names[:2])
}
partial = compare.evaluate(
    {"gold": [t if i < 300 else None for i, t in enumerate(truth.tolist())], **answers},
    truth="gold",
    models=names[:2],
)
print(partial.verdict, partial.needed)

# %% A new model joins the others
newest = dict(zip(names, scores.T, strict=True)) | {"newest": np.ones(1000, int)}
print(compare.evaluate(newest, models=(*names, "newest")).contenders)
