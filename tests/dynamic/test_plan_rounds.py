import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic.experiment import plan_rounds


def test_the_plan_repeats_the_measured_net_gains():
    cheap, dear = plan_rounds(0.025), plan_rounds(0.05)
    assert [round(net, 3) for net in cheap.net[7][:2]] == [0.145, 0.130]
    assert [round(net, 3) for net in cheap.net[9][:2]] == [0.152, 0.181]
    assert [round(net, 3) for net in dear.net[5][:2]] == [0.045, 0.062]
    assert (cheap.rounds, cheap.longest) == (9, True)
    assert (dear.rounds, dear.longest) == (5, False)
    assert plan_rounds(0.5).rounds == 3


@pytest.mark.parametrize("price", [-1, float("nan"), float("inf")])
def test_a_price_that_is_none_is_refused(price):
    with pytest.raises(InputError, match="price"):
        plan_rounds(price)
