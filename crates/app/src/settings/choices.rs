//! All settings as plain values. They start as a profile's values; each source overrides some of them.
//!
//! Each setting is one field, whether or not it is in force: the numbers of a sweep are beside the
//! switch that turns it on.

use std::time::Duration;

use anyhow::{Result, bail};
use daybook_domain::Tenant;
use daybook_domain::trigger::{Priority, SweepLimits};
use daybook_engine::consolidate::FileLayout;
use daybook_engine::extract::model::{ModelLimits, NO_REPLY};
use daybook_engine::files::curation::CurationLimits;
use daybook_engine::profile::{ContextSource, ExtractorKind, Ledger, Profile, UNBOUNDED};
use serde_json::{Value, json};

use super::chosen_model::NONE;
use super::duration::spelled;

/// The values of `at_cap`.
pub(super) const AT_CAP: [&str; 2] = ["stand_in", "wait"];

/// The value of every setting.
#[derive(Debug, Clone)]
pub(crate) struct SettingChoices {
    pub(super) person: String,
    pub(super) timezone: String,
    pub(super) durability: &'static str,
    pub(super) vectors: String,
    pub(super) store: String,
    pub(super) store_ca: String,
    pub(super) vector_search: &'static str,
    pub(super) tenant: String,
    pub(super) context_tokens: usize,
    pub(super) prompt_recall: Duration,
    pub(super) personal_data: Vec<String>,
    pub(super) prices: Value,
    pub(super) caps: Value,
    pub(super) currency: String,
    pub(super) extract_model: String,
    pub(super) consolidation_model: String,
    pub(super) consolidation_agent: bool,
    pub(super) compact_model: String,
    pub(super) compact_temperature: f64,
    pub(super) compact_max_tokens: usize,
    pub(super) auto_compact: bool,
    pub(super) auto_compact_threshold: usize,
    pub(super) auto_compact_tokens: usize,
    pub(super) providers: Value,
    pub(super) min_remaining_percent: usize,
    pub(super) agents: Value,
    pub(super) mem0: Value,
    pub(super) no_reply_token: String,
    pub(super) inject: bool,
    pub(super) forbid: Vec<String>,
    pub(super) at_cap: &'static str,
    pub(super) window_tokens: usize,
    pub(super) answer_tokens: usize,
    pub(super) keep: Vec<String>,
    pub(super) never_keep: Vec<String>,
    pub(super) never_keep_kinds: Vec<String>,
    pub(super) profile: &'static str,
    pub(super) memory: bool,
    pub(super) memory_off: Vec<String>,
    pub(super) disable_on_external_context: bool,
    pub(super) harmless_mcp_servers: Vec<String>,
    pub(super) teams: Vec<String>,
    pub(super) room_id: String,
    pub(super) thread_id: String,
    pub(super) team: String,
    pub(super) team_reads_member_memory: bool,
    pub(super) curates: bool,
    pub(super) curation: CurationLimits,
    pub(super) extractor: &'static str,
    pub(super) ledger: &'static str,
    pub(super) layout: &'static str,
    pub(super) context_source: &'static str,
    pub(super) urgent: &'static str,
    pub(super) tries: usize,
    pub(super) turn_limit: usize,
    pub(super) sweeps: bool,
    pub(super) sweep: SweepLimits,
    /// The other numbers of the profile. Values with a field of their own above are read from that field.
    pub(super) rest: Profile,
}

/// The values of `urgent`.
pub(super) const URGENT: [&str; 2] = ["high", "normal"];

impl SettingChoices {
    /// The choices of `profile`, for a person with the login name `login`.
    pub(super) fn of(profile: Profile, login: &str) -> Self {
        let (sweep, limits) = (profile.sweep.clone(), ModelLimits::default());
        let urgent = match profile.triggers.urgent {
            Priority::High => URGENT[0],
            Priority::Low | Priority::Normal | Priority::Raised => URGENT[1],
        };
        Self {
            person: login.to_owned(),
            timezone: "local".to_owned(),
            durability: "process",
            vectors: super::vectors::BUILT_IN.to_owned(),
            store: super::SQLITE.to_owned(),
            store_ca: super::SYSTEM.to_owned(),
            vector_search: "exact",
            tenant: Tenant::local().0,
            context_tokens: 1_500,
            prompt_recall: Duration::from_millis(20),
            personal_data: Vec::new(),
            prices: json!({}),
            caps: json!({}),
            currency: "USD".to_owned(),
            extract_model: NONE.to_owned(),
            consolidation_model: NONE.to_owned(),
            consolidation_agent: false,
            compact_model: NONE.to_owned(),
            compact_temperature: 0.3,
            compact_max_tokens: 2_000,
            auto_compact: true,
            auto_compact_threshold: 20,
            auto_compact_tokens: 80_000,
            providers: json!({}),
            min_remaining_percent: 0,
            agents: json!({}),
            mem0: json!({}),
            no_reply_token: NO_REPLY.to_owned(),
            inject: true,
            forbid: Vec::new(),
            at_cap: AT_CAP[0],
            window_tokens: limits.transcript_tokens as usize,
            answer_tokens: limits.answer_tokens as usize,
            keep: Vec::new(),
            never_keep: Vec::new(),
            never_keep_kinds: Vec::new(),
            profile: profile.name,
            memory: true,
            memory_off: Vec::new(),
            disable_on_external_context: false,
            harmless_mcp_servers: Vec::new(),
            teams: Vec::new(),
            room_id: String::new(),
            thread_id: String::new(),
            team: String::new(),
            team_reads_member_memory: false,
            curates: false,
            curation: CurationLimits::default(),
            extractor: profile.extractor.as_str(),
            ledger: profile.ledger.as_str(),
            layout: profile.consolidation.layout.as_str(),
            context_source: profile.context.source.as_str(),
            urgent,
            turn_limit: match profile.triggers.patience.turns {
                u32::MAX => UNBOUNDED,
                turns => usize::try_from(turns).unwrap_or(UNBOUNDED),
            },
            tries: usize::try_from(profile.work.retry.tries).unwrap_or(usize::MAX),
            sweeps: sweep.is_some(),
            sweep: sweep.unwrap_or_default(),
            rest: profile,
        }
    }

    /// The profile with these values.
    ///
    /// # Errors
    /// When two of them contradict each other.
    pub(super) fn profile(&self) -> Result<Profile> {
        let mut profile = self.rest.clone();
        let json = self.ledger == Ledger::Json.as_str();
        profile.ledger = if json { Ledger::Json } else { Ledger::Database };
        let named = self.extractor.parse::<ExtractorKind>().ok();
        profile.extractor = named.unwrap_or(profile.extractor);
        let layout = self.layout.parse::<FileLayout>().ok();
        profile.consolidation.layout = layout.unwrap_or(profile.consolidation.layout);
        let source = self.context_source.parse::<ContextSource>().ok();
        profile.context.source = source.unwrap_or(profile.context.source);
        let high = self.urgent == URGENT[0];
        profile.triggers.urgent = if high {
            Priority::High
        } else {
            Priority::Normal
        };
        profile.triggers.patience.turns = u32::try_from(self.turn_limit).unwrap_or(u32::MAX);
        profile.sweep = self.sweeps.then(|| self.sweep.clone());
        let retry = &mut profile.work.retry;
        retry.tries = u32::try_from(self.tries).unwrap_or(u32::MAX);
        if retry.first > retry.most {
            bail!(
                "retry_first = \"{}\" is longer than retry_most = \"{}\", the longest wait; \
                 set one of them so that it is not",
                spelled(retry.first),
                spelled(retry.most),
            );
        }
        Ok(profile)
    }
}
