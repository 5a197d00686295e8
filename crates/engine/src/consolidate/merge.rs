//! Beliefs: observations that say the same, put together.
//!
//! Two observations of one kind say the same when nearly all their telling words agree. The merge
//! takes them in a fixed order (first said, then id), so that the order of arrival cannot matter.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{Evidence, Observation, ObservationId, ObservationKind, Scope, Timestamp};

use super::phrase::quoted;

/// Share of telling words that two observations must have in common to be one belief.
const SAME: f64 = 0.8;
/// Fewer telling words than this are compared whole.
const FEW: usize = 3;

/// Something believed, with all that it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Belief {
    /// What sort of thing.
    pub kind: ObservationKind,
    /// What is to be known.
    pub text: String,
    /// The text is what the person said, word for word.
    pub quoted: bool,
    /// What makes it understandable.
    pub context: Option<String>,
    /// What a value is of.
    pub subject: Option<String>,
    /// The observations that say so, the first said first.
    pub observations: Vec<ObservationId>,
    /// What they rest on, by time.
    pub evidence: Vec<Evidence>,
}

impl Belief {
    /// What is to be known; in quotes only if a person said it so.
    pub(super) fn words(&self) -> String {
        match self.quoted {
            true => quoted(&self.text),
            false => self.text.clone(),
        }
    }

    /// How many events it was said in.
    pub(super) fn times(&self) -> usize {
        self.evidence
            .iter()
            .map(|evidence| evidence.events.len())
            .sum()
    }

    /// How many sessions it was said in.
    pub(super) fn sessions(&self) -> usize {
        self.evidence
            .iter()
            .map(|e| &e.session)
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// When it was first said.
    pub(super) fn first_at(&self) -> Timestamp {
        self.evidence
            .iter()
            .map(|e| e.at)
            .min()
            .unwrap_or(Timestamp::ZERO)
    }

    /// When it was last said.
    pub(super) fn last_at(&self) -> Timestamp {
        self.evidence
            .iter()
            .map(|e| e.at)
            .max()
            .unwrap_or(Timestamp::ZERO)
    }

    /// The branches that it was said on, without repeats.
    pub(super) fn branches(&self) -> Vec<&str> {
        let named: BTreeSet<&str> = self
            .evidence
            .iter()
            .filter_map(|e| e.branch.as_deref())
            .collect();
        named.into_iter().collect()
    }
}

/// All beliefs that `observations` come to, in the order in which they were first said.
pub(super) fn beliefs(observations: &[Observation]) -> Vec<Belief> {
    let mut ordered: Vec<&Observation> = observations.iter().collect();
    ordered.sort_by_key(|o| (o.first_at(), o.id));
    let mut beliefs: Vec<(BTreeSet<String>, Belief)> = Vec::new();
    for observation in ordered {
        let words = telling_words(&observation.text);
        let same = beliefs.iter_mut().find(|(known, belief)| {
            belief.kind == observation.kind
                && belief.subject == observation.subject
                && say_the_same(known, &words)
        });
        match same {
            Some((_, belief)) => join(belief, observation),
            None => beliefs.push((words, begin(observation))),
        }
    }
    beliefs.into_iter().map(|(_, belief)| belief).collect()
}

/// What was said in more than one scope, as observations of `person`'s own scope.
pub(super) fn promoted(observations: Vec<Observation>, person: &Scope) -> Vec<Observation> {
    let scope_of: BTreeMap<ObservationId, &Scope> = observations
        .iter()
        .map(|observation| (observation.id, &observation.scope))
        .collect();
    let said_widely = |belief: &Belief| {
        let scopes = belief.observations.iter().filter_map(|id| scope_of.get(id));
        scopes.collect::<BTreeSet<_>>().len() > 1
    };
    beliefs(&observations)
        .into_iter()
        .filter(said_widely)
        .map(|belief| Observation {
            id: ObservationId::of(person, belief.kind, &belief.text),
            scope: person.clone(),
            kind: belief.kind,
            text: belief.text,
            context: belief.context,
            subject: belief.subject,
            stated: true,
            quoted: belief.quoted,
            evidence: belief.evidence,
            tokens: String::new(),
        })
        .collect()
}

fn begin(observation: &Observation) -> Belief {
    Belief {
        kind: observation.kind,
        text: observation.text.clone(),
        quoted: observation.quoted,
        context: observation.context.clone(),
        subject: observation.subject.clone(),
        observations: vec![observation.id],
        evidence: observation.evidence.clone(),
    }
}

fn join(belief: &mut Belief, observation: &Observation) {
    belief.observations.push(observation.id);
    belief.evidence.extend(observation.evidence.iter().cloned());
    belief
        .evidence
        .sort_by(|a, b| (a.at, &a.label, &a.events).cmp(&(b.at, &b.label, &b.events)));
    belief.evidence.dedup();
}

fn telling_words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !is_filler(word))
        .map(str::to_lowercase)
        .collect()
}

/// Words that change nothing about what is said. Negations are not among them.
fn is_filler(word: &str) -> bool {
    const FILLERS: [&str; 24] = [
        "a", "an", "the", "to", "of", "in", "on", "for", "and", "is", "are", "it", "this", "that",
        "please", "just", "so", "okay", "ok", "well", "also", "we", "i", "you",
    ];
    FILLERS
        .iter()
        .any(|filler| filler.eq_ignore_ascii_case(word))
}

fn say_the_same(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    if a.len() < FEW || b.len() < FEW {
        return a == b;
    }
    // Numbers and negations turn a sentence around, so they must agree whole.
    let turns = |word: &&String| {
        word.chars().any(|c| c.is_ascii_digit())
            || matches!(
                word.as_str(),
                "not" | "no" | "never" | "don" | "dont" | "without"
            )
    };
    let agree = a.iter().filter(turns).eq(b.iter().filter(turns));
    let both = a.intersection(b).count() as f64;
    agree && both / (a.len() + b.len()) as f64 * 2.0 >= SAME
}
