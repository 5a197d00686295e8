//! The parts of a bundle: each is made of numbers, times and words that this program itself contains.
//!
//! Not here: writing them.

use std::collections::BTreeMap;

use anyhow::Result;
use daybook_domain::page::{read_all, visit_all};
use daybook_domain::source::TranscriptSource;
use daybook_domain::{Job, JobKey, JobKind, JobStatus, PageRequest, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use strum::VariantArray;

use crate::cli::CommonArgs;
use crate::cli::doctor;
use crate::folders::data_folder;
use crate::http;
use crate::process::{block_on, start_time};
use crate::service::overview::{Coverage, failing_inputs};
use crate::settings::Settings;
use crate::settings::table::ALL;
use crate::terminal::error_class::class;
use crate::terminal::output::rfc3339;
use crate::wiring::{DATABASE, Daybook, MemoryDatabase};

/// What the first file of a bundle says.
pub(super) const ABOUT: &str = "\
A support bundle of Daybook, written by `daybook support-bundle`.

It holds numbers, times, and words that the program itself contains. Words of transcripts and memories, names of people,
agents, sessions, projects and models, paths, addresses, and the messages of errors are not in it. A job is called by a
number; `daybook support-bundle --job NUMBER` prints its name, in the data folder that the bundle is of and nowhere else.
";
/// Failed jobs that are listed.
const FAILED: usize = 500;
/// What `daybook doctor` checks; other names could be names of files.
const CHECKED: [&str; 12] = [
    "consolidation agent",
    "data folder",
    "database",
    "history",
    "import",
    "jobs",
    "ledger",
    "memory files",
    "memory places",
    "secrets in your text",
    "settings",
    "transcripts",
];

/// One file of a bundle.
pub(super) struct BundlePart {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) text: String,
}

impl BundlePart {
    pub(super) fn about(text: &str) -> Self {
        Self {
            name: "about.txt",
            about: "what a bundle holds",
            text: text.to_owned(),
        }
    }

    fn json(name: &'static str, about: &'static str, value: &impl Serialize) -> Self {
        let text = serde_json::to_string_pretty(value);
        Self {
            name,
            about,
            text: text.unwrap_or_default() + "\n",
        }
    }

    /// A part that may fail to be read: then it holds the class of the error.
    fn of(name: &'static str, about: &'static str, made: Result<Value>) -> Self {
        let value = made.unwrap_or_else(|error| json!({"failed": class(&error)}));
        Self::json(name, about, &value)
    }
}

/// Collects all parts. What cannot be read is a part that says so: a bundle is wanted most when something is broken.
pub(super) fn collect(common: &CommonArgs) -> Vec<BundlePart> {
    let mut parts = vec![
        BundlePart::json("versions.json", "versions and the machine", &versions()),
        BundlePart::of(
            "settings.json",
            "settings, their texts left out",
            settings(common),
        ),
        BundlePart::json(
            "checks.json",
            "what `daybook doctor` found",
            &checks(common),
        ),
    ];
    let daybook = match Daybook::open_existing(common) {
        Ok(daybook) => daybook,
        Err(error) => {
            let opened = Err(error);
            parts.push(BundlePart::of(
                "counts.json",
                "counts of what is stored",
                opened,
            ));
            return parts;
        }
    };
    let metrics = block_on(http::memory_metrics(&daybook));
    parts.extend([
        BundlePart::of(
            "counts.json",
            "counts of what is stored",
            block_on(counts(&daybook)),
        ),
        BundlePart::of(
            "jobs.json",
            "states of jobs, and failures by class",
            block_on(jobs(&daybook)),
        ),
        BundlePart::of(
            "timings.json",
            "how long reading takes",
            block_on(timings(&daybook)),
        ),
        BundlePart {
            name: "metrics.txt",
            about: "metrics, as `daybook serve` exposes them",
            text: metrics.unwrap_or_else(|error| format!("# failed: {}\n", class(&error))),
        },
    ]);
    parts
}

