from tallystick.papers.dynamic_benchmarks.rollouts import RandomErrors
from tallystick.results import Figure, Unknown
from tallystick.verbs.dynamic import Population, path, simulate
from tallystick.verbs.dynamic.result import Round


def test_the_table_has_one_row_a_round_and_the_bounds_are_named_for_what_they_are():
    result = simulate(path(3), RandomErrors(0.2), Population.uniform(100), rollouts=20, rng=0)
    assert [row["round"] for row in result.rows()] == [1, 2, 3]
    heads = set(result.rows()[0])
    assert {"at_worst", "nothing_promised_below"} <= heads
    assert not heads & {"lower_bound", "worst_case"}
    assert set(result.to_dict()["rounds"][0]) >= {"lower_bound", "worst_case"}
    assert result.to_frame().num_rows == 3


def test_the_picture_has_the_risk_between_its_bounds():
    result = simulate(path(3), RandomErrors(0.2), Population.uniform(100), rollouts=20, rng=0)
    (figure,) = result.figures()
    assert isinstance(figure, Figure)
    assert figure.roles["outer_high"] == "worst_case"
    assert figure.columns["risk"][2] < figure.columns["worst_case"][2]


def test_a_round_without_control_says_so():
    unknown = Unknown("not known")
    bare = Round(
        round=1,
        risk=0.1,
        interval=unknown,
        epsilon=0.1,
        worst_case=unknown,
        lower_bound=unknown,
        z=unknown,
        noise_share=0.0,
    )
    assert bare.control.reason == bare.fresh.reason == "only a simulation has a control"
