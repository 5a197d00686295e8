//! Functions that each check one promise of a seam on an empty store. The macros make tests of them.

pub mod extraction_store;
pub mod index;
pub mod job_listing;
pub mod job_store;
pub mod language_model;
pub mod listings;
pub mod rescan_store;
pub mod selection_store;
pub mod session_store;
pub mod spend_store;
pub mod tenant_isolation;
pub mod thread_store;
pub mod tree_store;
pub mod use_store;

pub use session_store::extract;

/// Makes one test of each promise of all seams. The argument is a closure or function that makes an
/// empty store; after the word `maybe`, one that makes it where it can, and otherwise prints the reason
/// and returns `None`. The number after it is how many random sequences are tried.
#[macro_export]
macro_rules! store_suite {
    (maybe $make:expr, $sequences:expr) => {
        $crate::session_store_suite!(maybe $make);
        $crate::job_store_suite!(maybe $make);
        $crate::job_listing_suite!(maybe $make);
        $crate::listings_suite!(maybe $make);
        $crate::extraction_store_suite!(maybe $make);
        $crate::rescan_store_suite!(maybe $make);
        $crate::selection_store_suite!(maybe $make);
        $crate::use_store_suite!(maybe $make);
        $crate::index_suite!(maybe $make);
        $crate::tenant_isolation_suite!(maybe $make, $sequences);
    };
    ($make:expr) => {
        $crate::store_suite!(maybe || Some(($make)()), $crate::suites::tenant_isolation::SEQUENCES);
    };
}

/// Makes tests of the isolation between the tenants of one store.
#[macro_export]
macro_rules! tenant_isolation_suite {
    (maybe $make:expr, $sequences:expr) => {
        $crate::promises! { $make, tenant_isolation:
            undoing_an_import_leaves_the_same_file_of_another_tenant,
            assigning_a_root_leaves_the_same_root_of_another_tenant,
        }

        #[test]
        fn a_tenant_sees_what_it_would_see_alone() {
            $crate::suites::tenant_isolation::check($make, $sequences);
        }
    };
    ($make:expr) => {
        $crate::tenant_isolation_suite!(
            maybe || Some(($make)()),
            $crate::suites::tenant_isolation::SEQUENCES
        );
    };
}

/// Makes a test of each named promise of one suite.
#[doc(hidden)]
#[macro_export]
macro_rules! promises {
    ($make:expr, $suite:ident: $($promise:ident),* $(,)?) => {
        mod $suite {
            use super::*;

            $(
                #[test]
                fn $promise() {
                    let Some(store) = ($make)() else { return };
                    $crate::run($crate::suites::$suite::$promise(&*store));
                }
            )*
        }
    };
}

