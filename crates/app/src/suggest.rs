//! Command lines that a person is advised to run next, with the flags of this run.
//!
//! Every command that is suggested anywhere comes from [`command`] or [`command_of`]: it is quoted for
//! the shell and names the data folder, the store and the settings that this run was given, so that it
//! does to the same memory what the text says when it is pasted.
//!
//! A password in the address of a store is never printed: such a line has to be completed.
//!
//! Not here: command lines that hosts keep in their settings (`setup::command`).

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use crate::common::Common;
use crate::settings::masked;
use crate::setup::quoted;

/// What the program is called.
const NAME: &str = "daybook";

/// How every suggested line begins: the program and the flags of this run, quoted.
static BEGINNING: RwLock<Option<String>> = RwLock::new(None);

/// From now on suggested lines carry the flags of `common`.
pub(crate) fn use_flags(common: &Common) {
    let path = std::env::var_os("PATH");
    let program = found_program(path.as_deref(), std::env::current_exe().ok().as_deref());
    let beginning = program + &flags(common.root.as_deref(), &common.set);
    *BEGINNING.write().unwrap_or_else(PoisonError::into_inner) = Some(beginning);
}

/// How every suggested line begins: the program with the flags of this run.
pub(crate) fn program() -> String {
    let beginning = BEGINNING.read().unwrap_or_else(PoisonError::into_inner);
    beginning.as_deref().unwrap_or(NAME).to_owned()
}

/// `daybook <words>` with the flags of this run. `words` are parted by blanks and need no quotes.
pub(crate) fn command(words: &str) -> String {
    format!("{} {words}", program())
}

/// `daybook <words>` with the flags of this run, each word quoted where a shell needs it.
pub(crate) fn command_of(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    command(&words.join(" "))
}

/// `daybook` where a shell that looks along `path` starts this very program by that name, else the path
/// of the program: it may run from where it was built.
fn found_program(path: Option<&OsStr>, own: Option<&Path>) -> String {
    let (Some(path), Some(own)) = (path, own) else {
        return NAME.to_owned();
    };
    let whole = |path: &Path| path.canonicalize().ok();
    let found = std::env::split_paths(path).map(|folder| folder.join(NAME));
    let first = found
        .filter(|file| file.is_file())
        .find_map(|file| whole(&file));
    match first.is_some() && first == whole(own) {
        true => NAME.to_owned(),
        false => quoted(&own.to_string_lossy()),
    }
}

fn flags(root: Option<&Path>, set: &[String]) -> String {
    let root = root.map(|root| std::path::absolute(root).unwrap_or_else(|_| root.to_owned()));
    let root = root.map(|root| format!(" --root {}", quoted(&root.to_string_lossy())));
    let set = set.iter().map(|set| match set.split_once('=') {
        Some(("store", address)) => format!(" --store {}", quoted(&masked(address))),
        Some(("tenant", name)) => format!(" --tenant {}", quoted(name)),
        Some(_) | None => format!(" --set {}", quoted(set)),
    });
    root.into_iter().chain(set).collect()
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
}
