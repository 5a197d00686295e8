//! `daybook recall`: find what is remembered, with its source.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use daybook_domain::index::Layer;
use daybook_engine::recall::search::Answer;

use super::Common;
use crate::damage;
use crate::desk::{Ask, answers_json, ask, day, layer};
use crate::keeper::catch_up;
use crate::output::{bold, dim, json as print_json};
use crate::refusals;
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

impl Recall {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let mut scopes = self.scope.clone();
        scopes.extend(
            self.project
                .iter()
                .map(|project| format!("project/{project}")),
        );
        let asked = Ask {
            text: self.words.join(" "),
            limit: self.limit,
            layers: self.layer.clone(),
            scopes,
            tools: self.tools,
        };
        let answers = block_on(async {
            catch_up(&daybook).await?;
            refusals::complain_of(&daybook).await?;
            let answers = ask(&daybook, &asked).await;
            damage::warn_of(&daybook).await?;
            answers
        })?;
        if common.json {
            print_json(&answers_json(&answers))?;
        } else {
            show(&daybook, &answers);
        }
        Ok(ExitCode::SUCCESS)
    }
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
    let day = day(daybook, answer.time, "%-d %b %Y");
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
