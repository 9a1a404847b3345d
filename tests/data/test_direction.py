import numpy as np
import pytest
from tallystick.table.detect_names import are_places, lower_word, names_place, shared_lower_word

LOWER = (
    "latency_ms cost error_rate loss log_loss logLoss perplexity ppl WER nll model_a_nll brier_score"
    " edit_distance cost_usd toxicity hallucination_rate hallucinated gpt_violations fails mistakes"
    " regret rank_A A_rank mean_rank position place ms_old bits_per_byte neg_log_likelihood"
    " false_positive_rate errorRate kl_divergence zero_shot_error response_time fnr"
    " cross_entropy miss_rate n_issues contains_pii flagged_gpt severity num_retries energy_kwh bias"
)
HIGHER = (
    "correct exact_match f1 lossless score rating loglik log_likelihood error_free non_toxic no_errors"
    " not_hallucinated neg_mean_squared_error neg_loss tokens_per_second samples_per_sec usd_saved"
    " cost_efficiency win_loss pass_fail mean_reciprocal_rank rank1_accuracy percentile_rank"
    " hallucination_detection_f1 ms_marco_bm25 model_4_bits time_series_a bm25_re_rank low_rank_a"
    " rank_gpt second_model safe_unsafe uptime problem_solved issues_resolved refusal_rate"
)


@pytest.mark.parametrize(
    "name", [*LOWER.split(), "p95 latency", "negative log-likelihood", "Percentage wrong"]
)
def test_less_is_better_by_the_name(name):
    assert lower_word(name)


@pytest.mark.parametrize("name", [*HIGHER.split(), None, ""])
def test_more_is_better_otherwise(name):
    assert lower_word(name) is None


def test_columns_share_a_measure_only_if_all_of_them_name_one():
    assert shared_lower_word(["base_nll", "tuned_nll"]) == "nll"
    assert shared_lower_word(["rank_A", "rank_B"]) == "rank"
    assert shared_lower_word(["base_nll", "tuned"]) is None
    assert shared_lower_word([]) is None
    assert names_place("rank")
    assert not names_place(None)


def test_places_are_told_from_grades():
    rng = np.random.default_rng(0)
    places = np.array([rng.permutation(3) + 1.0 for _ in range(30)])
    assert are_places(places)
    assert are_places(places - 1, first=0)
    assert not are_places(places - 1)
    assert not are_places(places[:4])
    assert not are_places(rng.integers(1, 4, (30, 3)).astype(float))
    with_blank = places.copy()
    with_blank[0, 1] = np.nan
    assert are_places(with_blank)
