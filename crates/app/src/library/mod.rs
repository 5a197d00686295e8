//! A data folder that another program opens in its own process: the face of the library `daybook`.
//!
//! Each request runs on a thread of its own that ends with it, so the host needs no particular runtime, none of its threads
//! waits for a disk, and a whole update has the stack that it needs. Background work is done only where the host asks for it.
//!
//! Not here: what a request does (`service`), and what is due (`background`).

mod background_work;
mod error;
mod requests;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::anyhow;
use daybook_domain::{Origin, Trigger};
use daybook_engine::import::scan;
use daybook_engine::recall::interface_use::InterfaceUse;
use daybook_engine::stop::Stop;
use daybook_working::manager::MemoryManager;
use tokio::sync::oneshot;

pub use background_work::{BackgroundWork, WorkReport};
pub use error::MemoryError;
pub use requests::{NewNote, ProgramSession};

pub use daybook_domain::seams::AppendOutcome;
pub use daybook_engine::append::batch::{ReportedEvent, SpeakerRole};
pub use daybook_engine::import::{FileReport, FileStatus, ImportReport};
pub use daybook_engine::recall::confidence::{Likelihood, RecallConfidence};
pub use daybook_engine::recall::context::MemoryContext;
pub use daybook_engine::recall::search::{RankedAnswer, RecallResult};

pub use crate::service::caller::NamedCaller;
pub use crate::service::context::ContextQuery;
pub use crate::service::memories::{ListQuery, ListedMemory, MemoryList};
pub use crate::service::notes::{NoteScope, SavedNote};
pub use crate::service::recall::RecallQuery;
pub use crate::service::scope_choice::ScopeChoice;

use crate::background::import_changed;
use crate::folders::data_folder;
use crate::models::embedding::embed_waiting;
use crate::process::{block_on, spawn_work};
use crate::service::append_api::{SessionTrigger, append, apply_trigger};
use crate::service::context::context_in;
use crate::service::event_checks::check_events;
use crate::service::memories;
use crate::service::memory_changes::{RequestedBy, edit_by_id, forget};
use crate::service::notes::{NoteAuthor, save_note};
use crate::service::recall::answer_query;
use crate::service::shown_uses::{Interface, ShownUse};
use crate::terminal::server_timeout::ServerTimeout;
use crate::wiring::Daybook;

/// What an import is called in the list of imports.
const IMPORT: &str = "a program's import";

/// An open data folder. Clones share it. Any number of processes, `daybook` commands among them, may have it open.
#[derive(Clone)]
pub struct DataFolder {
    daybook: Arc<Daybook>,
}

