//! `daybook recall`: finds what is remembered, with its source.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use daybook_domain::ObservationOrigin;
use daybook_domain::index::MemoryLayer;
use daybook_engine::recall::confidence::Likelihood;
use daybook_engine::recall::interface_use::InterfaceUse;
use daybook_engine::recall::search::excerpt::from_best_passage;
use daybook_engine::recall::search::{RankedAnswer, RecallResult, prepare};

use serde_json::Value;

use super::CommonArgs;
use super::scope_args::CallerArgs;
use crate::background::catch_up;
use crate::process::block_on;
use crate::service::damage;
use crate::service::format_time;
use crate::service::recall::{
    RecallQuery, answer_query, no_answer_message, parse_layer, recall_json,
};
use crate::service::refusals;
use crate::service::search_result::replaced_line;
use crate::service::shown_uses::{Interface, ShownUse};
use crate::terminal::common_args::at_least_one;
use crate::terminal::messages::print_error;
use crate::terminal::output::{bold, count, dim, json as print_json, print_line};
use crate::terminal::suggest;
use crate::terminal::wrap::wrapped;
use crate::wiring::Daybook;

/// Find what is remembered, with its source.
#[derive(Args)]
pub(crate) struct RecallCommand {
    /// What you want to know
    #[arg(required = true, num_args = 1.., value_name = "QUESTION")]
    words: Vec<String>,
    /// Most answers
    #[arg(short = 'n', long, default_value_t = 10, value_parser = at_least_one)]
    limit: usize,
    /// Only this layer: entry, observation or event; may be repeated
    #[arg(long, value_name = "LAYER", value_parser = parse_layer)]
    layer: Vec<MemoryLayer>,
    /// Only the memory of this scope, such as project/tidepool or user/ada; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// Only the memory of this project
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    #[command(flatten)]
    caller: CallerArgs,
    /// What was known and held at this time, such as 2026-02-04, 2026-02 or yesterday
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Search what tools were asked and answered, too
    #[arg(long)]
    tools: bool,
    /// Show no answer unless the question was likely discussed
    #[arg(long)]
    strict: bool,
    /// Show the parts of each answer's score
    #[arg(long)]
    explain: bool,
}

impl RecallCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let text = self.words.join(" ");
        if text.trim().is_empty() {
            let example = suggest::command_of(&["recall", "what did we decide"]);
            bail!("the question is empty; ask one, such as `{example}`");
        }
        // While the memory is opened.
        std::thread::spawn(prepare);
        let daybook = Daybook::open_existing(common)?;
        let mut scopes = self.scope.clone();
        let mut caller = self.caller.named();
        match &mut caller {
            // A caller works in the project, and has other memory besides.
            Some(caller) => caller.project.clone_from(&self.project),
            None => scopes.extend(self.project.iter().map(|key| format!("project/{key}"))),
        }
        let query = RecallQuery {
            text,
            limit: self.limit,
            layers: self.layer.clone(),
            scopes,
            tools: self.tools,
            strict: self.strict,
            at: self.at.clone(),
            caller,
        };
        let recalled = block_on(async {
            catch_up(&daybook).await?;
            refusals::warn_of_refused_files(&daybook).await?;
            let answers = answer_query(&daybook, &query).await;
            damage::warn_of_damage(&daybook).await?;
            answers
        })?;
        if let Some(why) = &recalled.without_vectors {
            print_error(&format!("{why}; it is answered by words alone"));
        }
        for part in &recalled.unanswered {
            print_error(&format!("{part}; the rest of memory was searched"));
        }
        if common.json {
            let mut shown = recall_json(&recalled);
            if self.explain {
                explain_json(&recalled, &mut shown)?;
            }
            print_json(&shown)?;
        } else {
            show(&daybook, &recalled);
            if self.explain {
                explain(&recalled);
            }
        }
        let used = InterfaceUse::of_answers(&recalled.answers);
        ShownUse::new(&daybook, Interface::Cli, used).record_before_exit();
        Ok(ExitCode::SUCCESS)
    }
}

