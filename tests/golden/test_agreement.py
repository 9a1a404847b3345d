"""Agreement coefficients against statsmodels, krippendorff and irrCAC on three random tables.

The numbers were made once with statsmodels 0.15.0 (``fleiss_kappa``, ``cohens_kappa``),
krippendorff 0.9.0 (``alpha``) and irrCAC 0.4.4 (``CAC.fleiss``, ``CAC.gwet``, which rounds to five
digits). The tables were drawn once; "." is a missing rating.
"""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.stats.agreement import cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha

TWO = (
    "110 001 101 111 010 110 111 111 111 010 111 111 001 000 100 100 000 111 000 000 "
    "110 011 111 101 111 010 001 101 101 111 010 011 100 000 111 110 000 111 111 111"
)
FIVE = (
    "4434 4444 1242 2324 1111 4221 4343 2112 3422 0000 4444 0102 2222 1000 3344 1111 4444 0200 "
    "4243 0111 0210 1312 0100 1011 0000 1131 4444 4444 1100 2021 0311 1101 1111 3433 1011 0010 "
    "1113 1222 3212 1011 4444 3131 4444 1022 4434 4343 2233 1131 4444 2224 2231 2231 3233 2222 "
    "3444 1123 1113 0000 4343 2122"
)
GAPS = (
    "3323. 2...1 .33.3 1.03. 111.. 11.1. .1211 31..2 0...0 2.... 22233 33333 .0100 102.1 ..111 "
    "33233 00000 000.. 02..0 02... 0.00. .00.0 .2211 233.3 11333 2..11 0202. 3333. .0.21 1101. "
    "33333 ..311 1..22 ..2.3 00..0 .311. .0020 301.. .3333 0.311 1111. ..10. .2221 ..323 33..1 "
    ".0.0. ..... 00200 .0200 3...3 32... 020.. 22... ..131 .1310 3.33. 33.3. ..0.1 .11.1 00110"
)


def codes(text):
    return np.array([[-1 if c == "." else int(c) for c in word] for word in text.split()])


@pytest.mark.parametrize(
    ("table", "nominal", "ordinal"),
    [
        (TWO, 0.31134259259259256, 0.31134259259259256),
        (FIVE, 0.4035087719298246, 0.759147596247888),
        (GAPS, 0.4074269623372051, 0.6128613069062454),
    ],
)
def test_alpha_equals_krippendorff(table, nominal, ordinal):
    for metric, known in (("nominal", nominal), ("ordinal", ordinal)):
        found = krippendorff_alpha(codes(table), metric=metric)
        assert found.estimate == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize(
    ("table", "known"), [(TWO, 0.30555555555555547), (FIVE, 0.4010129927328781)]
)
def test_fleiss_equals_statsmodels(table, known):
    assert fleiss_kappa(codes(table)).estimate == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize(
    ("table", "nominal", "linear", "quadratic"),
    [
        (TWO, 0.31578947368421056, 0.3157894736842105, 0.3157894736842105),
        (FIVE, 0.3847241867043848, 0.6009800490024502, 0.7582325969153814),
        (GAPS, 0.5684931506849316, 0.5773584905660377, 0.6097560975609756),
    ],
)
def test_cohen_equals_statsmodels(table, nominal, linear, quadratic):
    pair = codes(table)[:, :2]
    for weights, known in (("nominal", nominal), ("linear", linear), ("quadratic", quadratic)):
        assert cohen_kappa(pair, weights=weights).estimate == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize(
    ("table", "fleiss", "ac1"),
    [(TWO, 0.30556, 0.35897), (FIVE, 0.40101, 0.41186), (GAPS, 0.38774, 0.39385)],
)
def test_fleiss_and_ac1_equal_irrcac_also_with_missing_ratings(table, fleiss, ac1):
    assert fleiss_kappa(codes(table)).estimate == pytest.approx(fleiss, abs=5.1e-6)
    assert gwet_ac1(codes(table)).estimate == pytest.approx(ac1, abs=5.1e-6)
