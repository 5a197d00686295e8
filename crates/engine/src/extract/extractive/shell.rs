//! Parses shell command lines for checks, commits and pushes.
//!
//! A command line is split into its simple commands, without quoted text, pipes into a pager and
//! redirections; so a commit message that mentions `git push` is no push.
//!
//! Not here: whether the command succeeded (`actions`).

use std::sync::LazyLock;

use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

/// Most simple commands of one line.
const SEGMENTS: usize = 24;
/// Most characters of a command in a line of memory.
const LABEL: usize = 70;

/// Programs that check, build or run the work.
const CHECKERS: [&str; 44] = [
    "pytest",
    "tox",
    "nox",
    "ruff",
    "mypy",
    "pyright",
    "black",
    "eslint",
    "tsc",
    "jest",
    "vitest",
    "mocha",
    "mvn",
    "gradle",
    "gradlew",
    "rspec",
    "rake",
    "rubocop",
    "golangci-lint",
    "staticcheck",
    "xcodebuild",
    "ctest",
    "cmake",
    "ninja",
    "make",
    "gmake",
    "just",
    "bazel",
    "buck",
    "phpunit",
    "phpstan",
    "shellcheck",
    "hadolint",
    "terraform",
    "tofu",
    "ansible-playbook",
    "helm",
    "pre-commit",
    "playwright",
    "cypress",
    "biome",
    "prettier",
    "act",
    "task",
];

/// Programs with subcommands, and those of them that check, build or run the work.
const WITH_SUBCOMMANDS: [(&str, &[&str]); 20] = [
    (
        "go",
        &["test", "build", "vet", "run", "install", "generate", "mod"],
    ),
    (
        "cargo",
        &[
            "test", "build", "check", "clippy", "run", "fmt", "bench", "nextest", "doc",
        ],
    ),
    ("npm", &["test", "run", "ci", "install", "t", "start"]),
    ("pnpm", &["test", "run", "install", "build", "lint", "exec"]),
    ("yarn", &["test", "run", "install", "build", "lint"]),
    ("bun", &["test", "run", "install", "build"]),
    (
        "npx",
        &[
            "jest",
            "vitest",
            "tsc",
            "eslint",
            "playwright",
            "prettier",
            "cypress",
            "mocha",
        ],
    ),
    ("deno", &["test", "run", "check", "lint", "task"]),
    ("mise", &["run", "r", "install"]),
    ("dotnet", &["test", "build", "run"]),
    ("swift", &["test", "build", "run"]),
    ("mix", &["test", "compile", "format"]),
    ("docker", &["build", "compose", "run"]),
    ("docker-compose", &["up", "build", "run"]),
    ("bundle", &["exec", "install"]),
    ("poetry", &["run", "install", "build"]),
    ("uv", &["run", "sync", "build"]),
    ("pip", &["install"]),
    ("kubectl", &["apply"]),
    ("git", &["commit", "push"]),
];

/// An edit of a file in place, with its script in single or in double quotes.
static SED: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(r#"\bsed (?:-\S+ )*-i\S* (?:-\S+ )*(?:'([^']*)'|"([^"]*)") ([^\s;|&]+)"#)
});

/// The names of the files that a command line's `sed -i` changes, each with the texts that it puts into it.
///
/// `sed -i 's/LIMIT = 24/LIMIT = 36/' src/list.py` puts `LIMIT = 36` into `list.py`.
pub(super) fn substitutions(line: &str) -> Vec<(String, String)> {
    if !line.contains("sed ") {
        return Vec::new();
    }
    let edits = SED.captures_iter(line).filter_map(|edit| {
        let script = edit.get(1).or_else(|| edit.get(2))?.as_str();
        let put: Vec<String> = script.split([';', '\n']).filter_map(put_by).collect();
        let file = edit[3].rsplit('/').next()?;
        Some((file.to_owned(), put.join("\n")))
    });
    edits.filter(|(_, put)| !put.is_empty()).collect()
}

/// What one substitution of a script puts in.
fn put_by(substitution: &str) -> Option<String> {
    let rest = substitution.trim_start().strip_prefix('s')?;
    let mark = rest.chars().next().filter(|mark| !mark.is_alphanumeric())?;
    let put = rest.split(mark).nth(2)?;
    Some(put.replace("\\n", "\n").replace('\\', ""))
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    words: Vec<String>,
}

