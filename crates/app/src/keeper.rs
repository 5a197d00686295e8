//! Keeping up: what hooks told is taken in, what is due is processed, and what agents write is
//! followed, a bounded share at a time.
//!
//! Every process that runs for a while does its share, and one at a time does it for all: whoever
//! is elected. Nothing here is waited for by an agent.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use daybook_domain::{JobKind, Timestamp};
use daybook_engine::files::layout::run_folder;
use daybook_engine::ingest::import::{Candidate, ImportReport, import, scan};
use daybook_engine::ingest::settle::settle_new_roots;
use daybook_engine::jobs::{self, Progress, UpdateReport, Waits, Workshop};
use daybook_engine::notices::election;
use daybook_engine::notices::take::{Taken, take};
use daybook_engine::stop::Stop;

use crate::discover;
use crate::embedding::embed_waiting;
use crate::outage::{Outage, pause};
use crate::progress::{Learning, Unseen};
use crate::root;
use crate::settings::Settings;
use crate::wiring::{Daybook, block_on, spool_of};

/// Longest that a command which was asked for something else works before it answers.
const BEFORE_ANSWERING: Duration = Duration::from_secs(1);
/// Longest stretch of work of a server, between two looks at whether it should end.
const SHARE: Duration = Duration::from_secs(5);
/// Longest wait of a notice for a worker that sleeps.
const SPOOL: Duration = Duration::from_millis(250);
/// How soon a worker looks again at what was due and could not be claimed.
const HELD_BACK: Duration = Duration::from_secs(1);
/// How often a server looks whether there is something to do.
const LOOK: Duration = Duration::from_secs(1);

/// What was done.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) taken: Taken,
    pub(crate) report: UpdateReport,
}

impl Daybook {
    /// Makes due what an engine with a longer bound has parked for longer than settings allow now.
    pub(crate) async fn retry_overlong(&self) -> Result<()> {
        let shop = self.workshop("retry")?;
        jobs::retry_waiting(&shop, Waits::Overlong).await?;
        Ok(())
    }
}

/// Takes in what hooks told and processes what is due, until nothing is left or `stop` is asked.
pub(crate) async fn keep_up(
    daybook: &Daybook,
    shop: &Workshop,
    stop: &Stop,
    progress: &dyn Progress,
) -> Result<Done> {
    let spool = daybook.spool();
    let (intake, triggers) = (daybook.intake(), daybook.triggers());
    let mut done = Done::default();
    loop {
        let mut taken = take(&spool, &intake, &triggers, &discover::transcript_of, stop).await?;
        if taken.started {
            taken.events += look_outside(daybook, stop).await?;
        }
        let report = jobs::work(shop, stop, progress).await?;
        daybook.look_around().await?;
        let more = taken.notices > 0 && !stop.asked() && !spool.is_empty();
        done.add(taken, report);
        embed_waiting(daybook, stop).await?;
        if !more {
            return Ok(done);
        }
    }
}

impl Done {
    /// Whether there was nothing to do.
    pub(crate) fn is_nothing(&self) -> bool {
        let report = &self.report;
        self.taken.notices == 0
            && report.read.is_empty()
            && report.scopes.is_empty()
            && report.failed.is_empty()
    }

    /// What was done later, too.
    pub(crate) fn add(&mut self, taken: Taken, report: UpdateReport) {
        self.taken.notices += taken.notices;
        self.taken.events += taken.events;
        self.taken.missing.extend(taken.missing);
        self.taken.unreadable.extend(taken.unreadable);
        self.taken.aside.extend(taken.aside);
        self.taken.failing.extend(taken.failing);
        self.report.add(report);
    }
}

/// [`keep_up`] as the one process that does; `None` when another was elected. What was told while
/// this one ended is not left to nobody.
pub(crate) async fn keep_up_if_elected(
    daybook: &Daybook,
    stop: &Stop,
    progress: &dyn Progress,
) -> Result<Option<Done>> {
    share(daybook, stop, progress, None).await
}

/// With `parallel`, so many sessions are read side by side and no other number.
async fn share(
    daybook: &Daybook,
    stop: &Stop,
    progress: &dyn Progress,
    parallel: Option<usize>,
) -> Result<Option<Done>> {
    let mut done: Option<Done> = None;
    loop {
        let Some(elected) = election::stand(&run_folder(&daybook.root, &daybook.tenant))? else {
            return Ok(done);
        };
        let (mut shop, _present) = daybook.worker().await?;
        shop.limits.parallel = parallel.unwrap_or(shop.limits.parallel);
        let more = keep_up(daybook, &shop, stop, progress).await?;
        done.get_or_insert_default().add(more.taken, more.report);
        // Looked at once more only after it has let go: whoever told something before that found the
        // place taken, and relies on this one.
        drop(elected);
        if stop.asked() || daybook.spool().is_empty() {
            return Ok(done);
        }
    }
}

