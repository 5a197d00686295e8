//! `daybook recall`: find what is remembered, with its source.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use daybook_domain::index::Layer;
use daybook_domain::seams::{ExtractionStore, Store};
use daybook_domain::{Scope, Timestamp};
use daybook_engine::files::reindex::reindex_all;
use daybook_engine::recall::search::{Answer, Question, recall};
use serde_json::{Value, json};

use super::Common;
use crate::output::{bold, dim, json as print_json};
use crate::wiring::{Daybook, block_on};

/// Find what is remembered, with its source.
#[derive(Args)]
pub(crate) struct Recall {
    /// What you want to know
    #[arg(required = true, num_args = 1.., value_name = "QUESTION")]
    words: Vec<String>,
    /// Most answers
    #[arg(short = 'n', long, default_value_t = 10)]
    limit: usize,
    /// Only this layer: entry, observation or event; may be repeated
    #[arg(long, value_name = "LAYER", value_parser = layer)]
    layer: Vec<Layer>,
    /// Only the memory of this scope, such as project/tidepool or user/ada; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// Only the memory of this project
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Search what tools were asked and answered, too
    #[arg(long)]
    tools: bool,
}

fn layer(text: &str) -> Result<Layer, String> {
    let known = Layer::ALL
        .into_iter()
        .find(|layer| layer.word() == text.trim_end_matches('s'));
    known.ok_or_else(|| "a layer is one of: entry, observation, event".to_owned())
}

impl Recall {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let text = self.words.join(" ");
        let answers = block_on(async {
            reindex_all(
                &*daybook.store,
                &daybook.root,
                &daybook.tenant,
                daybook.clock.now(),
            )
            .await?;
            let question = Question {
                text: &text,
                scopes: self.scopes(&daybook).await?,
                layers: self.layer.clone(),
                tools: self.tools,
                limit: self.limit,
            };
            Ok(recall(&*daybook.store, &daybook.tenant, &question).await?)
        })?;
        if common.json {
            print_json(&json!({ "results": answers.iter().map(as_json).collect::<Vec<_>>() }))?;
        } else {
            show(&daybook, &answers);
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn scopes(&self, daybook: &Daybook) -> Result<Option<Vec<Scope>>> {
        let mut wanted = self.scope.clone();
        wanted.extend(
            self.project
                .iter()
                .map(|project| format!("project/{project}")),
        );
        if wanted.is_empty() {
            return Ok(None);
        }
        let known = daybook.store.scopes(&daybook.tenant).await?;
        let mut scopes = Vec::new();
        for name in wanted {
            match known.iter().find(|state| state.scope.to_string() == name) {
                Some(state) => scopes.push(state.scope.clone()),
                None => {
                    let names: Vec<String> =
                        known.iter().map(|state| state.scope.to_string()).collect();
                    bail!("there is no scope {name}; there are: {}", names.join(", "));
                }
            }
        }
        Ok(Some(scopes))
    }
}

/// One answer for programs.
pub(crate) fn as_json(answer: &Answer) -> Value {
    json!({
        "text": answer.text,
        "context": answer.context,
        "score": answer.score,
        "scope": answer.scope.as_ref().map(ToString::to_string),
        "layer": answer.layer.word(),
        "origin": answer.origin.map(|origin| origin.word()),
        "file": answer.file,
        "citation": answer.citation,
        "session": answer.session.as_ref().map(ToString::to_string),
        "events": answer.events.iter().map(|seq| seq.0).collect::<Vec<_>>(),
        "time": rfc3339(answer.time),
    })
}

/// A time for programs; `null` when unknown.
pub(crate) fn rfc3339(at: Timestamp) -> Option<String> {
    let known = (at != Timestamp::ZERO).then_some(at.0)?;
    jiff::Timestamp::from_millisecond(known)
        .ok()
        .map(|at| at.to_string())
}

/// Most characters of an answer that are shown.
const SHOWN: usize = 320;

/// Prints answers for people.
pub(crate) fn show(daybook: &Daybook, answers: &[Answer]) {
    if answers.is_empty() {
        anstream::println!("Nothing is remembered about that.");
        return;
    }
    for (n, answer) in answers.iter().enumerate() {
        anstream::println!(
            "{} {}",
            bold(&format!("{:>2}", n + 1)),
            excerpt(&answer.text)
        );
        if let Some(context) = &answer.context {
            anstream::println!("   {}", excerpt(context));
        }
        anstream::println!("   {}", dim(&source(daybook, answer)));
    }
}

fn source(daybook: &Daybook, answer: &Answer) -> String {
    let who = match (answer.origin, &answer.file) {
        (Some(origin), _) => origin.word().replace('_', " "),
        (None, Some(file)) => file.clone(),
        (None, None) => answer.layer.word().to_owned(),
    };
    let day = jiff::Timestamp::from_millisecond(answer.time.0)
        .ok()
        .filter(|_| answer.time != Timestamp::ZERO)
        .map(|at| {
            at.to_zoned(daybook.settings.zone.clone())
                .strftime("%-d %b %Y")
                .to_string()
        });
    let scope = answer.scope.as_ref().map(ToString::to_string);
    let citation = answer
        .citation
        .as_ref()
        .map(|citation| format!("[{citation}]"));
    let parts = [
        Some(format!("{:.2}", answer.score)),
        scope,
        Some(who),
        day,
        citation,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

/// The best answer to `question`, for the end of a first run.
pub(crate) async fn best(
    store: &dyn Store,
    daybook: &Daybook,
    text: &str,
) -> Result<Option<Answer>> {
    let question = Question {
        text,
        scopes: None,
        layers: Vec::new(),
        tools: false,
        limit: 1,
    };
    Ok(recall(store, &daybook.tenant, &question)
        .await?
        .into_iter()
        .next())
}
