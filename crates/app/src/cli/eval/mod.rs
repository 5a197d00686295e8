//! `daybook eval`: measure recall, on benchmarks and on questions of one's own.
//!
//! Not here: loading, asking and measuring (`daybook-eval`).

mod changes;
mod memory;
mod misses;
mod models;
mod statements;
mod table;
mod threads;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use daybook_domain::Tenant;
use daybook_domain::index::MemoryLayer;
use daybook_domain::seams::Store;
use daybook_engine::recall::search::ANSWERS;
use daybook_eval::load::{self, WrittenQuestions};
use daybook_eval::{
    Dataset, EndToEndModels, EvalReport, MemoryFiles, RecallOptions, Split, VectorOption,
    calibrate, extract_and_consolidate, import_transcripts, run, run_stored,
};

use self::memory::MemoryFactory;
use super::CommonArgs;
use crate::models::embedders::{built_in, in_folder};
use crate::process::block_on;
use crate::service::person_scope;
use crate::service::recall::parse_layer;
use crate::terminal::output::json as print_json;
use crate::wiring::Daybook;

/// Measure recall, on benchmarks and on questions of your own.
///
/// Each conversation of a benchmark is taken into a temporary memory and asked its questions. The table
/// shows how much of the evidence is among the first results, beside simple baselines. `--json` has every
/// question. Your own memory is not touched.
#[derive(Args)]
pub(crate) struct EvalCommand {
    /// What is measured
    #[arg(value_enum)]
    benchmark: Benchmark,
    /// Its file, or of beam the folder of its chats
    path: PathBuf,
    /// With `questions`: ask about the transcripts in this folder, in a temporary memory. Without it,
    /// your own memory is searched. With `threads`: the folder of the transcripts
    #[arg(long, value_name = "FOLDER")]
    transcripts: Option<PathBuf>,
    /// With `questions`: ask all of memory, as `daybook recall` does: what was learned and the memory
    /// files, beside messages. Transcripts of a folder are learned from first
    #[arg(long, conflicts_with = "layer")]
    whole: bool,
    /// With `questions`, `changes`, `statements`, `notes` and `threads`: only those of this split
    #[arg(long, value_enum)]
    split: Option<SplitName>,
    /// Results for each question; fewer than 20 make recall among 20 smaller
    #[arg(short = 'n', long, default_value_t = 20)]
    limit: usize,
    /// Only this layer: entry, observation or event; may be repeated
    #[arg(long, value_name = "LAYER", value_parser = parse_layer, default_values = ["event"])]
    layer: Vec<MemoryLayer>,
    /// Have this model answer each question from the first ten results, such as home/small-1. Results are
    /// sent to its provider
    #[arg(long, value_name = "MODEL", requires = "judge_model")]
    answer_model: Option<String>,
    /// Have this model judge the answers against the expected ones
    #[arg(long, value_name = "MODEL", requires = "answer_model")]
    judge_model: Option<String>,
    /// With --answer-model: have so many questions answered, evenly spread, instead of all
    #[arg(long, value_name = "N", requires = "answer_model")]
    answers: Option<usize>,
    /// What turns texts into vectors: built-in, off, or folder:PATH for a sentence model
    #[arg(long, value_name = "MODEL", default_value = "built-in")]
    vectors: String,
    /// Fit what confidence is judged by to one part of the questions, and report it on the rest
    #[arg(long)]
    calibrate: bool,
    /// Show each question without evidence among the first ten results, and what kept it from there; each case and
    /// message that was not right
    #[arg(long)]
    misses: bool,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Benchmark {
    /// LoCoMo: dialogues of two people, a file
    Locomo,
    /// LongMemEval: a person's sessions with an assistant, a file
    Longmemeval,
    /// BEAM: long chats with an assistant, a folder
    Beam,
    /// Questions of your own, a file: TOML with [[question]] tables, or JSON lines
    Questions,
    /// Statements that later ones replace, reverse, take back or repeat, a file: TOML
    Changes,
    /// Messages, and what of each is worth keeping, a file: TOML
    Statements,
    /// LoCoMo: what is kept of its turns, beside what was noted of the speakers, a file
    Notes,
    /// What a person insisted on in long sessions, and whether their threads keep it, a file: TOML
    Threads,
}

/// What questions of one's own are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SplitName {
    /// Choosing weights and thresholds
    Tune,
    /// Reporting alone
    Report,
}

