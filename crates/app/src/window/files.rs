//! *Memory*: the files of each scope as they are read, edited in place, with their history.

use std::cmp::Reverse;

use anyhow::Result;
use daybook_domain::Scope;
use daybook_domain::page::read_all;
use daybook_engine::files::entry::without_marker;
use daybook_engine::files::layout::folder;
use daybook_engine::files::path::FilePath;
use daybook_engine::files::reader;
use daybook_engine::jobs::memories::{ShownLine, lines_of};
use maud::{Markup, html};

use super::frame::{FormProof, Page, more, table};
use super::links;
use super::text::{cited, own_words, plain, when};
use crate::service::RequestError;
use crate::service::file_changes::read_file;
use crate::service::history::{
    ChangedFile, ChangedLine, DiffStates, HistoryCommit, SHORT_ID, commits_after, diff, hidden,
    parse_file,
};
use crate::service::scope_choice::{ScopeChoice, open_folder};
use crate::terminal::output::{count, size};
use crate::wiring::Daybook;

/// Files on one page, lines of a file, changes of a history, and lines of a change.
const FILES: usize = 200;
const LINES: usize = 400;
const CHANGES: usize = 50;
const CHANGED: usize = 500;

/// A file of a scope, in a state or as it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileQuery {
    /// Whose memory.
    pub(crate) scope: String,
    /// The file.
    pub(crate) file: String,
    /// The state; the present one if empty.
    pub(crate) at: String,
    /// The first line.
    pub(crate) from: usize,
    /// The value of `next` of the page before.
    pub(crate) after: Option<String>,
}

/// The scope that a query names.
async fn resolve_scope(daybook: &Daybook, query: &FileQuery) -> Result<Scope> {
    let choice = ScopeChoice {
        scope: Some(query.scope.clone()).filter(|name| !name.is_empty()),
        ..ScopeChoice::default()
    };
    choice.one(daybook, None).await
}

/// The scope and the file that a query names.
pub(crate) async fn resolve(daybook: &Daybook, query: &FileQuery) -> Result<(Scope, FilePath)> {
    let scope = resolve_scope(daybook, query).await?;
    let file = match query.file.as_str() {
        "" => daybook_engine::files::layout::CURATED,
        file => file,
    };
    let file = parse_file(daybook, &scope, file)?;
    Ok((scope, file))
}

/// The text of a file as it is, markers included; `None` where it cannot be read.
pub(super) fn file_text(daybook: &Daybook, scope: &Scope, file: &FilePath) -> Option<String> {
    let text = reader::text(&folder(&daybook.root, scope), file).ok()??;
    Some(hidden(&text))
}

/// All scopes.
pub(crate) async fn scopes(daybook: &Daybook) -> Result<Page> {
    let mut known = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    known.sort_by_key(|state| Reverse(state.observations));
    let rows: Vec<Vec<Markup>> = known
        .iter()
        .map(|state| {
            let name = state.scope.to_string();
            vec![
                html! { a href=(links::file(&name, "")) { (plain(&name)) } },
                html! { (state.observations) },
                html! { a href=(links::page("folder", &[("scope", &name)])) { "files" } " "
                a href=(links::page("history", &[("scope", &name)])) { "history" } },
            ]
        })
        .collect();
    let body = html! {
        @if rows.is_empty() { p { "Nothing was learned yet." } }
        @else { (table("Whose memory, and how much of it", &["Memory", "Memories", "Look at"], &rows)) }
    };
    Ok(Page::new("memory", "Memory", body).live())
}

/// The page of a memory of which nothing is written yet, as the list of memories leads there too; any other error is one.
fn unwritten(query: &FileQuery, scope: &Scope, error: anyhow::Error) -> Result<Page> {
    let is_scope_alone = query.file.is_empty() && query.at.is_empty();
    match error.downcast_ref() {
        Some(RequestError::NotFound(message)) if is_scope_alone => {
            let body = html! { p { (plain(message)) } };
            Ok(Page::new("memory", scope.to_string(), body).live())
        }
        _ => Err(error),
    }
}

