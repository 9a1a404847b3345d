# %% [markdown]
# How did this API change, for few paid calls? Generated data; replace `ask` by a call to your API.

# %%
from collections.abc import Mapping
from typing import Any

import numpy as np

from tallystick import shift
from tallystick.clients import Client

rng = np.random.default_rng(3)
LABELS = np.array(["cat", "dog", "owl"])
true = rng.choice(LABELS, 3000)
old = np.where(rng.random(3000) < 0.9, true, rng.choice(LABELS, 3000))  # what it answered in spring
confidence = np.where(old == true, rng.beta(6, 1, 3000), rng.beta(2, 2, 3000))
today = np.where((true == "owl") & (rng.random(3000) < 0.15), "cat", old)  # owls have become cats


# %%
class MyApi(Client):
    """Answer one row at a time; raise `Fault` where a call fails."""

    @property
    def description(self) -> dict[str, Any]:
        return {"kind": "my api", "version": 2}

    async def answer(self, row: Mapping[str, Any]) -> str:
        return str(today[row["number"]])


# %%
table = {"number": range(3000), "true": true, "spring": old, "score": confidence}
asking: dict[str, Any] = {
    "truth": "true",
    "old": "spring",
    "confidence": "score",
    "api": MyApi(),
    "budget": 500,
    "concurrency": 16,
    "price": 0.001,
    "seed": 1,
}
result = shift(table, **asking)
print(result.summary())
print("{true} → {answered}: {change:+.3f} of all items".format(**vars(result.top_cells[0])))
print("truth:", np.mean(today == true) - np.mean(old == true))

# %%
# Is it still the API that we know? Stop at the first proof.
print(shift(table, **asking, gates="flip_rate <= 1%").gates[0].text)
