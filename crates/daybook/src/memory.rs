//! The memory of a data folder, in this process: the same folder, settings and rules that the command `daybook` uses.
//!
//! Everything goes through one value, [`DataFolder`]. It calls no model and needs no network unless the folder's
//! `daybook.toml` names one.
//!
//! # From a conversation to an answer
//!
//! ```
//! use daybook::memory::{DataFolder, Likelihood, ProgramSession, ReportedEvent};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path();
//! let memory = DataFolder::open(path)?;
//! let session = ProgramSession::new("harbour-bot", "talk-1");
//! let events = vec![
//!     ReportedEvent::user("Set the cache limit to 50 entries. Always run the linter before a commit."),
//!     ReportedEvent::assistant("Done: the cache limit is 50."),
//! ];
//! memory.append(&session, events).await?;
//!
//! // Recall finds these words at once. Facts are learned from them when the session has ended.
//! memory.end_session(&session).await?;
//! let done = memory.work().await?;
//! assert_eq!((done.sessions, done.failed), (1, 0));
//!
//! let recalled = memory.recall("What is the cache limit?").await?;
//! assert_eq!(recalled.confidence.label, Likelihood::Likely);
//! assert!(recalled.answers[0].text.contains("50"));
//! # Ok(())
//! # }
//! ```
//!
//! # Words to keep, and to change
//!
//! ```
//! use daybook::memory::{DataFolder, ListQuery, MemoryError, ScopeChoice};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let memory = DataFolder::open(folder.path())?;
//! let note = memory.remember("Ada's boat is called Tern.").await?;
//! let id = note.id;
//! memory.correct(&id, "Ada's boat is called Avocet.").await?;
//!
//! let query = ListQuery { limit: 10, ..ListQuery::default() };
//! let listed = memory.memories(&ScopeChoice::default(), &query).await?;
//! assert_eq!(listed.memories[0].text, "Ada's boat is called Avocet.");
//!
//! memory.forget(&listed.memories[0].id).await?;
//! assert!(matches!(memory.forget("0123456789abcdef").await, Err(MemoryError::NotFound(_))));
//! # Ok(())
//! # }
//! ```
//!
//! # Transcripts, and a context for an agent
//!
//! ```
//! use daybook::memory::{ContextQuery, DataFolder};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let transcript = folder.path().join("talk.jsonl");
//! # let line = r#"{"role":"user","content":"Remember: our releases go out on Thursdays."}"#;
//! # std::fs::write(&transcript, format!("{line}\n"))?;
//! let memory = DataFolder::open(folder.path().join("data"))?;
//! let report = memory.import(&[transcript]).await?;
//! assert_eq!((report.added(), report.failed().count()), (1, 0));
//! memory.work().await?;
//!
//! let context = memory.context(folder.path(), &ContextQuery::default()).await?;
//! println!("{} tokens for the system prompt:\n{}", context.tokens, context.text);
//! # Ok(())
//! # }
//! ```
//!
//! # Work in the background
//!
//! [`DataFolder::work`] does all that is due and returns. A program that runs for long lets a thread do it, which ends with the
//! returned value: no process stays behind.
//!
//! ```
//! use daybook::memory::DataFolder;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let memory = DataFolder::open_with(folder.path(), &["idle=10m"])?;
//! let working = memory.work_in_background();
//! // …the program serves its agents…
//! working.stop();
//! # Ok(())
//! # }
//! ```
//!
//! # Threads of the same folder
//!
//! [`DataFolder::threads`] is the [`MemoryManager`](crate::MemoryManager) of the threads in the folder. Their events become
//! memory, too.
//!
//! ```
//! use daybook::memory::DataFolder;
//! use daybook::{Clock, EventType, SystemClock, ThreadEvent};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let memory = DataFolder::open(folder.path())?;
//! let threads = memory.threads()?;
//! let (thread, _) = threads.create_thread().await?;
//! for event in [EventType::user("Which lamp is lit?"), EventType::assistant("The green lamp.")] {
//!     threads.dispatch(&thread.id, &ThreadEvent::new(event, SystemClock.now())).await?;
//! }
//! let recalled = memory.recall("Which lamp is lit?").await?;
//! assert!(recalled.answers.iter().any(|answer| answer.text.contains("green lamp")));
//! # Ok(())
//! # }
//! ```
//!
//! # What it costs its host
//!
//! Each request runs on a thread of its own, which ends with it; `tokio` is needed for threads of conversations alone. Nothing is
//! printed: messages are events of `tracing`. Settings come from `daybook.toml` and from variables of the environment that begin
//! with `DAYBOOK_`; keys of models from where these settings say. The rules by which secrets are hidden belong to the process.