fn versions() -> Value {
    json!({
        "daybook": env!("CARGO_PKG_VERSION"),
        "bundle": 1,
        "features": {
            "exact-tokens": cfg!(feature = "exact-tokens"),
            "folder-model": cfg!(feature = "folder-model"),
            "postgres": cfg!(feature = "postgres"),
        },
        "system": std::env::consts::OS,
        "architecture": std::env::consts::ARCH,
        "cores": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
    })
}

/// Numbers, switches and words of a fixed set with their values; of all else, whether it is set.
fn settings(common: &CommonArgs) -> Result<Value> {
    let folder = data_folder::locate(common.root.as_deref())?;
    let settings = Settings::load(&folder, &common.set)?;
    let shown = settings.explained.iter().map(|explained| {
        let known = ALL.iter().find(|setting| setting.name == explained.name);
        let is_closed = known.is_some_and(|setting| setting.kind.is_closed());
        let value = is_closed.then(|| explained.value.clone());
        json!({"name": explained.name, "source": explained.source, "value": value})
    });
    Ok(shown.collect())
}

/// How many findings of each check are fine, and how many are not.
fn checks(common: &CommonArgs) -> Value {
    let mut checks: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for finding in doctor::examine(common) {
        let known = CHECKED.iter().find(|name| **name == finding.what);
        let (fine, wrong) = checks.entry(known.copied().unwrap_or("other")).or_default();
        match finding.fine {
            true => *fine += 1,
            false => *wrong += 1,
        }
    }
    let checks = checks.into_iter();
    checks
        .map(|(name, (fine, wrong))| json!({"check": name, "fine": fine, "wrong": wrong}))
        .collect()
}

async fn counts(daybook: &Daybook) -> Result<Value> {
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let (sessions, events) = Coverage::load(daybook).await?;
    let mut scopes: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
    for state in read_all(|page| store.scopes(tenant, page)).await? {
        let (n, observations) = scopes.entry(state.scope.kind.as_str()).or_default();
        (*n, *observations) = (*n + 1, *observations + state.observations);
    }
    let mut sources = SourceCounts::default();
    visit_all(
        |page| store.sources(tenant, page),
        |source| sources.add(&source),
    )
    .await?;
    let imports = read_all(|page| store.imports(tenant, page)).await?.len();
    Ok(json!({
        "sessions": sessions,
        "events": events,
        "scopes": scopes.iter().map(|(kind, (n, observations))| {
            json!({"kind": kind, "scopes": n, "observations": observations})
        }).collect::<Vec<_>>(),
        "transcripts": sources,
        "failing_inputs": failing_inputs(daybook).await?.len(),
        "hook_events_waiting": daybook.spool().count(),
        "imports": imports,
        "quarantined": store.quarantined(tenant).await?.len(),
        "database": match &daybook.database {
            MemoryDatabase::File(_) => json!({"kind": "sqlite", "bytes": database_bytes(daybook)}),
            #[cfg(feature = "postgres")]
            MemoryDatabase::Server(_) => json!({"kind": "postgres"}),
        },
    }))
}

fn database_bytes(daybook: &Daybook) -> Option<u64> {
    let found = daybook.root.join(DATABASE).metadata();
    found.ok().map(|found| found.len())
}

/// Transcripts in numbers.
#[derive(Default, Serialize)]
struct SourceCounts {
    all: u64,
    bytes: u64,
    lines: u64,
    bad_lines: u64,
    with_bad_lines: u64,
    secrets: u64,
    failing: u64,
}

impl SourceCounts {
    fn add(&mut self, source: &TranscriptSource) {
        self.all += 1;
        self.bytes += source.size;
        self.lines += u64::from(source.lines);
        self.bad_lines += u64::from(source.bad_lines);
        self.with_bad_lines += u64::from(source.bad_lines > 0);
        self.secrets += u64::from(source.secrets);
        self.failing += u64::from(source.failure.is_some());
    }
}

