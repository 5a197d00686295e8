//! Embeds a question, within a time limit.
//!
//! Not here: comparing vectors (`rank`).

use std::time::Duration;

use daybook_domain::vector;

use super::RecallQuestion;

/// How long a search waits for the question's vector. A provider may be slow or unreachable, and a search by words
/// alone is better than none.
const VECTOR_WAIT: Duration = Duration::from_secs(1);

/// The vector of a question, or why there is none.
#[derive(Clone, Default)]
pub(super) struct QuestionVector {
    /// Codes of the vector; empty for a search by words alone.
    pub(super) codes: Vec<i8>,
    /// Why an embedder gave no vector; `None` without an embedder, or with a vector.
    pub(super) missing: Option<String>,
}

pub(super) async fn question_vector(question: &RecallQuestion<'_>) -> QuestionVector {
    let Some(embedder) = question.embedder else {
        return QuestionVector::default();
    };
    let texts = [question.text];
    let embedding = embedder.embed(&texts);
    let embedded = match embedder.is_instant() {
        true => embedding.await,
        false => {
            let embedded = tokio::time::timeout(VECTOR_WAIT, embedding).await;
            embedded.unwrap_or_else(|_| Err(format!("no answer within {VECTOR_WAIT:?}")))
        }
    };
    match embedded {
        Ok(vectors) => {
            let codes = vectors.first().map(|vector| vector::quantise(vector));
            QuestionVector {
                codes: codes.unwrap_or_default(),
                missing: None,
            }
        }
        Err(error) => {
            let model = embedder.id();
            tracing::warn!(model, %error, outcome = "without_vectors");
            QuestionVector {
                codes: Vec::new(),
                missing: Some(format!("{model} gave no vector for the question: {error}")),
            }
        }
    }
}