impl SimpleCommand {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    /// The git subcommand, past git's own options.
    fn git(&self) -> Option<&str> {
        if self.word(0) != "git" {
            return None;
        }
        let mut at = 1;
        while self.word(at).starts_with('-') {
            at += if matches!(self.word(at), "-C" | "-c") {
                2
            } else {
                1
            };
        }
        self.words.get(at).map(String::as_str)
    }

    fn has(&self, flag: &str) -> bool {
        self.words.iter().any(|w| w == flag)
    }

    /// Whether it makes a new commit.
    pub(super) fn is_commit(&self) -> bool {
        self.git() == Some("commit") && !self.has("--amend") && !self.has("--dry-run")
    }

    /// Whether it publishes commits.
    pub(super) fn is_push(&self) -> bool {
        let git = self.git() == Some("push") && !self.has("--dry-run") && !self.has("--delete");
        git || self.is_pull_request()
    }

    /// Whether it opens a pull request.
    pub(super) fn is_pull_request(&self) -> bool {
        matches!(
            (self.word(0), self.word(1), self.word(2)),
            ("gh", "pr", "create") | ("glab", "mr", "create")
        )
    }

    /// Whether it files an issue.
    pub(super) fn is_issue_creation(&self) -> bool {
        matches!(self.word(0), "gh" | "glab") && self.word(1) == "issue" && self.word(2) == "create"
    }

    /// The value of the first of these options.
    pub(super) fn option(&self, names: &[&str]) -> Option<&str> {
        let at = self
            .words
            .iter()
            .position(|w| names.contains(&w.as_str()))?;
        self.words.get(at + 1).map(String::as_str)
    }

    /// Whether it tests, builds, lints or runs the work, so that its failure is a failure of the work.
    pub(super) fn checks(&self) -> bool {
        let program = self.word(0).rsplit('/').next().unwrap_or("");
        let sub = self.git().unwrap_or_else(|| self.word(1));
        let listed = WITH_SUBCOMMANDS
            .iter()
            .any(|(p, subs)| *p == program && subs.contains(&sub));
        let module = program.starts_with("python")
            && self.word(1) == "-m"
            && CHECKERS.contains(&self.word(2));
        let script = (self.word(0).starts_with("./") || program.ends_with(".sh"))
            || (matches!(
                program,
                "bash" | "sh" | "python" | "python3" | "node" | "ruby"
            ) && self.word(1).contains('.')
                && !self.word(1).starts_with('-'));
        listed || CHECKERS.contains(&program) || module || script
    }

    /// The command for people, shortened.
    pub(super) fn label(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let all = words.join(" ").replace(['`', '\n'], " ");
        if all.chars().count() <= LABEL {
            return all;
        }
        let mut label = String::new();
        for word in words {
            if label.chars().count() + word.chars().count() > LABEL - 3 {
                break;
            }
            label = if label.is_empty() {
                word.to_owned()
            } else {
                format!("{label} {word}")
            };
        }
        if label.is_empty() {
            label = all.chars().take(LABEL - 3).collect();
        }
        format!("{} …", label.replace(['`', '\n'], " "))
    }
}

/// The simple commands of a command line, in order, without filters at the end of pipes.
pub(super) fn simple_commands(line: &str) -> Vec<SimpleCommand> {
    let mut scan = CommandScanner::default();
    let line = without_heredocs(line);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (scan.quote, c) {
            (Some(q), _) if c == q => scan.quote = None,
            (Some('"'), '\\') => scan.word.extend(chars.next()),
            (Some(_), _) => scan.word.push(c),
            (None, '\'' | '"') => {
                scan.quote = Some(c);
                scan.quoted = true;
            }
            (None, '\\') => match chars.next() {
                Some('\n') | None => {}
                Some(next) => scan.word.push(next),
            },
            (None, '#') if scan.is_between_words() => {
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            (None, '\n' | ';') => scan.end_command(false),
            (None, '|') => {
                let or = chars.next_if_eq(&'|').is_some();
                scan.end_command(!or);
            }
            (None, '&') if scan.word.ends_with(['>', '<']) => scan.word.push(c),
            (None, '&') => {
                chars.next_if_eq(&'&');
                scan.end_command(false);
            }
            (None, c) if c.is_whitespace() => scan.end_word(),
            (None, c) => scan.word.push(c),
        }
        if scan.commands.len() >= SEGMENTS {
            break;
        }
    }
    scan.end_command(false);
    scan.commands
}

