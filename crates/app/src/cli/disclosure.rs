//! What an import sends to whom, and what that costs, by the settings in force.
//!
//! Said before anything is sent. Numbers are rough and rather too high: transcripts are counted by their
//! bytes, of which what is shown to a model is a part.
//!
//! Not here: the exact forecast of sessions that were taken in (`forecast`).

use daybook_domain::model::Usage;
use daybook_engine::jobs::ASSUMED_ANSWER_PERCENT;
use serde_json::{Value, json};

use crate::output::{count, grouped};
use crate::settings::models::Chosen;
use crate::settings::{Place, Settings, masked};

/// Bytes of a transcript that are taken for one token.
const BYTES_PER_TOKEN: u64 = 4;
/// Tokens of instructions that each question begins with, about.
const INSTRUCTIONS: u64 = 2_000;

/// What an import is estimated to ask of a model.
struct Estimate {
    requests: u64,
    usage: Usage,
}

impl Estimate {
    /// Of transcripts of so many bytes each.
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

/// What is sent where when transcripts of `sizes` bytes are imported; with `is_learned`, they are also
/// learned from at once.
pub(crate) fn lines(settings: &Settings, sizes: &[u64], is_learned: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if let Place::Server { address, .. } = &settings.store {
        lines.push(format!(
            "What is taken in is stored in {}.",
            masked(address)
        ));
    }
    match settings.asked_model() {
        None if lines.is_empty() => lines.push(
            "Nothing leaves this machine. No model is asked, so this costs nothing.".to_owned(),
        ),
        None => lines.push("No model is asked, so this costs nothing.".to_owned()),
        Some(chosen) => lines.extend(asking(settings, chosen, sizes, is_learned)),
    }
    lines
}

fn asking(settings: &Settings, chosen: &Chosen, sizes: &[u64], is_learned: bool) -> Vec<String> {
    let (name, url) = (chosen.name(), &chosen.provider.base_url);
    let first = match is_learned {
        true => format!(
            "What was said in these sessions is sent to {name} at {url}, to be learned from."
        ),
        false => format!(
            "Nothing is sent to a model now. Learning later sends what was said to {name} at {url}."
        ),
    };
    let Estimate { requests, usage } = Estimate::of(settings, sizes);
    let money = settings.prices.price(&name).map(|price| price.cost(usage));
    let cost = match money {
        Some(money) => format!("{money} {}", settings.currency),
        None => format!("its price is not known (set `prices` for {name})"),
    };
    let second = format!(
        "Roughly and at most: {}, {} tokens in, {} out; {cost}.",
        count(requests, "request"),
        grouped(usage.input),
        grouped(usage.output),
    );
    vec![first, second]
}

/// The same, for programs; `null` where no model is asked.
pub(crate) fn as_json(settings: &Settings, sizes: &[u64]) -> Value {
    let Some(chosen) = settings.asked_model() else {
        return Value::Null;
    };
    let name = chosen.name();
    let Estimate { requests, usage } = Estimate::of(settings, sizes);
    let money = settings.prices.price(&name).map(|price| price.cost(usage));
    json!({
        "model": name,
        "base_url": chosen.provider.base_url,
        "requests": requests,
        "input": usage.input,
        "output": usage.output,
        "money": money.map(|money| money.to_string()),
        "currency": settings.currency,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::settings::Inputs;

    use super::*;

    const MODEL: &str = "extract_model = \"home/small-1\"\n[providers.home]\nwire = \"openai\"\n\
                         base_url = \"http://127.0.0.1:9/v1\"\n";

    #[track_caller]
    fn check(file: &str, is_learned: bool, expected: &[&str]) {
        let settings = Settings::read(&Inputs {
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
        let nothing = "Nothing leaves this machine. No model is asked, so this costs nothing.";
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
        let sent = "What was said in these sessions is sent to home/small-1 at http://127.0.0.1:9/v1, \
                    to be learned from.";
        let priced = format!("window_tokens = 10000\nanswer_tokens = 1000\n{MODEL}");
        let unpriced = "Roughly and at most: 101 requests, 1,202,100 tokens in, 10,100 out; its price \
                        is not known (set `prices` for home/small-1).";
        check(&priced, true, &[sent, unpriced]);
        let with_price = format!("{priced}[prices]\n\"home/*\" = {{ input = 1, output = 10 }}\n");
        let cost =
            "Roughly and at most: 101 requests, 1,202,100 tokens in, 10,100 out; 1.3031 USD.";
        check(&with_price, true, &[sent, cost]);
        let later = "Nothing is sent to a model now. Learning later sends what was said to home/small-1 \
                     at http://127.0.0.1:9/v1.";
        check(&with_price, false, &[later, cost]);
        check(
            "store = \"postgres://ada:secret@db.example/daybook\"",
            true,
            &[
                "What is taken in is stored in postgres://ada:…@db.example/daybook.",
                "No model is asked, so this costs nothing.",
            ],
        );
    }
}
