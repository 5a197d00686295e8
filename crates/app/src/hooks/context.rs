//! The context of a session that starts, from files alone, so that no state of the database can prevent it.

use anyhow::Result;
use daybook_domain::time::Clock;
use daybook_engine::files::layout::run_folder;
use daybook_engine::hook_events::shown_lines::ShownLines;
use daybook_engine::recall::context::CurrentWork;
use daybook_engine::recall::prompt::LineFingerprints;

use super::HookSession;
use crate::clock::SystemClock;
use crate::service::memory_files;
use crate::terminal::messages::print_error;

/// The context for the session's place; `None` where no memory applies.
pub(super) fn context_text(session: &HookSession<'_>) -> Result<Option<String>> {
    let (root, settings) = (session.root, session.settings);
    let at = session.current_place()?;
    let files = memory_files::read(root, settings, &session.scopes(&at));
    for refused in &files.refused {
        print_error(&refused.to_string());
    }
    let context = files.context(
        &CurrentWork {
            branch: at.place.branch.as_deref(),
            ..CurrentWork::default()
        },
        &session.loaded_by_host(&at)?,
        settings,
        settings.context_tokens,
    );
    record_given(session, &context.lines);
    Ok(Some(context.text).filter(|text| !text.is_empty()))
}

/// Records the lines that the session was given, and forgets earlier ones: it starts anew, or was cut back to a summary.
/// If they cannot be written, a later prompt may repeat a line.
fn record_given(session: &HookSession<'_>, lines: &[String]) {
    let run = run_folder(session.root, &session.settings.tenant);
    let mut given = ShownLines::empty(&run, session.host.agent(), session.id);
    for line in lines {
        given.add(LineFingerprints::of(line).all());
    }
    if let Err(error) = given.write(SystemClock.now()) {
        tracing::debug!(%error, outcome = "not_noted");
    }
}