/// Most characters of an answer that are shown.
const SHOWN: usize = 320;
/// Columns before the text of an answer.
const INDENT: usize = 3;

/// Prints answers for people, after a line about how likely they answer the question.
pub(crate) fn show(daybook: &Daybook, recalled: &RecallResult) {
    if recalled.answers.is_empty() {
        print_line!("{}", no_answer_message(recalled));
        return;
    }
    match recalled.confidence.label {
        Likelihood::Likely => {}
        Likelihood::Weak => print_line!("{}", dim("This may answer it:")),
        Likelihood::Unlikely => {
            print_line!("{}", dim("Nothing clearly answers this. Nearest:"));
        }
    }
    for (n, answer) in recalled.answers.iter().enumerate() {
        let fitted = |text: &str| wrapped(text, INDENT);
        let text = excerpt(&from_best_passage(answer, SHOWN));
        let number = bold(&format!("{:>2}", n + 1));
        print_line!("{number} {}", fitted(&text));
        if let Some(context) = &answer.context {
            print_line!("   {}", fitted(&excerpt(context)));
        }
        if let Some(replaced) = &answer.replaced {
            let line = excerpt(&replaced_line(daybook, replaced));
            print_line!("   {}", fitted(&line));
        }
        print_line!("   {}", dim(&fitted(&source(daybook, answer))));
    }
}

/// Prints the parts of the scores, a line for each answer, and the signals behind the label.
fn explain(recalled: &RecallResult) {
    print_line!();
    for (n, answer) in recalled.answers.iter().enumerate() {
        let parts = parts(answer);
        let shown = parts
            .iter()
            .map(|(name, value)| format!("{name} {value:.2}"));
        let learned = answer.learned_from.map(learned_from);
        let shown: Vec<String> = shown.chain(learned).collect();
        print_line!("{} {}", bold(&format!("{:>2}", n + 1)), shown.join(" · "));
    }
    let signs = &recalled.confidence.signals;
    let angle = signs
        .angle
        .map_or("no vector".to_owned(), |angle| format!("vector {angle:.2}"));
    let judged = format!(
        "{} ({:.2}): share {:.2} · score {:.2} · {angle} · asked for {}",
        recalled.confidence.label.as_str(),
        recalled.confidence.score,
        signs.share,
        signs.score,
        count(signs.concepts as u64, "thing"),
    );
    print_line!("{}", dim(&judged));
}

/// Where an observation was learned from, and its trust.
pub(super) fn learned_from(origin: ObservationOrigin) -> String {
    format!("{} (trust {})", origin.as_str(), origin.trust().as_str())
}

/// The parts of an answer's score that are not zero, by name.
fn parts(answer: &RankedAnswer) -> Vec<(String, f64)> {
    let Ok(Value::Object(parts)) = serde_json::to_value(answer.parts) else {
        return Vec::new();
    };
    let named = parts
        .into_iter()
        .filter_map(|(name, part)| Some((name, part.as_f64()?)));
    named
        .filter(|(_, part)| *part != 0.0)
        .map(|(name, part)| (name.replace('_', " "), part))
        .collect()
}

/// Adds the parts of its score to each answer.
fn explain_json(recalled: &RecallResult, shown: &mut Value) -> Result<()> {
    for (n, answer) in recalled.answers.iter().enumerate() {
        shown["results"][n]["parts"] = serde_json::to_value(answer.parts)?;
    }
    shown["confidence_signs"] = serde_json::to_value(recalled.confidence.signals)?;
    Ok(())
}

fn source(daybook: &Daybook, answer: &RankedAnswer) -> String {
    let who = match (answer.origin, &answer.file) {
        (Some(origin), _) => origin.as_str().replace('_', " "),
        (None, Some(file)) => file.clone(),
        (None, None) => answer.layer.as_str().to_owned(),
    };
    let day = format_time(daybook, answer.time, "%-d %b %Y");
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

/// The first characters of a text, on one line.
pub(super) fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}