/// Makes one test of each promise of `SessionLog` and its neighbours.
#[macro_export]
macro_rules! session_store_suite {
    (maybe $make:expr) => {
        $crate::promises! { $make, session_store:
            events_come_back_in_order_and_whole,
            an_event_seen_twice_is_one_event,
            an_append_without_events_still_creates_its_session,
            an_append_that_is_too_large_is_refused_whole,
            a_window_is_bounded_by_count_and_bytes_but_never_empty,
            several_events_of_one_line_share_its_number,
            lines_of_a_second_file_are_moved_behind_the_first,
            events_from_no_file_count_on,
            lines_find_their_events,
            what_events_retract_is_read_by_their_range,
            a_label_is_the_shortest_new_prefix_and_stays,
            sessions_are_found_by_label_or_else_by_beginning,
            the_newest_session_comes_first,
            tenants_do_not_see_each_other,
            a_known_kind_stays_known,
            a_sub_agents_part_belongs_to_its_parent_whichever_came_first,
            an_append_makes_an_eligible_session_due_once_it_rests,
            an_urgent_append_makes_a_session_due_at_once_and_before_others,
            an_event_without_a_time_counts_from_now,
            repeating_an_append_marks_nothing,
            an_ineligible_session_is_never_marked,
            switching_memory_on_makes_the_whole_session_due,
            what_is_said_while_memory_is_switched_off_is_passed_over,
            a_session_is_switched_off_and_on_whatever_its_host_says,
            an_event_pollutes_its_session_only_where_settings_say_so,
            what_was_learned_from_a_polluted_session_is_hidden_each_time,
            what_is_extracted_from_a_session_that_is_polluted_meanwhile_is_hidden,
            what_others_stated_and_a_person_asked_for_stays_when_a_session_is_polluted,
            a_person_who_switches_memory_on_gets_it_back_and_no_call_ends_it,
            undoing_the_import_of_the_polluting_event_ends_the_pollution,
            with_the_sixth_turn_a_busy_session_is_due,
            sessions_are_found_by_their_last_activity,
            a_file_moves_on_with_its_events,
            places_belong_to_projects_once_they_are_assigned,
            what_shows_a_remote_stays_with_its_event,
            a_root_says_whether_its_project_follows_from_evidence,
            assigning_a_root_moves_what_was_observed_there,
            what_was_taken_back_stays_so_under_a_new_project,
            an_import_counts_what_it_adds,
            undoing_an_import_removes_whole_sessions,
            undoing_an_import_keeps_older_events_and_has_them_extracted_anew,
            undoing_an_import_withdraws_what_rests_on_it,
            undoing_an_import_forgets_what_it_retracted,
            undoing_an_import_frees_the_lease_of_whoever_reads_it,
            undoing_an_import_keeps_later_events_and_their_numbers,
            after_an_undo_the_same_import_adds_the_same_again,
            undoing_the_first_of_two_imports_forgets_the_file_for_both,
            an_unknown_import_is_refused,
        }
    };
    ($make:expr) => {
        $crate::session_store_suite!(maybe || Some(($make)()));
    };
}

/// Makes one test of each promise of `RescanStore`.
#[macro_export]
macro_rules! rescan_store_suite {
    (maybe $make:expr) => {
        $crate::promises! { $make, rescan_store:
            a_rescan_is_raised_once_for_each_session_of_other_rules,
            a_rescan_of_one_session_is_raised_whichever_rules_redacted_it,
            an_append_by_other_rules_has_the_session_rescanned,
            a_rescan_for_newer_rules_starts_over,
            a_rewritten_event_is_found_by_its_new_words_alone,
            a_rewritten_event_moves_to_its_new_folder,
            an_extraction_that_read_a_rewritten_event_loses_its_lease,
            rewritten_evidence_makes_another_observation,
            every_text_beside_the_events_is_read_and_replaced,
            a_text_that_has_changed_meanwhile_stays,
            a_lost_lease_rewrites_nothing,
        }
    };
}

/// Makes one test of each promise of `JobQueue` and its neighbours.
#[macro_export]
macro_rules! job_store_suite {
    (maybe $make:expr) => {
        $crate::promises! { $make, job_store:
            a_job_is_granted_once,
            a_job_that_is_not_due_is_not_granted,
            claims_go_by_priority_then_age_then_key,
            a_claim_grants_no_more_than_asked,
            kinds_are_claimed_apart,
            a_lapsed_lease_is_granted_again_and_its_holder_changes_nothing,
            a_heartbeat_keeps_a_lease,
            a_released_job_is_due_at_once,
            an_abandoned_holder_loses_all_its_jobs,
            every_field_of_a_job_survives,
            a_failure_waits_and_a_success_forgets_it,
            what_keeps_failing_becomes_a_gap_and_the_job_goes_on,
            a_newer_engine_revives_gaps_once,
            an_older_engine_revives_nothing,
            a_job_of_which_a_part_was_cancelled_is_revived_by_no_engine,
            gaps_of_one_job_are_revived_together,
            the_next_due_time_is_the_earliest,
            hastening_makes_waiting_work_due,
            an_unknown_job_loses_nothing,
            claims_go_round_users_and_agents,
            a_claim_is_bounded_by_agent_and_by_what_runs,
            a_prompt_raises_what_waits_beside_its_session,
            cancelled_work_is_a_gap_that_only_a_person_revives,
            a_retry_by_hand_does_not_wait,
            a_job_that_is_set_aside_waits_for_its_next_mark,
            a_job_that_is_set_aside_until_a_time_waits_for_it,
            what_becomes_of_jobs_is_counted,
            whoever_waits_for_a_change_misses_none,
        }
    };
    ($make:expr) => {
        $crate::job_store_suite!(maybe || Some(($make)()));
    };
}

