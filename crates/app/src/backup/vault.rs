//! A copy of the memory files as linked pages, for note takers such as Obsidian and for hosts of git repositories.
//!
//! A citation whose session has a page becomes a link to that page, and so does the name of another memory file. Marks are
//! left out, because only the engine reads them. A copy is written anew as a whole: the pages of the last one are removed
//! first, and files that a person put beside them stay.
//!
//! Not here: the memory files themselves, which a person edits, and which keep their bytes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use daybook_domain::Tenant;
use daybook_engine::bounded;
use daybook_engine::files::audit::scopes_on_disk;
use daybook_engine::files::entry::{is_pinned, without_marker};
use daybook_engine::files::layout::folder;

use crate::folders::data_folder::display_path;

/// Names the pages of the last copy, so that the next one replaces these alone.
const LIST: &str = ".daybook-vault";
/// The page that links all others.
const START: &str = "README.md";
/// Longest page, in bytes.
const MOST_BYTES: u64 = 64 << 20;
/// Deepest folder below a memory folder that is read.
const DEPTH: usize = 32;

/// What a copy holds.
pub(crate) struct VaultSummary {
    pub(crate) pages: usize,
    pub(crate) links: usize,
}

/// One page: its path in the copy, with `/` between components, and its text.
struct Page {
    path: String,
    text: String,
}

/// The pages that names in a text lead to.
#[derive(Default)]
struct LinkTargets {
    /// Pages of sessions, by label.
    sessions: BTreeMap<String, String>,
    /// All pages.
    paths: Vec<String>,
}

/// Writes the memory of `tenant` in the data folder `root` to the folder `to`, which is new, empty, or an earlier copy.
pub(crate) fn write_vault(
    root: &Path,
    tenant: &Tenant,
    to: &Path,
    frontmatter: bool,
) -> Result<VaultSummary> {
    clear(to)?;
    let scopes = scopes_on_disk(root, tenant);
    let mut summary = VaultSummary { pages: 0, links: 0 };
    let mut start = String::from("# What is remembered\n\n");
    let mut written = Vec::new();
    for scope in &scopes {
        let name = scope.to_string();
        let pages = pages_of(&folder(root, scope))?;
        let targets = LinkTargets::of(&pages);
        for page in &pages {
            let (mut text, links) = linked(page, &targets);
            if frontmatter {
                text.insert_str(0, &frontmatter_of(page, &name));
            }
            write_page(to, &page.path, &text)?;
            written.push(page.path.clone());
            summary.links += links;
        }
        if let Some(first) = pages.iter().find(|page| page.path.ends_with("MEMORY.md")) {
            let _ = writeln!(start, "- [{name}]({})", encoded(&first.path));
        }
        summary.pages += pages.len();
    }
    write_page(to, START, &start)?;
    written.push(START.to_owned());
    fs::write(to.join(LIST), written.join("\n") + "\n")?;
    Ok(summary)
}

/// Removes the pages of an earlier copy. Fails for a folder with anything else in it and no copy.
fn clear(to: &Path) -> Result<()> {
    match fs::read_to_string(to.join(LIST)) {
        Ok(list) => {
            for path in list.lines().filter(|path| is_inside(path)) {
                let _ = fs::remove_file(to.join(path));
            }
            Ok(())
        }
        Err(_) => {
            let is_used = fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_some());
            if is_used {
                bail!(
                    "{} holds other files; name a new folder, or one that an earlier --vault wrote",
                    display_path(to)
                );
            }
            Ok(fs::create_dir_all(to)?)
        }
    }
}

fn is_inside(path: &str) -> bool {
    let parts = Path::new(path).components();
    !path.is_empty()
        && parts
            .into_iter()
            .all(|part| matches!(part, std::path::Component::Normal(_)))
}

fn write_page(to: &Path, path: &str, text: &str) -> Result<()> {
    let file = to.join(path);
    let parent = file.parent().unwrap_or(to);
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(&file, text))
        .with_context(|| format!("cannot write {}", display_path(&file)))
}

/// The Markdown files of a memory folder, below the names of its kind and its scope. Hidden ones belong to the person's
/// tools.
fn pages_of(memory: &Path) -> Result<Vec<Page>> {
    let mut above = memory.iter().rev().skip(1).take(2);
    let (name, kind) = (
        above.next().unwrap_or_default(),
        above.next().unwrap_or_default(),
    );
    let mut files = Vec::new();
    collect(memory, &Path::new(kind).join(name), 0, &mut files);
    files.sort();
    let read = |(file, path): (PathBuf, String)| {
        let text = bounded::read_text(&file, MOST_BYTES)
            .with_context(|| format!("cannot read {}", display_path(&file)))?;
        Ok(Page { path, text })
    };
    files.into_iter().map(read).collect()
}

