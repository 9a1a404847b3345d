"""Grade four judges with no labels, then with sixty. Run it, or open it as cells."""

# %% Votes of four judges on 3,000 items, two of which are alike
import numpy as np

from tallystick.table import Tally, attach
from tallystick.verbs import judge

rng = np.random.default_rng(7)
truth = np.where(rng.random(3000) < 0.35, "toxic", "fine")


def votes_of(on_toxic: float, on_fine: float) -> np.ndarray:
    """Return votes that are right on these shares of either label."""
    right = rng.random(3000) < np.where(truth == "toxic", on_toxic, on_fine)
    return np.where(right, truth, np.where(truth == "toxic", "fine", "toxic"))


votes = {
    "gpt": votes_of(0.9, 0.85),
    "claude": votes_of(0.8, 0.95),
    "llama": votes_of(0.75, 0.8),
    "rules": votes_of(0.6, 0.9),
}

# %% What holds whatever the truth is
print(judge.logical(Tally.of(votes)).verdict)

# %% What the votes suggest, with a range and without an interval
result = judge.evaluate(Tally.of(votes))
print(result.summary())

# %% Sixty labels on items drawn at random
chosen = set(rng.permutation(3000)[:60].tolist())
gold = [str(truth[i]) if i in chosen else None for i in range(3000)]
graded = judge.evaluate(Tally.of({**votes, "gold": gold}), truth="gold")
print(graded.verdict)
for score in graded.judges:
    print(f"{score.name:8} {score.accuracy:.3f} {score.interval}")

# %% Back to the items: the consensus, and where the votes support it least
items = attach(result, votes)
print("least supported items:", np.argsort(np.asarray(items["support"], dtype=float))[:5].tolist())

# %% Does a judge prefer the answer that stands first?
asked_twice = Tally.of({"ab": ["A"] * 80 + ["B"] * 20, "ba": ["B"] * 62 + ["A"] * 38})
print(judge.position_bias(asked_twice, pairs=[("ab", "ba")]).verdict)
