//! One run: transcripts taken in, and all of their windows asked about over one wire in one dialect.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Store;
use daybook_domain::time::Clock;
use daybook_domain::trigger::Patience;
use daybook_domain::{EventSeq, Scope, SessionId, Tenant, Timestamp};
use daybook_engine::extract::model::{Dialect, ModelExtractor, Rendering};
use daybook_engine::extract::window::WindowLimits;
use daybook_engine::ingest::import::{FileReport, ImportProgress, Intake, import, scan};
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::ingest::settle::settle_new_roots;
use daybook_engine::jobs::{Progress, WorkLimits, Workshop, work};
use daybook_engine::profile::Profile;
use daybook_engine::stop::Stop;
use daybook_llm::{ModelConfig, Provider, ProviderConfig, Tokenizer as _, Wire};
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::llm_server::LlmServer;
use daybook_testkit::{ManualClock, run};
use jiff::tz::TimeZone;
use rustix::time::{ClockId, clock_gettime};

use super::script::{Heard, Model, VOCABULARY};

/// Events that are read at once when they are counted.
const PAGE: usize = 1_000;
/// Bytes of them.
const PAGE_BYTES: usize = 8 << 20;
/// When everything is taken in: in 2035, when all of it has long rested.
const NOW: Timestamp = Timestamp(2_051_222_400_000);

/// Transcripts that were taken in, to be copied for each run.
pub(super) struct Taken {
    place: tempfile::TempDir,
    pub(super) sessions: usize,
    pub(super) events: u64,
    /// Tokens of what all events say.
    pub(super) raw: u64,
}

/// What a run came to.
pub(super) struct Ran {
    pub(super) heard: Heard,
    /// Most requests about one window.
    pub(super) most_requests: u64,
    /// Observations made.
    pub(super) observations: usize,
    /// Of each window, from its claim to its finish, without the model's time.
    pub(super) whole: Vec<Duration>,
    /// Of each window, what the engine's thread took of a processor; the model is on another one.
    pub(super) own: Vec<Duration>,
}

struct Quiet;

impl ImportProgress for Quiet {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}

const DATABASE: &str = "daybook.db";

fn open(root: &Path) -> Result<Arc<dyn Store>> {
    let options = SqliteOptions::default();
    Ok(Arc::new(SqliteStore::open(&root.join(DATABASE), options)?))
}

/// Takes in what lies below `folder`.
pub(super) fn take(folder: PathBuf) -> Result<Taken> {
    let place = tempfile::tempdir()?;
    let store = open(place.path())?;
    let tenant = Tenant::local();
    let intake = Intake {
        store: Arc::clone(&store),
        clock: Arc::new(ManualClock::at(NOW)),
        tenant: tenant.clone(),
        patience: Patience::default(),
        switches: Switches::default(),
        redactor: Arc::new(Redactor::standard()),
        readers: 2,
    };
    let (sessions, events, raw) = run(async {
        let stop = Stop::default();
        let report = import(&intake, "models", scan(&[folder]), &stop, &Quiet).await?;
        settle_new_roots(&*store, &tenant, NOW).await?;
        let mut raw = 0;
        for session in &report.sessions {
            raw += tokens(&*store, session).await?;
        }
        anyhow::Ok((report.sessions.len(), report.added(), raw))
    })?;
    Ok(Taken {
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

/// Asks about every window of what was taken in.
pub(super) fn ask(taken: &Taken, wire: Wire, dialect: Dialect) -> Result<Ran> {
    let root = tempfile::tempdir()?;
    copy(taken.place.path(), root.path())?;
    let model = Model::default();
    let server = Arc::new(LlmServer::start(model.script(dialect)));
    let watch = Arc::new(Watch::new(model.clone(), Arc::clone(&server)));
    let extractor = extractor(&server, wire, dialect)?;
    let clock = ManualClock::at(NOW);
    clock.advance(Duration::from_secs(86_400));
    let shop = Workshop {
        store: open(root.path())?,
        trees: None,
        root: root.path().to_owned(),
        clock: Arc::new(clock) as Arc<dyn Clock>,
        extractor: Arc::new(extractor),
        holder: "bench".to_owned(),
        person: "ada".to_owned(),
        zone: TimeZone::UTC,
        tenant: Tenant::local(),
        switches: Switches::default(),
        // One after another, so that time and requests can be told apart by window.
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
    Ok(Ran {
        heard: model.heard(),
        most_requests: seen.most_requests,
        observations: report.observations,
        whole: seen.whole.clone(),
        own: seen.own.clone(),
    })
}

/// The database, as one file: nobody has it open.
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
    Ok(ModelExtractor::new(model, dialect).rendering(rendering))
}

/// How long this thread has run: no other program's doing, unlike the time on the wall.
fn on_thread() -> Duration {
    let ran = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(ran).unwrap_or_default()
}

/// Sees when windows end.
struct Watch {
    model: Model,
    server: Arc<LlmServer>,
    seen: Mutex<Seen>,
}

struct Seen {
    began: Instant,
    before: Heard,
    /// How long the provider had taken by then.
    taken: Duration,
    most_requests: u64,
    whole: Vec<Duration>,
    /// What the thread had taken of a processor by then.
    ran: Duration,
    own: Vec<Duration>,
}

impl Watch {
    fn new(model: Model, server: Arc<LlmServer>) -> Self {
        let seen = Seen {
            began: Instant::now(),
            before: model.heard(),
            taken: Duration::ZERO,
            most_requests: 0,
            whole: Vec::new(),
            ran: on_thread(),
            own: Vec::new(),
        };
        Self {
            model,
            server,
            seen: Mutex::new(seen),
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on the next window's time counts.
    fn begin(&self) {
        let mut seen = self.seen();
        seen.before = self.model.heard();
        seen.taken = self.server.took();
        seen.began = Instant::now();
        seen.ran = on_thread();
    }
}

impl Progress for Watch {
    fn session_read(&self, _: &SessionId) {
        let now = self.model.heard();
        let mut seen = self.seen();
        let took = seen.began.elapsed();
        let own = on_thread().saturating_sub(seen.ran);
        seen.own.push(own);
        let providers = self.server.took().saturating_sub(seen.taken);
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
