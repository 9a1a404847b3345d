"""Streaming algorithms for evaluating noisy judges on unlabeled data [CE23]_, statement by statement.

Numbers of equations are the paper's, S marks its supplement. Misprints are said at their lines.
Tests are in ``tests/papers/test_noisy_judges.py``.
"""
