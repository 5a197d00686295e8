//! Reads which repository a folder is a checkout of, off the outputs of commands.
//!
//! An output is evidence of the folder that its command ran in, and of no other: `cd X && git remote -v` shows the
//! remote of `X`. Where the command or its folder is not known, the output is no evidence.
//!
//! Not here: how a command line is read (`places`), and which project follows from the evidence.

use std::sync::Arc;

use daybook_domain::{Event, EventId, Origin, Place, RemoteEvidence, RemoteSource};
use daybook_text::RawEvent;
use daybook_text::calls::OpenCalls;
use daybook_text::redact::Redactor;
use serde::{Deserialize, Serialize};

use super::settle::redact_evidence;
use crate::places::checkout::CommonDirs;
use crate::places::folding::{GitCommonDir, fold_root, normalised_remote};
use crate::places::git_folder::{GitFolder, git_folder};

/// Most lines of an output that are read.
const LINES: usize = 200;

/// A part of an event that evidence is read off.
#[derive(Debug, Clone, Copy)]
pub struct OutputLine<'e> {
    /// Who wrote it.
    pub origin: Origin,
    /// The host's id of the call.
    pub call: Option<&'e str>,
    /// Where it happened.
    pub place: Option<&'e Place>,
    /// Its text.
    pub text: &'e str,
}

impl<'e> OutputLine<'e> {
    /// An event as it is stored.
    #[must_use]
    pub fn of(event: &'e Event) -> Self {
        Self {
            origin: event.origin,
            call: event.call.as_deref(),
            place: event.place.as_ref(),
            text: &event.text,
        }
    }
}

/// Reads the events of one session in order, and joins each output to its command. It is serialized where reading stops,
/// because the output of a command may be written later.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct OutputReader {
    /// Folders whose remote a call asks for.
    open: OpenCalls<String>,
    /// Folders of the calls without an id since the last output.
    unnamed: Vec<Option<String>>,
    /// The repositories of folders on this machine.
    #[serde(skip)]
    common_dirs: Arc<CommonDirs>,
}

impl OutputReader {
    /// Whether no call waits for its output.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.open.is_empty() && self.unnamed.is_empty()
    }

    /// Reads one event. Returns the evidence that it gives, without the event that shows it.
    pub fn read(&mut self, line: OutputLine<'_>, git: GitCommonDir<'_>) -> Option<RemoteEvidence> {
        match line.origin {
            Origin::ToolCall => {
                let folder = asked_folder(line.place, line.text, git);
                match (line.call, folder) {
                    (Some(id), Some(folder)) => self.open.open(id, folder),
                    // Which of more than one a result answers is not known anyway.
                    (None, folder) if self.unnamed.len() < 2 => self.unnamed.push(folder),
                    (Some(_) | None, _) => {}
                }
                None
            }
            Origin::ToolResult => {
                let unnamed = std::mem::take(&mut self.unnamed);
                let folder = match (line.call, unnamed.as_slice()) {
                    (Some(id), _) => self.open.close(id),
                    // Which of several calls it answers is not known.
                    (None, [only]) => only.clone(),
                    (None, _) => None,
                };
                Some(RemoteEvidence {
                    event: None,
                    root: folder?,
                    remote: shown_remote(line.text)?,
                    source: RemoteSource::Output,
                })
            }
            Origin::Human
            | Origin::Assistant
            | Origin::Harness
            | Origin::Synthetic
            | Origin::Recalled
            | Origin::Retraction => None,
        }
    }

    /// Reads an event that is stored already, for the commands whose outputs are to come.
    pub fn reread_here(&mut self, event: &Event) {
        let common_dirs = Arc::clone(&self.common_dirs);
        let _ = self.read(OutputLine::of(event), &|folder| common_dirs.of(folder));
    }

    /// [`OutputReader::read_raw`], with the repositories on this machine.
    pub fn read_raw_here(
        &mut self,
        redactor: &Redactor,
        event: &RawEvent,
    ) -> Option<RemoteEvidence> {
        let common_dirs = Arc::clone(&self.common_dirs);
        self.read_raw(redactor, event, &|folder| common_dirs.of(folder))
    }

    /// Reads an event on its way into the log. A remote that holds a secret is no evidence: it would be stored
    /// unredacted.
    pub fn read_raw(
        &mut self,
        redactor: &Redactor,
        event: &RawEvent,
        git: GitCommonDir<'_>,
    ) -> Option<RemoteEvidence> {
        let line = OutputLine {
            origin: event.origin,
            call: event.call.as_deref(),
            place: event.place.as_ref(),
            text: &event.text,
        };
        let evidence = self.read(line, git)?;
        redact_evidence(redactor, evidence).map(|evidence| with_event(evidence, event.id))
    }
}

