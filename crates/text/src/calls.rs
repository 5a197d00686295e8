//! Renders a tool call as a short text.
//!
//! A command is shown as it would be typed, an edit as its file with old and new text, a search as
//! its pattern or query. Any other call keeps its arguments as they are, bounded.
//!
//! Not here: results of calls.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::cut::shorten;
use super::lenient::{Content, ContentMember, Object, Text};

/// Most bytes that are kept of one call.
const CALL: usize = 16 * 1024;
/// Most bytes that are kept of either side of an edit.
const SIDE: usize = 4 * 1024;
/// Most edits of one call that are shown.
const EDITS: usize = 16;

/// Most calls without a result that one conversation may have.
const OPEN: usize = 256;

/// Calls that wait for their results, oldest first, with data about each.
#[derive(Debug, Serialize, Deserialize)]
pub struct OpenCalls<T>(VecDeque<(String, T)>);

impl<T> Default for OpenCalls<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> OpenCalls<T> {
    /// Adds a call. Of too many, the oldest is dropped.
    pub fn open(&mut self, id: &str, call: T) {
        if id.is_empty() {
            return;
        }
        if self.0.len() >= OPEN {
            self.0.pop_front();
        }
        self.0.push_back((id.to_owned(), call));
    }

    /// Whether no call waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The data of a call that waits for its result.
    pub fn get(&self, id: &str) -> Option<&T> {
        let open = self.0.iter().find(|(open, _)| open == id);
        open.map(|(_, call)| call)
    }

    /// Removes the call of a result, and returns its data.
    pub fn close(&mut self, id: &str) -> Option<T> {
        let at = self.0.iter().position(|(open, _)| open == id)?;
        self.0.remove(at).map(|(_, call)| call)
    }
}

/// Arguments that well-known tools share.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Arguments<'j> {
    #[serde(borrow)]
    command: Content<'j, NoObject>,
    cmd: Content<'j, NoObject>,
    description: Text<'j>,
    file_path: Text<'j>,
    notebook_path: Text<'j>,
    path: Text<'j>,
    pattern: Text<'j>,
    glob: Text<'j>,
    query: Text<'j>,
    url: Text<'j>,
    prompt: Text<'j>,
    content: Text<'j>,
    new_source: Text<'j>,
    old_string: Text<'j>,
    new_string: Text<'j>,
    edits: Content<'j, Edit<'j>>,
}

/// One replacement of text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Edit<'j> {
    #[serde(borrow)]
    old_string: Text<'j>,
    new_string: Text<'j>,
}

/// The members of a list in which no object is expected.
#[derive(Debug, Deserialize)]
struct NoObject {}

/// A call's text. `arguments` is JSON, or whatever the tool takes.
pub fn render(tool: &str, arguments: &str) -> String {
    let well_known = serde_json::from_str::<Object<Arguments<'_>>>(arguments)
        .ok()
        .and_then(|arguments| arguments.0)
        .and_then(|arguments| by_tool(tool, &arguments));
    let text = match well_known {
        Some(text) => text,
        None if arguments.contains(PATCH) => patch(arguments),
        None => arguments.trim().to_owned(),
    };
    shorten(&text, CALL).into_owned()
}

/// Renders the arguments of a well-known tool; `None` for any other.
fn by_tool(tool: &str, of: &Arguments<'_>) -> Option<String> {
    if let Some(command) = command(&of.command).or_else(|| command(&of.cmd)) {
        return Some(match of.description.get() {
            Some(description) => format!("{command}\n# {description}"),
            None => command,
        });
    }
    let file = [&of.file_path, &of.notebook_path, &of.path]
        .into_iter()
        .find_map(|path| path.get());
    match tool.to_ascii_lowercase().as_str() {
        "edit" | "multiedit" | "str_replace" => Some(edits(file?, of)),
        "write" | "notebookedit" => {
            let content = of.content.get().or_else(|| of.new_source.get());
            let content = shorten(content.unwrap_or_default(), 2 * SIDE);
            Some(format!("{}\n+++\n{content}", file?))
        }
        "read" | "ls" | "notebookread" | "view" => file.map(str::to_owned),
        "grep" | "glob" => {
            let wanted = of.pattern.get()?;
            let places: Vec<&str> = file.into_iter().chain(of.glob.get()).collect();
            Some(match places.as_slice() {
                [] => wanted.to_owned(),
                places => format!("{wanted} in {}", places.join(" ")),
            })
        }
        "websearch" => of.query.get().map(str::to_owned),
        "webfetch" => Some(join(of.url.get()?, of.prompt.get())),
        "task" | "agent" => Some(join(of.description.get()?, of.prompt.get())),
        _ => None,
    }
}

fn join(first: &str, second: Option<&str>) -> String {
    match second {
        Some(second) => format!("{first}\n{second}"),
        None => first.to_owned(),
    }
}

