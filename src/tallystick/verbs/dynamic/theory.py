"""What is proved of a benchmark before anything is run, as a result."""

from __future__ import annotations

from functools import lru_cache

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks import (
    exponential_bound,
    hierarchical_bound,
    hierarchical_floor,
    noise_bound,
    path_bound,
    path_floor,
    three_round_bound,
)
from tallystick.papers.dynamic_benchmarks.certificates import worst_case
from tallystick.papers.dynamic_benchmarks.designs import Mixing, checked_epsilon, path
from tallystick.results import Unknown
from tallystick.verbs.dynamic.result import (
    NO_ADVICE_WITHOUT_LOG,
    THEORY_ASSUMPTIONS,
    Round,
    TheoryResult,
    noisy_verdict,
    theory_statements,
    theory_verdict,
)

MOST_ROUNDS = 200
"""Longer paths are refused: nobody runs them, and their bounds exceed 1 anyway."""

_BY_PROGRAM = 9
"""Up to so many rounds a branch and bound of a few boxes is sharper than the closed form."""

_BOXES = 60


def theory(
    epsilon: float,
    *,
    rounds: int = 3,
    distance: float = 0.0,
    noise: float = 0.0,
    mixing: Mixing = "nested",
) -> TheoryResult:
    r"""Say what is proved of a path and of a hierarchy of such models before anything is run.

    Parameters
    ----------
    epsilon
        Excess risk that the learner guarantees, in (0, 1/2].
    rounds
        Length of the path.
    distance
        :math:`d_{\mathcal H\Delta\mathcal H}(\mathcal D_0, \mathcal D)`.
    noise
        Share of random labels.

    Examples
    --------
    >>> known = theory(0.1, rounds=3)
    >>> round(known.rounds[2].worst_case, 6), round(known.rounds[2].lower_bound, 6)
    (0.05, 0.00125)
    """
    checked_epsilon(epsilon)
    if not 1 <= rounds <= MOST_ROUNDS:
        raise InputError(
            f"rounds must be from 1 to {MOST_ROUNDS}, got {rounds!r}: bounds of longer paths say "
            "nothing"
        )
    if not 0 <= noise < 1:
        raise InputError(f"noise must be in [0, 1), got {noise!r}")
    worst = (
        worst_by_round(epsilon, rounds)
        if not distance
        else tuple(path_bound(epsilon, t, distance) for t in range(1, rounds + 1))
    )
    shares = noise_bound(epsilon, noise, rounds) if noise else (0.0,) * rounds
    realisable = Unknown("labels are random in part: the bounds are for realisable problems")
    unknown = Unknown("theory bounds it, it does not predict it")
    table = tuple(
        Round(
            round=t + 1,
            risk=unknown,
            interval=unknown,
            epsilon=epsilon,
            worst_case=realisable if noise else worst[t],
            lower_bound=realisable if noise else (epsilon, 0.0, path_floor(epsilon))[min(t, 2)],
            z=unknown,
            noise_share=shares[t],
        )
        for t in range(rounds)
    )
    three = three_round_bound(epsilon, distance)
    if not distance:
        three = min(three, worst_by_round(epsilon, 3)[2])
    bounds = {
        "three": three,
        "three_printed": three_round_bound(epsilon, distance, printed=True),
        "longest": worst[-1],
        "floor": path_floor(epsilon),
        "deep": hierarchical_bound(epsilon, distance, mixing=mixing),
        "deep_printed": hierarchical_bound(epsilon, distance, mixing="flat", printed=True),
        "deep_floor": hierarchical_floor(epsilon),
        "updates": exponential_bound(epsilon, rounds),
    }
    return TheoryResult(
        verdict=(
            noisy_verdict(noise, rounds, shares[-1])
            if noise
            else theory_verdict(epsilon, three, path_floor(epsilon))
        ),
        n_items=0,
        assumptions=THEORY_ASSUMPTIONS,
        action="theory",
        design=path(rounds).name,
        rounds=table,
        advice=Unknown(NO_ADVICE_WITHOUT_LOG),
        epsilon=epsilon,
        statements=theory_statements(
            bounds, mixing=mixing, rounds=rounds, noise=noise, share=shares[-1]
        ),
    )


@lru_cache(maxsize=64)
def worst_by_round(epsilon: float, rounds: int) -> tuple[float, ...]:
    """Return a proved upper bound on the majority risk after each round of a uniform path, D_0 = D.

    Three rounds are exact up to epsilon = 1/4. Four to nine come from
    :func:`tallystick.papers.dynamic_benchmarks.certificates.worst_case` with a few boxes, in some
    three seconds, or from the closed form where it is smaller; longer paths from the closed form,
    which is proved but not sharp.

    >>> [round(worst, 4) for worst in worst_by_round(0.1, 3)]
    [0.1, 0.15, 0.05]
    """
    if not 1 <= rounds <= MOST_ROUNDS:
        raise InputError(f"rounds must be from 1 to {MOST_ROUNDS}, got {rounds!r}")
    out = []
    for t in range(1, rounds + 1):
        bound = path_bound(epsilon, t)
        if 3 < t <= _BY_PROGRAM or (t == 3 and epsilon > 0.25):
            program = worst_case(epsilon, t, gap=0.02, nodes=_BOXES, search=False)
            bound = min(bound, program.upper)
        out.append(bound)
    return tuple(out)
