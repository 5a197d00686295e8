//! What of a model's suggestions is believed.
//!
//! A draft cites events of its window that the model was shown, and names nothing that they do not.
//! What a person wants must be that person's own words, and beyond the moment; what a tool or a web page
//! demands is never anybody's wish. Said and inferred are kept apart. What fails is dropped and counted.
//!
//! Not here: reading answers; whose memory a draft belongs in.

use std::collections::{BTreeSet, HashSet};

use daybook_domain::{Event, ObservationKind as Kind, Origin};

use super::answer::Suggestion;
use super::grounds::Sayings;
use super::guidance::Guidance;
use crate::extract::extractive::bearing::{Bearing, bearing, telling_words};
use crate::extract::{Draft, DropReason, Dropped, Window};
use crate::ingest::redact::Redactor;

/// Most drafts of one window.
const DRAFTS: usize = 40;
/// Most characters of a draft's text.
const TEXT: usize = 600;
/// Most characters of a context; a longer one is cut.
const CONTEXT: usize = 400;
/// Most characters of a subject.
const SUBJECT: usize = 80;
/// Most events that one draft rests on where nobody cited any.
const LOCATED: usize = 3;
/// What of `suggestions` is believed. `shown` are the places of the events that the model was shown.
pub(super) fn believed(
    suggestions: Vec<Suggestion>,
    window: Window<'_>,
    shown: &[usize],
    sayings: &Sayings<'_>,
    guidance: &Guidance,
) -> (Vec<Draft>, Dropped) {
    let court = Court {
        window,
        shown,
        guidance,
        redactor: Redactor::standard(),
        sayings,
    };
    let mut dropped = Dropped::default();
    let mut drafts: Vec<Draft> = Vec::new();
    for suggestion in suggestions {
        let draft = match court.judge(suggestion) {
            Ok(draft) => draft,
            Err(reason) => {
                dropped.count(reason);
                continue;
            }
        };
        let known = drafts.iter().position(|known| says_the_same(known, &draft));
        match known {
            Some(known) => join(&mut drafts[known], draft),
            None if drafts.len() == DRAFTS => dropped.count(DropReason::TooMany),
            None => drafts.push(draft),
        }
    }
    (drafts, dropped)
}