/// The evidence, with the event that shows it.
#[must_use]
pub fn with_event(evidence: RemoteEvidence, event: EventId) -> RemoteEvidence {
    RemoteEvidence {
        event: Some(event),
        ..evidence
    }
}

/// The folder whose remote a call's command asks for, as a place's root.
fn asked_folder(place: Option<&Place>, command: &str, git: GitCommonDir<'_>) -> Option<String> {
    match (git_folder(command)?, place) {
        (GitFolder::Here, place) => place.map(|place| place.root.clone()),
        (GitFolder::At(path), place) => {
            let branch = place.and_then(|place| place.branch.as_deref());
            Some(fold_root(&path, branch, git))
        }
    }
}

/// The remote that a command's output shows: of a push, a fetch, or a list of remotes.
#[must_use]
pub fn shown_remote(output: &str) -> Option<String> {
    // What a submodule was fetched from follows that line.
    let own = |line: &&str| !line.starts_with("Fetching submodule");
    output.lines().take(LINES).take_while(own).find_map(|line| {
        let line = line.trim();
        let url = line
            .strip_prefix("To ")
            .or_else(|| line.strip_prefix("From "))
            .or_else(|| listed_remote(line))?;
        normalised_remote(url).filter(|remote| is_address(remote))
    })
}

/// Prose begins with "To" and "From", too: an address has a dotted host, and no blanks.
fn is_address(remote: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | '~');
    let dotted = remote
        .split('/')
        .next()
        .is_some_and(|host| host.contains('.'));
    dotted && remote.chars().all(plain)
}

fn listed_remote(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("origin")?.trim_start();
    rest.strip_suffix("(push)")
        .or_else(|| rest.strip_suffix("(fetch)"))
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIDEPOOL: &str = "github.com/ada/tidepool";
    const LISTED: &str = "origin\tgit@github.com:ada/tidepool.git (fetch)";

    /// The folder and remote that a command's output shows in `/home/ada/reef`.
    #[track_caller]
    fn check(events: &[(Origin, Option<&str>, &str)], expected: Option<&str>) {
        let place = Place {
            root: "/home/ada/reef".to_owned(),
            branch: Some("main".to_owned()),
        };
        let mut reader = OutputReader::default();
        let mut shown = events.iter().filter_map(|(origin, call, text)| {
            let line = OutputLine {
                origin: *origin,
                call: *call,
                place: Some(&place),
                text,
            };
            reader.read(line, &|_| None)
        });
        let shown = shown.next().map(|shown| (shown.root, shown.remote));
        let expected = expected.map(|root| (root.to_owned(), TIDEPOOL.to_owned()));
        assert_eq!(shown, expected, "{events:?}");
    }

    use Origin::{ToolCall, ToolResult};

    #[test]
    fn an_output_is_evidence_of_the_folder_that_its_command_ran_in() {
        let answer = |command| {
            [
                (ToolCall, Some("c1"), command),
                (ToolResult, Some("c1"), LISTED),
            ]
        };
        check(&answer("git remote -v"), Some("/home/ada/reef"));
        check(
            &answer("cd /home/ada/tidepool && git remote -v"),
            Some("/home/ada/tidepool"),
        );
        check(
            &answer("git -C /home/ada/tidepool/.worktrees/2 remote -v"),
            Some("/home/ada/tidepool"),
        );
        check(&answer("cd $X && git remote -v"), None);
        check(&answer("cat remotes.txt"), None);
    }

    #[test]
    fn an_output_belongs_to_its_own_call() {
        check(
            &[
                (ToolCall, Some("c1"), "git -C /home/ada/tidepool remote -v"),
                (ToolCall, Some("c2"), "git remote -v"),
                (ToolResult, Some("c1"), LISTED),
            ],
            Some("/home/ada/tidepool"),
        );
        check(&[(ToolResult, Some("c1"), LISTED)], None);
        check(&[(ToolResult, None, LISTED)], None);
        check(
            &[
                (ToolCall, None, "git remote -v"),
                (ToolResult, None, LISTED),
            ],
            Some("/home/ada/reef"),
        );
        check(
            &[
                (ToolCall, None, "git remote -v"),
                (ToolCall, None, "cd /x && git remote -v"),
                (ToolResult, None, LISTED),
            ],
            None,
        );
    }

    #[test]
    fn a_remote_is_read_off_a_push_and_a_list_but_not_off_prose() {
        let tidepool = Some(TIDEPOOL.to_owned());
        assert_eq!(
            shown_remote("remote: done\nTo github.com:ada/tidepool.git\n   1..2 main -> main"),
            tidepool
        );
        assert_eq!(shown_remote(LISTED), tidepool);
        assert_eq!(
            shown_remote("Fetching submodule kelp\nFrom https://github.com/bob/kelp"),
            None
        );
        assert_eq!(shown_remote("To do: read a/b\nFrom here: on/off"), None);
    }
}