/// The tenant's jobs of all kinds.
pub(super) async fn all_jobs(daybook: &Daybook) -> Result<Vec<Job>> {
    let mut jobs = Vec::new();
    for &kind in JobKind::VARIANTS {
        jobs.extend(daybook.jobs(kind).await?);
    }
    Ok(jobs)
}

async fn jobs(daybook: &Daybook) -> Result<Value> {
    let (names, now) = (JobNames::of(daybook)?, daybook.clock.now());
    let all = all_jobs(daybook).await?;
    let mut states: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for job in &all {
        let state = (job.key.kind().as_str(), state(job, now));
        *states.entry(state).or_default() += 1;
    }
    let failed = all.iter().filter_map(|job| failure(job, &names, now));
    let gaps = daybook.gaps().await?;
    let gaps = gaps.iter().map(|gap| {
        json!({
            "job": names.number(&gap.job),
            "kind": gap.job.kind().as_str(),
            "from": gap.from,
            "to": gap.to,
            "class": gap.failure.class.as_str(),
            "at": rfc3339(gap.at),
        })
    });
    let states = states.iter();
    let states = states.map(|((kind, state), n)| json!({"kind": kind, "state": state, "jobs": n}));
    Ok(json!({
        "at": rfc3339(now),
        "states": states.collect::<Vec<_>>(),
        "failed": failed.take(FAILED).collect::<Vec<_>>(),
        "gaps": gaps.take(FAILED).collect::<Vec<_>>(),
    }))
}

fn state(job: &Job, now: Timestamp) -> &'static str {
    match job.status(now) {
        JobStatus::Done => "done",
        JobStatus::SetAside => "set_aside",
        JobStatus::Running { .. } => "running",
        JobStatus::Waiting { .. } => "waiting",
        JobStatus::Resting { .. } => "resting",
        JobStatus::Due { .. } => "due",
    }
}

/// A failure without its message.
fn failure(job: &Job, names: &JobNames, now: Timestamp) -> Option<Value> {
    let failure = job.last_failure.as_ref()?;
    Some(json!({
        "job": names.number(&job.key),
        "kind": job.key.kind().as_str(),
        "state": state(job, now),
        "class": failure.class.as_str(),
        "done": job.done,
        "input": job.input,
        "tries": job.tries,
        "failures": job.failures,
        "vanished": job.vanished,
        "claims": job.claims,
        "retry_at": job.retry_at.and_then(rfc3339),
    }))
}

/// Milliseconds that some reads of the store take now.
async fn timings(daybook: &Daybook) -> Result<Value> {
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let mut timings = serde_json::Map::new();
    let mut note = |name: &str, began: std::time::Duration| {
        let took = start_time().elapsed().saturating_sub(began);
        timings.insert(name.to_owned(), json!(took.as_secs_f64() * 1e3));
    };
    let began = start_time().elapsed();
    store.sessions(tenant, PageRequest::first(50)).await?;
    note("latest_sessions_ms", began);
    let began = start_time().elapsed();
    Coverage::load(daybook).await?;
    note("coverage_ms", began);
    let began = start_time().elapsed();
    for &kind in JobKind::VARIANTS {
        store
            .open_jobs(tenant, kind, PageRequest::first(200))
            .await?;
    }
    note("open_jobs_ms", began);
    let began = start_time().elapsed();
    store.scopes(tenant, PageRequest::first(200)).await?;
    note("scopes_ms", began);
    note("since_start_ms", std::time::Duration::ZERO);
    Ok(timings.into())
}

/// Numbers in the place of names of jobs. Without the data folder's token, no name can be tried for its number.
pub(super) struct JobNames([u8; 32]);

impl JobNames {
    pub(super) fn of(daybook: &Daybook) -> Result<Self> {
        Ok(Self(http::key_of_names(daybook)?))
    }

    pub(super) fn number(&self, job: &JobKey) -> String {
        let digest = blake3::keyed_hash(&self.0, job.to_string().as_bytes());
        digest.to_hex()[..12].to_owned()
    }
}
