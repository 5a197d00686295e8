//! The words of enums: databases, memory files, requests and metrics hold them, so they never change.

use std::fmt::Debug;
use std::str::FromStr;

use strum::VariantArray;

use crate::event::{Origin, ToolStatus};
use crate::extraction::Outcome;
use crate::failure::FailureClass;
use crate::ids::{JobKind, ScopeKind};
use crate::index::MemoryLayer;
use crate::observation::ObservationKind;
use crate::place::RemoteSource;
use crate::pollution::PollutionCause;
use crate::session::SessionKind;
use crate::spend::{Payer, Period, SpendBy};
use crate::tally::TallyKind;
use crate::tree::ObjectKind;
use crate::trigger::Trigger;
use crate::trust::{ObservationOrigin, Trust};
use crate::uses::UseKind;
use crate::working::{BlockingReason, ChunkType, WorkingFlowSubType};

/// Asserts the words of all variants, in their order, separated by a blank.
#[track_caller]
fn check_words<T: Copy>(variants: &[T], as_str: fn(T) -> &'static str, expected: &str) {
    let words: Vec<_> = variants.iter().map(|&variant| as_str(variant)).collect();
    assert_eq!(words.join(" "), expected);
}

/// Asserts the same, and that each word, and nothing else, is read back.
#[track_caller]
fn check<T: Copy + Debug + PartialEq + FromStr>(
    variants: &[T],
    as_str: fn(T) -> &'static str,
    expected: &str,
) {
    check_words(variants, as_str, expected);
    for &variant in variants {
        let word = as_str(variant);
        assert_eq!(word.parse().ok(), Some(variant));
        for other in [format!(" {word}"), format!("{word}s"), word[1..].to_owned()] {
            assert!(other.parse::<T>().is_err(), "{other:?}");
        }
        let other_case = match word.to_uppercase() == word {
            true => word.to_lowercase(),
            false => word.to_uppercase(),
        };
        assert!(other_case.parse::<T>().is_err(), "{other_case}");
    }
}

#[test]
fn the_words_of_enums_stay() {
    check(
        &ScopeKind::ALL,
        ScopeKind::as_str,
        "project user agent team room",
    );
    check(
        JobKind::VARIANTS,
        JobKind::as_str,
        "extract consolidate redact",
    );
    check(
        ObservationOrigin::VARIANTS,
        ObservationOrigin::as_str,
        "unknown external tool pasted concluded typed",
    );
    check(Trust::VARIANTS, Trust::as_str, "untrusted low medium full");
    check(
        PollutionCause::VARIANTS,
        PollutionCause::as_str,
        "web tool_search mcp_server external_output",
    );
    check(
        FailureClass::VARIANTS,
        FailureClass::as_str,
        "outage content vanished cancelled at_cap",
    );
    check(
        TallyKind::VARIANTS,
        TallyKind::as_str,
        "claimed finished nothing partly gave_up cancelled lost failed_outage failed_content \
         failed_vanished failed_cancelled failed_at_cap",
    );
    check(
        Origin::VARIANTS,
        Origin::as_str,
        "human assistant tool_call tool_result harness synthetic recalled retraction",
    );
    check(
        ToolStatus::VARIANTS,
        ToolStatus::as_str,
        "succeeded failed refused",
    );
    check(
        &ObservationKind::ALL,
        ObservationKind::as_str,
        "open_end note correction preference decision value fix fact",
    );
    check(
        SessionKind::VARIANTS,
        SessionKind::as_str,
        "root sub_agent ephemeral memory_agent",
    );
    check(UseKind::VARIANTS, UseKind::as_str, "shown cited");
    check(ObjectKind::VARIANTS, ObjectKind::as_str, "blob tree commit");
    check(
        RemoteSource::VARIANTS,
        RemoteSource::as_str,
        "host pull_request command output",
    );
    check(
        MemoryLayer::VARIANTS,
        MemoryLayer::as_str,
        "entry observation event",
    );
    check_words(
        Outcome::VARIANTS,
        Outcome::as_str,
        "success partial fail uncertain",
    );
    check(
        Trigger::VARIANTS,
        Trigger::as_str,
        "turn sleep end compaction reset prompt start",
    );
    check(Period::VARIANTS, Period::as_str, "run day month");
    check_words(Payer::VARIANTS, Payer::as_str, "tenant user");
    check(
        SpendBy::VARIANTS,
        SpendBy::as_str,
        "day month model stage user scope session",
    );
    check(
        ChunkType::VARIANTS,
        ChunkType::as_str,
        "SYSTEM AGENT WORKFLOW DELEGATION ENVIRONMENT WORKING_FLOW OUTPUT",
    );
    check_words(
        WorkingFlowSubType::VARIANTS,
        WorkingFlowSubType::as_str,
        "COMPACTED USER THINKING RESPONSE AGENT_ACTION ACTION_RESPONSE",
    );
    check(
        BlockingReason::VARIANTS,
        BlockingReason::as_str,
        "COMPACTING PAUSED",
    );
}