/// The files of a scope in one folder of it, and the folders there.
pub(crate) async fn folder_page(daybook: &Daybook, query: &FileQuery) -> Result<Page> {
    let scope = resolve_scope(daybook, query).await?;
    if let Err(error) = open_folder(daybook, &scope).await {
        return unwritten(query, &scope, error);
    }
    let name = scope.to_string();
    let below = match query.file.trim_end_matches('/') {
        "" => None,
        below => Some(parse_file(daybook, &scope, below)?),
    };
    let entries = folder_entries(daybook, &scope, below.as_ref())?;
    let after = query.after.as_deref().unwrap_or_default();
    let page: Vec<&FolderEntry> = entries
        .iter()
        .filter(|entry| entry.path.as_str() > after)
        .take(FILES)
        .collect();
    let rows: Vec<Vec<Markup>> = page.iter().map(|entry| entry_row(&name, entry)).collect();
    let next = page
        .last()
        .filter(|last| entries.last().is_some_and(|end| end.path != last.path));
    let address = |path: &str, after: &str| {
        links::page(
            "folder",
            &[("scope", &name), ("file", path), ("after", after)],
        )
    };
    let here = below.as_ref().map_or("", |below| below.as_str());
    let body = html! {
        @if below.is_some() { p { a href=(address("", "")) { "all files" } } }
        (table("Files", &["File", "Size"], &rows))
        (more(next.map(|last| address(here, &last.path))))
    };
    let what = below.map_or(name.clone(), |below| below.to_string());
    Ok(Page::new("memory", format!("Files of {what}"), body))
}

/// A file or a folder in a memory folder.
struct FolderEntry {
    /// Its path below the memory folder; that of a folder ends with `/`.
    path: String,
    bytes: u64,
}

/// What is in a folder, by path. Hidden files, such as git's, are left out.
fn folder_entries(
    daybook: &Daybook,
    scope: &Scope,
    below: Option<&FilePath>,
) -> Result<Vec<FolderEntry>> {
    let root = folder(&daybook.root, scope);
    let at = below.map_or(root.clone(), |below| root.join(below.as_str()));
    let Ok(found) = std::fs::read_dir(&at) else {
        let message = format!(
            "{scope} has no folder {}",
            below.map_or("", |it| it.as_str())
        );
        return Err(RequestError::NotFound(message).into());
    };
    let mut entries: Vec<FolderEntry> = found
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let kind = entry.file_type().ok()?;
            if name.starts_with('.') || kind.is_symlink() {
                return None;
            }
            let end = if kind.is_dir() { "/" } else { "" };
            let above = below.map_or(String::new(), |below| format!("{below}/"));
            Some(FolderEntry {
                path: format!("{above}{name}{end}"),
                bytes: entry.metadata().ok()?.len(),
            })
        })
        .collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

fn entry_row(scope: &str, entry: &FolderEntry) -> Vec<Markup> {
    let is_folder = entry.path.ends_with('/');
    let address = match is_folder {
        true => links::page("folder", &[("scope", scope), ("file", &entry.path)]),
        false => links::file(scope, &entry.path),
    };
    vec![
        html! { a href=(address) { (plain(&entry.path)) } },
        html! { @if is_folder { "folder" } @else { (size(entry.bytes)) } },
    ]
}

/// A file as it is read, each line with the way to where it comes from.
pub(crate) async fn file_page(daybook: &Daybook, query: &FileQuery) -> Result<Page> {
    let (scope, file) = resolve(daybook, query).await?;
    let at = Some(query.at.as_str()).filter(|at| !at.is_empty());
    let read = match read_file(daybook, &scope, &file, at).await {
        Ok(read) => read,
        Err(error) => return unwritten(query, &scope, error),
    };
    let (name, file_name) = (scope.to_string(), file.to_string());
    let is_past = read.commit.is_some();
    let address = |page: &str, more: &[(&str, &str)]| {
        let mut parameters = vec![("scope", name.as_str()), ("file", file_name.as_str())];
        parameters.extend(more);
        links::page(page, &parameters)
    };
    let shown = lines_of(&file, &read.text);
    let lines: Vec<&str> = read.text.lines().collect();
    let upto = query.from.saturating_add(LINES).min(lines.len());
    let rest = (upto < lines.len())
        .then(|| address("file", &[("at", &query.at), ("from", &upto.to_string())]));
    let body = html! {
        p.quiet {
            (plain(&name)) " · " (plain(&file_name)) " · "
            a href=(links::page("folder", &[("scope", &name)])) { "all files" } " · "
            a href=(address("history", &[])) { "history" }
            @if !is_past { " · " a href=(address("edit", &[])) { "edit" } }
        }
        @if let Some(commit) = &read.commit { (past(daybook, commit, &address("file", &[]))) }
        @for block in blocks(&lines[query.from.min(upto)..upto], query.from, &shown) {
            (block_markup(&block, &name, is_past))
        }
        (more(rest))
    };
    let heading = lines.iter().find_map(|line| line.strip_prefix("# "));
    let heading = without_marker(heading.unwrap_or(&file_name));
    // The heading of `MEMORY.md` goes on about its sources.
    let title = heading.split(" · ").next().unwrap_or(heading);
    let title = super::text::cut(title, 120);
    let page = Page::new("memory", title, body);
    Ok(if is_past { page } else { page.live() })
}

