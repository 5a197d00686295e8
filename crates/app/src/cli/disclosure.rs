//! Lists what an import sends to which provider, and its cost, by the settings in force.
//!
//! This is printed before anything is sent. Numbers are rough and rather too high: transcripts are counted by their
//! bytes, of which what is shown to a model is a part.
//!
//! Not here: the exact forecast for imported sessions (`forecast`).

use daybook_domain::model::Usage;
use daybook_engine::jobs::ASSUMED_ANSWER_PERCENT;
use serde_json::{Value, json};

use crate::settings::chosen_model::ChosenModel;
use crate::settings::mem0::Mem0Settings;
use crate::settings::{MemoryPlace, Settings, masked};
use crate::terminal::output::{count, grouped};

/// Bytes of a transcript that are taken for one token.
const BYTES_PER_TOKEN: u64 = 4;
/// Tokens of instructions that each question begins with, about.
const INSTRUCTIONS: u64 = 2_000;

/// The estimated requests of an import to a model.
struct RequestEstimate {
    requests: u64,
    usage: Usage,
}

impl RequestEstimate {
    /// The estimate for transcripts of these sizes in bytes.
    fn of(settings: &Settings, sizes: &[u64]) -> Self {
        let limits = &settings.models.limits;
        let window = u64::from(limits.transcript_tokens).max(1);
        let tokens = sizes.iter().map(|bytes| bytes.div_ceil(BYTES_PER_TOKEN));
        let requests = tokens
            .clone()
            .map(|tokens| tokens.div_ceil(window))
            .sum::<u64>();
        let answer = u64::from(limits.answer_tokens) * ASSUMED_ANSWER_PERCENT / 100;
        Self {
            requests,
            usage: Usage {
                input: tokens.sum::<u64>() + requests * INSTRUCTIONS,
                cached: 0,
                output: requests * answer,
            },
        }
    }
}

/// Lines about what is sent to which provider when transcripts of `sizes` bytes are imported; with `is_learned`, they
/// are also learned from at once.
pub(crate) fn lines(settings: &Settings, sizes: &[u64], is_learned: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if let MemoryPlace::Server { address, .. } = &settings.store {
        lines.push(format!(
            "Imported sessions are stored in {}.",
            masked(address)
        ));
    }
    lines.extend(settings.mem0.iter().map(mem0_line));
    let embeds = settings.vector_provider_model();
    lines.extend(embeds.map(|chosen| embedding_line(settings, chosen, sizes)));
    let consolidates = settings.consolidation_model();
    lines.extend(consolidates.map(consolidation_line));
    if settings.consolidation_agent {
        lines.extend(consolidates.map(consolidation_agent_line));
    }
    lines.extend(settings.agents_extraction_models().map(agent_line));
    let asks_for_agents = settings.agents_extraction_models().next().is_some();
    match settings.extraction_model() {
        Some(chosen) => lines.extend(extraction_lines(settings, chosen, sizes, is_learned)),
        None if embeds.is_some() || consolidates.is_some() || asks_for_agents => {}
        None if lines.is_empty() => lines.push(
            "Nothing leaves this machine. No model is called, so this costs nothing.".to_owned(),
        ),
        None => lines.push("No model is called, so this costs nothing.".to_owned()),
    }
    lines
}

fn extraction_lines(
    settings: &Settings,
    chosen: &ChosenModel,
    sizes: &[u64],
    is_learned: bool,
) -> Vec<String> {
    let (name, url) = (chosen.name(), &chosen.provider.base_url);
    let first = match is_learned {
        true => {
            format!("The text of these sessions is sent to {name} at {url}, to be learned from.")
        }
        false => format!(
            "Nothing is sent to a model now. Learning later sends the text of the sessions to {name} at {url}."
        ),
    };
    let RequestEstimate { requests, usage } = RequestEstimate::of(settings, sizes);
    let cost = cost(settings, &name, usage);
    let second = format!(
        "Roughly and at most: {}, {} tokens in, {} out; {cost}.",
        count(requests, "request"),
        grouped(usage.input),
        grouped(usage.output),
    );
    vec![first, second]
}

