//! A person's edits of memory files, and the check that they are respected.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use daybook_domain::Scope;
use daybook_engine::consolidate::SECTION_ENTRIES;
use daybook_engine::files::layout::{CURATED, folder};
use daybook_testkit::fixtures::{project_scope, user_scope};
use daybook_testkit::simulation::{CheckResult, SeededRandom, StoreSnapshot};

/// Prefix of a person's text in files.
const BY_HAND: &str = "by hand:";

/// The memory files of a simulation, and a person's edits of them.
pub(super) struct EditedFolders {
    root: PathBuf,
    /// Edits so far.
    edits: u64,
    /// A person's text that was not deleted again, by scope.
    written: BTreeSet<(Scope, String)>,
    /// Facts that a person deleted.
    deleted: BTreeSet<(Scope, String)>,
}

/// The scopes that observations are filed in.
pub(super) fn scopes() -> [Scope; 4] {
    [
        user_scope("ada"),
        user_scope("grace"),
        project_scope("left"),
        project_scope("right"),
    ]
}

impl EditedFolders {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            edits: 0,
            written: BTreeSet::new(),
            deleted: BTreeSet::new(),
        }
    }

    fn path(&self, scope: &Scope) -> PathBuf {
        folder(&self.root, scope).join(CURATED)
    }

    fn lines(&self, scope: &Scope) -> Option<Vec<String>> {
        let text = fs::read_to_string(self.path(scope)).ok()?;
        Some(text.lines().map(str::to_owned).collect())
    }

    /// Makes one edit of a file as a person would, and returns its description.
    pub(super) fn edit(&mut self, random: &mut SeededRandom) -> (Scope, String) {
        let scope = random.one(&scopes()).clone();
        let Some(mut lines) = self.lines(&scope) else {
            return (scope, "there is no file to edit".to_owned());
        };
        self.edits += 1;
        let words = format!("{BY_HAND} {}", self.edits);
        let facts: Vec<usize> = (0..lines.len()).filter(|n| is_fact(&lines[*n])).collect();
        let chosen = (!facts.is_empty()).then(|| *random.one(&facts));
        let what = match (chosen, random.below(3)) {
            (Some(n), 0) => {
                let line = lines.remove(n);
                let word = unique_word(&line);
                let what = format!("deletes {word}");
                self.deleted.insert((scope.clone(), word));
                what
            }
            (Some(n), 1) => {
                let what = format!("changes {}", unique_word(&lines[n]));
                lines[n] = lines[n].replacen("- ", &format!("- {words}, "), 1);
                self.written.insert((scope.clone(), format!("- {words}, ")));
                what
            }
            _ => {
                lines.push(format!("- {words}."));
                self.written.insert((scope.clone(), format!("- {words}.")));
                format!("adds {words}")
            }
        };
        let text = lines.join("\n") + "\n";
        fs::write(self.path(&scope), text).expect("a memory file can be written");
        (scope, what)
    }

    /// Promise 7: a person's text stays in the files, and deleted facts stay away.
    pub(super) fn check_edits(&self) -> CheckResult {
        for scope in scopes() {
            let text = fs::read_to_string(self.path(&scope)).unwrap_or_default();
            for (_, words) in self.written.iter().filter(|(of, _)| of == &scope) {
                if !text.contains(words) {
                    return Err(format!("{scope}: {words:?} was overwritten"));
                }
            }
            for (_, word) in self.deleted.iter().filter(|(of, _)| of == &scope) {
                if text.contains(word) {
                    return Err(format!("{scope}: {word} was taken out, and is back"));
                }
            }
        }
        Ok(())
    }

    /// Promise 8: files show all current observations, and no others.
    pub(super) fn check_shown(&self, seen: &StoreSnapshot) -> CheckResult {
        self.check_edits()?;
        for scope in scopes() {
            let lines = self.lines(&scope).unwrap_or_default();
            let held: BTreeSet<String> = seen
                .observations
                .get(&scope)
                .into_iter()
                .flatten()
                .map(|observation| unique_word(&observation.text))
                .collect();
            let shown = lines.iter().filter(|line| is_fact(line));
            let shown: BTreeSet<String> = shown.map(|line| unique_word(line)).collect();
            if let Some(word) = shown.difference(&held).next() {
                return Err(format!("{scope}: shows {word}, which does not hold"));
            }
            let text = lines.join("\n");
            let missing = held.iter().find(|word| !text.contains(*word));
            if let Some(word) = missing.filter(|_| held.len() <= SECTION_ENTRIES) {
                return Err(format!("{scope}: does not show {word}, which holds"));
            }
        }
        Ok(())
    }
}

/// Whether a line is a fact that the engine wrote and that is unchanged.
fn is_fact(line: &str) -> bool {
    line.starts_with("- ")
        && line.contains(" ^")
        && !line.contains(BY_HAND)
        && !unique_word(line).is_empty()
}

/// The word that is unique to one event.
fn unique_word(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let mut own = words.filter(|word| word.len() == 13 && word.starts_with('x'));
    own.next().unwrap_or_default().to_owned()
}
