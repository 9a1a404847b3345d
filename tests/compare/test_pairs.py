import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tallystick.stats.two_accuracies import discordance, mcnemar, paired_test, tango


def test_counts_of_all_pairs_are_those_of_a_plain_loop():
    scores = (np.random.default_rng(0).random((200, 5)) < 0.6).astype(float)
    found = discordance(scores.sum(axis=0), scores.T @ scores, 200)
    first, second = np.triu_indices(5, 1)
    for only_a, only_b, a, b in zip(*found, first, second, strict=True):
        assert only_a == ((scores[:, a] == 1) & (scores[:, b] == 0)).sum()
        assert only_b == ((scores[:, a] == 0) & (scores[:, b] == 1)).sum()


@pytest.mark.parametrize(("b", "c"), [(0, 0), (3, 0), (9, 1), (40, 25), (7, 7)])
def test_mcnemar_is_the_binomial_test(b, c):
    expected = stats.binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar(b, c) == pytest.approx(expected, rel=1e-10)


def test_mid_p_lies_between_half_and_all_of_the_exact_value():
    b, c = np.meshgrid(np.arange(30), np.arange(30))
    exact, mid = mcnemar(b, c), mcnemar(b, c, mid_p=True)
    assert np.all(mid <= exact + 1e-12)
    assert np.all(mid >= exact / 2 - 1e-12)


@pytest.mark.parametrize(
    ("b", "c", "n"), [(9, 1, 50), (0, 0, 30), (12, 3, 200), (30, 30, 100), (5, 0, 5)]
)
def test_tango_ends_solve_the_score_equation(b, c, n):
    found = tango(b, c, n)[0]
    for end in found:
        if abs(end) < 1:
            lead = abs(b - c - n * end)
            # restricted likelihood, maximised over q on a fine grid instead of by the closed form
            q = np.linspace(max(0, -end), (1 - end) / 2, 400_001)[1:-1]
            with np.errstate(divide="ignore", invalid="ignore"):
                likelihood = np.where(b > 0, b * np.log(q + end), 0) + np.where(
                    c > 0, c * np.log(q), 0
                )
                likelihood += (n - b - c) * np.log(1 - 2 * q - end) if n > b + c else 0
            best = q[np.nanargmax(likelihood)]
            assert lead / np.sqrt(n * (2 * best + end * (1 - end))) == pytest.approx(
                1.959964, abs=3e-3
            )


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 400))
def test_tango_is_antisymmetric_contains_the_estimate_and_is_never_a_point(b, c, extra):
    n = b + c + extra
    found, turned = tango(b, c, n)[0], tango(c, b, n)[0]
    assert found.low == pytest.approx(-turned.high, abs=1e-9)
    assert -1 <= found.low < (b - c) / n < found.high <= 1


def test_more_confidence_is_wider():
    assert tango(9, 1, 50, alpha=0.01)[0].width > tango(9, 1, 50)[0].width


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 3, 0.01])
def test_the_size_of_the_paired_test_stays_below_its_level(alpha):
    """Exact enumeration on a fine grid of disagreements: mid-p where at most half differ."""
    d = np.linspace(0.005, 1, 200)
    for n in (5, 8, 12, 20, 35, 50, 81, 120, 200, 267):
        m = np.arange(n + 1)
        wins = m[:, None]
        inside = wins <= m[None, :]
        losses = np.where(inside, m[None, :] - wins, 0)
        told = (paired_test(np.where(inside, wins, 0), losses, n) <= alpha) & inside
        size = (told * stats.binom.pmf(wins, m[None, :], 0.5)).sum(axis=0)
        assert (stats.binom.pmf(m[None, :], n, d[:, None]) @ size).max() <= alpha + 1e-12


def test_certified_is_the_exact_test():
    assert paired_test(9, 1, 50, certified=True) == mcnemar(9, 1)
    assert paired_test(9, 1, 150) == mcnemar(9, 1, mid_p=True)
    assert paired_test(60, 40, 150) == mcnemar(60, 40)


def test_up_to_a_hundred_items_the_test_is_exact_and_sharper():
    assert paired_test(9, 1, 50) < mcnemar(9, 1, mid_p=True)
    assert paired_test(5, 0, 20) == paired_test(0, 5, 20) < 0.05 < mcnemar(5, 0)
    assert paired_test(0, 0, 20) == 1


@pytest.mark.parametrize("n", [5, 8, 11, 16, 20])
def test_no_further_outcome_can_be_told_apart_at_its_level(n):
    """Whatever is added with all that is more extreme (more wins, fewer losses) costs more than .05:
    on eight items, four wins against none make the size .055.
    """
    d = np.sin(np.linspace(0, np.pi / 2, 301)[1:]) ** 2
    found = {(m - c, c) for m in range(1, n + 1) for c in range((m + 1) // 2)}
    told = {(b, c) for b, c in found if paired_test(b, c, n) <= 0.05}

    def size(region):
        b, c = np.array(sorted(region)).reshape(-1, 2).T[..., None]
        law = stats.binom.pmf(b + c, n, d) * stats.binom.pmf(c, b + c, 0.5)
        return 2 * law.sum(axis=0).max()

    assert size(told) <= 0.05
    for b, c in found - told:
        beyond = {(x, y) for x, y in found if y <= c and x - y >= b - c}
        assert size(told | beyond) > 0.05