fn past(daybook: &Daybook, commit: &HistoryCommit, now: &str) -> Markup {
    html! {
        p.said { "As it was at " (plain(&commit.subject)) ", " (when(daybook, commit.time.as_deref().unwrap_or("an unknown time"))) ". "
            a href=(now) { "As it is now" } }
    }
}

/// Lines of a file that belong together.
enum Block<'a> {
    Heading,
    Section(&'a str),
    Entries(Vec<Entry<'a>>),
    Text(&'a str),
}

/// One entry of a list: its line, with what stands below it.
struct Entry<'a> {
    line: usize,
    text: &'a str,
    shown: Option<&'a ShownLine>,
}

fn blocks<'a>(lines: &[&'a str], first: usize, shown: &'a [ShownLine]) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let number = first + n + 1;
        if let Some(title) = line.strip_prefix("## ") {
            blocks.push(Block::Section(title));
        } else if line.starts_with("# ") {
            blocks.push(Block::Heading);
        } else if line.trim_start().starts_with("- ") || line.starts_with("  ") {
            let entry = Entry {
                line: number,
                text: own_words(line),
                shown: shown.iter().find(|shown| shown.line == number),
            };
            match blocks.last_mut() {
                Some(Block::Entries(entries)) => entries.push(entry),
                _ => blocks.push(Block::Entries(vec![entry])),
            }
        } else if !line.trim().is_empty() && !is_marker(line) {
            blocks.push(Block::Text(line));
        }
    }
    blocks
}

/// Whether a line is a comment alone, which files keep for the engine.
fn is_marker(line: &str) -> bool {
    line.trim_start().starts_with("<!--") && line.trim_end().ends_with("-->")
}

fn block_markup(block: &Block<'_>, scope: &str, is_past: bool) -> Markup {
    match block {
        // The page has it as its own heading.
        Block::Heading => html! {},
        Block::Section(title) => html! { h2 { (plain(without_marker(title))) } },
        Block::Text(text) => html! { p { (cited(without_marker(text))) } },
        Block::Entries(entries) => html! {
            ul.entries {
                @for entry in entries {
                    li id=(format!("L{}", entry.line)) {
                        (cited(entry.text))
                        @if let (Some(shown), false) = (entry.shown, is_past) {
                            @if shown.is_pinned { " " span.quiet { "pinned" } }
                            @if shown.is_altered { " " span.quiet { "in your words" } }
                            " " span.entry-links { a href=(links::why(scope, shown)) { "why?" } }
                        }
                    }
                }
            }
        },
    }
}

/// A file's text in a form.
pub(crate) async fn edit_page(
    daybook: &Daybook,
    query: &FileQuery,
    proof: &FormProof,
) -> Result<Page> {
    let (scope, file) = resolve(daybook, query).await?;
    let read = read_file(daybook, &scope, &file, None).await?;
    let opened = open_folder(daybook, &scope).await?;
    let head = commits_after(&opened, None, None, 1)?.0;
    let since = head.first().map_or("", |commit| commit.id.as_str());
    let (name, file_name) = (scope.to_string(), file.to_string());
    let body = html! {
        p.quiet { "Your words win: what you change here stays as you write it, and can be undone." }
        form method="post" action=(links::page("edit", &[])) {
            (proof.field())
            input type="hidden" name="scope" value=(name);
            input type="hidden" name="file" value=(file_name);
            input type="hidden" name="since" value=(since);
            label for="text" { "Text of " (plain(&file_name)) }
            // The first line break of a text area is left out.
            textarea #text name="text" spellcheck="false" { "\n" (read.text) }
            p.row { button.main type="submit" { "Save" } a href=(links::file(&name, &file_name)) { "Leave as it is" } }
        }
    };
    Ok(Page::new("memory", format!("Edit {file_name}"), body))
}

