//! Merges observations with the same content.
//!
//! The merge
//! processes them in a fixed order (time of first evidence, then id), so that the order of arrival cannot matter.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use daybook_domain::{
    Evidence, Observation, ObservationId, ObservationKind, ObservationOrigin, Scope, SessionId,
    Timestamp, Use,
};
use daybook_text::fence::without_citations;

use super::content::{Content, ContentWord, WordMap, WordsOutline, may_be_same};
use super::parsed_texts::ParsedTexts;
use super::phrase::quoted;
use super::usage::{UsageSources, UsesByEvent};
use super::validity::Validity;

/// One or more observations with the same content, with their evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MergedObservation {
    /// Its kind.
    pub kind: ObservationKind,
    /// The text of the first observation.
    pub text: String,
    /// The text is a person's message, word for word.
    pub quoted: bool,
    /// What makes it understandable.
    pub context: Option<String>,
    /// The thing whose value it is, of a value.
    pub subject: Option<String>,
    /// The most trusted origin of the merged observations.
    pub origin: ObservationOrigin,
    /// The merged observations, by time of first evidence.
    pub observations: Vec<ObservationId>,
    /// Their evidence, by time. Shared with the past of what took their place.
    pub evidence: Arc<Vec<Evidence>>,
    /// The uses of the evidence.
    pub usage: UsageSources,
    /// How long it holds.
    pub validity: Validity,
    /// A person pinned one of the observations.
    pub pinned: bool,
}

impl MergedObservation {
    /// The text, in quotes if it is a person's own words.
    pub(super) fn words(&self) -> String {
        match self.quoted {
            true => quoted(&self.text),
            false => self.text.clone(),
        }
    }

    /// Number of events in the evidence.
    pub(super) fn times(&self) -> usize {
        self.evidence
            .iter()
            .map(|evidence| evidence.events.len())
            .sum()
    }

    /// Number of sessions in the evidence.
    pub(super) fn sessions(&self) -> usize {
        self.sessions_of_evidence().len()
    }

    /// The sessions in the evidence.
    pub(super) fn sessions_of_evidence(&self) -> BTreeSet<&SessionId> {
        self.evidence.iter().map(|e| &e.session).collect()
    }

    /// Time of the first evidence.
    pub(super) fn first_at(&self) -> Timestamp {
        self.evidence
            .iter()
            .map(|e| e.at)
            .min()
            .unwrap_or(Timestamp::ZERO)
    }

    /// Time of the last evidence.
    pub(super) fn last_at(&self) -> Timestamp {
        self.evidence
            .iter()
            .map(|e| e.at)
            .max()
            .unwrap_or(Timestamp::ZERO)
    }

    /// The branches in the evidence, without repeats.
    pub(super) fn branches(&self) -> Vec<&str> {
        let named: BTreeSet<&str> = self
            .evidence
            .iter()
            .filter_map(|e| e.branch.as_deref())
            .collect();
        named.into_iter().collect()
    }
}

/// Merges `observations` with the same content, and adds the `uses` of their evidence. In the order of first evidence.
pub(super) fn merge_observations(
    mut observations: Vec<Observation>,
    uses: &[Use],
    texts: &mut ParsedTexts,
) -> Vec<MergedObservation> {
    observations.sort_by_key(|o| (o.first_at(), o.id));
    let mut known = KnownContents::default();
    let mut merged_observations: Vec<MergedObservation> = Vec::new();
    for observation in observations {
        let content = texts.content(&observation.text);
        let group = known.group(observation.kind, observation.subject.as_deref(), &content);
        match known.find(group, &content) {
            Some(at) => add_observation(&mut merged_observations[at], observation),
            None => {
                let merged = new_merged(observation);
                let group = match &merged.subject {
                    // It may have lost a citation.
                    Some(subject) => known.group(merged.kind, Some(subject), &content),
                    None => group,
                };
                known.add(group, content);
                merged_observations.push(merged);
            }
        }
    }
    let uses = UsesByEvent::new(uses);
    for merged in &mut merged_observations {
        merged.usage = uses.of(&merged.evidence);
    }
    merged_observations
}

/// What two observations of the same content agree in whatever their words are: kind, subject, whether it denies, and
/// numbers.
#[derive(PartialEq, Eq, Hash)]
struct ContentGroup {
    kind: ObservationKind,
    subject: Option<String>,
    denies: bool,
    numbers: Vec<ContentWord>,
}

/// The contents of merged observations, by group and word, so that only those that share both are compared.
#[derive(Default)]
struct KnownContents {
    contents: Vec<Arc<Content>>,
    /// Their words in short, for what is asked of most of them.
    outlines: Vec<WordsOutline>,
    groups: HashMap<ContentGroup, usize>,
    by_word: WordMap<(usize, ContentWord), Vec<u32>>,
}

