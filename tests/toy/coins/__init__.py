"""Is this coin fair? The smallest capability that has every room."""

from tests.toy.coins.answer import CAPABILITY, evaluate
from tests.toy.coins.result import CoinResult

__all__ = ["CAPABILITY", "CoinResult", "evaluate"]
