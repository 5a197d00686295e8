//! Places what holds before what it ended, and says of each outdated answer what took its place.
//!
//! Not here: which observations no longer hold (`consolidate::supersede`).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::index::MemoryLayer;
use daybook_domain::{
    Citation, EventSeq, KnownObservation, Observation, ObservationId, ObservationOrigin, Origin,
    Scope, SessionId, StoreError, SupersededObservation, Supersession, SupersessionReason,
    Timestamp,
};

use daybook_text::tokens::index_text;

use super::{RankedAnswer, Search};
use crate::consolidate::PersonsStatement;

/// Most changes that are followed from one outdated statement to the one that holds.
const CHAIN: usize = 16;

/// Answers whose words are compared with each other.
const COMPARED: usize = 3;
/// Longest text that is compared, in bytes: longer ones say many things.
const STATEMENT: usize = 300;

type EventKey = (SessionId, EventSeq);

/// What no longer held, by the events that it rests on.
type EndedByEvent = BTreeMap<EventKey, Vec<SupersededObservation>>;

/// Observations that chains of changes lead through, with what ended them.
type KnownObservations = BTreeMap<(Scope, ObservationId), KnownObservation>;

/// What took the place of an outdated answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Replacement {
    /// The statement that holds.
    pub text: String,
    /// Its citation, which `show` takes.
    pub citation: Option<String>,
    /// Why the answer no longer holds.
    pub reason: SupersessionReason,
    /// Since when.
    pub since: Timestamp,
}

impl Search<'_> {
    /// Marks answers that no longer held at the time of the question, and places before each what holds instead.
    pub(super) async fn place_current_first(
        &self,
        answers: Vec<RankedAnswer>,
    ) -> Result<Vec<RankedAnswer>, StoreError> {
        let answers = place_later_words_first(answers);
        let events: BTreeSet<EventKey> = answers.iter().flat_map(events_of).collect();
        let ended = self.ended(events.into_iter().collect()).await?;
        if ended.is_empty() {
            return Ok(answers);
        }
        let changes = Changes {
            known: self.known_observations(&ended).await?,
            ended,
            until: self.question.until,
        };
        Ok(place_current_first(answers, &changes))
    }

    /// What no longer held at the time of the question, by the events that it rests on.
    async fn ended(&self, events: Vec<EventKey>) -> Result<EndedByEvent, StoreError> {
        let found = self.store.superseded_by_event(self.tenant, &events).await?;
        let mut ended = EndedByEvent::new();
        for one in found
            .into_iter()
            .filter(|one| is_past(&one.supersession, self.question.until))
        {
            ended.entry(one.event.clone()).or_default().push(one);
        }
        Ok(ended)
    }

    /// What ended with what followed it, one look for each change that follows another.
    async fn known_observations(
        &self,
        ended: &EndedByEvent,
    ) -> Result<KnownObservations, StoreError> {
        let both = ended.values().flatten().flat_map(|one| {
            let Supersession { earlier, later, .. } = one.supersession;
            [earlier, later].map(|id| (one.scope.clone(), id))
        });
        let mut wanted: BTreeSet<(Scope, ObservationId)> = both.collect();
        let mut known = KnownObservations::new();
        for _ in 0..=CHAIN {
            if wanted.is_empty() {
                break;
            }
            let asked: Vec<(Scope, ObservationId)> = wanted.into_iter().collect();
            let found = self.store.known_observations(self.tenant, &asked).await?;
            wanted = BTreeSet::new();
            for ((scope, id), found) in asked.into_iter().zip(found) {
                let Some(found) = found else {
                    continue;
                };
                wanted.extend(found.1.map(|next| (scope.clone(), next.later)));
                known.insert((scope, id), found);
            }
            wanted.retain(|next| !known.contains_key(next));
        }
        Ok(known)
    }
}

/// What ended, and what followed it.
struct Changes {
    ended: EndedByEvent,
    known: KnownObservations,
    /// The time of the question.
    until: Option<Timestamp>,
}

impl Changes {
    /// What ended an answer's validity, and the observation that holds at the end of the chain of changes. An answer
    /// that also rests on what holds is not outdated: it tells both.
    fn holding_instead(&self, answer: &RankedAnswer) -> Option<(Supersession, &Observation)> {
        let found = self.stated_before(answer)?;
        let first = found.supersession;
        let mut change = first;
        for _ in 0..CHAIN {
            let (holding, ended) = self.observation(&found.scope, change.later)?;
            if rests_on(answer, holding) {
                return None;
            }
            match ended.filter(|next| is_past(next, self.until)) {
                Some(next) => change = next,
                None => return Some((first, holding)),
            }
        }
        None
    }

    /// Of what ended, the first that the answer states. Its message or its line may say other things, which hold.
    fn stated_before(&self, answer: &RankedAnswer) -> Option<&SupersededObservation> {
        let mut found = events_of(answer)
            .filter_map(|event| self.ended.get(&event))
            .flatten();
        found.find(|one| {
            let earlier = one.supersession.earlier;
            let states_it = |(earlier, _): &(Observation, _)| states(answer, earlier);
            answer.observation == Some(earlier)
                || self.observation(&one.scope, earlier).is_some_and(states_it)
        })
    }

    fn observation(
        &self,
        scope: &Scope,
        id: ObservationId,
    ) -> Option<&(Observation, Option<Supersession>)> {
        self.known.get(&(scope.clone(), id)).map(|known| &**known)
    }
}

