from __future__ import annotations

import numpy as np

from tallystick.stats.bets import average_log_e, e_holm, p_from_log_e


def test_averages_run_along_the_last_axis_and_survive_huge_values():
    table = np.array([[5000.0, 0.0, -np.inf], [0.0, 0.0, np.log(4)]]).T
    np.testing.assert_allclose(average_log_e(table), [5000 - np.log(2), 0.0, np.log(2)])


def test_a_p_value_is_one_over_e_and_at_most_one():
    np.testing.assert_allclose(p_from_log_e([np.log(20), -3.0, np.inf]), [0.05, 1.0, 0.0])


def test_holm_on_e_values_multiplies_by_what_still_stands():
    np.testing.assert_allclose(e_holm(np.log([1000.0, 50.0, 3.0])), [0.003, 0.04, 1 / 3])