/// The line about agents whose memory a mem0 server keeps.
fn mem0_line(mem0: &Mem0Settings) -> String {
    format!(
        "The text of sessions of agents whose memory is in mem0, and their questions, are sent to {}.",
        mem0.url
    )
}

/// The line about an agent whose sessions are read by a model of its own.
fn agent_line((agent, chosen): (&str, &ChosenModel)) -> String {
    format!(
        "The text of sessions of {agent} is sent to {} at {}, and to no other model, to be learned from.",
        chosen.name(),
        chosen.provider.base_url,
    )
}

/// The line about what is sent where memory files are written.
fn consolidation_line(chosen: &ChosenModel) -> String {
    format!(
        "What is new in memory, with statements like it, is sent to {} at {} once, to be worded and merged.",
        chosen.name(),
        chosen.provider.base_url,
    )
}

/// The line about what an agent over the consolidation model is sent.
fn consolidation_agent_line(chosen: &ChosenModel) -> String {
    format!(
        "As an agent, {} also reads what is new in memory, with the files of the memory that it opens.",
        chosen.name()
    )
}

/// The line about what is sent to a provider's embedding model.
fn embedding_line(settings: &Settings, chosen: &ChosenModel, sizes: &[u64]) -> String {
    let (name, url) = (chosen.name(), &chosen.provider.base_url);
    let usage = embedding_usage(sizes);
    let cost = cost(settings, &name, usage);
    format!(
        "What is remembered, and each question to it, is sent to {name} at {url}, to be made into vectors: \
         roughly and at most {} tokens for this import; {cost}.",
        grouped(usage.input),
    )
}

/// The estimated tokens of embedding transcripts of these sizes in bytes: a long text is sent whole, and once
/// more in passages.
fn embedding_usage(sizes: &[u64]) -> Usage {
    Usage {
        input: sizes.iter().sum::<u64>().div_ceil(BYTES_PER_TOKEN) * 2,
        ..Usage::default()
    }
}

fn cost(settings: &Settings, name: &str, usage: Usage) -> String {
    match settings.prices.price(name) {
        Some(price) => format!("{} {}", price.cost(usage), settings.currency),
        None => format!("its price is not known (set `prices` for {name})"),
    }
}

/// The disclosure for the extraction model as JSON, with the models of single agents; `null` without any.
pub(crate) fn as_json(settings: &Settings, sizes: &[u64]) -> Value {
    let mut asks = Value::Null;
    if let Some(chosen) = settings.extraction_model() {
        let RequestEstimate { requests, usage } = RequestEstimate::of(settings, sizes);
        asks = usage_json(settings, chosen, usage);
        asks["requests"] = json!(requests);
    }
    for (agent, chosen) in settings.agents_extraction_models() {
        let model = json!({"model": chosen.name(), "base_url": chosen.provider.base_url});
        asks["agents"][agent] = model;
    }
    asks
}

/// The disclosure for a provider's model of vectors as JSON; `null` without one.
pub(crate) fn vectors_as_json(settings: &Settings, sizes: &[u64]) -> Value {
    let chosen = settings.vector_provider_model();
    chosen.map_or(Value::Null, |chosen| {
        usage_json(settings, chosen, embedding_usage(sizes))
    })
}