/// Whether a change had happened at the time of the question.
fn is_past(change: &Supersession, until: Option<Timestamp>) -> bool {
    until.is_none_or(|at| change.until <= at)
}

/// Marks answers that no longer hold, and places before each what holds instead.
fn place_current_first(answers: Vec<RankedAnswer>, changes: &Changes) -> Vec<RankedAnswer> {
    let mut placed: Vec<RankedAnswer> = Vec::with_capacity(answers.len());
    let mut rest: Vec<Option<RankedAnswer>> = answers.into_iter().map(Some).collect();
    for at in 0..rest.len() {
        let Some(mut answer) = rest[at].take() else {
            continue;
        };
        if answer.replaced.is_some() {
            placed.push(answer);
            continue;
        }
        if let Some((change, holding)) = changes.holding_instead(&answer) {
            let is_placed = placed.iter().any(|placed| rests_on(placed, holding));
            let mut later = rest.iter_mut().skip(at + 1).filter(|one| {
                let one = one.as_ref();
                one.is_some_and(|one| rests_on(one, holding))
            });
            match later.next() {
                Some(current) => placed.extend(current.take()),
                None if !is_placed => placed.push(answer_of(holding, &answer)),
                None => {}
            }
            answer.replaced = Some(Replacement {
                text: holding.statement(),
                citation: citation_of(holding),
                reason: change.reason,
                since: change.until,
            });
        }
        placed.push(answer);
    }
    placed
}

/// Compares the first answers that are a person's own short words, of which perhaps no observation was made.
fn place_later_words_first(mut answers: Vec<RankedAnswer>) -> Vec<RankedAnswer> {
    let compared = answers.len().min(COMPARED);
    let mut parsed: [OnceCell<PersonsStatement>; COMPARED] = Default::default();
    let mut at = 0;
    while at < compared {
        let statement =
            |n: usize| parsed[n].get_or_init(|| PersonsStatement::parse(&answers[n].text));
        let later = (0..compared).find_map(|other| {
            let (one, later) = (&answers[at], &answers[other]);
            let may = is_statement(one) && is_statement(later) && one.time < later.time;
            let is_new = later.replaced.is_none() && one.replaced.is_none();
            // What one project decided ends nothing in another.
            let is_same_memory = one.scope == later.scope;
            let reason = if may && is_new && is_same_memory {
                statement(other).ends(statement(at))
            } else {
                None
            };
            reason.map(|reason| (other, reason))
        });
        let Some((later, reason)) = later else {
            at += 1;
            continue;
        };
        answers[at].replaced = Some(Replacement {
            text: answers[later].text.clone(),
            citation: answers[later].citation.clone(),
            reason,
            since: answers[later].time,
        });
        if later > at {
            answers[at..=later].rotate_right(1);
            parsed[at..=later].rotate_right(1);
        }
        at += 1;
    }
    answers
}

/// Whether an answer is what a person stated, in few words.
pub(super) fn is_statement(answer: &RankedAnswer) -> bool {
    let is_persons = answer.origin == Some(Origin::Human)
        || answer.learned_from == Some(ObservationOrigin::Typed);
    is_persons && answer.text.len() <= STATEMENT && !answer.text.trim_end().ends_with('?')
}

fn events_of(answer: &RankedAnswer) -> impl Iterator<Item = EventKey> {
    let session = answer.session.iter();
    session.flat_map(|session| answer.events.iter().map(|seq| (session.clone(), *seq)))
}

/// Whether an answer rests on an event of an observation.
pub(crate) fn rests_on(answer: &RankedAnswer, observation: &Observation) -> bool {
    observation.evidence.iter().any(|one| {
        answer.session.as_ref() == Some(&one.session)
            && answer.events.iter().any(|event| one.events.contains(event))
    })
}

/// Whether the words of an answer are, for one half at least, those of an observation.
fn states(answer: &RankedAnswer, observation: &Observation) -> bool {
    let (said, stated) = (index_text(&answer.text), index_text(&observation.text));
    let said: BTreeSet<&str> = said.split(' ').collect();
    let stated: BTreeSet<&str> = stated.split(' ').collect();
    stated.intersection(&said).count() * 2 >= stated.len()
}

fn citation_of(observation: &Observation) -> Option<String> {
    let last = observation.evidence.last()?;
    let lines = last.lines.iter().map(|line| (*line, *line)).collect();
    let session = last.label.clone();
    Some(Citation { session, lines }.to_string())
}

/// The answer that an observation gives in place of an outdated one, with the outdated one's score.
fn answer_of(holding: &Observation, outdated: &RankedAnswer) -> RankedAnswer {
    let last = holding.evidence.last();
    RankedAnswer {
        text: holding.statement(),
        begins: 0,
        context: holding.context.clone(),
        score: outdated.score,
        parts: outdated.parts,
        scope: Some(holding.scope.clone()),
        layer: MemoryLayer::Observation,
        origin: None,
        kind: Some(holding.kind),
        learned_from: Some(holding.origin),
        observation: Some(holding.id),
        file: None,
        citation: citation_of(holding),
        session: last.map(|one| one.session.clone()),
        events: last.map_or_else(Vec::new, |one| one.events.clone()),
        time: holding.last_at(),
        replaced: None,
    }
}