/// The changes of a memory, or of one file, newest first.
pub(crate) async fn history_page(daybook: &Daybook, query: &FileQuery) -> Result<Page> {
    let (scope, file) = resolve(daybook, query).await?;
    let file = (!query.file.is_empty()).then_some(file);
    let opened = match open_folder(daybook, &scope).await {
        Ok(opened) => opened,
        Err(error) => return unwritten(query, &scope, error),
    };
    let (commits, next) = commits_after(&opened, file.as_ref(), query.after.as_deref(), CHANGES)?;
    let name = scope.to_string();
    let of = |commit: &HistoryCommit| {
        let at = links::page("change", &[("scope", &name), ("at", &commit.id)]);
        html! {
            a href=(at) { (plain(&commit.subject)) }
            br; span.quiet {
                (when(daybook, commit.time.as_deref().unwrap_or_default())) " · " (plain(&commit.author)) " · " (&commit.id[..SHORT_ID])
                @if let Some(file) = &file {
                    " · " a href=(links::page("file", &[("scope", &name), ("file", file.as_str()), ("at", &commit.id)])) { "as it was" }
                }
            }
        }
    };
    let more_at = next.map(|next| {
        let file = query.file.as_str();
        links::page(
            "history",
            &[("scope", &name), ("file", file), ("after", &next)],
        )
    });
    let body = html! {
        @if commits.is_empty() { p { "Nothing has changed yet." } }
        ol.chain { @for commit in &commits { li.now[commit.by_person] { (of(commit)) } } }
        (more(more_at))
    };
    let what = file.map_or(name.clone(), |file| file.to_string());
    Ok(Page::new("memory", format!("History of {what}"), body))
}

/// What one change did, with the way back.
pub(crate) async fn change_page(
    daybook: &Daybook,
    query: &FileQuery,
    proof: &FormProof,
) -> Result<Page> {
    let (scope, _) = resolve(daybook, query).await?;
    let opened = open_folder(daybook, &scope).await?;
    let states = DiffStates {
        at: Some(query.at.clone()),
        ..DiffStates::default()
    };
    let made = diff(daybook, (&scope, &opened), &states, None)?;
    let name = scope.to_string();
    let mut room = CHANGED;
    let files = made.files.iter().map(|file| {
        let lines = &file.lines[..file.lines.len().min(room)];
        room -= lines.len();
        (file, lines)
    });
    let files: Vec<(&ChangedFile, &[ChangedLine])> = files.collect();
    let body = html! {
        p.quiet { (plain(&name)) " · " (when(daybook, made.to.time.as_deref().unwrap_or_default())) " · " (plain(&made.to.author)) " · "
            (count(made.files.len() as u64, "file")) }
        div.row {
            (restore(proof, &name, &made.to.id, "Take this change back", "undo"))
            (restore(proof, &name, &made.to.id, "Restore the memory as it was then", "restore"))
        }
        @for (file, lines) in files {
            h2 { a href=(links::file(&name, &file.file)) { (plain(&file.file)) } " " span.quiet { (file.change) } }
            ul.entries {
                @for line in lines {
                    li class=(line.change) { (if line.change == "added" { "+ " } else { "− " }) (cited(own_words(&line.text))) }
                }
            }
        }
        @if room == 0 { p.quiet { "More lines changed; " code { "daybook diff" } " shows all." } }
    };
    Ok(Page::new("memory", made.to.subject, body))
}

fn restore(proof: &FormProof, scope: &str, at: &str, label: &str, action: &str) -> Markup {
    html! {
        form.inline method="post" action=(links::page(action, &[])) {
            (proof.field())
            input type="hidden" name="scope" value=(scope);
            input type="hidden" name="at" value=(at);
            button type="submit" { (label) }
        }
    }
}

/// The error for a page that needs what was not given.
pub(crate) fn needed(what: &str) -> anyhow::Error {
    RequestError::Invalid(format!("this page needs {what}; follow a link to it")).into()
}