impl KnownContents {
    /// The number of a content's group.
    fn group(&mut self, kind: ObservationKind, subject: Option<&str>, content: &Content) -> usize {
        let next = self.groups.len();
        let group = ContentGroup {
            kind,
            subject: subject.map(str::to_owned),
            denies: content.denies,
            numbers: content.numbers().collect(),
        };
        *self.groups.entry(group).or_insert(next)
    }

    /// The first known content of the group that is the same.
    fn find(&self, group: usize, content: &Content) -> Option<usize> {
        // Two contents that agree in four fifths of their words share one of any two fifths of them: the rarest.
        let words = &content.words;
        let mut of_word: Vec<&[u32]> = words
            .iter()
            .map(|word| {
                self.by_word
                    .get(&(group, word))
                    .map_or(&[][..], Vec::as_slice)
            })
            .collect();
        of_word.sort_by_key(|known| known.len());
        of_word.truncate(words.len() * 2 / 5 + 1);
        let outline = words.outline();
        let candidates = of_word.into_iter().flatten();
        let candidates = candidates.map(|at| *at as usize);
        let mut candidates: Vec<usize> = candidates
            .filter(|at| may_be_same(self.outlines[*at], outline))
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        let mut same = candidates.into_iter();
        same.find(|at| self.contents[*at].is_same(content))
    }

    fn add(&mut self, group: usize, content: Arc<Content>) {
        let at = u32::try_from(self.contents.len()).expect("a scope has fewer observations");
        for word in content.words.iter() {
            self.by_word.entry((group, word)).or_default().push(at);
        }
        self.outlines.push(content.words.outline());
        self.contents.push(content);
    }
}

/// Observations that occur in more than one scope, as observations of `person`'s own scope.
pub(super) fn promoted(
    observations: Vec<Observation>,
    person: &Scope,
    texts: &mut ParsedTexts,
) -> Vec<Observation> {
    let scope_of: BTreeMap<ObservationId, Scope> = observations
        .iter()
        .map(|observation| (observation.id, observation.scope.clone()))
        .collect();
    let is_in_several_scopes = |merged: &MergedObservation| {
        let scopes = merged.observations.iter().filter_map(|id| scope_of.get(id));
        scopes.collect::<BTreeSet<_>>().len() > 1
    };
    merge_observations(observations, &[], texts)
        .into_iter()
        .filter(is_in_several_scopes)
        .map(|merged| Observation {
            id: ObservationId::of(person, merged.kind, &merged.text),
            scope: person.clone(),
            kind: merged.kind,
            text: merged.text,
            context: merged.context,
            subject: merged.subject,
            stated: true,
            origin: ObservationOrigin::Typed,
            quoted: merged.quoted,
            evidence: Arc::unwrap_or_clone(merged.evidence),
            tokens: String::new(),
        })
        .collect()
}

fn new_merged(observation: Observation) -> MergedObservation {
    MergedObservation {
        kind: observation.kind,
        text: uncited(observation.text),
        quoted: observation.quoted,
        context: observation.context.map(uncited),
        subject: observation.subject.map(uncited),
        origin: observation.origin,
        observations: vec![observation.id],
        evidence: Arc::new(observation.evidence),
        usage: UsageSources::default(),
        validity: Validity::default(),
        pinned: false,
    }
}

/// A text that cites nothing.
fn uncited(text: String) -> String {
    let changed = match without_citations(&text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(changed) => Some(changed),
    };
    changed.unwrap_or(text)
}

fn add_observation(merged: &mut MergedObservation, observation: Observation) {
    merged.observations.push(observation.id);
    merged.origin = merged.origin.max(observation.origin);
    let evidence = Arc::make_mut(&mut merged.evidence);
    evidence.extend(observation.evidence);
    evidence.sort_by(|a, b| (a.at, &a.label, &a.events).cmp(&(b.at, &b.label, &b.events)));
    evidence.dedup();
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Contents with the same content are found through the words that they share, whatever the others are.
        #[test]
        fn the_index_finds_what_a_comparison_with_all_finds(
            texts in vec("([a-h]{3} |not |1 |2 |before ){1,9}", 0..24),
            text in "([a-h]{3} |not |1 |2 |before ){1,9}",
        ) {
            let contents: Vec<Content> = texts.iter().map(|text| Content::of(text)).collect();
            let content = Content::of(&text);
            let mut known = KnownContents::default();
            for content in &contents {
                let group = known.group(ObservationKind::Fact, None, content);
                known.add(group, Arc::new(content.clone()));
            }
            let compared = contents.iter().position(|known| known.is_same(&content));
            let group = known.group(ObservationKind::Fact, None, &content);
            prop_assert_eq!(known.find(group, &content), compared);
        }
    }
}
