//! One run: imports transcripts, and asks a model about all of their windows over one wire in one dialect.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Store;
use daybook_domain::time::Clock;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{EventSeq, Scope, SessionId, Tenant, Timestamp};
use daybook_engine::append::IngestContext;
use daybook_engine::extract::model::{Dialect, ModelExtractor, Rendering};
use daybook_engine::extract::window::WindowLimits;
use daybook_engine::import::{import, scan};
use daybook_engine::jobs::{WorkLimits, WorkProgress, WorkerContext, work};
use daybook_engine::profile::Profile;
use daybook_engine::projects::settle::settle_new_roots;
use daybook_engine::stop::Stop;
use daybook_llm::{ModelConfig, Provider, ProviderConfig, Tokenizer as _, Wire};
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::llm_server::LlmServer;
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use rustix::time::{ClockId, clock_gettime};

use super::script::{QuotingModel, RequestTotals, VOCABULARY};
use crate::transcripts::DiscardProgress;

/// Events that are read at once when they are counted.
const PAGE: usize = 1_000;
/// Bytes of them.
const PAGE_BYTES: usize = 8 << 20;
/// The time of the import: 2035, when every session has long been idle.
const NOW: Timestamp = Timestamp(2_051_222_400_000);

/// Imported transcripts, to be copied for each run.
pub(super) struct ImportedTranscripts {
    place: tempfile::TempDir,
    pub(super) sessions: usize,
    pub(super) events: u64,
    /// Tokens of all events' texts.
    pub(super) raw: u64,
}

/// The figures of one run.
pub(super) struct RunResult {
    pub(super) totals: RequestTotals,
    /// Most requests about one window.
    pub(super) most_requests: u64,
    /// Observations stored.
    pub(super) observations: usize,
    /// For each window, wall time from its claim to its finish, without the model's time.
    pub(super) whole: Vec<Duration>,
    /// For each window, processor time of the engine's thread; the model runs on another thread.
    pub(super) own: Vec<Duration>,
}

const DATABASE: &str = "daybook.db";

fn open(root: &Path) -> Result<Arc<dyn Store>> {
    let options = SqliteOptions::default();
    Ok(Arc::new(SqliteStore::open(&root.join(DATABASE), options)?))
}

/// Imports the transcripts below `folder`.
pub(super) fn take(folder: PathBuf) -> Result<ImportedTranscripts> {
    let place = tempfile::tempdir()?;
    let store = open(place.path())?;
    let tenant = Tenant::local();
    let intake = IngestContext {
        store: Arc::clone(&store),
        clock: Arc::new(ManualClock::at(NOW)),
        tenant: tenant.clone(),
        patience: DueLimits::default(),
        switches: Switches::default(),
        teams: Default::default(),
        redactor: Arc::new(Redactor::standard()),
        readers: 2,
    };
    let (sessions, events, raw) = run(async {
        let stop = Stop::default();
        let report = import(&intake, "models", scan(&[folder]), &stop, &DiscardProgress).await?;
        settle_new_roots(&*store, &tenant, NOW).await?;
        let mut raw = 0;
        for session in &report.sessions {
            raw += tokens(&*store, session).await?;
        }
        anyhow::Ok((report.sessions.len(), report.added(), raw))
    })?;
    Ok(ImportedTranscripts {
        place,
        sessions,
        events,
        raw,
    })
}

async fn tokens(store: &dyn Store, session: &SessionId) -> Result<u64> {
    let (mut after, mut tokens) = (EventSeq(0), 0);
    loop {
        let upto = EventSeq(u64::MAX >> 1);
        let page = store.events(session, after, upto, PAGE, PAGE_BYTES).await?;
        let Some(last) = page.last() else {
            return Ok(tokens);
        };
        after = last.seq;
        let counts = page.iter().map(|it| u64::from(VOCABULARY.count(&it.text)));
        tokens += counts.sum::<u64>();
    }
}

