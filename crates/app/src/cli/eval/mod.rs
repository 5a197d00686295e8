//! `daybook eval`: measure recall, on benchmarks and on questions of one's own.
//!
//! Not here: loading, asking and measuring (`daybook-eval`).

mod table;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use daybook_domain::eligibility::Switches;
use daybook_domain::index::Layer;
use daybook_domain::trigger::Patience;
use daybook_domain::{BoxError, Tenant};
use daybook_engine::ingest::import::Intake;
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::recall::search::ANSWERS;
use daybook_eval::{Asking, Dataset, Vectors, load, run};
use daybook_store::sqlite::{SqliteOptions, SqliteStore};

use super::Common;
use crate::clock::SystemClock;
use crate::desk::layer;
use crate::output::json as print_json;
use crate::wiring::block_on;

/// Measure recall, on benchmarks and on questions of your own.
///
/// Each conversation of a benchmark is taken into a temporary memory and asked its questions. The table
/// shows how much of the evidence is among the first results, beside simple baselines. `--json` has every
/// question. Your own memory is not touched.
#[derive(Args)]
pub(crate) struct Eval {
    /// What is measured
    #[arg(value_enum)]
    benchmark: Benchmark,
    /// Its file: locomo, longmemeval
    path: PathBuf,
    /// Results for each question; fewer than 20 make recall among 20 smaller
    #[arg(short = 'n', long, default_value_t = 20)]
    limit: usize,
    /// Only this layer: entry, observation or event; may be repeated
    #[arg(long, value_name = "LAYER", value_parser = layer, default_values = ["event"])]
    layer: Vec<Layer>,
    /// Whether vectors take part
    #[arg(long, value_enum, default_value_t = VectorsSwitch::On)]
    vectors: VectorsSwitch,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Benchmark {
    /// LoCoMo: dialogues of two people
    Locomo,
}

/// Whether vectors take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VectorsSwitch {
    /// As in `daybook recall`
    On,
    /// Words alone
    Off,
}

impl Eval {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        if !(1..=ANSWERS).contains(&self.limit) {
            bail!("--limit is 1 to {ANSWERS}");
        }
        let dataset = self.load()?;
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let made = Cell::new(0_usize);
        let fresh = || {
            made.set(made.get() + 1);
            let path = folder.path().join(format!("{}.db", made.get()));
            intake(&path)
        };
        let asking = self.asking();
        let report = block_on(async { Ok(run(&dataset, &fresh, &asking).await?) })?;
        if common.json {
            print_json(&serde_json::to_value(&report)?)?;
        } else {
            table::show(&report);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn load(&self) -> Result<Dataset> {
        Ok(match self.benchmark {
            Benchmark::Locomo => load::load_locomo(&self.path)?,
        })
    }

    fn asking(&self) -> Asking {
        Asking {
            limit: self.limit,
            layers: self.layer.clone(),
            vectors: match self.vectors {
                VectorsSwitch::On => Vectors::Default,
                VectorsSwitch::Off => Vectors::Off,
            },
        }
    }
}

/// An empty memory in a database at `path`, with default settings: results do not depend on a person's own.
fn intake(path: &Path) -> Result<Intake, BoxError> {
    let store = SqliteStore::open(path, SqliteOptions::default())?;
    Ok(Intake {
        store: Arc::new(store),
        clock: Arc::new(SystemClock),
        tenant: Tenant::local(),
        patience: Patience::default(),
        switches: Switches::default(),
        redactor: Arc::new(Redactor::standard()),
        readers: 1,
    })
}
