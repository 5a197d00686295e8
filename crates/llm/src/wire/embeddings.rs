//! `POST {base}/embeddings`: vectors of texts, of OpenAI and compatible services.
//!
//! A text is a message, and the answer's text is the vectors in JSON, in the order of the messages. So the
//! same retries, bounds, keys and usage tallies serve vectors and words.

use daybook_domain::model::{FinishReason, Message};
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Adapter, WireReply, WireRequest, bearer, unreadable, usage};
use crate::key::Key;

pub(super) const OPENAI: EmbeddingsAdapter = EmbeddingsAdapter {
    path: "/embeddings",
};

/// Ollama speaks as OpenAI does, below its own base.
pub(super) const OLLAMA: EmbeddingsAdapter = EmbeddingsAdapter {
    path: "/v1/embeddings",
};

pub(super) struct EmbeddingsAdapter {
    path: &'static str,
}

impl Adapter for EmbeddingsAdapter {
    fn path(&self) -> &'static str {
        self.path
    }

    fn headers(&self, key: Option<&Key>) -> Option<Vec<(HeaderName, HeaderValue)>> {
        bearer(key)
    }

    fn names_of_form(&self) -> &'static [&'static str] {
        &[]
    }

    fn messages(&self, messages: &[Message]) -> Value {
        let texts: Vec<&str> = messages.iter().map(|it| it.text.as_str()).collect();
        json!({"input": texts})
    }

    fn body(&self, question: &WireRequest<'_>) -> Value {
        let mut body = self.messages(question.messages);
        body["model"] = question.model.into();
        body
    }

    fn read(&self, body: &[u8], question: &WireRequest<'_>) -> Result<WireReply, String> {
        let body: EmbeddingsBody =
            serde_json::from_slice(body).map_err(|error| unreadable(&error))?;
        let vectors = in_order(body.data, question.messages.len())?;
        let text = serde_json::to_string(&vectors).map_err(|error| unreadable(&error))?;
        let tokens = body.usage.and_then(|used| used.prompt_tokens);
        Ok(WireReply {
            text,
            refusal: None,
            calls: Vec::new(),
            finish: FinishReason::Stop,
            usage: usage(tokens, 0, Some(0)),
        })
    }
}

/// One vector for each of `count` texts.
fn in_order(data: Vec<EmbeddingEntry>, count: usize) -> Result<Vec<Vec<f32>>, String> {
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); count];
    for EmbeddingEntry { index, embedding } in data {
        let place = vectors.get_mut(index);
        let place = place.ok_or_else(|| format!("it has a vector {index} of {count}"))?;
        if embedding.is_empty() || !place.is_empty() {
            return Err(format!("vector {index} is empty or there twice"));
        }
        *place = embedding;
    }
    match vectors.iter().position(Vec::is_empty) {
        Some(missing) => Err(format!("vector {missing} of {count} is missing")),
        None => Ok(vectors),
    }
}

#[derive(Deserialize)]
struct EmbeddingsBody {
    data: Vec<EmbeddingEntry>,
    usage: Option<EmbeddingsUsage>,
}

#[derive(Deserialize)]
struct EmbeddingEntry {
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct EmbeddingsUsage {
    prompt_tokens: Option<u64>,
}