/// Asks a model about every window of the imported transcripts.
pub(super) fn ask(taken: &ImportedTranscripts, wire: Wire, dialect: Dialect) -> Result<RunResult> {
    let root = tempfile::tempdir()?;
    copy(taken.place.path(), root.path())?;
    let model = QuotingModel::default();
    let server = Arc::new(LlmServer::start(model.script(dialect)));
    let watch = Arc::new(WindowTimer::new(model.clone(), Arc::clone(&server)));
    let extractor = extractor(&server, wire, dialect)?;
    let clock = ManualClock::at(NOW);
    clock.advance(Duration::from_secs(86_400));
    let shop = WorkerContext {
        before_files: None,
        store: open(root.path())?,
        trees: None,
        root: root.path().to_owned(),
        clock: Arc::new(clock) as Arc<dyn Clock>,
        extractor: Arc::new(extractor),
        consolidation_model: None,
        holder: "bench".to_owned(),
        person: "ada".to_owned(),
        zone: TimeZone::UTC,
        tenant: Tenant::local(),
        switches: Switches::default(),
        redactor: Redactor::standard(),
        // One after another, so that time and requests are counted per window.
        limits: WorkLimits {
            parallel: 1,
            window: match dialect {
                Dialect::Extract
                | Dialect::Observations
                | Dialect::MemoryAgent
                | Dialect::StageOne => WindowLimits::default(),
                Dialect::SilentTurn => Profile::mindroom().work.window,
            },
            ..WorkLimits::default()
        },
    };
    watch.begin();
    let report = run(work(&shop, &Stop::default(), &*watch))?;
    if let Some(failed) = report.failed.first() {
        bail!("{}: {}", failed.job, failed.failure.message);
    }
    let seen = watch.seen();
    Ok(RunResult {
        totals: model.totals(),
        most_requests: seen.most_requests,
        observations: report.observations,
        whole: seen.whole.clone(),
        own: seen.own.clone(),
    })
}

/// Copies the database, which is one file while no process has it open.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

fn extractor(server: &LlmServer, wire: Wire, dialect: Dialect) -> Result<ModelExtractor> {
    let base = match wire {
        Wire::OpenAi => format!("{}/v1", server.url()),
        Wire::Anthropic | Wire::Ollama => server.url(),
    };
    let provider = Provider::new(ProviderConfig::new("scripted", wire, &base))?;
    let mut config = ModelConfig::new("model", 128_000);
    config.vocabulary = VOCABULARY;
    let rendering = match dialect {
        Dialect::Extract => Rendering::Numbered,
        Dialect::Observations | Dialect::MemoryAgent => Rendering::Headings,
        Dialect::StageOne => Rendering::Rollout,
        Dialect::SilentTurn => Rendering::Lines,
    };
    let model = Arc::new(provider.model(config));
    Ok(ModelExtractor::new(model, dialect).with_rendering(rendering))
}

/// The processor time of this thread, which other programs do not lengthen, unlike wall time.
fn thread_time() -> Duration {
    let ran = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(ran).unwrap_or_default()
}

/// Times windows as they end.
struct WindowTimer {
    model: QuotingModel,
    server: Arc<LlmServer>,
    seen: Mutex<WindowTimes>,
}

struct WindowTimes {
    began: Instant,
    before: RequestTotals,
    /// The provider's time at the beginning of the window.
    taken: Duration,
    most_requests: u64,
    whole: Vec<Duration>,
    /// The thread's processor time at the beginning of the window.
    ran: Duration,
    own: Vec<Duration>,
}

impl WindowTimer {
    fn new(model: QuotingModel, server: Arc<LlmServer>) -> Self {
        let seen = WindowTimes {
            began: Instant::now(),
            before: model.totals(),
            taken: Duration::ZERO,
            most_requests: 0,
            whole: Vec::new(),
            ran: thread_time(),
            own: Vec::new(),
        };
        Self {
            model,
            server,
            seen: Mutex::new(seen),
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, WindowTimes> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins timing the next window.
    fn begin(&self) {
        let mut seen = self.seen();
        seen.before = self.model.totals();
        seen.taken = self.server.answering_time();
        seen.began = Instant::now();
        seen.ran = thread_time();
    }
}

impl WorkProgress for WindowTimer {
    fn session_read(&self, _: &SessionId) {
        let now = self.model.totals();
        let mut seen = self.seen();
        let took = seen.began.elapsed();
        let own = thread_time().saturating_sub(seen.ran);
        seen.own.push(own);
        let providers = self.server.answering_time().saturating_sub(seen.taken);
        seen.whole.push(took.saturating_sub(providers));
        let requests = now.requests - seen.before.requests;
        seen.most_requests = seen.most_requests.max(requests);
        drop(seen);
        self.begin();
    }

    fn scope_written(&self, _: &Scope) {
        self.begin();
    }
}
