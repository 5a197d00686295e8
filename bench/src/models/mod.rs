//! Measures what the engine sends to a model for the transcripts of a folder, and the engine's own time.
//!
//! A scripted provider (`script`) answers over real wires; `run` imports the transcripts and extracts every window.
//! Windows that show a model nothing cause no request, and count for time alone. The engine's time runs from a window's
//! claim to its finish in SQLite. It is printed twice: as processor time of the engine's one thread, client of the
//! provider and database included, which other programs do not lengthen and which has a target; and as wall time without
//! the provider's answering time, where the loopback and waits for the disk count as the engine's.

mod run;
mod script;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use daybook_engine::extract::model::Dialect;
use daybook_llm::Wire;
use serde_json::{Value, json};

use crate::process::ms;
use crate::transcripts::real;
use run::{ImportedTranscripts, RunResult};

/// Most tokens of what is sent for one token of the windows as they are shown.
const SENT: f64 = 1.3;
/// Most tokens of the windows as they are shown for one of the transcripts.
const RENDERED: f64 = 0.25;
/// Most requests about a window.
const REQUESTS: u64 = 2;
/// Most of a processor's time beside the model, at the median.
const BESIDE: Duration = Duration::from_millis(5);

/// What is run: Daybook's own dialect over each wire, and other systems' over one.
const RUNS: [(Wire, Dialect); 6] = [
    (Wire::OpenAi, Dialect::Extract),
    (Wire::Anthropic, Dialect::Extract),
    (Wire::Ollama, Dialect::Extract),
    (Wire::OpenAi, Dialect::Observations),
    (Wire::OpenAi, Dialect::StageOne),
    (Wire::OpenAi, Dialect::SilentTurn),
];

/// Measures the real transcripts, or the sample if they do not exist.
pub(crate) fn ask() -> Result<()> {
    answer(real(), false)
}

/// Measures with arguments: a folder, `--json`, both or neither.
pub(crate) fn ask_with(arguments: &[String]) -> Result<()> {
    let mut folder = None;
    let mut as_json = false;
    for argument in arguments {
        match argument.as_str() {
            "--json" => as_json = true,
            path if folder.is_none() && !path.starts_with('-') => folder = Some(path.into()),
            other => bail!("models [folder] [--json]: what is {other}?"),
        }
    }
    answer(folder.or_else(real), as_json)
}

fn answer(folder: Option<PathBuf>, as_json: bool) -> Result<()> {
    // The sample's sessions are shorter than the prompt, so their shares are not representative.
    let is_judged = folder.is_some();
    let folder = folder.unwrap_or_else(sample);
    let taken = run::take(folder)?;
    if taken.events == 0 {
        bail!("there are no transcripts in it");
    }
    if !as_json {
        print_head(&taken);
    }
    let mut rows = Vec::new();
    for (wire, dialect) in RUNS {
        let row = ModelRunRow::of(&taken, wire, dialect, &run::ask(&taken, wire, dialect)?);
        if !as_json {
            row.print();
        }
        rows.push(row);
    }
    let missed: Vec<String> = rows.iter().flat_map(ModelRunRow::missed).collect();
    match as_json {
        true => println!("{:#}", json_of(&taken, &rows, &missed)),
        false => print_targets(is_judged),
    }
    match missed.as_slice() {
        missed if is_judged && !missed.is_empty() => bail!("missed: {}", missed.join("; ")),
        _ => Ok(()),
    }
}

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/app/sample")
}

/// One line of the table.
struct ModelRunRow {
    wire: Wire,
    dialect: Dialect,
    windows: usize,
    asked: u64,
    requests: u64,
    most_requests: u64,
    observations: usize,
    rendered: u64,
    sent: u64,
    prompts: u64,
    again: u64,
    rendered_share: f64,
    sent_share: f64,
    /// Median, 95th percentile, longest.
    beside: [Duration; 3],
    /// The median processor time of the engine.
    own: Duration,
}

impl ModelRunRow {
    fn of(taken: &ImportedTranscripts, wire: Wire, dialect: Dialect, ran: &RunResult) -> Self {
        let totals = ran.totals;
        let whole = sorted(&ran.whole);
        Self {
            wire,
            dialect,
            windows: whole.len(),
            asked: totals.windows,
            requests: totals.requests,
            most_requests: ran.most_requests,
            observations: ran.observations,
            rendered: totals.rendered,
            sent: totals.sent,
            prompts: totals.prompts,
            again: totals.again,
            rendered_share: totals.rendered as f64 / taken.raw.max(1) as f64,
            sent_share: totals.sent as f64 / totals.rendered.max(1) as f64,
            beside: [0.5, 0.95, 1.0].map(|share| at(&whole, share)),
            own: at(&sorted(&ran.own), 0.5),
        }
    }

    fn print(&self) {
        let [median, p95, most] = self.beside.map(ms);
        println!(
            "  {:<12} {:<9} {:>5} {:>6} {:>4} {:>4} {:>9} {:>6.3} {:>9} {:>6.3} {:>8} {:>7} {median:>8.2} {p95:>7.2} {most:>7.2} {:>6.2} {:>6}",
            self.dialect.as_str(),
            word(self.wire),
            self.windows,
            self.asked,
            self.requests,
            self.most_requests,
            self.rendered,
            self.rendered_share,
            self.sent,
            self.sent_share,
            self.prompts,
            self.again,
            ms(self.own),
            self.observations,
        );
    }

