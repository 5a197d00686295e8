//! Answers of the HTTP interface that are kept for an hour, for clients that repeat a request.
//!
//! Each is a file in a folder that only its owner may read, named for its time and its key. A purge and a reset remove all
//! of them, because they may hold words of the memory.
//!
//! Not here: which answers are kept, and what a key is (`http::idempotency`).

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use daybook_domain::{Tenant, Timestamp};
use daybook_engine::bounded;
use daybook_engine::files::layout::run_folder;

use super::data_folder;

/// Name of the folder.
const FOLDER: &str = "http-answers";
/// How long an answer is kept.
pub(crate) const KEPT_FOR: Duration = Duration::from_secs(60 * 60);
/// Most answers that are kept of one tenant; the oldest goes first.
const MOST: usize = 1_000;
/// Longest answer that is kept, in bytes.
pub(crate) const ANSWER_BYTES: usize = 1024 * 1024;

/// The kept answers of one tenant.
#[derive(Debug, Clone)]
pub(crate) struct StoredAnswers {
    folder: PathBuf,
}

impl StoredAnswers {
    pub(crate) fn of(root: &Path, tenant: &Tenant) -> Self {
        Self {
            folder: run_folder(root, tenant).join(FOLDER),
        }
    }

    /// The answer that is kept for `key`, if it is not too old.
    pub(crate) fn find(&self, key: &str, now: Timestamp) -> io::Result<Option<String>> {
        let names = self.names()?;
        let is_wanted = |name: &&String| {
            parts(name).is_some_and(|(at, of)| of == key && now.since(at) < KEPT_FOR)
        };
        let Some(name) = names.iter().rfind(is_wanted) else {
            return Ok(None);
        };
        let most = ANSWER_BYTES as u64 * 2;
        Ok(Some(bounded::read_text(&self.folder.join(name), most)?))
    }

    /// Keeps an answer, and removes those that are too old or too many.
    pub(crate) fn keep(&self, key: &str, now: Timestamp, answer: &str) -> io::Result<()> {
        fs::create_dir_all(self.folder.parent().unwrap_or(&self.folder))?;
        data_folder::create(&self.folder).map_err(io::Error::other)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(answer.as_bytes())?;
        file.persist(self.folder.join(name(now, key)))?;
        let names = self.names()?;
        let too_many = names.len().saturating_sub(MOST);
        for (place, name) in names.iter().enumerate() {
            let is_old = parts(name).is_some_and(|(at, _)| now.since(at) >= KEPT_FOR);
            if place < too_many || is_old {
                fs::remove_file(self.folder.join(name))?;
            }
        }
        Ok(())
    }

    /// Removes all answers.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Names of the kept answers, oldest first.
    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let names = entries.flatten().map(|entry| entry.file_name());
        let names = names.filter_map(|name| name.into_string().ok());
        let mut names: Vec<String> = names.filter(|name| parts(name).is_some()).collect();
        names.sort();
        Ok(names)
    }
}

/// Names sort by time: the digits of it are as many for the next thousands of years.
fn name(at: Timestamp, key: &str) -> String {
    format!("{:015}-{key}", at.0.max(0))
}

fn parts(name: &str) -> Option<(Timestamp, &str)> {
    let (at, key) = name.split_once('-')?;
    Some((Timestamp(at.parse().ok()?), key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 60 * 60 * 1000;

    #[test]
    fn an_answer_is_found_by_its_key_for_an_hour() {
        let root = tempfile::tempdir().expect("a folder");
        let answers = StoredAnswers::of(root.path(), &Tenant::local());
        let find = |key, at| answers.find(key, Timestamp(at)).expect("it is read");
        assert_eq!(find("a", 0), None);
        answers.keep("a", Timestamp(0), "one").expect("it is kept");
        answers.keep("b", Timestamp(1), "two").expect("it is kept");
        assert_eq!(find("a", HOUR - 1).as_deref(), Some("one"));
        assert_eq!(find("b", HOUR).as_deref(), Some("two"));
        assert_eq!(find("a", HOUR), None);
        // The next one removes what is too old.
        answers
            .keep("c", Timestamp(HOUR), "three")
            .expect("it is kept");
        assert_eq!(answers.names().expect("names").len(), 2);
        answers.remove().expect("they are removed");
        assert_eq!(find("c", HOUR), None);
        answers.remove().expect("none is there");
    }

    #[test]
    fn the_oldest_answers_make_room() {
        let root = tempfile::tempdir().expect("a folder");
        let answers = StoredAnswers::of(root.path(), &Tenant("harbour".to_owned()));
        for n in 0..MOST + 2 {
            let at = Timestamp(n.try_into().expect("few"));
            let key = format!("k{n}");
            answers.keep(&key, at, "an answer").expect("it is kept");
        }
        let find = |key: &str| answers.find(key, Timestamp(2_000)).expect("it is read");
        assert_eq!(answers.names().expect("names").len(), MOST);
        assert_eq!((find("k1"), find("k2").is_some()), (None, true));
    }
}