/// Takes in what hooks told since, for a command that is about to answer a question. No model is waited
/// for: what one has to read is read later.
pub(crate) async fn catch_up(daybook: &Daybook) -> Result<()> {
    if daybook.spool().is_empty() {
        return Ok(());
    }
    let stop = Stop::default();
    stop_after(&stop, BEFORE_ANSWERING);
    let parallel = daybook.asks_model().then_some(0);
    share(daybook, &stop, &Learning::quiet(), parallel).await?;
    Ok(())
}

/// Lets nothing more begin after a while.
pub(crate) fn stop_after(stop: &Stop, while_: Duration) {
    let stop = stop.clone();
    std::thread::spawn(move || {
        std::thread::sleep(while_);
        stop.enough();
    });
}

/// Does a server's share on a thread of its own, until `stop` is asked. Follows the hosts' folders
/// if `follow` is set: what lies there already and was never imported stays out, for nobody was asked.
pub(crate) fn start(root: PathBuf, set: Vec<String>, follow: bool, stop: Stop) {
    std::thread::spawn(move || {
        let mut keeper = Keeper {
            root,
            set,
            daybook: None,
            followed: follow.then(|| Followed::new(host_folders())),
            lying: Vec::new(),
            outage: Outage::default(),
        };
        while !stop.asked() {
            let wait = match surviving(|| keeper.share(&stop)) {
                Ok(()) => LOOK,
                Err(error) => keeper.try_again(&error),
            };
            if pause(&stop, wait).is_err() {
                std::thread::sleep(wait);
            }
        }
    });
}

/// Makes a panic an error: a server whose background work ended at a defect would look alive and learn
/// nothing.
fn surviving(work: impl FnOnce() -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(anyhow!("background work met a defect of Daybook")))
}

/// A server's own hands.
struct Keeper {
    root: PathBuf,
    /// Settings of the command line.
    set: Vec<String>,
    /// Opened when there is something to do for the first time.
    daybook: Option<Daybook>,
    followed: Option<Followed>,
    /// What lay there at the first look, until the memory says what of it was imported before.
    lying: Vec<Candidate>,
    outage: Outage,
}

impl Keeper {
    /// A data folder that is broken now may be whole later; whoever asks is told meanwhile. Says how
    /// long to wait.
    fn try_again(&mut self, error: &anyhow::Error) -> Duration {
        self.daybook = None;
        if let Some(followed) = &mut self.followed {
            followed.forget_last_look();
        }
        self.outage.goes_on(error)
    }

    fn share(&mut self, stop: &Stop) -> Result<()> {
        let mut changed = self.look();
        let settings = Settings::load(&self.root, &self.set)?;
        let told = !spool_of(&self.root, &settings).is_empty();
        if changed.is_empty() && !told && !Daybook::is_there(&self.root, &self.set) {
            self.lying.clear();
            return Ok(());
        }
        let daybook = match self.daybook.take() {
            Some(open) => self.daybook.insert(open),
            None => {
                root::create(&self.root)?;
                let opened = Daybook::open(self.root.clone(), &self.set)?;
                block_on(opened.retry_overlong())?;
                self.daybook.insert(opened)
            }
        };
        block_on(async {
            if !self.lying.is_empty() {
                let known = known_of(daybook, &mut self.lying).await?;
                if let Some(followed) = &mut self.followed {
                    followed.last.extend(known.iter().filter_map(path_of));
                }
                changed.extend(known);
            }
            if !changed.is_empty() {
                take_in(daybook, changed, stop).await?;
            }
            if is_due(daybook).await? {
                let enough = Stop::default();
                stop_after(&enough, SHARE);
                keep_up_if_elected(daybook, &enough, &Learning::quiet()).await?;
            }
            embed_waiting(daybook, stop).await
        })?;
        self.outage.is_over();
        Ok(())
    }

    /// What has changed in the folders since the first look.
    fn look(&mut self) -> Vec<Candidate> {
        let Some(followed) = &mut self.followed else {
            return Vec::new();
        };
        let first = followed.looked.is_none();
        let changed = followed.changed();
        if !first {
            return changed;
        }
        followed.last.clear();
        self.lying = changed;
        Vec::new()
    }
}

/// Takes out of `lying` the files that were imported before; the others stay out.
async fn known_of(daybook: &Daybook, lying: &mut Vec<Candidate>) -> Result<Vec<Candidate>> {
    let sources = daybook.store.sources(&daybook.tenant).await?;
    let known: HashSet<PathBuf> = sources.into_iter().map(|s| PathBuf::from(s.path)).collect();
    let mut files = std::mem::take(lying);
    files.retain(|file| path_of(file).is_some_and(|path| known.contains(&path)));
    Ok(files)
}

/// Reads on what changed behind hooks' backs, of the transcripts that were imported before: those of
/// hosts without hooks, and of times when there were none. What was never imported stays out, for nobody
/// was asked. Says how many events it added.
async fn look_outside(daybook: &Daybook, stop: &Stop) -> Result<u64> {
    let Some(sweep) = &daybook.settings.profile.sweep else {
        return Ok(0);
    };
    let sources = daybook.store.sources(&daybook.tenant).await?;
    let known: HashMap<PathBuf, (u64, i64)> = sources
        .into_iter()
        .map(|source| (source.path.into(), (source.size, source.modified)))
        .collect();
    let mut changed = scan(&host_folders());
    changed.retain(|candidate| match candidate {
        Candidate::File {
            path,
            size,
            modified,
        } => known
            .get(path)
            .is_some_and(|seen| *seen != (*size, *modified)),
        Candidate::Stream(_) | Candidate::Missing(..) => false,
    });
    changed.truncate(sweep.scan);
    Ok(take_in(daybook, changed, stop).await?.added())
}