    /// What it should have been and is not. How much another system's dialect shows is that system's choice.
    fn missed(&self) -> Vec<String> {
        if self.dialect != Dialect::Extract {
            return Vec::new();
        }
        let name = format!("{} over {}", self.dialect.as_str(), word(self.wire));
        let wanted = [
            (self.rendered_share <= RENDERED, "rendered/raw"),
            (self.sent_share <= SENT, "sent/rendered"),
            (self.most_requests <= REQUESTS, "requests about a window"),
            (self.own < BESIDE, "time beside the model"),
        ];
        let missed = wanted.iter().filter(|(is_met, _)| !is_met);
        missed.map(|(_, what)| format!("{name}: {what}")).collect()
    }

    fn json(&self) -> Value {
        json!({
            "dialect": self.dialect.as_str(),
            "wire": word(self.wire),
            "windows": self.windows,
            "asked": self.asked,
            "requests": self.requests,
            "most_requests": self.most_requests,
            "observations": self.observations,
            "rendered_tokens": self.rendered,
            "rendered_share": self.rendered_share,
            "sent_tokens": self.sent,
            "prompt_tokens": self.prompts,
            "second_request_tokens": self.again,
            "sent_share": self.sent_share,
            "beside_ms": {
                "median": ms(self.beside[0]),
                "p95": ms(self.beside[1]),
                "most": ms(self.beside[2]),
                "processor_median": ms(self.own),
            },
        })
    }
}

fn print_head(taken: &ImportedTranscripts) {
    println!(
        "  {} sessions, {} events of {} tokens; every {}th window needs a second request",
        taken.sessions,
        taken.events,
        taken.raw,
        script::EVERY
    );
    println!(
        "                           windows  requests     tokens shown    tokens sent   of these in        ms beside the model"
    );
    println!(
        "  dialect      wire        all  asked  all most   in all of raw    in all /shown  prompts  second   median     p95    most    cpu   kept"
    );
}

fn print_targets(is_judged: bool) {
    println!(
        "  wanted: of raw <= {RENDERED}, sent/shown <= {SENT}, requests about a window <= {REQUESTS}, median of cpu < {} ms",
        BESIDE.as_millis()
    );
    println!("  the dialects of other systems are shown as they are, and not judged");
    if !is_judged {
        println!("  the sample's sessions are shorter than a prompt, so nothing is judged");
    }
}

fn json_of(taken: &ImportedTranscripts, rows: &[ModelRunRow], missed: &[String]) -> Value {
    json!({
        "sessions": taken.sessions,
        "events": taken.events,
        "raw_tokens": taken.raw,
        "second_request_every": script::EVERY,
        "runs": rows.iter().map(ModelRunRow::json).collect::<Vec<_>>(),
        "missed": missed,
    })
}

fn word(wire: Wire) -> &'static str {
    match wire {
        Wire::OpenAi => "openai",
        Wire::Anthropic => "anthropic",
        Wire::Ollama => "ollama",
    }
}

fn sorted(times: &[Duration]) -> Vec<Duration> {
    let mut times = times.to_vec();
    times.sort();
    times
}

/// The time that so large a share of `sorted` does not exceed.
fn at(sorted: &[Duration], share: f64) -> Duration {
    let last = sorted.len().saturating_sub(1);
    let place = (last as f64 * share).ceil() as usize;
    sorted.get(place).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_asks_about_every_window_of_the_sample_and_keeps_something() {
        let taken = run::take(sample()).expect("the sample can be taken in");
        for (wire, dialect) in RUNS {
            let ran = run::ask(&taken, wire, dialect).expect("every window is settled");
            let row = ModelRunRow::of(&taken, wire, dialect, &ran);
            let name = row.json();
            assert!(row.asked > 0 && row.asked <= row.windows as u64, "{name}");
            let most = row.asked + row.asked / script::EVERY;
            assert!((row.asked..=most).contains(&row.requests), "{name}");
            // A stage-one answer is a summary and notes.
            let keeps = row.observations > 0 || dialect == Dialect::StageOne;
            assert!(keeps, "{name}");
            assert!(row.rendered > 0 && row.sent > row.rendered, "{name}");
        }
    }

    #[test]
    fn what_is_missed_is_named() {
        let taken = run::take(sample()).expect("the sample can be taken in");
        let ran = run::ask(&taken, Wire::OpenAi, Dialect::Extract).expect("it is settled");
        let mut row = ModelRunRow::of(&taken, Wire::OpenAi, Dialect::Extract, &ran);
        row.most_requests = 3;
        let missed = row.missed();
        assert!(
            missed.contains(&"extract over openai: requests about a window".to_owned()),
            "{missed:?}"
        );
    }

    #[test]
    fn a_share_of_times_is_told_by_its_last() {
        let times: Vec<Duration> = (1..=21).map(Duration::from_millis).collect();
        let shares = [0.5, 0.95, 1.0].map(|share| at(&times, share).as_millis());
        assert_eq!(shares, [11, 20, 21]);
        assert_eq!(at(&[], 0.5), Duration::ZERO);
    }
}
