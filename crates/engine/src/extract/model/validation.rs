//! Validates a model's suggestions and turns the sound ones into drafts.
//!
//! A draft cites events of its window that the model was shown, and names nothing that they do not name.
//! A person's preference must rest on that person's own words, beyond a single order; an instruction of a tool or
//! a web page is never one. Stated and inferred are kept apart. What fails is dropped and counted.
//!
//! Not here: parsing answers; the scope that a draft belongs in.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};

use daybook_domain::quarantine::QuarantineReason;
use daybook_domain::{Event, ObservationKind as Kind, Origin};

use super::answer::Suggestion;
use super::echo::MemoryLines;
use super::evidence::{EvidenceIndex, EvidenceSet};
use super::guidance::Guidance;
use crate::extract::extractive::text_analysis::{self, Permanence, permanence, significant_words};
use crate::extract::{DropCounts, DropReason, ObservationDraft, Window};
use daybook_text::instruction::is_instruction;
use daybook_text::pasted::{split, typed};
use daybook_text::redact::Redactor;

/// Most drafts of one window that wait for a person.
const MAX_QUARANTINED: usize = 16;
/// Most drafts of one window.
const MAX_DRAFTS: usize = 40;
/// Most characters of a draft's text.
pub(crate) const MAX_TEXT: usize = 600;
/// Most characters of a context; a longer one is cut.
const MAX_CONTEXT: usize = 400;
/// Most characters of a subject.
const MAX_SUBJECT: usize = 80;
/// Most events that one draft rests on where the suggestion cited none.
const MAX_LOCATED: usize = 3;
/// Most lines from outside that suggestions are compared with.
const MAX_OUTSIDE_LINES: usize = 4_000;
/// Most words of a value: a sentence is none.
const MAX_VALUE_WORDS: usize = 8;

/// Validates `suggestions` and merges equal ones. `shown` are the places of the events that the model was shown.
pub(super) fn validate_all(
    suggestions: Vec<Suggestion>,
    window: Window<'_>,
    shown: &[usize],
    index: &EvidenceIndex<'_>,
    guidance: &Guidance,
) -> ValidatedDrafts {
    let validator = DraftValidator {
        window,
        shown,
        guidance,
        redactor: Redactor::current(),
        index,
        outside_lines: OnceCell::new(),
        memory_lines: OnceCell::new(),
    };
    let mut validated = ValidatedDrafts::default();
    for suggestion in suggestions {
        match validator.validate(suggestion.clone()) {
            Ok(draft) => validated.add(draft),
            Err(reason) => {
                validated.dropped.increment(reason);
                validated.quarantine(validator.quarantined(suggestion, reason));
            }
        }
    }
    validated
}

/// What became of the suggestions about one window.
#[derive(Debug, Default)]
pub(super) struct ValidatedDrafts {
    pub(super) drafts: Vec<ObservationDraft>,
    /// Those that wait for a person; counted in `dropped`, too.
    pub(super) quarantined: Vec<(ObservationDraft, QuarantineReason)>,
    pub(super) dropped: DropCounts,
}

impl ValidatedDrafts {
    fn add(&mut self, draft: ObservationDraft) {
        let mut known = self.drafts.iter();
        match known.position(|known| has_same_content(known, &draft)) {
            Some(known) => merge_evidence(&mut self.drafts[known], draft),
            None if self.drafts.len() == MAX_DRAFTS => {
                self.dropped.increment(DropReason::TooMany);
            }
            None => self.drafts.push(draft),
        }
    }

    fn quarantine(&mut self, draft: Option<(ObservationDraft, QuarantineReason)>) {
        let Some((draft, reason)) = draft else {
            return;
        };
        let mut known = self.quarantined.iter();
        match known.position(|(known, _)| has_same_content(known, &draft)) {
            Some(known) => merge_evidence(&mut self.quarantined[known].0, draft),
            None if self.quarantined.len() == MAX_QUARANTINED => {}
            None => self.quarantined.push((draft, reason)),
        }
    }
}

fn has_same_content(one: &ObservationDraft, other: &ObservationDraft) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words
            .filter(|w| !w.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    (one.kind, &one.subject) == (other.kind, &other.subject)
        && words(&one.text) == words(&other.text)
}

fn merge_evidence(known: &mut ObservationDraft, more: ObservationDraft) {
    let mut on: BTreeSet<_> = known
        .events
        .iter()
        .copied()
        .zip(known.lines.iter().copied())
        .collect();
    on.extend(more.events.into_iter().zip(more.lines));
    (known.events, known.lines) = on.into_iter().unzip();
    known.stated |= more.stated;
    known.general |= more.general;
    known.at = known.at.min(more.at);
}

