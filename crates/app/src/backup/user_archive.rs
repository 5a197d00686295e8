//! Archives of what a memory has of one user: the answer to an access request.
//!
//! The form is that of an archive: a text about it, tables as lines of JSON, Markdown, and last a manifest. It has no
//! history, no tombstones and no key, and no memory is made from it. The same memory gives the same bytes.
//!
//! Not here: which rows are the user's (`user_rows`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use daybook_domain::{Scope, ScopeKind, Timestamp};
use daybook_engine::files::audit::scopes_on_disk;
use daybook_engine::files::layout::folder;
use daybook_store::sqlite::{SqliteOptions, SqliteStore};
use daybook_store::transfer::{Portable, TABLES, json_lines};
use serde::{Deserialize, Serialize};

use super::user_rows::{RowView, UserRows, visit};
use super::writing::TarWriter;
use super::{FileSummary, MANIFEST};
use crate::terminal::output::{count, rfc3339};
use crate::wiring::{DATABASE, Daybook, MemoryDatabase};

/// The version of the form.
const FORM: u32 = 1;
/// The first file, for its reader.
const README: &str = "README.md";

/// What an archive of one user holds.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UserManifest {
    form: u32,
    /// Whose it is.
    pub(crate) user: String,
    /// Rows of each table that has any.
    pub(crate) rows: BTreeMap<String, u64>,
    pub(crate) files: BTreeMap<String, FileSummary>,
}

/// Writes what the memory has of `user` to a new archive at `path`.
pub(crate) async fn write_user_archive(
    daybook: &Daybook,
    user: &str,
    path: &Path,
) -> Result<UserManifest> {
    let writing = TarWriter::create(path)?;
    match &daybook.database {
        MemoryDatabase::File(store) => {
            let copy = writing.scratch(DATABASE);
            store.copy_to(&copy)?;
            let copy = SqliteStore::open(&copy, SqliteOptions::default())?;
            write_parts(writing, &copy, (daybook, user)).await
        }
        #[cfg(feature = "postgres")]
        MemoryDatabase::Server(store) => {
            super::archive::bring_folders_up_to_date(daybook).await?;
            let _held = store.hold().await.context(
                "another process writes to this memory; run this again when it has ended",
            )?;
            write_parts(writing, &**store, (daybook, user)).await
        }
    }
}

async fn write_parts(
    mut writing: TarWriter<'_>,
    store: &dyn Portable,
    (daybook, user): (&Daybook, &str),
) -> Result<UserManifest> {
    let own = UserRows::find(store, &daybook.tenant.0, (user, &daybook.settings.person)).await?;
    let folder = user_folder(daybook, user);
    if own.sessions.is_empty() && !folder.exists() {
        bail!(
            "no session and no memory folder is of a user {user}; `daybook sessions` lists sessions with their users"
        );
    }
    let mut account = Account::default();
    let mut rows = BTreeMap::new();
    let tables = writing.scratch("rows");
    fs::create_dir(&tables)?;
    for table in &TABLES {
        let mut file = BufWriter::new(File::create_new(tables.join(table.name))?);
        let (mut written, mut failed) = (0, None);
        visit(store, table, |row| {
            let view = RowView(table, row);
            if failed.is_some() || !own.has_row(&view) {
                return;
            }
            written += 1;
            account.note(&view);
            failed = writeln!(file, "{}", json_lines::line_of(table, row)).err();
        })
        .await?;
        failed.map_or(Ok(()), Err)?;
        file.flush()?;
        if written > 0 {
            rows.insert(table.name.to_owned(), written);
        }
    }
    account.note_lines(daybook, user, &own);
    add_text(&mut writing, README, &account.readme(user))?;
    for name in rows.keys() {
        writing.add_private(&tables.join(name), &format!("rows/{name}.jsonl"))?;
    }
    for (label, text) in &account.sessions {
        add_text(&mut writing, &format!("sessions/{label}.md"), text)?;
    }
    add_markdown(&mut writing, &folder, "memory")?;
    writing.finish(MANIFEST, |files| UserManifest {
        form: FORM,
        user: user.to_owned(),
        rows,
        files,
    })
}

fn user_folder(daybook: &Daybook, user: &str) -> std::path::PathBuf {
    let scope = Scope {
        tenant: daybook.tenant.clone(),
        kind: ScopeKind::User,
        name: user.to_owned(),
    };
    folder(&daybook.root, &scope)
}

fn add_text(writing: &mut TarWriter<'_>, name: &str, text: &str) -> Result<()> {
    let path = writing.scratch("text");
    fs::write(&path, text)?;
    writing.add_private(&path, name)
}

/// The Markdown files below a folder, in order.
fn markdown_below(folder: &Path) -> Vec<(String, std::path::PathBuf)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), folder.to_owned())];
    while let Some((prefix, next)) = open.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let is_own = |wanted: fn(&fs::FileType) -> bool| {
                entry.file_type().is_ok_and(|kind| wanted(&kind))
            };
            if is_own(fs::FileType::is_dir) && name != ".git" {
                open.push((format!("{prefix}{name}/"), entry.path()));
            } else if is_own(fs::FileType::is_file) && name.ends_with(".md") {
                found.push((format!("{prefix}{name}"), entry.path()));
            }
        }
    }
    found.sort();
    found
}

