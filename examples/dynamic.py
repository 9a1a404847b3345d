# %% [markdown]
# # Is another round of this benchmark worth it?
# What is proved, what is likely, what a real log says, and what to do next.

# %%
import numpy as np

from tallystick.papers.dynamic_benchmarks.certificates import path_certificate
from tallystick.papers.dynamic_benchmarks.designs import Population, path
from tallystick.papers.dynamic_benchmarks.rollouts import RandomErrors
from tallystick.verbs import dynamic

# %% What three and five rounds can promise, before anything is run.
known = dynamic.theory(0.1, rounds=5)
print(known.verdict)
for statement in known.statements:
    print(" -", statement)

# %% What models that err at random would bring: the vote of as many plain models stands beside it.
result = dynamic.simulate(path(5), RandomErrors(0.1), Population.uniform(400), rollouts=100, rng=0)
print(result.summary())

# %% The bad sequence of Theorem 3.5: sixty rounds, and no progress after the third.
proof = path_certificate(1 / 10, rounds=60)
print(
    proof.check(),
    "- majority risk by round:",
    [round(risk, 5) for risk in proof.risk_by_round()[:5]],
    "...",
)

# %% A log of three rounds with five models that share their weaknesses.
rng = np.random.default_rng(0)
rows = [
    (f"{number}-{k}", number, name, int(right))
    for number in (1, 2, 3)
    for k in range(150)
    for hard in [rng.standard_normal()]
    for name, right in zip(
        "abcde", 0.8 * hard + 0.6 * rng.standard_normal(5) < 0.9 - 0.2 * number, strict=True
    )
]
item, when, model, correct = (list(column) for column in zip(*rows, strict=True))
log = {"item": item, "round": when, "model": model, "correct": correct}
print(dynamic.evaluate(log).summary())

# %% A log of attempts: who tried to fool the model, and whether validators agreed.
who = np.repeat([f"w{k}" for k in range(12)], 20)
fooled = rng.random(240) < 0.25
tries = {"annotator": who, "round": np.tile([1, 2], 120), "model_wrong": fooled.astype(int)}
checked = ["" if not wrong else "yes" if rng.random() < 0.8 else "no" for wrong in fooled]
print(dynamic.evaluate({**tries, "validated": checked}).summary())