impl EvalCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        if !(1..=ANSWERS).contains(&self.limit) {
            bail!("--limit is 1 to {ANSWERS}");
        }
        let is_split = matches!(
            self.benchmark,
            Benchmark::Questions
                | Benchmark::Changes
                | Benchmark::Statements
                | Benchmark::Notes
                | Benchmark::Threads
        );
        let reads = matches!(self.benchmark, Benchmark::Questions | Benchmark::Threads);
        if self.transcripts.is_some() && !reads {
            bail!("--transcripts is for `daybook eval questions` and `threads`");
        }
        if self.whole && !matches!(self.benchmark, Benchmark::Questions) {
            bail!("--whole is for `daybook eval questions`");
        }
        if self.split.is_some() && !is_split {
            bail!(
                "--split is for `daybook eval questions`, `changes`, `statements`, `notes` and `threads`"
            );
        }
        let report = match self.benchmark {
            Benchmark::Changes => return self.run_changes(common),
            Benchmark::Statements => return self.run_statements(common),
            Benchmark::Notes => return self.run_notes(common),
            Benchmark::Threads => return self.run_threads(common),
            Benchmark::Locomo => self.run_benchmark(common, &load::load_locomo(&self.path)?),
            Benchmark::Longmemeval => {
                self.run_benchmark(common, &load::load_longmemeval(&self.path)?)
            }
            Benchmark::Beam => self.run_benchmark(common, &load::load_beam(&self.path)?),
            Benchmark::Questions => self.run_questions(common),
        }?;
        if common.json {
            print_json(&serde_json::to_value(&report)?)?;
        } else {
            table::show(&report);
            if self.misses {
                misses::show(&report);
            }
        }
        if self.calibrate {
            self.calibrate(common, &report)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn calibrate(&self, common: &CommonArgs, report: &EvalReport) -> Result<()> {
        let Some(calibration) = calibrate(report) else {
            bail!(
                "there is nothing to calibrate with: some questions must be right, and some unanswerable"
            );
        };
        if common.json {
            return print_json(&serde_json::to_value(&calibration)?);
        }
        table::show_calibration(&calibration);
        Ok(())
    }

    /// Every conversation has a memory of its own.
    fn run_benchmark(&self, common: &CommonArgs, dataset: &Dataset) -> Result<EvalReport> {
        let models = self.models(common)?;
        let memories = MemoryFactory::start(common, dataset.conversations.len() as u64);
        let fresh = || memories.make();
        let recall_options = self.recall_options()?;
        let report =
            block_on(async { Ok(run(dataset, &fresh, &recall_options, models.as_ref()).await?) });
        memories.end();
        report
    }

    fn run_questions(&self, common: &CommonArgs) -> Result<EvalReport> {
        let written = load::load_questions(&self.path)?;
        let models = self.models(common)?;
        let Some(transcripts) = &self.transcripts else {
            let daybook = Daybook::open_existing(common)?;
            let memory = (&*daybook.store, &daybook.tenant);
            let files = MemoryFiles {
                root: daybook.root.clone(),
                person: person_scope(&daybook),
                zone: daybook.settings.zone.clone(),
            };
            return block_on(self.ask_stored(&written, memory, files, models.as_ref()));
        };
        let memories = MemoryFactory::start(common, 1);
        let report = block_on(async {
            let memory = memories
                .make_with_worker()
                .map_err(|error| anyhow!(error))?;
            import_transcripts(&memory.intake, transcripts).await?;
            if self.whole {
                extract_and_consolidate(&memory.worker).await?;
            }
            let files = MemoryFiles::of(&memory.worker);
            let memory = (&*memory.intake.store, &memory.intake.tenant);
            self.ask_stored(&written, memory, files, models.as_ref())
                .await
        });
        memories.end();
        report
    }

    async fn ask_stored(
        &self,
        written: &WrittenQuestions,
        (store, tenant): (&dyn Store, &Tenant),
        files: MemoryFiles,
        models: Option<&EndToEndModels>,
    ) -> Result<EvalReport> {
        let dataset = written.resolve(store, tenant, self.split()).await?;
        let mut options = self.recall_options()?;
        if self.whole {
            options.layers.clear();
            options.files = Some(files);
        }
        Ok(run_stored(&dataset, store, tenant, &options, models).await?)
    }

    fn split(&self) -> Option<Split> {
        self.split.map(|split| match split {
            SplitName::Tune => Split::Tune,
            SplitName::Report => Split::Report,
        })
    }

    /// The models that answer and judge, where they are named. Their calls are charged and capped like all
    /// others of the data folder.
    fn models(&self, common: &CommonArgs) -> Result<Option<EndToEndModels>> {
        let (Some(answers), Some(judges)) = (&self.answer_model, &self.judge_model) else {
            return Ok(None);
        };
        let daybook = Daybook::open_or_create(common)?;
        let run = format!("eval-{}-{}", std::process::id(), daybook.clock.now().0);
        Ok(Some(EndToEndModels {
            answer_model: models::metered(&daybook, common, "--answer-model", answers, &run)?,
            judge_model: models::metered(&daybook, common, "--judge-model", judges, &run)?,
            prices: daybook.settings.prices.clone(),
            questions: self.answers,
        }))
    }

    /// A provider's model is not among those that can be measured: thousands of texts would be sent to it.
    fn recall_options(&self) -> Result<RecallOptions> {
        let vectors = match self.vectors.as_str() {
            "off" => VectorOption::Off,
            "built-in" | "on" => VectorOption::Of(built_in()),
            named => match named.strip_prefix("folder:") {
                Some(folder) => VectorOption::Of(in_folder(folder.as_ref())?),
                None => bail!("--vectors is built-in, off or folder:PATH, and not {named}"),
            },
        };
        Ok(RecallOptions {
            limit: self.limit,
            layers: self.layer.clone(),
            vectors,
            files: None,
        })
    }
}
