"""Where each of the small cases on which other tools fail is tested: its right answer, and its kind.

A test is named by its file below this folder and its function. tests/unit/test_cases.py keeps the table true.
"""

from __future__ import annotations

JOB, LOCAL, BOTH, GOLDEN = (
    "spark/test_job_cases.py", "spark/test_top_down.py", "spark/test_cases_of_both_jobs.py", "golden/test_lattice_golden.py",
)  # fmt: skip
KERNEL, TREES, INTERVALS, MASKS = (
    f"unit/test_{name}.py" for name in ("local_recoding_cases", "hierarchy_trees", "hierarchy_intervals", "hierarchy_masks")
)
AUDIT, FAULTS = "spark/test_audit_release.py", "unit/test_config_faults.py"

CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "C01": ("incomplete hierarchy", (
        f"{JOB}::test_an_incomplete_hierarchy_stops_the_job_with_counts_alone",
        f"{JOB}::test_the_optimum_with_and_without_suppression",
        f"{GOLDEN}::test_c01_nodes_that_pass",
        f"{GOLDEN}::test_c01_rows_suppressed_at_each_minimal_node",
        f"{BOTH}::test_an_incomplete_hierarchy_stops_local_recoding_too",
        "spark/test_cli.py::test_values_outside_a_hierarchy_are_counted_and_named_only_when_asked",
    )),
    "C02": ("reading our own output", (
        f"{AUDIT}::test_our_own_output_read_again_and_lone_stars",
        "spark/test_audit_command_cases.py::test_our_own_output_is_audited",
    )),
    "C03": ("lone class", (
        f"{JOB}::test_a_lone_row_is_generalized_or_suppressed_never_published",
        f"{GOLDEN}::test_c03_a_lone_class",
        f"{BOTH}::test_a_lone_row_is_never_a_class",
    )),
    "C04": ("merge until k", (
        f"{KERNEL}::test_one_row_of_a_large_group_is_lent",
        f"{LOCAL}::test_a_large_group_lends_one_row",
        f"{GOLDEN}::test_c04_full_domain_has_one_level_only",
        f"{BOTH}::test_a_flat_column_has_one_level",
        "laws/test_local_suppression_laws.py::test_two_strangers_leave_and_what_was_lent_goes_home",
    )),
    "C05": ("labels", (
        f"{LOCAL}::test_numbers_are_labelled_by_their_ends",
        f"{LOCAL}::test_no_bound_reaches_beyond_its_rows",
        f"{LOCAL}::test_category_names_of_any_characters",
        f"{BOTH}::test_the_loss_is_that_of_the_groups_whatever_the_names_hold",
    )),
    "C06": ("tight ranges", (
        f"{KERNEL}::test_ranges_are_tight", f"{LOCAL}::test_ranges_are_tight", f"{BOTH}::test_ranges_are_tight_in_both_places",
    )),
    "C07": ("null numeric quasi-identifier", (
        f"{KERNEL}::test_a_null_among_numbers",
        f"{LOCAL}::test_a_null_is_a_value_of_its_own",
        f"{JOB}::test_nulls_can_fail_or_be_left_out",
        f"{BOTH}::test_the_best_with_null_as_a_value",
        f"{BOTH}::test_the_best_level_with_null_as_a_value",
        f"{BOTH}::test_rows_without_a_value_are_a_class_of_their_own_or_wider",
    )),
    "C08": ("joined keys", (
        f"{JOB}::test_values_that_only_look_alike_are_two_classes",
        f"{JOB}::test_nan_is_one_class_and_zero_has_one_sign",
        f"{AUDIT}::test_values_that_join_to_the_same_key_are_two_classes",
        f"{BOTH}::test_values_that_only_look_alike_share_no_class",
        f"{BOTH}::test_two_nans_are_one_class_and_zero_has_one_sign",
    )),
    "C09": ("hierarchy shape; a frequency builder is not built", (
        f"{TREES}::test_each_fault_of_a_tree_has_its_message",
        f"{INTERVALS}::test_levels_that_already_hold_everything_are_kept",
        f"{TREES}::test_an_inner_value_is_refused_or_accepted",
    )),
    "C10": ("empty, null, text null", (
        f"{JOB}::test_null_empty_and_the_word_null_are_three_values",
        f"{LOCAL}::test_null_empty_and_the_word_null_are_three_values",
        f"{AUDIT}::test_empty_null_and_the_word_null_are_three",
        f"{MASKS}::test_null_empty_and_the_words_are_different_values",
        "spark/test_odd_inputs_runs.py::test_texts_come_back_from_every_format",
    )),
    "C11": ("constant columns", (
        f"{JOB}::test_constant_columns_change_nothing",
        f"{GOLDEN}::test_c11_constant_columns_change_no_class",
        f"{AUDIT}::test_constant_columns_change_no_class",
        f"{BOTH}::test_constant_columns_change_nothing",
    )),
    "C12": ("list cell", (
        f"{JOB}::test_a_list_is_no_quasi_identifier_but_its_text_is",
        f"{MASKS}::test_lists_in_a_text_are_opaque",
        f"{BOTH}::test_lists_in_a_text_are_warned_of",
        f"{BOTH}::test_a_list_shares_a_part_with_another_value",
    )),
    "C13": ("wrong file", (
        f"{JOB}::test_the_wrong_file_is_told_by_the_column_it_fits",
        f"{TREES}::test_the_wrong_file_covers_nothing_and_another_fits",
    )),
    "C14": ("impossible", (
        f"{JOB}::test_the_impossible_is_proven_before_any_search",
        f"{GOLDEN}::test_c14_impossible",
        f"{LOCAL}::test_the_impossible_and_what_has_no_hierarchy",
        f"{BOTH}::test_the_impossible_is_proven_for_local_recoding_too",
    )),
    "C15": ("entities", (
        "laws/test_persons_lattice.py::test_case_15_of_entities", "spark/test_persons.py::test_rows_of_one_person_are_no_crowd",
    )),
    "C16": ("undeclared columns", (f"{JOB}::test_undeclared_columns_stop_the_job_or_are_dropped_or_kept",)),
    "C17": ("faults of the configuration", (
        f"{FAULTS}::test_one_fault", f"{FAULTS}::test_all_at_once_and_none_invented",
        f"{JOB}::test_levels_above_the_root_are_told_together",
        "spark/test_cli.py::test_what_the_configuration_has_wrong_is_told_at_once",
    )),
    "C18": ("weights and level bounds", (
        f"{GOLDEN}::test_c18_weights_levels_and_ties",
        f"{JOB}::test_weights_and_level_bounds_choose_among_equals",
        f"{BOTH}::test_weights_choose_what_is_kept",
    )),
    "C19": ("Arrow batches", (
        "spark/test_batches.py::test_neither_batches_nor_partitions_count",
        "spark/test_blocks.py::test_many_batches_of_one_partition",
        "spark/test_odd_inputs_runs.py::test_partitions_skew_and_batches_change_nothing",
    )),
    "C20": ("few suppressed rows", (
        f"{JOB}::test_a_suppressed_row_is_dropped_where_its_star_class_would_show_it",
        f"{JOB}::test_the_suppression_limit_is_exact",
        f"{GOLDEN}::test_c20_limits_are_exact",
        f"{GOLDEN}::test_c20_one_row_within_five_percent",
        f"{LOCAL}::test_a_row_like_no_other_is_left_out_where_that_loses_less",
        f"{AUDIT}::test_a_few_starred_rows_are_a_class_that_must_hold",
        f"{BOTH}::test_a_row_of_its_own_is_no_class_on_spark",
    )),
    "C21": ("traces", (
        f"{JOB}::test_nothing_of_ours_and_no_order_of_the_input_is_left",
        f"{BOTH}::test_no_trace_of_ours_nor_of_the_inputs_order",
        f"{BOTH}::test_a_column_that_is_called_like_ours_is_refused",
        "spark/test_secrecy.py::test_a_release_holds_what_it_prints_and_nothing_else",
    )),
    "C22": ("sound (alpha, k) search", (
        f"{GOLDEN}::test_c22_both_prunings_are_unsound_beside_a_limit",
        f"{JOB}::test_alpha_deassociation_is_sound_beside_a_suppression_limit",
        f"{BOTH}::test_a_share_is_met_at_the_least_loss",
    )),
    "C23": ("repair across partitions", (
        f"{KERNEL}::test_repair_across_blocks",
        f"{LOCAL}::test_groups_do_not_know_the_partitions_of_the_input",
        "spark/test_blocks.py::test_repair_across_blocks",
    )),
}  # fmt: skip
"""Case -> what it is about, and its tests."""