/// Validates the suggestions about one window.
struct DraftValidator<'a> {
    window: Window<'a>,
    shown: &'a [usize],
    guidance: &'a Guidance,
    redactor: Redactor,
    index: &'a EvidenceIndex<'a>,
    /// The significant words of each line that neither a person typed nor the agent wrote.
    outside_lines: OnceCell<Vec<HashSet<String>>>,
    memory_lines: OnceCell<MemoryLines>,
}

impl DraftValidator<'_> {
    fn validate(&self, suggestion: Suggestion) -> Result<ObservationDraft, DropReason> {
        let suggestion = self.normalized(suggestion)?;
        let significant_words = significant_words(&suggestion.text);
        let cited = self.evidence(&suggestion, &significant_words)?;
        if self.guidance.forbids(&suggestion) {
            return Err(DropReason::Unwanted);
        }
        let human = self.filter_places(&cited, is_persons);
        let own = self.index.typed_evidence(&human);
        let is_named = !human.is_empty() && own.supports(&suggestion.text);
        let overlaps = !human.is_empty() && own.overlaps(&significant_words);
        let said_again = own.count_overlap(&significant_words);
        if said_again * 5 < significant_words.len() * 3
            && self.repeats_memory(&suggestion.text, &significant_words)
        {
            return Err(DropReason::Repeated);
        }
        let is_order = is_personal(suggestion.kind)
            || suggestion.kind == Kind::Decision
            || is_instruction(&suggestion.text);
        let is_outsiders = self.repeats_outsider(&significant_words, said_again);
        if is_order && is_outsiders {
            return Err(DropReason::Instruction);
        }
        let is_stated = overlaps && !is_outsiders && (is_named || is_order);
        match is_personal(suggestion.kind) {
            true if !is_stated => return Err(DropReason::NotAPersons),
            true => self.check_personal(&suggestion, &cited, &human, &significant_words)?,
            false => self.check_impersonal(&suggestion, &cited, is_stated, &significant_words)?,
        }
        let suggestion = self.without_foreign_value(suggestion, &cited);
        Ok(self.draft(suggestion, &cited, is_stated))
    }

    /// The draft of a suggestion that was dropped because of where it came from, if its evidence names all that it
    /// names: a person may still accept it.
    fn quarantined(
        &self,
        suggestion: Suggestion,
        reason: DropReason,
    ) -> Option<(ObservationDraft, QuarantineReason)> {
        let reason = match reason {
            DropReason::Instruction => QuarantineReason::FromOutside,
            DropReason::NotAPersons => QuarantineReason::NotAPersons,
            DropReason::Unreadable
            | DropReason::CutOff
            | DropReason::TooMany
            | DropReason::TooLong
            | DropReason::NoEvidence
            | DropReason::Invented
            | DropReason::OneOff
            | DropReason::Unwanted
            | DropReason::Repeated => return None,
        };
        let suggestion = self.normalized(suggestion).ok()?;
        let cited = self
            .evidence(&suggestion, &significant_words(&suggestion.text))
            .ok()?;
        self.check_names(&suggestion, self.index.evidence(&cited))
            .ok()?;
        Some((self.draft(suggestion, &cited, false), reason))
    }

    fn draft(&self, suggestion: Suggestion, cited: &[usize], is_stated: bool) -> ObservationDraft {
        let human = self.filter_places(cited, is_persons);
        let if_stated = |flag: bool| flag && is_stated;
        ObservationDraft {
            kind: suggestion.kind,
            general: if_stated(suggestion.general),
            quoted: self.is_quoted(&suggestion.text, &human),
            text: suggestion.text,
            context: suggestion.context,
            subject: suggestion.subject,
            stated: if_stated(suggestion.stated.unwrap_or(true)),
            events: cited.iter().map(|at| self.event(*at).seq).collect(),
            lines: cited.iter().map(|at| self.event(*at).line).collect(),
            at: cited
                .iter()
                .map(|at| self.event(*at).at)
                .min()
                .unwrap_or_default(),
        }
    }

    /// Whether a human message contains this text word for word.
    fn is_quoted(&self, text: &str, human: &[usize]) -> bool {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        human
            .iter()
            .any(|at| one_line(&typed(&self.event(*at).text)).contains(text))
    }

    /// The suggestion on one line, redacted and within bounds. Only a value keeps its subject, and a value without
    /// one, or as long as a sentence, becomes a fact.
    fn normalized(&self, suggestion: Suggestion) -> Result<Suggestion, DropReason> {
        let clean = |text: &str| {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.redactor.redact(&line).text.into_owned()
        };
        let text = clean(&suggestion.text);
        if !text.chars().any(char::is_alphanumeric) {
            return Err(DropReason::Unreadable);
        }
        if text.chars().nth(MAX_TEXT).is_some() {
            return Err(DropReason::TooLong);
        }
        let context = suggestion
            .context
            .map(|context| shortened(&clean(&context), MAX_CONTEXT));
        let subject = suggestion.subject.map(|subject| clean(&subject));
        let subject = subject.filter(|subject| {
            suggestion.kind == Kind::Value
                && !subject.is_empty()
                && subject.chars().count() <= MAX_SUBJECT
        });
        let is_sentence = text.split(' ').count() > MAX_VALUE_WORDS;
        let kind = match suggestion.kind {
            Kind::Value if subject.is_none() || is_sentence => Kind::Fact,
            kind => kind,
        };
        let subject = subject.filter(|_| kind == Kind::Value);
        Ok(Suggestion {
            kind,
            text,
            context: context.filter(|context| !context.is_empty()),
            subject,
            ..suggestion
        })
    }

    /// Places of the events that a suggestion rests on, in order: those that it cites, or, where it cites none,
    /// those that hold most of its words.
    fn evidence(
        &self,
        suggestion: &Suggestion,
        significant_words: &HashSet<String>,
    ) -> Result<Vec<usize>, DropReason> {
        let places = suggestion
            .events
            .iter()
            .filter_map(|number| number.checked_sub(1));
        let cited: BTreeSet<usize> = places
            .filter(|at| self.shown.binary_search(at).is_ok())
            .collect();
        let cited = match cited.is_empty() {
            true if suggestion.events.is_empty() => self.locate_evidence(significant_words),
            _ => cited,
        };
        match cited.is_empty() {
            true => Err(DropReason::NoEvidence),
            false => Ok(cited.into_iter().collect()),
        }
    }

    fn event(&self, at: usize) -> &Event {
        &self.window.events[at]
    }

    fn filter_places(&self, places: &[usize], are: fn(&Event) -> bool) -> Vec<usize> {
        let places = places.iter().copied();
        places.filter(|at| are(self.event(*at))).collect()
    }

    /// Places of at most [`MAX_LOCATED`] events that together hold half of these words; empty if there are none.
    fn locate_evidence(&self, significant_words: &HashSet<String>) -> BTreeSet<usize> {
        let mut open: HashSet<&String> = significant_words.iter().collect();
        let mut found = BTreeSet::new();
        while found.len() < MAX_LOCATED && !open.is_empty() {
            let best = self.shown.iter().map(|at| {
                let words = self.index.significant_words(*at);
                let hits = open.iter().filter(|word| words.contains(**word)).count();
                (hits, is_persons(self.event(*at)), *at)
            });
            let Some((hits, _, at)) = best.max().filter(|(hits, ..)| *hits > 0) else {
                break;
            };
            // A further event for just one more word would only blur the citation.
            if !found.is_empty() && hits < 2 {
                break;
            }
            open.retain(|word| !self.index.significant_words(at).contains(*word));
            found.insert(at);
        }
        let held = significant_words.len() - open.len();
        match held * 2 >= significant_words.len() && held >= significant_words.len().min(2) {
            true => found,
            false => BTreeSet::new(),
        }
    }

    /// Checks a person's correction, preference or note: people's messages and the agent's name all that it names,
    /// and a preference holds beyond a single order.
    fn check_personal(
        &self,
        suggestion: &Suggestion,
        cited: &[usize],
        human: &[usize],
        significant_words: &HashSet<String>,
    ) -> Result<(), DropReason> {
        // A tool's output is no evidence for a person's wish, not even for the names in it.
        let trusted = self.filter_places(cited, |event| !is_outside(event));
        self.check_names(suggestion, self.index.typed_evidence(&trusted))?;
        if suggestion.kind != Kind::Preference {
            return Ok(());
        }
        let is_about = |at: &&usize| {
            !self
                .index
                .significant_words(**at)
                .is_disjoint(significant_words)
        };
        let is_repeated = human.iter().filter(is_about).count() > 1;
        let is_lasting = human
            .iter()
            .any(|at| permanence(&typed(&self.event(*at).text)) != Permanence::Passing);
        match is_repeated || is_lasting {
            true => Ok(()),
            false => Err(DropReason::OneOff),
        }
    }

    /// Checks any other kind: the evidence names all that it names and shares some of its words. A lasting
    /// instruction must come from a person, or be the agent's own decision or fix; never from a tool's output.
    fn check_impersonal(
        &self,
        suggestion: &Suggestion,
        cited: &[usize],
        is_stated: bool,
        significant_words: &HashSet<String>,
    ) -> Result<(), DropReason> {
        self.check_names(suggestion, self.index.evidence(cited))?;
        if suggestion.kind == Kind::Decision {
            self.check_decided(suggestion, cited, significant_words)?;
        }
        if !self.index.evidence(cited).overlaps(significant_words) {
            return Err(DropReason::NoEvidence);
        }
        let may_be_foreign =
            suggestion.kind == Kind::Fact || !self.filter_places(cited, is_outside).is_empty();
        if !is_stated && may_be_foreign && permanence(&suggestion.text) == Permanence::Lasting {
            return Err(DropReason::Instruction);
        }
        Ok(())
    }

    /// Checks that a decision is in a person's typed text or in the agent's prose: calls and outputs decide nothing.
    fn check_decided(
        &self,
        suggestion: &Suggestion,
        cited: &[usize],
        significant_words: &HashSet<String>,
    ) -> Result<(), DropReason> {
        let said = |event: &Event| is_persons(event) || event.origin == Origin::Assistant;
        let said = self.filter_places(cited, said);
        let evidence = self.index.typed_evidence(&said);
        match !said.is_empty()
            && evidence.supports(&suggestion.text)
            && evidence.overlaps(significant_words)
        {
            true => Ok(()),
            false => Err(DropReason::NotAPersons),
        }
    }

    /// Whether one line that neither a person typed nor the agent wrote holds most of these words, and more of them than
    /// the person's own messages do, which hold `own`. A model that repeats the line has heard it there, whichever
    /// events it cites.
    fn repeats_outsider(&self, significant_words: &HashSet<String>, own: usize) -> bool {
        let lines = self.outside_lines.get_or_init(|| {
            let outside = self.shown.iter().map(|at| outside_text(self.event(*at)));
            let lines = outside.flat_map(|text| {
                // A line whole, and each sentence of it: the words of one are not lost among those of another.
                let sentences = text
                    .split(['\n', '!', '?'])
                    .flat_map(|line| line.split(". "));
                let parts = text.lines().chain(sentences);
                parts
                    .map(text_analysis::significant_words)
                    .collect::<Vec<_>>()
            });
            let lines = lines.filter(|words| words.len() >= 2);
            lines.take(MAX_OUTSIDE_LINES).collect()
        });
        lines.iter().any(|line| {
            let shared = line.intersection(significant_words).count();
            shared >= 2 && shared > own && shared * 5 >= significant_words.len() * 3
        })
    }

    /// Whether memory holds this already. Agents say again what they were given, and that is no further evidence.
    fn repeats_memory(&self, text: &str, significant_words: &HashSet<String>) -> bool {
        let lines = self
            .memory_lines
            .get_or_init(|| MemoryLines::of(self.window));
        lines.hold(text, significant_words)
    }

    /// A value that only others named is a fact: neither the person nor the agent set it.
    fn without_foreign_value(&self, suggestion: Suggestion, cited: &[usize]) -> Suggestion {
        let trusted = self.filter_places(cited, |event| !is_outside(event));
        let evidence = self.index.typed_evidence(&trusted);
        let is_set = !trusted.is_empty() && evidence.supports(&suggestion.text);
        match suggestion.kind == Kind::Value && !is_set {
            true => Suggestion {
                kind: Kind::Fact,
                subject: None,
                ..suggestion
            },
            false => suggestion,
        }
    }

    fn check_names(
        &self,
        suggestion: &Suggestion,
        evidence: EvidenceSet<'_>,
    ) -> Result<(), DropReason> {
        let texts = [
            Some(&suggestion.text),
            suggestion.context.as_ref(),
            suggestion.subject.as_ref(),
        ];
        match texts
            .into_iter()
            .flatten()
            .all(|text| evidence.supports(text))
        {
            true => Ok(()),
            false => Err(DropReason::Invented),
        }
    }
}