/// Whether there is anything to do: a job is due, or a hook told something.
pub(crate) async fn is_due(daybook: &Daybook) -> Result<bool> {
    let told = !daybook.spool().is_empty();
    Ok(told
        || next_due(daybook)
            .await?
            .is_some_and(|due| due <= daybook.clock.now()))
}

async fn next_due(daybook: &Daybook) -> Result<Option<Timestamp>> {
    let mut next = None;
    for kind in JobKind::ALL {
        let due = daybook.store.next_due(kind).await?;
        next = [next, due].into_iter().flatten().min();
    }
    Ok(next)
}

/// Sleeps after a look that found nothing to do: until the next job falls due, a hook tells something,
/// another process changes something, or the end is asked for; `longest` at most.
pub(crate) async fn rest(daybook: &Daybook, stop: &Stop, longest: Duration) -> Result<()> {
    let spool = daybook.spool();
    let now = || daybook.clock.now();
    let until = now().plus(longest);
    let mut seen = daybook.store.version().await?;
    // What is due already was just left alone, because others have as much under way as is allowed.
    let mut next = match next_due(daybook).await? {
        Some(due) if due <= now() => now().plus(HELD_BACK),
        Some(due) => due.min(until),
        None => until,
    };
    while !stop.asked() && spool.is_empty() && now() < next {
        let wait = next.since(now()).min(SPOOL);
        tokio::select! {
            () = stop.wait() => return Ok(()),
            changed = daybook.store.until_changed(seen, wait) => changed?,
        }
        let version = daybook.store.version().await?;
        if version != seen {
            seen = version;
            next = next_due(daybook).await?.unwrap_or(until).min(until);
        }
    }
    Ok(())
}

/// Reads changed files on.
pub(crate) async fn take_in(
    daybook: &Daybook,
    changed: Vec<Candidate>,
    stop: &Stop,
) -> Result<ImportReport> {
    let intake = daybook.intake();
    let report = import(&intake, "what agents write", changed, stop, &Unseen).await?;
    if report.added() > 0 {
        settle_new_roots(&*intake.store, &intake.tenant, intake.clock.now()).await?;
    }
    Ok(report)
}

/// The folders where the agents of this machine keep their sessions.
pub(crate) fn host_folders() -> Vec<PathBuf> {
    let folders = discover::hosts().into_iter().map(|host| host.folder);
    folders.collect()
}

/// Folders that are looked at again and again. Looking costs one `stat` for each file, works on every
/// file system, and needs nothing of the operating system that could run out.
pub(crate) struct Followed {
    folders: Vec<PathBuf>,
    seen: HashMap<PathBuf, (u64, i64)>,
    /// What the last look found changed.
    last: Vec<PathBuf>,
    looked: Option<Instant>,
    pause: Duration,
}

impl Followed {
    pub(crate) fn new(folders: Vec<PathBuf>) -> Self {
        Self {
            folders,
            seen: HashMap::new(),
            last: Vec::new(),
            looked: None,
            pause: Duration::ZERO,
        }
    }

    /// Files that are new or have changed since the last look. In a huge folder looks are further
    /// apart, so that looking takes no more than a fiftieth of the time.
    pub(crate) fn changed(&mut self) -> Vec<Candidate> {
        let began = Instant::now();
        if self
            .looked
            .is_some_and(|looked| looked.elapsed() < self.pause)
        {
            return Vec::new();
        }
        let there: Vec<PathBuf> = self
            .folders
            .iter()
            .filter(|f| f.exists())
            .cloned()
            .collect();
        let mut changed = scan(&there);
        changed.retain(|candidate| match candidate {
            Candidate::File {
                path,
                size,
                modified,
            } => {
                let now = (*size, *modified);
                discover::is_transcript(path) && self.seen.insert(path.clone(), now) != Some(now)
            }
            Candidate::Stream(_) | Candidate::Missing(..) => false,
        });
        self.last = changed.iter().filter_map(path_of).collect();
        self.looked = Some(Instant::now());
        self.pause = began.elapsed() * 50;
        changed
    }

    /// What changed could not be taken in, and is looked at again.
    pub(crate) fn forget_last_look(&mut self) {
        for path in self.last.drain(..) {
            self.seen.remove(&path);
        }
    }
}

fn path_of(candidate: &Candidate) -> Option<PathBuf> {
    match candidate {
        Candidate::File { path, .. } => Some(path.clone()),
        Candidate::Stream(_) | Candidate::Missing(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_work_survives_a_defect() {
        assert!(surviving(|| Ok(())).is_ok());
        let error = surviving(|| panic!("out of reach")).unwrap_err();
        assert_eq!(error.to_string(), "background work met a defect of Daybook");
    }
}