#[derive(Default)]
struct CommandScanner {
    commands: Vec<SimpleCommand>,
    words: Vec<String>,
    word: String,
    quote: Option<char>,
    quoted: bool,
    piped: bool,
}

impl CommandScanner {
    /// Whether a `#` begins a comment here.
    fn is_between_words(&self) -> bool {
        self.word.is_empty() && !self.quoted
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if !word.is_empty() || self.quoted {
            self.words.push(word);
        }
        self.quoted = false;
    }

    fn end_command(&mut self, pipe: bool) {
        self.end_word();
        let words = without_clutter(std::mem::take(&mut self.words));
        if !self.piped && !words.is_empty() {
            self.commands.push(SimpleCommand { words });
        }
        self.piped = pipe;
    }
}

/// Without variables set in front, wrappers, and redirections.
fn without_clutter(words: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut skip = false;
    for word in words {
        let redirects = word
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .starts_with(['>', '<']);
        let leads = kept.is_empty()
            && (word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            }) || matches!(
                word.as_str(),
                "sudo" | "time" | "env" | "command" | "nohup" | "(" | "{" | "then" | "do" | "!"
            ));
        if skip {
            skip = false;
        } else if redirects {
            skip = word.ends_with(['>', '<']);
        } else if !leads {
            kept.push(word);
        }
    }
    if kept.first().is_some_and(|w| w == "timeout") {
        kept.drain(..kept.len().min(2));
    }
    kept
}

/// Without the bodies of here-documents, which are text and not commands.
fn without_heredocs(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut until: Option<String> = None;
    for part in line.split_inclusive('\n') {
        match &until {
            Some(word) if part.trim() == word => until = None,
            Some(_) => {}
            None => {
                until = heredoc_word(part);
                kept.push_str(part);
            }
        }
    }
    kept
}

fn heredoc_word(line: &str) -> Option<String> {
    let rest = line.split_once("<<")?.1;
    let rest = rest.trim_start_matches(['-', ' ', '\'', '"']);
    let word: String = rest
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    (!word.is_empty() && !line.contains("<<<")).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_in_place_puts_its_text_into_its_file() {
        let put = |line: &str| -> Vec<String> {
            let all = substitutions(line).into_iter();
            all.map(|(file, put)| format!("{file}: {}", put.replace('\n', " / ")))
                .collect()
        };
        assert_eq!(
            put(
                "sed -i 's/A = 1/A = 24/; s|x|y|' a.py && sed -i.bak -E \"s/B/B = 7\\nC = 8/\" b.py; ls"
            ),
            ["a.py: A = 24 / y", "b.py: B = 7 / C = 8"]
        );
        assert!(put("sed 's/A = 1/A = 24/' a.py").is_empty());
        assert!(put("grep sed -i 'notes' a.py").is_empty());
    }

    fn check(line: &str, expected: &[&str]) {
        let labels: Vec<String> = simple_commands(line)
            .iter()
            .map(SimpleCommand::label)
            .collect();
        assert_eq!(labels, expected);
    }

    #[test]
    fn comments_are_no_commands() {
        check("# Run all tests\nmake test # slow", &["make test"]);
        check("echo a#b \"# c\"", &["echo a#b # c"]);
    }

    #[test]
    fn a_line_falls_into_its_simple_commands() {
        check(
            "cd x && make test 2>&1 | tail -5; A=1 go vet ./... > out",
            &["cd x", "make test", "go vet ./..."],
        );
    }

    #[test]
    fn quoted_text_and_here_documents_run_nothing() {
        let line = "git commit -m \"$(cat <<'EOF'\nsay; git push\nEOF\n)\" && git status";
        let found = simple_commands(line);
        assert_eq!(found.iter().filter(|s| s.is_commit()).count(), 1);
        assert!(!found.iter().any(SimpleCommand::is_push));
    }

    #[test]
    fn git_options_stand_before_the_subcommand() {
        let found = simple_commands("git -C /tmp/x -c a=b push origin main; git commit --amend");
        assert!(found[0].is_push());
        assert!(!found[1].is_commit());
    }

    #[test]
    fn only_what_checks_the_work_counts_as_a_check() {
        for (line, checks) in [
            ("cargo test -p x", true),
            ("./run-tests.sh", true),
            ("python -m pytest", true),
            ("grep -r x .", false),
            ("ls missing", false),
            ("git status", false),
        ] {
            assert_eq!(simple_commands(line)[0].checks(), checks, "{line}");
        }
    }
}