pub use daybook_app::library::{
    AppendOutcome, BackgroundWork, ContextQuery, DataFolder, FileReport, FileStatus, ImportReport,
    Likelihood, ListQuery, ListedMemory, MemoryContext, MemoryError, MemoryList, NamedCaller,
    NewNote, NoteScope, ProgramSession, RankedAnswer, RecallConfidence, RecallQuery, RecallResult,
    ReportedEvent, SavedNote, ScopeChoice, SpeakerRole, WorkReport,
};

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn folder() -> (tempfile::TempDir, DataFolder) {
        let folder = tempfile::tempdir().expect("a folder");
        let memory = DataFolder::open(folder.path()).expect("an open folder");
        (folder, memory)
    }

    #[tokio::test]
    async fn every_request_can_be_made_from_any_task() {
        let (_folder, memory) = folder();
        let asking = tokio::spawn(async move { memory.recall("Which lamp is lit?").await });
        let recalled = asking.await.expect("the task ends").expect("an answer");
        assert_eq!(recalled.answers, []);
    }

    #[tokio::test]
    async fn an_event_that_does_not_fit_is_refused_by_its_field() {
        let (_folder, memory) = folder();
        let session = ProgramSession::new("harbour-bot", "talk-1");
        let events = vec![ReportedEvent::user("Hello."), ReportedEvent::user(" ")];
        let refused = memory.append(&session, events).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "events[1].text is blank; leave the event out"
        );
        assert!(matches!(refused, MemoryError::Invalid(_)));
        let nowhere = ProgramSession::new("harbour bot", "talk-1");
        let refused = memory.append(&nowhere, vec![ReportedEvent::user("Hello.")]);
        assert!(matches!(refused.await, Err(MemoryError::Invalid(_))));
    }

    #[tokio::test]
    async fn a_file_that_is_missing_costs_the_others_nothing() {
        let (folder, memory) = folder();
        let good = folder.path().join("talk.jsonl");
        std::fs::write(&good, "{\"role\":\"user\",\"content\":\"Hello.\"}\n").expect("a file");
        let paths = [folder.path().join("nowhere.jsonl"), good];
        let report = memory.import(&paths).await.expect("a report");
        assert_eq!((report.added(), report.failed().count()), (1, 1));
        let again = memory.import(&paths[1..]).await.expect("a report");
        assert_eq!(again.added(), 0);
    }

    #[tokio::test]
    async fn background_work_learns_from_a_session_that_has_ended_and_ends_itself() {
        let (_folder, memory) = folder();
        let session = ProgramSession::new("harbour-bot", "talk-1");
        let words = "Set the cache limit to 50 entries.";
        let events = vec![
            ReportedEvent::user(words),
            ReportedEvent::assistant("Done."),
        ];
        memory.append(&session, events).await.expect("it is kept");
        memory.end_session(&session).await.expect("it is due");
        let working = memory.work_in_background();
        let (whose, query) = (ScopeChoice::default(), ListQuery::default());
        let learned = async {
            while !(memory.memories(&whose, &query).await).is_ok_and(|listed| listed.total > 0) {}
        };
        let patience = std::time::Duration::from_secs(60);
        let in_time = tokio::time::timeout(patience, learned).await;
        in_time.expect("the session is read");
        working.stop();
        let nothing = memory.work().await.expect("a report");
        assert_eq!(nothing, WorkReport::default());
    }

    #[tokio::test]
    async fn what_an_agent_keeps_is_its_own() {
        let (_folder, memory) = folder();
        let agent = |name: &str| NamedCaller {
            agent: Some(name.to_owned()),
            ..NamedCaller::default()
        };
        let note = NewNote {
            scope: NoteScope::Named("agent/harbour-bot".to_owned()),
            caller: Some(agent("harbour-bot")),
            by_agent: true,
            ..NewNote::new("The pier opens at nine.")
        };
        memory.remember(note).await.expect("it is kept");
        let question = |name: &str| RecallQuery {
            caller: Some(agent(name)),
            ..RecallQuery::new("When does the pier open?")
        };
        let own = memory
            .recall(question("harbour-bot"))
            .await
            .expect("an answer");
        assert_eq!(own.answers[0].text, "The pier opens at nine.");
        let other = memory
            .recall(question("mill-bot"))
            .await
            .expect("an answer");
        assert_eq!(other.answers, []);
    }

    #[tokio::test]
    async fn a_setting_that_is_wrong_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let opened = DataFolder::open_with(folder.path(), &["idle=soon"]);
        let Err(refused) = opened else {
            panic!("it is refused");
        };
        assert!(refused.to_string().contains("idle"), "{refused}");
        let file: PathBuf = folder.path().join("file");
        std::fs::write(&file, "").expect("a file");
        assert!(matches!(
            DataFolder::open(&file),
            Err(MemoryError::Failed(_))
        ));
    }
}
