//! Joins what a person asked with the reply to it.
//!
//! The message that shares most words with a question is often the same question, asked before. A person who asks again
//! wants the reply.
//!
//! Not here: which messages are found, and in which order.

use daybook_domain::index::{DocumentNo, IndexedDocument, MemoryLayer};
use daybook_domain::{Citation, Origin, StoreError};
use daybook_ranking::rank::RecallCandidate;
use daybook_text::fence::one_line;
use daybook_text::prose::prefix_of;
use daybook_text::sentences::{Sentence, sentences};

use super::RankedAnswer;
use super::candidates::CandidateFetcher;
use super::excerpt::from_best_passage;

/// The first answers, whose replies are looked for.
const COMPARED: usize = 6;
/// Least share of open sentences in a message that asks: many give what they know before they ask.
const ASKS: f64 = 0.1;
/// Least share of them in a message that does nothing else: a person's only asks, an agent's asks back or announces.
const ONLY_ASKS: f64 = 0.5;
/// Messages after a question among which the reply is.
const REACH: usize = 8;
/// Longest part of the other message that is shown below an answer, in bytes.
const SHOWN: usize = 300;
/// What stands before it.
const ASKED: &str = "asked: ";
const REPLIED: &str = "reply: ";

impl CandidateFetcher<'_> {
    /// Joins the answer that is the `nth` with the reply to it, where it is a person's question that had one.
    pub(super) async fn with_reply(
        &self,
        asked: RankedAnswer,
        (nth, candidate): (usize, &RecallCandidate),
    ) -> Result<RankedAnswer, StoreError> {
        if nth >= COMPARED {
            return Ok(asked);
        }
        let only_asks = candidate.stats.open_share() >= ONLY_ASKS;
        Ok(match self.reply_to(candidate).await? {
            Some(reply) if only_asks => with_question(reply, asked),
            Some(reply) => below(asked, reply),
            None => asked,
        })
    }

    /// Of the agent's messages before the person's next one, that which says most of what is sought.
    async fn reply_to(&self, asked: &RecallCandidate) -> Result<Option<RankedAnswer>, StoreError> {
        let is_question =
            asked.outline.origin == Some(Origin::Human) && asked.stats.open_share() >= ASKS;
        if !is_question || !self.admits(Origin::Assistant) {
            return Ok(None);
        }
        let doc = asked.outline.doc;
        let around = self.store.surroundings(self.tenant, &[doc], REACH).await?;
        let after: Vec<DocumentNo> = around.into_iter().filter(|other| *other > doc).collect();
        let after = self.load_candidates(&after).await?;
        let turn = after.into_iter().take_while(|message| {
            let is_known = self.until.is_none_or(|until| message.outline.at <= until);
            is_known && message.outline.origin == Some(Origin::Assistant)
        });
        let replies = turn.filter(|message| message.stats.open_share() < ONLY_ASKS);
        let best = replies.max_by(|a, b| a.own_score().total_cmp(&b.own_score()));
        let Some(best) = best else {
            return Ok(None);
        };
        let Some((document, _)) = self.load_documents(&[&best]).await?.pop() else {
            return Ok(None);
        };
        self.answer(&document, &best).await.map(Some)
    }

    fn admits(&self, origin: Origin) -> bool {
        let origins = &self.filter.origins;
        origins.is_empty() || origins.contains(&origin)
    }
}

/// The reply as the answer, with the question below it.
fn with_question(reply: RankedAnswer, asked: RankedAnswer) -> RankedAnswer {
    RankedAnswer {
        context: Some(format!("{ASKED}{}", question_in(&asked))),
        score: asked.score,
        parts: asked.parts,
        citation: cited_together(&asked, &reply),
        events: asked.events.into_iter().chain(reply.events).collect(),
        ..reply
    }
}

/// A message that says more than it asks, with the reply below it.
fn below(asked: RankedAnswer, reply: RankedAnswer) -> RankedAnswer {
    RankedAnswer {
        context: Some(format!("{REPLIED}{}", cut(&passage_in(&reply)))),
        citation: cited_together(&asked, &reply),
        events: asked.events.iter().chain(&reply.events).copied().collect(),
        ..asked
    }
}

/// Puts a question with its reply in the place of that reply, where it is among the answers. Returns whether it is.
pub(super) fn put_to_its_reply(
    found: &mut [(IndexedDocument, RankedAnswer)],
    joined: &RankedAnswer,
) -> bool {
    let is_reply = |answer: &RankedAnswer| {
        let layers = (answer.layer, joined.layer);
        layers == (MemoryLayer::Event, MemoryLayer::Event)
            && (&answer.session, &answer.text) == (&joined.session, &joined.text)
            && answer
                .events
                .iter()
                .all(|event| joined.events.contains(event))
    };
    let Some((_, reply)) = found.iter_mut().find(|(_, answer)| is_reply(answer)) else {
        return false;
    };
    *reply = RankedAnswer {
        score: reply.score,
        parts: reply.parts,
        ..joined.clone()
    };
    true
}

/// What a message asks, in one line: of a long one, its last question.
fn question_in(asked: &RankedAnswer) -> String {
    let whole = one_line(&asked.text);
    if whole.len() <= SHOWN {
        return whole;
    }
    let own = sentences(&asked.text, None);
    let last = own.into_iter().rev().find(Sentence::is_question);
    let question = last.map_or_else(|| passage_in(asked), |sentence| sentence.text);
    cut(&question)
}

/// A message from where it answers on, in one line.
fn passage_in(answer: &RankedAnswer) -> String {
    one_line(&from_best_passage(answer, SHOWN))
}

/// The opening of a text that is longer than what is shown.
fn cut(text: &str) -> String {
    let start = prefix_of(text, SHOWN);
    let mark = if start.len() < text.len() { "…" } else { "" };
    format!("{start}{mark}")
}

/// The citation of the question's lines and the reply's.
fn cited_together(asked: &RankedAnswer, reply: &RankedAnswer) -> Option<String> {
    let cited = |answer: &RankedAnswer| answer.citation.as_deref().and_then(Citation::parse);
    let (mut together, reply) = (cited(asked)?, cited(reply)?);
    together.lines.extend(reply.lines);
    Some(together.to_string())
}

#[cfg(test)]
#[path = "replies_tests.rs"]
mod tests;