fn usage_json(settings: &Settings, chosen: &ChosenModel, usage: Usage) -> Value {
    let name = chosen.name();
    let money = settings.prices.price(&name).map(|price| price.cost(usage));
    json!({
        "model": name,
        "base_url": chosen.provider.base_url,
        "input": usage.input,
        "output": usage.output,
        "money": money.map(|money| money.to_string()),
        "currency": settings.currency,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::settings::SettingsInputs;

    use super::*;

    const MODEL: &str = "extract_model = \"home/small-1\"\n[providers.home]\nwire = \"openai\"\n\
                         base_url = \"http://127.0.0.1:9/v1\"\n";

    #[track_caller]
    fn check(file: &str, is_learned: bool, expected: &[&str]) {
        let settings = Settings::read(&SettingsInputs {
            flags: &[],
            environment: &[],
            file,
            path: Path::new("daybook.toml"),
            login: "ada",
        });
        let settings = settings.expect("sound settings");
        let lines = lines(&settings, &[400, 4_000_000], is_learned);
        assert_eq!(lines, expected, "{file}");
    }

    #[test]
    fn what_is_sent_is_said_as_settings_have_it() {
        let nothing = "Nothing leaves this machine. No model is called, so this costs nothing.";
        check("", true, &[nothing]);
        check(
            &format!("extractor = \"extractive\"\n{MODEL}"),
            true,
            &[nothing],
        );
        check(
            &format!("forbid_providers = [\"local/home\"]\n{MODEL}"),
            true,
            &[nothing],
        );
        let sent = "The text of these sessions is sent to home/small-1 at http://127.0.0.1:9/v1, \
                    to be learned from.";
        let priced = format!("window_tokens = 10000\nanswer_tokens = 1000\n{MODEL}");
        let unpriced = "Roughly and at most: 101 requests, 1,202,100 tokens in, 10,100 out; its price \
                        is not known (set `prices` for home/small-1).";
        check(&priced, true, &[sent, unpriced]);
        let with_price = format!("{priced}[prices]\n\"home/*\" = {{ input = 1, output = 10 }}\n");
        let cost =
            "Roughly and at most: 101 requests, 1,202,100 tokens in, 10,100 out; 1.3031 USD.";
        check(&with_price, true, &[sent, cost]);
        let later = "Nothing is sent to a model now. Learning later sends the text of the sessions to home/small-1 \
                     at http://127.0.0.1:9/v1.";
        check(&with_price, false, &[later, cost]);
        let vectors = MODEL.replace("extract_model", "vectors");
        let embedded = "What is remembered, and each question to it, is sent to home/small-1 at \
                        http://127.0.0.1:9/v1, to be made into vectors: roughly and at most 2,000,200 tokens \
                        for this import; its price is not known (set `prices` for home/small-1).";
        check(&vectors, true, &[embedded]);
        check(&vectors, false, &[embedded]);
        check(
            &format!("forbid_providers = [\"local/home\"]\n{vectors}"),
            true,
            &[nothing],
        );
        let own = MODEL.replace("extract_model = ", "agents.codex.extract_model = ");
        let sent_for_codex = "The text of sessions of codex is sent to home/small-1 at http://127.0.0.1:9/v1, and to no \
                              other model, to be learned from.";
        check(&own, true, &[sent_for_codex]);
        check(
            &format!("forbid_providers = [\"local/home\"]\n{own}"),
            true,
            &[nothing],
        );
        let tidied = MODEL.replace("extract_model", "consolidation_model");
        let tidying = "What is new in memory, with statements like it, is sent to home/small-1 at \
                       http://127.0.0.1:9/v1 once, to be worded and merged.";
        check(&tidied, true, &[tidying]);
        let agent = "As an agent, home/small-1 also reads what is new in memory, with the files of the memory that it \
                     opens.";
        check(
            &format!("consolidation_agent = true\n{tidied}"),
            true,
            &[tidying, agent],
        );
        check(
            &format!("forbid_providers = [\"local/home\"]\n{tidied}"),
            true,
            &[nothing],
        );
        check(
            "store = \"postgres://ada:secret@db.example/daybook\"",
            true,
            &[
                "Imported sessions are stored in postgres://ada:…@db.example/daybook.",
                "No model is called, so this costs nothing.",
            ],
        );
    }
}