fn collect(folder: &Path, path: &Path, depth: usize, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(text) = name.to_str().filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let (inner, is_folder) = (path.join(text), entry.path().is_dir());
        if is_folder && depth < DEPTH {
            collect(&entry.path(), &inner, depth + 1, files);
        } else if !is_folder && text.ends_with(".md") {
            let parts = inner.iter().map(|part| part.to_string_lossy());
            files.push((entry.path(), parts.collect::<Vec<_>>().join("/")));
        }
    }
}

impl LinkTargets {
    fn of(pages: &[Page]) -> Self {
        let mut targets = Self::default();
        for page in pages {
            targets.paths.push(page.path.clone());
            if let Some(label) = session_of(page) {
                targets.sessions.insert(label, page.path.clone());
            }
        }
        targets
    }

    /// The page that a citation such as `5e7a:L3` leads to.
    fn of_citation(&self, citation: &str) -> Option<&str> {
        let (label, lines) = citation.split_once(':').unwrap_or((citation, "L0"));
        let is_lines = lines.strip_prefix('L').is_some_and(|lines| {
            lines
                .chars()
                .all(|c| c.is_ascii_digit() || ",-".contains(c))
        });
        let target = self.sessions.get(label).filter(|_| is_lines);
        target.map(String::as_str)
    }

    /// The page whose path ends a word such as `daily/2026-03-02.md` of a page in the same folder.
    fn of_file(&self, word: &str, scope: &str) -> Option<&str> {
        let whole = format!("{scope}/{word}");
        let found = self.paths.iter().find(|path| **path == whole);
        found.map(String::as_str)
    }
}

/// The label of the session that a page is about: what the last brackets of its heading cite.
fn session_of(page: &Page) -> Option<String> {
    if !page.path.contains("/sessions/") {
        return None;
    }
    let heading = page.text.lines().find(|line| line.starts_with("# "))?;
    let (_, cited) = without_marker(heading)
        .trim_end()
        .strip_suffix(']')?
        .rsplit_once('[')?;
    Some(cited.to_owned())
}

/// The text of a page without marks and with links, and how many links these are.
fn linked(page: &Page, targets: &LinkTargets) -> (String, usize) {
    let (mut out, mut links) = (String::new(), 0);
    for line in page.text.lines() {
        let pin = if is_pinned(line) { " #pinned" } else { "" };
        let words = match line.starts_with("- ") || line.starts_with("# ") {
            true => without_marker(line),
            false => line,
        };
        // A heading is a link's target, and links in it are hard to read.
        match words.starts_with('#') {
            true => out.push_str(words),
            false => links += link_line(words, page, targets, &mut out),
        }
        out.push_str(pin);
        out.push('\n');
    }
    (out, links)
}

/// Appends the words with links. Text between backticks stays as it is, unless it is the name of a page.
fn link_line(words: &str, page: &Page, targets: &LinkTargets, out: &mut String) -> usize {
    let scope = page
        .path
        .splitn(3, '/')
        .take(2)
        .collect::<Vec<_>>()
        .join("/");
    let mut links = 0;
    for (at, part) in words.split('`').enumerate() {
        if at > 0 {
            out.push('`');
        }
        if at % 2 == 1 {
            out.push_str(part);
            continue;
        }
        let mut rest = part;
        while let Some(start) = rest.find('[') {
            let Some(length) = rest[start..].find(']') else {
                break;
            };
            let (before, cited) = (&rest[..start], &rest[start + 1..start + length]);
            links += link_files(before, page, (&scope, targets), out);
            let after = &rest[start + length + 1..];
            match targets
                .of_citation(cited)
                .filter(|_| !after.starts_with('('))
            {
                Some(target) if target != page.path => {
                    let _ = write!(out, "[{cited}]({})", relative(&page.path, target));
                    links += 1;
                }
                _ => {
                    let _ = write!(out, "[{cited}]");
                }
            }
            rest = after;
        }
        links += link_files(rest, page, (&scope, targets), out);
    }
    links
}

