//! The statements that the agent works from: what holds in the scope, each with a citation of its evidence.
//!
//! Not here: how they are divided into files (`inputs`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{
    Citation, EventId, ExtractionRecord, Observation, ObservationId, Outcome, SessionId,
    StatementDigest, StatementRef,
};
use daybook_text::fence::{one_line, visible, without_citations};

use crate::consolidate::MemoryInput;
use crate::consolidate::merge::{MergedObservation, merge_observations};
use crate::consolidate::note_changes::note_validity;
use crate::consolidate::parsed_texts::ParsedTexts;
use crate::consolidate::persons_words;
use crate::consolidate::phrase::{citations, date};
use crate::consolidate::proposals::CurrentProposals;
use crate::consolidate::supersede::statement_changes;

/// The statements of a memory that hold, the oldest first.
#[derive(Debug, Clone, Default)]
pub struct AgentStatements {
    pub(super) all: Vec<AgentStatement>,
    /// How sessions ended.
    outcomes: BTreeMap<SessionId, Outcome>,
}

/// One of them.
#[derive(Debug, Clone)]
pub(super) struct AgentStatement {
    pub(super) statement: StatementRef,
    pub(super) merged: MergedObservation,
    /// How it is shown.
    pub(super) line: String,
}

impl AgentStatement {
    /// Everything that a line which cites it may name.
    pub(super) fn words(&self) -> String {
        let MergedObservation {
            text,
            context,
            subject,
            ..
        } = &self.merged;
        let further = [context, subject].into_iter().flatten();
        let all = further.fold(text.clone(), |all, more| format!("{all}\n{more}"));
        one_line(&all)
    }

    fn is_cited_by(&self, citation: &Citation) -> bool {
        let mut evidence = self.merged.evidence.iter();
        evidence.any(|it| {
            let mut lines = it.lines.iter();
            let is_within = |line: &u32| {
                let mut ranges = citation.lines.iter();
                ranges.any(|(from, to)| (from..=to).contains(&line))
            };
            it.label == citation.session && lines.any(is_within)
        })
    }

    fn shown_digest(&self) -> StatementDigest {
        let id = EventId::of(&[self.line.as_bytes()]);
        StatementDigest((id.0 & u128::from(u64::MAX)) as u64)
    }
}

impl AgentStatements {
    /// Those of a memory, whose parsed texts are `texts`.
    #[must_use]
    pub fn of(input: &MemoryInput, texts: &mut ParsedTexts) -> Self {
        let proposals = CurrentProposals::of(input);
        let mut merged = merge_observations(input.observations.clone(), &[], texts);
        proposals.merge(&mut merged);
        let mut changes = statement_changes(&merged, texts);
        proposals.supersede(&merged, &mut changes);
        note_validity(&mut merged, &changes);
        proposals.reword(&mut merged);
        persons_words::apply(&input.persons, &mut merged);
        let observations = input.observations.iter().map(|one| (one.id, one));
        let observations: BTreeMap<ObservationId, &Observation> = observations.collect();
        let current = merged.into_iter().filter(|one| one.validity.holds());
        let mut all: Vec<AgentStatement> = current
            .filter_map(|merged| {
                let first = observations.get(merged.observations.first()?)?;
                Some(AgentStatement {
                    statement: StatementRef::of(first),
                    line: shown(input, &merged),
                    merged,
                })
            })
            .collect();
        all.sort_by_key(|one| (one.merged.last_at(), one.statement.id));
        let outcomes = outcomes(&input.extractions);
        Self { all, outcomes }
    }

    /// What the agent is shown of each statement, as a digest.
    #[must_use]
    pub fn examined(&self) -> BTreeMap<ObservationId, StatementDigest> {
        let all = self.all.iter();
        all.map(|one| (one.statement.id, one.shown_digest()))
            .collect()
    }

    /// The statements that a citation names.
    pub(super) fn cited_by(&self, citation: &Citation) -> Vec<&AgentStatement> {
        let all = self.all.iter();
        all.filter(|one| one.is_cited_by(citation)).collect()
    }

    pub(super) fn of_refs(&self, refs: &[StatementRef]) -> Vec<&AgentStatement> {
        let all = self.all.iter();
        all.filter(|one| refs.contains(&one.statement)).collect()
    }

    /// The sessions that ended well among those that statements rest on.
    pub(super) fn successes<'s>(
        &self,
        statements: impl Iterator<Item = &'s AgentStatement>,
    ) -> BTreeSet<SessionId> {
        let sessions = statements.flat_map(|one| one.merged.sessions_of_evidence());
        let ended_well =
            |session: &&SessionId| self.outcomes.get(*session) == Some(&Outcome::Success);
        sessions.filter(ended_well).cloned().collect()
    }
}

/// `- [7f78:L382] preference 2026-01-27 typed: use tabs (the question)`
fn shown(input: &MemoryInput, merged: &MergedObservation) -> String {
    let context = merged.context.as_ref();
    let context = context.map(|context| format!(" ({context})"));
    let subject = merged.subject.as_ref();
    let subject = subject.map(|subject| format!("{subject}: "));
    let words = format!(
        "{}{}{}",
        subject.unwrap_or_default(),
        merged.text,
        context.unwrap_or_default()
    );
    format!(
        "- {} {} {} {}: {}",
        citations(&*merged.evidence),
        merged.kind.as_str(),
        date(merged.last_at(), &input.zone),
        merged.origin.as_str(),
        visible(&one_line(&without_citations(&words)))
    )
}

/// How each session ended, by its last window.
fn outcomes(extractions: &[ExtractionRecord]) -> BTreeMap<SessionId, Outcome> {
    let mut last = BTreeMap::new();
    for record in extractions {
        let outcome = record.digest.as_ref().and_then(|digest| digest.outcome);
        let Some(outcome) = outcome else { continue };
        let place = last
            .entry(&record.session)
            .or_insert((record.from, outcome));
        if place.0 <= record.from {
            *place = (record.from, outcome);
        }
    }
    let last = last.into_iter();
    last.map(|(session, (_, outcome))| (session.clone(), outcome))
        .collect()
}
