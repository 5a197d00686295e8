//! Finds the folder in which a command line asks git about a remote.
//!
//! A remote that git names belongs to the folder that git ran in: `cd X && git remote -v` shows that of `X`. Where
//! the folder follows from a variable, another machine or a script, nothing is known, and where several commands of
//! one line ask in different folders, their outputs cannot be distinguished.
//!
//! Not here: the outputs (`projects`), and which commands check or commit (`extract`).

use super::command_words::{CommandPart, command_parts};

/// Programs that run their arguments in another place, or on another machine.
const ELSEWHERE: [&str; 18] = [
    "ssh", "docker", "podman", "nerdctl", "kubectl", "vagrant", "lxc", "wsl", "chroot", "su",
    "bash", "sh", "zsh", "fish", "eval", "xargs", "parallel", "find",
];
/// Words before a command that leave it the same command.
const LEADING: [&str; 14] = [
    "sudo", "time", "env", "command", "nohup", "then", "do", "else", "if", "while", "until", "!",
    "{", "}",
];

/// The folder that a command runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitFolder {
    /// The folder in which the command line began.
    Here,
    /// This absolute path.
    At(String),
}

/// The folder in which all commands of `line` that make git name its own remote ran; `None` where no command does,
/// where the folder is not known, and where they ran in several.
#[must_use]
pub fn git_folder(line: &str) -> Option<GitFolder> {
    let mut shell = Shell::default();
    for part in command_parts(line) {
        match part {
            CommandPart::Open => shell.outer.push((shell.now.clone(), shell.pushed.clone())),
            CommandPart::Close => {
                if let Some(before) = shell.outer.pop() {
                    (shell.now, shell.pushed) = before;
                }
            }
            CommandPart::Words(words) => shell.run(&words),
        }
    }
    let first = shell.asked.first()?.clone();
    let agree = shell.asked.iter().all(|asked| *asked == first);
    first.filter(|_| agree)
}

/// The state of a shell. A folder that is not known is `None`.
struct Shell {
    now: Option<GitFolder>,
    pushed: Vec<Option<GitFolder>>,
    /// The state around each open subshell.
    outer: Vec<(Option<GitFolder>, Vec<Option<GitFolder>>)>,
    /// The folder of each command that names a remote.
    asked: Vec<Option<GitFolder>>,
}

impl Default for Shell {
    fn default() -> Self {
        Self {
            now: Some(GitFolder::Here),
            pushed: Vec::new(),
            outer: Vec::new(),
            asked: Vec::new(),
        }
    }
}

impl Shell {
    fn run(&mut self, words: &[String]) {
        let mut own_repository = false;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            own_repository |= word.starts_with("GIT_") && word.contains('=');
            if !is_assignment(word) && !LEADING.contains(&word.as_str()) {
                break;
            }
            at += 1;
        }
        let Some((program, arguments)) = words.get(at..).and_then(<[String]>::split_first) else {
            return;
        };
        match program.as_str() {
            "cd" | "chdir" => self.now = self.target(arguments),
            "pushd" => {
                self.pushed.push(self.now.clone());
                self.now = self.target(arguments);
            }
            "popd" => self.now = self.pushed.pop().flatten(),
            "git" => self.git(arguments, own_repository),
            program => {
                let program = program.rsplit('/').next().unwrap_or(program);
                let runs_git = arguments.iter().any(|word| word.contains("git"));
                if ELSEWHERE.contains(&program) && runs_git {
                    self.asked.push(None);
                }
            }
        }
    }

    /// The folder that `cd` goes to.
    fn target(&self, arguments: &[String]) -> Option<GitFolder> {
        let is_flag = |word: &&String| word.starts_with('-') && word.len() > 1;
        let path = arguments.iter().find(|word| !is_flag(word))?;
        resolve(self.now.as_ref(), path)
    }

    fn git(&mut self, arguments: &[String], own_repository: bool) {
        let mut folder = self.now.clone().filter(|_| !own_repository);
        let mut words = arguments.iter().map(String::as_str);
        let subcommand = loop {
            match words.next() {
                Some("-C") => folder = words.next().and_then(|path| resolve(folder.as_ref(), path)),
                Some("-c") => drop(words.next()),
                Some(option) if option.starts_with("--git-dir") => folder = None,
                Some(option) if option.starts_with("--work-tree") => folder = None,
                Some(option) if option.starts_with('-') => {}
                other => break other,
            }
        };
        let rest: Vec<&str> = words.collect();
        match remote_named_by(subcommand.unwrap_or_default(), &rest) {
            NamedRemote::None => {}
            NamedRemote::Own => self.asked.push(folder),
            NamedRemote::Other => self.asked.push(None),
        }
    }
}

/// The remote that the output of a git command may name.
enum NamedRemote {
    None,
    /// That of the repository: its `origin`, or the list of all.
    Own,
    /// Another repository's.
    Other,
}

