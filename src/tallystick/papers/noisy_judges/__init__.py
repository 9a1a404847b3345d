"""Corrada-Emmanuel, *Streaming algorithms for evaluating noisy judges on unlabeled data: binary
classification* [CE23]_, statement by statement.

Judges vote α or β on items whose label nobody knows. Three that err independently leave two points
(prevalence, accuracies), the roots of a quadratic: ``trio_quadratic.py``. With correlations Γ the
votes still follow exactly: ``correlated_judges.py``. ``baselines.py`` holds majority, spectral and
agreement. Equations of the text and of its supplement (S) have the paper's numbers; what is wrong
in print is said at its line (``docs/papers/noisy_judges.md``). J marks equations of ours.

| statement of [CE23] | function | test in tests/papers/test_noisy_judges.py |
|---|---|---|
| (1)-(4), S 1.2-1.3: the sketch of votes | `tallystick.Tally` | tests/tally |
| (5)-(7): majority vote | `baselines.majority_shares`, `majority_scores` | the_majority_decides…, majority_vote_equals_the_published_fractions |
| S 1.4-1.6, S (9)-(10), (20): prevalence, accuracy, Γ | `correlated_judges.Point`, `correlation`, `sample_point` | labelled_statistics_equal_the_published_fractions |
| S (31): Γ of three judges | `correlation` | equation_31_with_its_signs_corrected… |
| Theorem 1, (9)-(16) | `vote_shares` | theorem_1_is_equations_9_to_16 |
| Theorem 2, (21), S (32): the trio's quadratic | `trio_quadratic.trio_quadratic`, `solve_trios` | the_roots_of_the_quadratic…, an_independent_trio_is_solved_exactly |
| Table 1, S (39): the formula | `trio_point` | the_sign_printed_in_table_1…, equal_classes_need_no_special_case |
| S (33)-(35), (40): two points | `mirrored`, `Point.mirror` | the_mirror_point_gives_the_same_votes |
| section 6: the branch | `choose_branch` | knowledge_picks_the_branch… |
| S (36)-(37): Δ, the same for both labels | `trio_moments`, `pair_covariance` | equation_51_is_the_covariance… |
| S 3: three judges solve any ensemble, two do not | `triplet`, `solve_trios` | many_judges_are_graded_exactly…, two_judges… |
| section 4: four failure modes | `failure_modes`, `unresolved_roots` | every_failure_has_its_name, an_unresolved_root… |
| section 4.1: the search over partitions | `feature_partition`, `nearly_independent` | judges_of_a_partition…, the_search_ranks… |
| Theorem 3, S (38): correlated judges | `vote_shares`, `joint_shares` | theorem_3_any_labelled_sketch…, …dimension_of_equation_38 |
| Theorem 4, (22)-(23), S (43)-(46): the containing variety | `variety_distance`, `variety_projection` | the_true_point_lies_on…, the_distance…_is_zero_correlated_or_not |
| (24), S (41)-(42): blind spots | `blind_spots` | blind_spots_are_the_derivatives…, a_blind_judge_harms… |
| Theorem 5, S (47): exact arithmetic | `exact_trio`, `Surd` | a_correlated_trio…, …the_published_surd_exactly |
| … its converse, S (48)-(52) | `pair_covariance`, `unresolved_roots` | one_pair_correlated_on_one_label_resolves… |
| S 7: the smallest test | `simulate` | the_smallest_test_has_exactly_the_point…, no_smaller_test_exists |
| S (53)-(60): the spectral method | `baselines.rank_one`, `spectral_point` | spectral_recovers…, equation_59_needs_one_more_term |
| S (61)-(77): agreement rates | `agreement_rates` | agreement_is_equation_74… |
| S (78)-(79): the impossible factorization | `agreement_gap` | agreement_fails_for_independent_judges… |
| S (80)-(81): error rates from agreement | `agreement_accuracy`, `agreement_error_rate` | the_root_of_the_agreement_equations… |
| ours: what detects dependence | `independence_test`, `error_correlation` | four_judges_refute_independence… |
| ours: standard errors of the baselines | `spectral_errors`, `agreement_errors` | errors_of_…_are_those_of_its_numerical_derivatives |
"""