fn add_markdown(writing: &mut TarWriter<'_>, folder: &Path, under: &str) -> Result<()> {
    for (name, path) in markdown_below(folder) {
        writing.add_private(&path, &format!("{under}/{name}"))?;
    }
    Ok(())
}

/// What the texts for the reader are made from.
#[derive(Default)]
struct Account {
    /// Labels of sessions, by number.
    labels: BTreeMap<i64, String>,
    /// The text of each session, by label.
    sessions: BTreeMap<String, String>,
    scopes: BTreeMap<i64, String>,
    /// Memories: the number of their scope, and their text.
    memories: Vec<(i64, String)>,
    /// Lines of others' memory files that name the user.
    lines: Vec<String>,
}

impl Account {
    fn note(&mut self, row: &RowView<'_>) {
        match row.0.name {
            "sessions" => self.note_session(row),
            "events" => self.note_event(row),
            "scopes" => {
                let name = [row.text("kind"), row.text("name")].map(Option::unwrap_or_default);
                let no = row.int("scope_no").unwrap_or_default();
                self.scopes.insert(no, name.join("/"));
            }
            "observations" => {
                let kind = row.text("kind").unwrap_or_default();
                let text = row.text("text").unwrap_or_default().replace('\n', " ");
                let scope = row.int("scope_no").unwrap_or_default();
                self.memories.push((scope, format!("{kind}: {text}")));
            }
            _ => {}
        }
    }

    fn note_session(&mut self, row: &RowView<'_>) {
        let label = row.text("label").unwrap_or("without-label").to_owned();
        let mut text = format!("# Session {label}\n\n");
        let _ = writeln!(
            text,
            "Of {}, id {}, {} to {}.",
            row.text("agent").unwrap_or_default(),
            row.text("host_id").unwrap_or_default(),
            time_of(row, "first_at"),
            time_of(row, "last_at"),
        );
        self.labels
            .insert(row.int("session_no").unwrap_or_default(), label.clone());
        self.sessions.insert(label, text);
    }

    fn note_event(&mut self, row: &RowView<'_>) {
        let label = row.int("session_no").and_then(|no| self.labels.get(&no));
        let Some(text) = label.and_then(|label| self.sessions.get_mut(label)) else {
            return;
        };
        let _ = writeln!(
            text,
            "\n## {} · {}\n\n{}",
            time_of(row, "at"),
            row.text("origin").unwrap_or_default(),
            row.text("text").unwrap_or_default(),
        );
    }

    /// Lines of memory files of other scopes that name the user.
    fn note_lines(&mut self, daybook: &Daybook, user: &str, own: &UserRows) {
        for scope in scopes_on_disk(&daybook.root, &daybook.tenant) {
            if scope.kind == ScopeKind::User && scope.name == user {
                continue;
            }
            for (name, path) in markdown_below(&folder(&daybook.root, &scope)) {
                let text = fs::read_to_string(&path).unwrap_or_default();
                let named = text.lines().filter(|line| own.names(line));
                let lines = named.map(|line| format!("{scope}, {name}: {}", line.trim()));
                self.lines.extend(lines);
            }
        }
    }

    fn readme(&self, user: &str) -> String {
        let mut text = format!(
            "# What this memory has of {user}\n\n\
             - `sessions/`: what was said and done in {user}'s sessions ({}), one file for each.\n\
             - `memory/`: {user}'s memory files, as they are now.\n\
             - `rows/`: the same as lines of JSON, with everything else that rests on these sessions.\n\
             - `manifest.json`: the length and the BLAKE3 hash of every file.\n\n\
             Secrets are hidden as they are in the memory. Earlier states of memory files, backups and the transcripts \
             of agents are not here. `daybook purge --user {user}` removes what is listed here.\n\n\
             ## Sessions\n\n",
            count(self.sessions.len() as u64, "session"),
        );
        for (label, session) in &self.sessions {
            let about = session.lines().nth(2).unwrap_or_default();
            let _ = writeln!(text, "- [{label}](sessions/{label}.md): {about}");
        }
        text.push_str("\n## What was learned from them, or names them\n");
        for (scope, name) in &self.scopes {
            let _ = writeln!(text, "\n### {name}\n");
            let own = self.memories.iter().filter(|(of, _)| of == scope);
            for (_, memory) in own {
                let _ = writeln!(text, "- {memory}");
            }
        }
        let _ = writeln!(text, "\n## Lines of other memory files that name {user}\n");
        for line in &self.lines {
            let _ = writeln!(text, "- {line}");
        }
        text
    }
}

fn time_of(row: &RowView<'_>, column: &str) -> String {
    let at = row.int(column).map(Timestamp);
    at.and_then(rfc3339)
        .unwrap_or_else(|| "an unknown time".to_owned())
}