/// An edit's file, with each old and new text.
fn edits(file: &str, of: &Arguments<'_>) -> String {
    let mut text = file.to_owned();
    let mut add = |old: &str, new: &str| {
        for (sign, side) in [("---", old), ("+++", new)] {
            text.push_str(&format!("\n{sign}\n{}", shorten(side, SIDE)));
        }
    };
    match &of.edits {
        Content::Parts(parts) => {
            for part in parts.iter().take(EDITS) {
                if let ContentMember::Object(edit) = part {
                    add(&edit.old_string, &edit.new_string);
                }
            }
        }
        Content::Nothing | Content::Text(_) => add(&of.old_string, &of.new_string),
    }
    text
}

/// A command as it would be typed.
fn command(of: &Content<'_, NoObject>) -> Option<String> {
    let words: Vec<&str> = match of {
        Content::Nothing => return None,
        Content::Text(line) => vec![line],
        Content::Parts(parts) => parts
            .iter()
            .filter_map(|part| match part {
                ContentMember::Text(word) => Some(&**word),
                ContentMember::Object(_) | ContentMember::Other => None,
            })
            .collect(),
    };
    let line = command_line(&words);
    match line.contains(PATCH) {
        true => Some(patch(&line)),
        false => (!line.is_empty()).then_some(line),
    }
}

/// Joins words to one line. A shell that only runs a script is left out.
pub fn command_line(words: &[&str]) -> String {
    match words {
        [line] => (*line).to_owned(),
        [shell, flag, script] if is_shell(shell) && flag.ends_with('c') => (*script).to_owned(),
        words => words
            .iter()
            .map(|word| quote(word))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(
        name.trim_end_matches(".exe"),
        "bash" | "sh" | "zsh" | "fish" | "dash" | "powershell" | "pwsh" | "cmd"
    )
}

fn quote(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "-_=+./:,@%^~".contains(c);
    if !word.is_empty() && word.chars().all(plain) || word.contains(PATCH) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
    }
}

/// How a patch begins.
const PATCH: &str = "*** Begin Patch";

/// Renders a patch: the files that it changes, then its text.
fn patch(text: &str) -> String {
    let from = text.find(PATCH).unwrap_or(0);
    let body = &text[from..];
    let files: Vec<&str> = body
        .lines()
        .filter_map(|line| {
            [
                "*** Update File: ",
                "*** Add File: ",
                "*** Delete File: ",
                "*** Move to: ",
            ]
            .iter()
            .find_map(|sign| line.strip_prefix(sign))
        })
        .map(str::trim)
        .collect();
    format!("{}\n{}", files.join(", "), shorten(body, 2 * SIDE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tool: &str, arguments: &str, expected: &str) {
        assert_eq!(render(tool, arguments), expected);
    }

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        check(
            "Bash",
            r#"{"command":"cargo test","description":"Run the tests"}"#,
            "cargo test\n# Run the tests",
        );
        check(
            "shell",
            r#"{"command":["bash","-lc","cargo test"]}"#,
            "cargo test",
        );
        check(
            "shell",
            r#"{"command":["git","commit","-m","it's done"]}"#,
            r"git commit -m 'it'\''s done'",
        );
        check("exec_command", r#"{"cmd":"ls"}"#, "ls");
    }

    #[test]
    fn an_edit_is_shown_as_its_file_with_both_sides() {
        check(
            "Edit",
            r#"{"file_path":"/e/a.rs","old_string":"one","new_string":"two"}"#,
            "/e/a.rs\n---\none\n+++\ntwo",
        );
        check(
            "MultiEdit",
            r#"{"file_path":"a","edits":[{"old_string":"b","new_string":"c"},{"old_string":"d","new_string":""}]}"#,
            "a\n---\nb\n+++\nc\n---\nd\n+++\n",
        );
        check(
            "Write",
            r#"{"file_path":"a","content":"all of it"}"#,
            "a\n+++\nall of it",
        );
    }

    #[test]
    fn a_search_is_shown_as_what_it_looks_for() {
        check("Read", r#"{"file_path":"/e/a.rs","offset":5}"#, "/e/a.rs");
        check(
            "Grep",
            r#"{"pattern":"fn main","path":"src","glob":"*.rs"}"#,
            "fn main in src *.rs",
        );
        check("Glob", r#"{"pattern":"**/*.rs"}"#, "**/*.rs");
    }

    #[test]
    fn a_patch_names_its_files_first() {
        let body = "*** Begin Patch\n*** Update File: src/a.rs\n+x\n*** End Patch";
        check("apply_patch", body, &format!("src/a.rs\n{body}"));
        let shell = serde_json::json!({"command": ["apply_patch", body]}).to_string();
        check("shell", &shell, &format!("src/a.rs\n{body}"));
    }

    #[test]
    fn any_other_call_keeps_its_arguments() {
        check(
            "mcp__tracker__create",
            r#"{"title":"x"}"#,
            r#"{"title":"x"}"#,
        );
        check("note", "free text", "free text");
        assert!(render("note", &"x".repeat(99_999)).len() <= CALL);
    }
}