fn remote_named_by(subcommand: &str, arguments: &[&str]) -> NamedRemote {
    let has = |flags: &[&str]| arguments.iter().any(|word| flags.contains(word));
    match subcommand {
        "remote" if has(&["-v", "--verbose", "-vv"]) => NamedRemote::Own,
        "push" | "fetch" | "pull" => {
            let remote = arguments.iter().find(|word| !word.starts_with('-'));
            let several = has(&["--all", "--multiple", "--recurse-submodules"]);
            match remote {
                // `git push --all` pushes all branches to one remote.
                _ if several && subcommand != "push" => NamedRemote::Other,
                None | Some(&"origin") => NamedRemote::Own,
                Some(_) => NamedRemote::Other,
            }
        }
        "ls-remote" | "submodule" | "subtree" | "bundle" => NamedRemote::Other,
        "remote" if has(&["update"]) => NamedRemote::Other,
        _ => NamedRemote::None,
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A path as seen from a folder; `None` where it depends on what only the shell knows.
fn resolve(from: Option<&GitFolder>, path: &str) -> Option<GitFolder> {
    let path = path.replace('\\', "/");
    let expands = path.contains(['$', '`', '*', '?', '{', '[']);
    if path.is_empty() || expands || path.starts_with(['~', '-']) {
        return None;
    }
    let is_absolute = path.starts_with('/') || path.get(1..3) == Some(":/");
    match (is_absolute, from) {
        (true, _) => Some(GitFolder::At(normal(&path))),
        (false, Some(from)) if path.trim_end_matches('/') == "." => Some(from.clone()),
        (false, Some(GitFolder::At(base))) => {
            Some(GitFolder::At(normal(&format!("{base}/{path}"))))
        }
        // From where, is written nowhere: a session may have gone on into a subfolder.
        (false, Some(GitFolder::Here) | None) => None,
    }
}

/// The path without `.` and `..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let lead = if path.starts_with('/') { "/" } else { "" };
    format!("{lead}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let found = git_folder(line).map(|folder| match folder {
            GitFolder::Here => "here".to_owned(),
            GitFolder::At(path) => path,
        });
        assert_eq!(found.as_deref(), expected, "{line}");
    }

    #[test]
    fn a_remote_belongs_to_the_folder_that_git_ran_in() {
        check("git remote -v", Some("here"));
        check("git push -u origin main 2>&1 | tail -3", Some("here"));
        check("cd /srv/reef && git remote -v", Some("/srv/reef"));
        check("cd /srv/reef/../kelp; git pull", Some("/srv/kelp"));
        check("git -C /srv/reef remote -v", Some("/srv/reef"));
        check("git -C /srv -C reef --no-pager fetch", Some("/srv/reef"));
        check(
            "pushd /srv/reef >/dev/null; git push; popd",
            Some("/srv/reef"),
        );
        check("pushd /srv/reef; popd; git push", Some("here"));
        check("(cd /srv/reef; git remote -v)", Some("/srv/reef"));
        check("(cd /srv/reef; make); git push", Some("here"));
        check("cd '/srv/my reef' && git push", Some("/srv/my reef"));
        check("if cd /srv/reef; then git push; fi", Some("/srv/reef"));
        check("cd . && git push\n# Push the branch", Some("here"));
        check("cd C:\\\\srv\\\\reef && git push", Some("C:/srv/reef"));
    }

    #[test]
    fn a_folder_that_only_the_shell_knows_is_not_known() {
        check("cd $REPO && git remote -v", None);
        check("cd \"$(mktemp -d)\" && git remote -v", None);
        check("cd ~/reef && git push", None);
        check("cd - && git push", None);
        check("cd && git push", None);
        check("cd reef && git push", None);
        check("cd .. && git push", None);
        check("for d in *; do git -C \"$d\" remote -v; done", None);
        check("git --git-dir=/srv/reef/.git remote -v", None);
        check("GIT_DIR=/srv/reef/.git git remote -v", None);
    }

    #[test]
    fn what_another_machine_or_script_shows_is_no_evidence() {
        check("ssh build 'cd /srv/reef && git remote -v'", None);
        check("docker exec web git remote -v", None);
        check("git fetch; ssh build git pull", None);
        check("bash -c 'git push'", None);
        check("cat <<EOF\ngit push\nEOF", None);
        check("echo \"git push\"", None);
        check("grep -n origin notes.md", None);
    }

    #[test]
    fn several_folders_or_other_remotes_of_one_line_cannot_be_told_apart() {
        check("git remote -v; cd /srv/reef && git remote -v", None);
        check("git remote -v && git push origin main", Some("here"));
        check("git push fork main", None);
        check("git fetch https://git.example/bob/kelp", None);
        check("git fetch --all", None);
        check("git submodule update && git fetch", None);
    }
}