/// Whether this kind expresses what a person wants, corrects or asks to remember.
fn is_personal(kind: Kind) -> bool {
    match kind {
        Kind::Preference | Kind::Correction | Kind::Note => true,
        Kind::Fact | Kind::Decision | Kind::Value | Kind::Fix | Kind::OpenEnd => false,
    }
}

/// Whether a person wrote the event in the main conversation.
pub(super) fn is_persons(event: &Event) -> bool {
    event.origin == Origin::Human && !event.sidechain
}

/// Whether the event's text comes from neither a person nor the agent.
fn is_outside(event: &Event) -> bool {
    matches!(event.origin, Origin::ToolResult | Origin::Harness)
}

/// What of an event neither a person typed nor the agent wrote.
fn outside_text(event: &Event) -> Cow<'_, str> {
    match event.origin {
        Origin::Human if event.sidechain => Cow::Borrowed(&event.text),
        Origin::Human => Cow::Owned(split(&event.text).1),
        Origin::ToolResult | Origin::Harness | Origin::Synthetic => Cow::Borrowed(&event.text),
        Origin::Assistant | Origin::ToolCall | Origin::Recalled | Origin::Retraction => {
            Cow::Borrowed("")
        }
    }
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
#[path = "validation_tests.rs"]
mod tests;
