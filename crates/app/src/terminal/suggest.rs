//! Suggested command lines, with the flags of this run.
//!
//! Every suggested command comes from [`command`] or [`command_of`]: it is quoted for the shell and names the data
//! folder, store and settings of this run, so that the pasted line works on the same memory.
//!
//! A password in the address of a store is never printed: the person has to complete such a line.
//!
//! Not here: command lines in settings of hosts (`setup::command`).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

#[cfg(feature = "interfaces")]
use super::common_args::CommonArgs;
use super::shell::quoted;
use crate::settings::masked;

/// The name of the program.
const NAME: &str = "daybook";

/// The start of every suggested line: the program and the flags of this run, quoted.
static PREFIX: RwLock<Option<String>> = RwLock::new(None);

/// Sets the flags that suggested lines have from now on.
#[cfg(feature = "interfaces")]
pub(crate) fn use_flags(common: &CommonArgs) {
    let path = std::env::var_os("PATH");
    let program = program_name(path.as_deref(), std::env::current_exe().ok().as_deref());
    let prefix = program + &flags(common.root.as_deref(), &common.set);
    *PREFIX.write().unwrap_or_else(PoisonError::into_inner) = Some(prefix);
}

/// The start of every suggested line: the program with the flags of this run.
pub(crate) fn program() -> String {
    let prefix = PREFIX.read().unwrap_or_else(PoisonError::into_inner);
    prefix.as_deref().unwrap_or(NAME).to_owned()
}

/// `daybook <words>` with the flags of this run. `words` are separated by spaces and need no quotes.
pub(crate) fn command(words: &str) -> String {
    format!("{} {words}", program())
}

/// `daybook <words>` with the flags of this run, each word quoted where a shell needs it.
pub(crate) fn command_of(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    command(&words.join(" "))
}

/// `daybook` if a shell with this `path` would start this very program by that name, else the path of the program,
/// which may run from its build folder.
fn program_name(path: Option<&OsStr>, own: Option<&Path>) -> String {
    let (Some(path), Some(own)) = (path, own) else {
        return NAME.to_owned();
    };
    let whole = |path: &Path| path.canonicalize().ok();
    let candidates = std::env::split_paths(path).map(|folder| folder.join(NAME));
    let first = candidates
        .filter(|file| file.is_file())
        .find_map(|file| whole(&file));
    match first.is_some() && first == whole(own) {
        true => NAME.to_owned(),
        false => quoted(&own.to_string_lossy()),
    }
}

fn flags(root: Option<&Path>, set: &[String]) -> String {
    let root = root.map(|root| std::path::absolute(root).unwrap_or_else(|_| root.to_owned()));
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let root = root.map(|root| format!(" --root {}", path_word(&root, home.as_deref())));
    let set = set.iter().map(|set| match set.split_once('=') {
        Some(("store", address)) => format!(" --store {}", quoted(&masked(address))),
        Some(("tenant", name)) => format!(" --tenant {}", quoted(name)),
        Some(_) | None => format!(" --set {}", quoted(set)),
    });
    root.into_iter().chain(set).collect()
}

/// A path as a word of a command: from `~` where a shell reads it so, which is shorter to read.
fn path_word(path: &Path, home: Option<&Path>) -> String {
    let whole = quoted(&path.to_string_lossy());
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    match below.map(|below| below.to_string_lossy()) {
        Some(below) if cfg!(unix) && !below.is_empty() && quoted(&below) == below => {
            format!("~/{below}")
        }
        Some(_) | None => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_names_what_this_run_was_given_and_no_password() {
        let set = [
            "store=postgres://ada:secret@db.example/daybook".to_owned(),
            "keep=[\"what's due\"]".to_owned(),
        ];
        let flags = flags(Some(Path::new("/home/ada/my data")), &set);
        assert_eq!(
            flags,
            " --root '/home/ada/my data' --store 'postgres://ada:…@db.example/daybook' \
             --set 'keep=[\"what'\\''s due\"]'"
        );
        assert_eq!(super::flags(None, &[]), "");
    }

    #[cfg(unix)]
    #[test]
    fn a_path_below_the_home_is_written_from_there_where_no_quotes_are_needed() {
        let word = |path: &str| path_word(Path::new(path), Some(Path::new("/home/ada")));
        assert_eq!(word("/home/ada/.cache/tides"), "~/.cache/tides");
        assert_eq!(word("/home/ada/my data"), "'/home/ada/my data'");
        assert_eq!(word("/srv/tides"), "/srv/tides");
        assert_eq!(word("/home/ada"), "/home/ada");
    }
}
