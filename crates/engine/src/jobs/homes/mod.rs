//! Takes over the memory of another system's home, and hands it back.
//!
//! Each memory file of a home is a session of a memory agent: its entries are events, and each event carries an
//! observation. So a citation leads to the line of the file, an import can be undone, and nothing is extracted again. The
//! files themselves are not copied: a hand-back reads them where they are, and changes the bytes of those entries alone
//! that a person changed or forgot here.
//!
//! Not here: the forms of the files (`homes`).

mod hand_back;
mod standing;
mod take_over;
mod write;

pub use hand_back::{
    FileChange, HandBack, HandBackFile, HandBackSource, PlanOutcome, plan_hand_back,
};
pub use take_over::{TakenOver, take_over};
pub use write::{HandBackRefusal, WrittenHandBack, write_hand_back};

use daybook_domain::{EventId, SessionId, Tenant};

use crate::homes::{Home, HomeKind};
use crate::places::stored_path::stored_path;

/// Separates a home from the path of a file below it, in the id of the file's session.
const BELOW: &str = "//";

/// The session that holds the entries of a memory file.
fn file_session(tenant: &Tenant, home: &Home, path: &str) -> SessionId {
    let below = format!("{}{BELOW}{path}", stored_path(&home.root));
    let print = EventId::of(&[b"home file", below.as_bytes()]).0 & 0xffff_ffff_ffff;
    SessionId {
        tenant: tenant.clone(),
        agent: home.kind.as_str().to_owned(),
        // The print comes first: a session's label is the beginning of its id.
        host_id: format!("{print:012x} {below}"),
    }
}

/// The home and the path below it that the session of a memory file names.
fn file_of(kind: HomeKind, session: &SessionId) -> Option<(&str, &str)> {
    if session.agent != kind.as_str() {
        return None;
    }
    let (print, below) = session.host_id.split_once(' ')?;
    let is_print = print.len() == 12 && print.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_print.then(|| below.split_once(BELOW))?
}

/// The event of an entry with these redacted words.
fn entry_event(path: &str, words: &str) -> EventId {
    EventId::of(&[b"home entry", path.as_bytes(), words.as_bytes()])
}