fn says_the_same(one: &Draft, other: &Draft) -> bool {
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

fn join(known: &mut Draft, more: Draft) {
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

/// What everything is judged by.
struct Court<'a> {
    window: Window<'a>,
    shown: &'a [usize],
    guidance: &'a Guidance,
    redactor: Redactor,
    sayings: &'a Sayings<'a>,
}

impl Court<'_> {
    fn judge(&self, suggestion: Suggestion) -> Result<Draft, DropReason> {
        let suggestion = self.tidied(suggestion)?;
        let telling = telling_words(&suggestion.text);
        let cited = self.evidence(&suggestion, &telling)?;
        if self.guidance.forbids(&suggestion) {
            return Err(DropReason::Unwanted);
        }
        let human = self.only(&cited, is_persons);
        let persons = !human.is_empty() && self.sayings.grounds(&human).say(&telling);
        match is_personal(suggestion.kind) {
            true if !persons => return Err(DropReason::NotAPersons),
            true => self.hold_personal(&suggestion, &cited, &human, &telling)?,
            false => self.hold(&suggestion, &cited, persons, &telling)?,
        }
        let said = |told: bool| told && persons;
        Ok(Draft {
            kind: suggestion.kind,
            general: said(suggestion.general),
            quoted: self.is_said(&suggestion.text, &human),
            text: suggestion.text,
            context: suggestion.context,
            subject: suggestion.subject,
            stated: said(suggestion.stated.unwrap_or(true)),
            events: cited.iter().map(|at| self.event(*at).seq).collect(),
            lines: cited.iter().map(|at| self.event(*at).line).collect(),
            at: cited
                .iter()
                .map(|at| self.event(*at).at)
                .min()
                .unwrap_or_default(),
        })
    }

    /// Whether a person said this, word for word.
    fn is_said(&self, text: &str, human: &[usize]) -> bool {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        human
            .iter()
            .any(|at| one_line(&self.event(*at).text).contains(text))
    }

    /// On one line, without secrets, within bounds. Only a value has a subject, and only with one it is
    /// a value.
    fn tidied(&self, suggestion: Suggestion) -> Result<Suggestion, DropReason> {
        let clean = |text: &str| {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.redactor.redact(&line).text.into_owned()
        };
        let text = clean(&suggestion.text);
        if !text.chars().any(char::is_alphanumeric) {
            return Err(DropReason::Unreadable);
        }
        if text.chars().nth(TEXT).is_some() {
            return Err(DropReason::TooLong);
        }
        let context = suggestion
            .context
            .map(|context| shortened(&clean(&context), CONTEXT));
        let subject = suggestion.subject.map(|subject| clean(&subject));
        let subject = subject.filter(|subject| {
            suggestion.kind == Kind::Value
                && !subject.is_empty()
                && subject.chars().count() <= SUBJECT
        });
        let kind = match suggestion.kind {
            Kind::Value if subject.is_none() => Kind::Fact,
            kind => kind,
        };
        Ok(Suggestion {
            kind,
            text,
            context: context.filter(|context| !context.is_empty()),
            subject,
            ..suggestion
        })
    }

    /// Places of the events that a suggestion rests on, in order: those it cites, or where it cites none that the
    /// model could know, those that hold most of its words.
    fn evidence(
        &self,
        suggestion: &Suggestion,
        telling: &HashSet<String>,
    ) -> Result<Vec<usize>, DropReason> {
        let places = suggestion
            .events
            .iter()
            .filter_map(|number| number.checked_sub(1));
        let cited: BTreeSet<usize> = places
            .filter(|at| self.shown.binary_search(at).is_ok())
            .collect();
        let cited = match cited.is_empty() {
            true if suggestion.events.is_empty() => self.located(telling),
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

    fn only(&self, places: &[usize], are: fn(&Event) -> bool) -> Vec<usize> {
        let places = places.iter().copied();
        places.filter(|at| are(self.event(*at))).collect()
    }

    /// Places of the events that together hold half of these words; none if there are none.
    fn located(&self, telling: &HashSet<String>) -> BTreeSet<usize> {
        let mut open: HashSet<&String> = telling.iter().collect();
        let mut found = BTreeSet::new();
        while found.len() < LOCATED && !open.is_empty() {
            let best = self.shown.iter().map(|at| {
                let said = self.sayings.telling(*at);
                let hits = open.iter().filter(|word| said.contains(**word)).count();
                (hits, is_persons(self.event(*at)), *at)
            });
            let Some((hits, _, at)) = best.max().filter(|(hits, ..)| *hits > 0) else {
                break;
            };
            // A further event for one common word more would only blur where it was said.
            if !found.is_empty() && hits < 2 {
                break;
            }
            open.retain(|word| !self.sayings.telling(at).contains(*word));
            found.insert(at);
        }
        let held = telling.len() - open.len();
        match held * 2 >= telling.len() && held >= telling.len().min(2) {
            true => found,
            false => BTreeSet::new(),
        }
    }

    /// What a person wants, in their own words: it names what they name, and is beyond the moment.
    fn hold_personal(
        &self,
        suggestion: &Suggestion,
        cited: &[usize],
        human: &[usize],
        telling: &HashSet<String>,
    ) -> Result<(), DropReason> {
        // What a tool printed is no ground for a wish, not even for the names in it.
        let trusted = self.only(cited, |event| !is_outside(event));
        self.named(suggestion, &trusted)?;
        if suggestion.kind != Kind::Preference {
            return Ok(());
        }
        let about = |at: &&usize| !self.sayings.telling(**at).is_disjoint(telling);
        let again = human.iter().filter(about).count() > 1;
        let lasting = human
            .iter()
            .any(|at| bearing(&self.event(*at).text) != Bearing::Passing);
        match again || lasting {
            true => Ok(()),
            false => Err(DropReason::OneOff),
        }
    }

    /// Anything else: its evidence names what it names, and says some of its words. What tells others
    /// what to do is a person's, or the agent's own decision or cure, and never what a page demands.
    fn hold(
        &self,
        suggestion: &Suggestion,
        cited: &[usize],
        persons: bool,
        telling: &HashSet<String>,
    ) -> Result<(), DropReason> {
        self.named(suggestion, cited)?;
        if !self.sayings.grounds(cited).say(telling) {
            return Err(DropReason::NoEvidence);
        }
        let foreign = suggestion.kind == Kind::Fact || !self.only(cited, is_outside).is_empty();
        if !persons && foreign && bearing(&suggestion.text) == Bearing::Lasting {
            return Err(DropReason::Instruction);
        }
        Ok(())
    }

    fn named(&self, suggestion: &Suggestion, evidence: &[usize]) -> Result<(), DropReason> {
        let grounds = self.sayings.grounds(evidence);
        let told = [
            Some(&suggestion.text),
            suggestion.context.as_ref(),
            suggestion.subject.as_ref(),
        ];
        match told.into_iter().flatten().all(|text| grounds.hold(text)) {
            true => Ok(()),
            false => Err(DropReason::Invented),
        }
    }
}

/// What a person wants, corrects or asks to remember.
fn is_personal(kind: Kind) -> bool {
    match kind {
        Kind::Preference | Kind::Correction | Kind::Note => true,
        Kind::Fact | Kind::Decision | Kind::Value | Kind::Fix | Kind::OpenEnd => false,
    }
}

pub(super) fn is_persons(event: &Event) -> bool {
    event.origin == Origin::Human && !event.sidechain
}

/// Text that nobody in the conversation wrote.
fn is_outside(event: &Event) -> bool {
    matches!(event.origin, Origin::ToolResult | Origin::Harness)
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