/// Makes one test of each promise of `JobListing`.
#[macro_export]
macro_rules! job_listing_suite {
    (maybe $make:expr) => {
        $crate::promises! { $make, job_listing:
            jobs_are_listed_page_by_page_in_the_order_of_their_keys,
            a_page_that_ends_with_the_last_job_is_the_last,
            a_listing_shows_nothing_of_another_tenant,
            what_comes_between_two_pages_moves_neither,
            gaps_are_listed_page_by_page_by_job_and_position,
            jobs_whose_input_is_ahead_are_listed_alone,
            sessions_are_grouped_by_what_rules_ask_for_and_how_far_they_were_learned_from,
        }
    };
    ($make:expr) => {
        $crate::job_listing_suite!(maybe || Some(($make)()));
    };
}

/// Makes one test of each promise of the other listings.
#[macro_export]
macro_rules! listings_suite {
    (maybe $make:expr) => {
        $crate::promises! { $make, listings:
            files_are_listed_page_by_page_by_path,
            files_whose_import_failed_are_listed_alone,
            files_with_secrets_are_listed_alone,
            files_are_found_by_their_paths,
            files_of_a_session_are_found_by_path,
            a_root_has_a_project_once_one_is_assigned,
            sessions_are_listed_page_by_page_by_their_last_activity,
            imports_are_listed_page_by_page_the_newest_first,
            scopes_are_listed_page_by_page_in_their_order,
            projects_are_listed_page_by_page_by_key_and_identity,
        }
    };
    ($make:expr) => {
        $crate::listings_suite!(maybe || Some(($make)()));
    };
}

/// Makes one test of each promise of `ExtractionStore`.
#[macro_export]
macro_rules! extraction_store_suite {
    (maybe $make:expr) => {
        $crate::promises! { $make, extraction_store:
            an_observation_has_the_most_trusted_origin_of_its_evidence,
            extractions_of_a_session_are_listed_alone,
            what_was_extracted_holds_and_raises_its_scope,
            a_lost_lease_stores_nothing,
            a_lease_for_another_session_is_refused,
            a_window_that_ends_before_it_begins_is_refused,
            an_observation_without_evidence_is_refused,
            nothing_is_recorded_as_nothing,
            the_same_thing_learned_twice_is_one_observation,
            what_was_learned_is_counted_by_the_time_of_its_evidence,
            the_earliest_evidence_lends_its_words_whatever_came_first,
            a_window_stored_twice_counts_once,
            of_pieces_on_the_same_events_the_first_one_stays,
            a_redo_shows_nothing_until_it_has_caught_up,
            a_redo_that_ends_without_results_still_replaces_the_old,
            a_redo_that_is_overtaken_leaves_nothing_behind,
            a_retracted_event_takes_its_observations_along,
            evidence_that_loses_its_first_event_is_as_old_as_the_next,
            what_a_person_took_back_stays_away_until_new_evidence_comes,
            what_a_person_took_back_is_reinstated_as_it_was,
            what_a_person_asked_to_remember_survives_a_redo,
            concerned_scopes_are_raised_once,
            a_digest_raises_the_project_of_its_root,
            touching_a_scope_makes_it_due,
            extractions_are_listed_by_project,
            extractions_without_a_root_are_listed_by_session_and_window,
            observations_of_some_kinds_are_listed_over_scopes,
            who_extracted_a_session_is_said_once,
            a_fallback_is_kept_with_the_extractor_that_it_filled_in_for,
            the_account_before_a_window_is_of_its_own_generation,
            evidence_may_cite_a_session_that_is_not_here,
            staged_writes_land_with_the_finish_and_stay_until_they_are_taken_out,
            staged_writes_go_with_their_window,
            what_is_quarantined_waits_outside_of_memory_until_it_is_decided_about,
            what_is_quarantined_goes_with_its_window,
            what_no_longer_holds_is_found_by_the_events_that_it_rests_on,
            words_that_a_person_took_back_are_found_by_their_events,
            what_is_noted_of_a_scope_replaces_what_was_noted_before,
        }
    };
    ($make:expr) => {
        $crate::extraction_store_suite!(maybe || Some(($make)()));
    };
}