impl DataFolder {
    /// Opens the data folder at `folder`, creating it when it is missing. Its settings are those of its `daybook.toml` and of
    /// the environment (`DAYBOOK_…`), as for the command `daybook`.
    ///
    /// The rules by which secrets are hidden belong to the process: those of the folder that was opened last hold.
    ///
    /// # Errors
    /// [`MemoryError::Unavailable`] while its database is busy or cannot be reached, else [`MemoryError::Failed`]: the
    /// folder cannot be written, its settings are wrong, or a newer Daybook wrote it.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, MemoryError> {
        Self::open_with(folder, &[])
    }

    /// [`DataFolder::open`] with settings such as `"idle=2m"` or `"tenant=ada"` before those of the environment and the file.
    ///
    /// # Errors
    /// As [`DataFolder::open`]; a setting that is wrong is [`MemoryError::Failed`], which names it.
    pub fn open_with(folder: impl AsRef<Path>, settings: &[&str]) -> Result<Self, MemoryError> {
        let settings: Vec<String> = settings.iter().map(|&set| set.to_owned()).collect();
        let folder = data_folder::locate(Some(folder.as_ref()))?;
        data_folder::create(&folder)?;
        let daybook = Daybook::open_for(ServerTimeout::Interactive, folder, &settings)?;
        Ok(Self {
            daybook: Arc::new(daybook),
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.daybook.root
    }

    /// Appends events to a session, which is created when it is new. All of them are on disk when this returns, without their
    /// secrets. Appending an event again adds nothing. Memory is made of them once the session has rested or has ended
    /// ([`DataFolder::end_session`]), by [`DataFolder::work`].
    ///
    /// # Errors
    /// [`MemoryError::Invalid`] names the field that does not fit.
    pub async fn append(
        &self,
        session: &ProgramSession,
        events: Vec<ReportedEvent>,
    ) -> Result<AppendOutcome, MemoryError> {
        let session = session.clone();
        self.run(move |daybook| async move {
            check_events(&events, daybook.clock.now())?;
            append(&daybook, session.append_of(&daybook, events)?).await
        })
        .await
    }

    /// Reports that a session has ended, so that the next [`DataFolder::work`] makes memory of it.
    ///
    /// # Errors
    /// [`MemoryError::NotFound`] for a session without events.
    pub async fn end_session(&self, session: &ProgramSession) -> Result<(), MemoryError> {
        let session = session.clone();
        self.run(move |daybook| async move {
            let ended = SessionTrigger {
                session: session.id(&daybook)?,
                user: session.user,
                trigger: Trigger::End,
                successor: None,
            };
            apply_trigger(&daybook, ended).await.map(drop)
        })
        .await
    }

    /// Imports transcripts: files, or folders with all that is below them. What was imported before is not read again. Memory is
    /// made of them by [`DataFolder::work`].
    ///
    /// A file that cannot be read is named in the report, and the others are imported.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn import(&self, paths: &[PathBuf]) -> Result<ImportReport, MemoryError> {
        let paths = paths.to_vec();
        self.run(move |daybook| async move {
            let stop = Stop::default();
            let report = import_changed(&daybook, IMPORT, scan(&paths), &stop).await?;
            embed_waiting(&daybook.models(), &stop).await?;
            Ok(report)
        })
        .await
    }

    /// Does all work that is due: learns from sessions, writes memory files. Returns what was done; nothing when another process
    /// does the work of this folder already. Dropping the future ends the work after its present step.
    ///
    /// # Errors
    /// Those of the store. A session that cannot be read is counted in the report, and is tried again later.
    pub async fn work(&self) -> Result<WorkReport, MemoryError> {
        background_work::work(self).await
    }

    /// Starts a thread that does what [`DataFolder::work`] does whenever work is due, until the value is dropped or stopped.
    #[must_use = "the work ends when this is dropped"]
    pub fn work_in_background(&self) -> BackgroundWork {
        BackgroundWork::start(Arc::clone(&self.daybook))
    }

    /// Answers a question, best answers first, with the likelihood that the question was discussed at all.
    ///
    /// # Errors
    /// [`MemoryError::NotFound`] for a scope that holds nothing, [`MemoryError::Invalid`] for names that do not fit.
    pub async fn recall(
        &self,
        question: impl Into<RecallQuery>,
    ) -> Result<RecallResult, MemoryError> {
        let question = question.into();
        self.run(move |daybook| async move {
            let recalled = answer_query(&daybook, &question).await?;
            record_use(&daybook, InterfaceUse::of_answers(&recalled.answers)).await;
            Ok(recalled)
        })
        .await
    }

    /// Keeps a text as it is, without its secrets. Recall finds it at once, and the memory files show it.
    ///
    /// # Errors
    /// [`MemoryError::Invalid`] for an empty text and for a scope that the caller takes no part in.
    pub async fn remember(&self, note: impl Into<NewNote>) -> Result<SavedNote, MemoryError> {
        let note = note.into();
        self.run(move |daybook| async move {
            let by = NoteAuthor {
                origin: if note.by_agent {
                    Origin::Assistant
                } else {
                    Origin::Human
                },
                caller: note.caller.as_ref(),
            };
            let (folder, stop) = (note.folder.as_deref(), Stop::default());
            save_note(&daybook, &note.text, &note.scope, folder, by, &stop).await
        })
        .await
    }

    /// Lists what the chosen scope remembers, with ids; without a choice, what the person's own memory does.
    ///
    /// # Errors
    /// [`MemoryError::NotFound`] for a scope that holds nothing.
    pub async fn memories(
        &self,
        choice: &ScopeChoice,
        query: &ListQuery,
    ) -> Result<MemoryList, MemoryError> {
        let (choice, query) = (choice.clone(), query.clone());
        self.run(move |daybook| async move {
            let scope = choice.one(&daybook, None).await?;
            memories::list(&daybook, &scope, &query).await
        })
        .await
    }

    /// Gives the memory with this id other words, in every file and in recall.
    ///
    /// # Errors
    /// [`MemoryError::NotFound`] for an unknown id, [`MemoryError::Conflict`] while another process writes the files.
    pub async fn correct(&self, id: &str, text: &str) -> Result<(), MemoryError> {
        let (id, text) = (id.to_owned(), text.to_owned());
        self.run(move |daybook| async move {
            let words = (id.as_str(), text.as_str());
            let choice = ScopeChoice::default();
            edit_by_id(&daybook, &choice, words, RequestedBy::Person).await?;
            Ok(())
        })
        .await
    }

    /// Forgets the memory with this id, in every file and in recall. The messages that it came from stay in their log.
    ///
    /// # Errors
    /// [`MemoryError::NotFound`] for an unknown id, [`MemoryError::Conflict`] while another process writes the files.
    pub async fn forget(&self, id: &str) -> Result<(), MemoryError> {
        let id = id.to_owned();
        self.run(move |daybook| async move {
            let memory = memories::by_id(&daybook, &ScopeChoice::default(), &id).await?;
            forget(&daybook, &[memory], RequestedBy::Person).await?;
            Ok(())
        })
        .await
    }

    /// Assembles the context for an agent that works in `folder`: what memory holds for its project, branch and task, within a
    /// budget of tokens.
    ///
    /// # Errors
    /// [`MemoryError::Invalid`] for names that do not fit.
    pub async fn context(
        &self,
        folder: &Path,
        query: &ContextQuery,
    ) -> Result<MemoryContext, MemoryError> {
        let (folder, query) = (folder.to_owned(), query.clone());
        self.run(move |daybook| async move {
            let context = context_in(&daybook, &folder, &query).await?.assembled;
            record_use(&daybook, InterfaceUse::Text(context.text.clone())).await;
            Ok(context)
        })
        .await
    }

    /// The manager of the threads in this data folder, whose events become memory like those of other sessions. All calls return
    /// the same manager.
    ///
    /// # Errors
    /// [`MemoryError::Failed`] when the settings name a model for compactions that cannot be made.
    pub fn threads(&self) -> Result<MemoryManager, MemoryError> {
        Ok(self.daybook.thread_manager()?)
    }

    /// Runs `work` on a thread of its own, which goes on when the caller stops waiting.
    async fn run<T, F>(
        &self,
        work: impl FnOnce(Arc<Daybook>) -> F + Send + 'static,
    ) -> Result<T, MemoryError>
    where
        T: Send + 'static,
        F: Future<Output = anyhow::Result<T>>,
    {
        let daybook = Arc::clone(&self.daybook);
        let (answer, answered) = oneshot::channel();
        spawn_work(move || {
            // A caller that no longer waits needs no answer.
            let _ = answer.send(block_on(work(daybook)));
        });
        let broke_off = |_| Err(anyhow!("the request met a defect of Daybook"));
        Ok(answered.await.unwrap_or_else(broke_off)?)
    }
}

/// Records which memories an answer shows. The record is stored before the answer is returned, because the host may end then.
async fn record_use(daybook: &Daybook, used: InterfaceUse) {
    ShownUse::new(daybook, Interface::Library, used)
        .record()
        .await;
}