/// Appends text in which names of pages become links.
fn link_files(
    text: &str,
    page: &Page,
    (scope, targets): (&str, &LinkTargets),
    out: &mut String,
) -> usize {
    let mut links = 0;
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            out.push(' ');
        }
        let name = word.trim_end_matches([',', ';', ':', ')']);
        match targets
            .of_file(name, scope)
            .filter(|target| *target != page.path)
        {
            Some(target) => {
                let _ = write!(
                    out,
                    "[{name}]({}){}",
                    relative(&page.path, target),
                    &word[name.len()..]
                );
                links += 1;
            }
            None => out.push_str(word),
        }
    }
    links
}

/// The way from one page to another.
fn relative(from: &str, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let shared = shared.min(from.len() - 1).min(to.len() - 1);
    let up = "../".repeat(from.len() - 1 - shared);
    up + &encoded(&to[shared..].join("/"))
}

/// A path as the target of a link.
fn encoded(path: &str) -> String {
    path.replace('%', "%25")
        .replace(' ', "%20")
        .replace('(', "%28")
        .replace(')', "%29")
}

/// Properties that note takers and site builders read.
fn frontmatter_of(page: &Page, scope: &str) -> String {
    let inner: Vec<&str> = page.path.split('/').skip(2).collect();
    let kind = match inner.as_slice() {
        [folder, ..] if inner.len() > 1 => folder,
        [file] => file.trim_end_matches(".md"),
        _ => "page",
    };
    let mut text = format!("---\nscope: {}\nkind: {}\n", quoted(scope), quoted(kind));
    if let Some(label) = session_of(page) {
        let _ = writeln!(text, "session: {}", quoted(&label));
    }
    let day = inner
        .last()
        .and_then(|file| file.get(..10))
        .filter(|day| is_day(day));
    if let Some(day) = day {
        let _ = writeln!(text, "date: {day}");
    }
    text + "tags: [daybook]\n---\n\n"
}

/// A text of JSON is one of YAML, too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn is_day(text: &str) -> bool {
    let is_fit = |(at, c): (usize, char)| match at {
        4 | 7 => c == '-',
        _ => c.is_ascii_digit(),
    };
    text.len() == 10 && text.chars().enumerate().all(is_fit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> Page {
        Page {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    fn targets() -> LinkTargets {
        LinkTargets::of(&[
            page("projects/tidepool/MEMORY.md", ""),
            page("projects/tidepool/daily/2026-03-02.md", ""),
            page(
                "projects/tidepool/sessions/2026-03-02-a cache-5e7a.md",
                "# A cache [5e7a] ^t73nmh89xg\n",
            ),
        ])
    }

    #[track_caller]
    fn check(path: &str, line: &str, expected: &str) {
        let (text, _) = linked(&page(path, line), &targets());
        assert_eq!(text.trim_end(), expected);
    }

    #[test]
    fn citations_and_names_of_pages_become_links_and_marks_go() {
        let memory = "projects/tidepool/MEMORY.md";
        check(
            memory,
            "- keep 100 [5e7a:L19,32] [f00d:L1] ^4ad9mt42uk",
            "- keep 100 [5e7a:L19,32](sessions/2026-03-02-a%20cache-5e7a.md) [f00d:L1]",
        );
        check(memory, "# tidepool <!-- ^t73nmh69kq -->", "# tidepool");
        check(memory, "# an older page ^t73nmh69kq", "# an older page");
        check(
            memory,
            "- `a[5e7a]` and [5e7a](x) stay",
            "- `a[5e7a]` and [5e7a](x) stay",
        );
        check(
            memory,
            "see daily/2026-03-02.md, too",
            "see [daily/2026-03-02.md](daily/2026-03-02.md), too",
        );
        check(memory, "an open [bracket", "an open [bracket");
        check(
            "projects/tidepool/daily/2026-03-02.md",
            "- a cache [5e7a]; MEMORY.md has more",
            "- a cache [5e7a](../sessions/2026-03-02-a%20cache-5e7a.md); [MEMORY.md](../MEMORY.md) has more",
        );
    }

    #[test]
    fn frontmatter_names_scope_kind_session_and_day() {
        let text = "# A cache [5e7a] ^t73nmh89xg\n";
        let page = page("projects/tidepool/sessions/2026-03-02-a-5e7a.md", text);
        assert_eq!(
            frontmatter_of(&page, "project/tidepool"),
            "---\nscope: \"project/tidepool\"\nkind: \"sessions\"\nsession: \"5e7a\"\ndate: 2026-03-02\ntags: [daybook]\n---\n\n"
        );
    }
}