/// Makes one test of each promise of `SelectionStore`.
#[macro_export]
macro_rules! selection_store_suite {
    (maybe $make:expr) => {
        $crate::promises! { $make, selection_store:
            a_success_replaces_the_selection_of_its_scope_alone,
            a_lost_lease_selects_nothing,
            what_changes_meanwhile_leaves_the_consolidation_due,
            a_selection_for_another_job_or_tenant_is_refused,
            proposals_and_a_selection_replace_what_is_given,
            a_scope_that_is_due_again_rests_until_then,
        }
    };
    ($make:expr) => {
        $crate::selection_store_suite!(maybe || Some(($make)()));
    };
}

/// Makes one test of each promise of `UseStore`.
#[macro_export]
macro_rules! use_store_suite {
    (maybe $make:expr) => {
        $crate::promises! { $make, use_store:
            a_use_noted_again_is_one_use_with_the_later_time,
            uses_come_back_in_order_and_of_the_sessions_asked_for,
            what_is_no_use_of_another_sessions_event_is_passed_over,
            a_session_may_use_something_before_it_is_there,
            a_new_citation_raises_what_rests_on_its_event_once,
            what_does_not_hold_is_not_raised,
            uses_are_bounded_for_each_kind_of_each_user,
            no_use_reaches_behind_another_wall,
            an_undone_import_takes_uses_of_its_events_along,
            an_undone_import_takes_uses_by_its_events_along,
        }
    };
    ($make:expr) => {
        $crate::use_store_suite!(maybe || Some(($make)()));
    };
}

/// Makes one test of each promise of `Index`.
#[macro_export]
macro_rules! index_suite {
    (maybe $make:expr) => {
        $crate::promises! { $make, index:
            an_appended_event_is_found_at_once,
            all_words_of_a_step_must_occur,
            the_newest_come_first_and_the_limit_holds,
            a_limit_takes_the_newest_whoever_said_them,
            steps_are_taken_in_turn_and_nothing_comes_twice,
            frequencies_count_documents,
            frequencies_follow_what_is_withdrawn,
            layers_narrow_a_search,
            origins_narrow_events_only,
            scopes_narrow_every_layer,
            an_event_follows_its_root_to_another_project,
            tenants_are_searched_apart,
            an_observation_is_found_by_the_words_that_it_shows,
            a_file_is_replaced_whole,
            an_empty_file_is_forgotten,
            tokens_with_punctuation_and_other_scripts_are_whole,
            without_tokens_nothing_is_indexed,
            long_texts_are_shown_by_their_head,
            a_rebuilt_index_answers_the_same,
            outlines_come_in_the_order_asked_without_what_is_gone,
            terms_keep_the_order_of_words_and_the_marks_between_them,
            an_outline_follows_the_time_of_what_it_shows,
            surroundings_are_what_was_said_beside_an_event,
            documents_are_opened_by_their_own_tenant_only,
            the_nearest_come_first_and_of_equals_the_newest,
            scopes_layers_and_origins_narrow_what_is_nearest,
            vectors_are_of_one_model,
            another_model_begins_with_every_document,
            the_newest_wait_first_for_vectors,
            vectors_are_kept_once_and_of_what_is_there,
            vectors_of_earlier_words_are_not_kept,
            what_is_indexed_anew_waits_for_vectors_again,
            what_is_gone_is_no_longer_near,
            each_tenant_has_a_model_of_its_own,
        }
    };
    ($make:expr) => {
        $crate::index_suite!(maybe || Some(($make)()));
    };
}

/// Makes one test of each promise of `TreeStore`.
#[macro_export]
macro_rules! tree_store_suite {
    (maybe $make:expr) => {
        $crate::promises! { $make, tree_store:
            objects_come_back_in_the_order_in_which_they_came,
            a_page_of_objects_is_bounded_but_never_empty,
            names_of_objects_are_listed_with_their_numbers,
            a_history_advances_for_whoever_saw_its_end,
            a_history_never_ends_in_what_is_not_there,
            a_rewritten_history_keeps_only_what_is_named,
            what_was_taken_out_of_a_history_is_not_put_back,
            histories_of_scopes_and_tenants_are_apart,
        }
    };
    ($make:expr) => {
        $crate::tree_store_suite!(maybe || Some(($make)()));
    };
}

/// Makes one test of each promise of `SpendStore`, and one that tries random sequences, as many as the number says.
#[macro_export]
macro_rules! spend_store_suite {
    (maybe $make:expr, $sequences:expr) => {
        $crate::promises! { $make, spend_store:
            a_cap_is_reached_and_never_passed,
            each_user_has_a_cap_and_the_tenant_has_one_over_all,
            a_new_day_a_new_month_and_a_new_run_begin_with_nothing,
            a_cap_that_is_set_later_counts_what_was_spent_before,
            what_is_reported_takes_the_place_of_what_was_reserved,
            more_than_was_reserved_is_counted_as_it_is,
            settling_or_releasing_again_changes_nothing,
            what_nobody_settles_stays_spent,
            a_released_reservation_leaves_nothing,
            nobody_spends_or_sees_behind_another_wall,
            what_no_cap_can_judge_is_refused,
            calls_are_added_up_by_what_is_asked,
            sums_are_of_the_time_that_is_asked_and_bounded,
            sixteen_that_reserve_at_once_never_pass_a_cap,
        }

        #[test]
        fn spending_is_what_a_list_of_calls_says() {
            $crate::suites::spend_store::check($make, $sequences);
        }
    };
    ($make:expr) => {
        $crate::spend_store_suite!(
            maybe || Some(($make)()),
            $crate::suites::spend_store::SEQUENCES
        );
    };
}

/// Makes one test of each promise of `ThreadStore`.
#[macro_export]
macro_rules! thread_store_suite {
    (maybe $make:expr) => {
        $crate::promises! { $make, thread_store:
            entries_come_back_in_order_beside_their_events,
            an_event_known_already_keeps_its_place_and_its_entry,
            what_came_in_another_way_has_no_entry,
            a_page_of_entries_is_bounded_but_never_empty,
            entries_that_break_a_bound_are_refused_whole,
            entries_do_all_that_an_append_does,
            whoever_appends_at_once_gets_each_a_place_without_holes,
            a_thread_is_blocked_once,
            a_block_whose_time_has_come_is_taken_over,
            a_block_whose_time_has_come_is_its_owners_until_somebody_goes_past_it,
            a_block_lasts_as_long_as_it_is_extended,
            an_append_is_stored_during_a_block_and_told_of_it,
            a_finish_ends_its_block,
            a_finish_without_its_block_stores_nothing,
            a_finish_that_is_refused_ends_nothing,
            of_those_who_block_at_once_one_does,
            a_thread_is_created_with_its_session_once,
            a_thread_adopts_a_session_that_is_there,
            whoever_is_no_thread_does_not_exist,
            a_deleted_thread_is_gone_and_its_log_is_not,
            the_thread_with_the_newest_entry_comes_first,
            snapshots_only_move_forward,
            nobody_reaches_a_thread_behind_another_wall,
            an_undone_import_takes_entries_and_snapshots_along,
            an_undone_import_ends_a_compaction_that_saw_it,
            a_thread_goes_with_its_session_and_no_token_comes_twice,
        }
    };
    ($make:expr) => {
        $crate::thread_store_suite!(maybe || Some(($make)()));
    };
}

/// Makes one test of each promise of `Model`. The argument makes what dereferences to a model, which may own
/// a server, or talk to a live one.
#[macro_export]
macro_rules! language_model_suite {
    (maybe $make:expr) => {
        $crate::promises! { $make, language_model:
            it_has_a_name_and_a_window,
            a_longer_text_is_never_fewer_tokens,
            an_answer_says_what_it_took,
            an_answer_is_in_a_form_only_where_one_was_demanded,
            calls_have_names_of_their_own,
            a_dropped_question_disturbs_no_later_one,
            questions_at_once_are_answered_each,
        }
    };
    ($make:expr) => {
        $crate::language_model_suite!(maybe || Some(($make)()));
    };
}
