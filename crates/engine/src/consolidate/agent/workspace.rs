//! The private copy of a memory folder: a map of paths to texts.
//!
//! What may be written is a list of paths and not a rule about paths: the two pages, and `SKILL.md` below `skills/<name>/`
//! with a name of plain letters. So `..`, an absolute path, a link or the name of a device is simply none of them. On the
//! two pages the lines of others must stay, in their order.
//!
//! Not here: the tools' arguments and outcomes (`tools`), whether what was written is sound (`validation`).

use std::collections::BTreeMap;

use super::lines::{foreign_lines, heading};
use super::{CURATED, FILE_BYTES, SKILLS, SUMMARY};

/// Most bytes of a skill's name.
const NAME_BYTES: usize = 64;
/// Names that some file systems keep for devices.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// Most lines that a search returns.
const HITS: usize = 40;
/// Most bytes of one of them.
const HIT_BYTES: usize = 300;

/// The texts of a memory folder, by path, `/` between components.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopiedFiles {
    /// The files, without the agent's own lines.
    pub texts: BTreeMap<String, String>,
}

#[derive(Debug, Clone)]
pub(super) struct Workspace {
    files: BTreeMap<String, String>,
    /// The two pages as they were: their foreign lines stay.
    before: BTreeMap<String, String>,
    /// Skills that hold a person's own lines; they are read-only.
    persons_skills: Vec<String>,
}

impl Workspace {
    /// A copy of `copied` in which the two pages end with the agent's section.
    pub(super) fn new(copied: CopiedFiles, own: &BTreeMap<String, String>) -> Self {
        let mut files = copied.texts;
        for page in [CURATED, SUMMARY] {
            let text = files.entry(page.to_owned()).or_default();
            let lines = own.get(page).map(String::as_str).unwrap_or_default();
            *text = format!("{}\n\n{}\n\n{lines}", text.trim_end(), heading());
        }
        let is_persons = |path: &String| is_skill(path);
        let persons_skills = files
            .keys()
            .filter(|path| is_persons(path))
            .cloned()
            .collect();
        for (path, text) in own.iter().filter(|(path, _)| is_skill(path)) {
            files.entry(path.clone()).or_insert_with(|| text.clone());
        }
        Self {
            before: [CURATED, SUMMARY]
                .map(|page| (page.to_owned(), files[page].clone()))
                .into(),
            files,
            persons_skills,
        }
    }

    pub(super) fn add(&mut self, path: &str, text: String) {
        self.files.insert(path.to_owned(), text);
    }

    pub(super) fn text(&self, path: &str) -> Result<&str, String> {
        let text = self.files.get(path).map(String::as_str);
        text.ok_or_else(|| format!("There is no file {}. `list` shows all files.", shown(path)))
    }

    /// Paths and sizes of the files below a folder, or of all.
    pub(super) fn list(&self, folder: &str) -> String {
        let folder = folder.trim_matches('/');
        let is_below = |path: &str| {
            let rest = path.strip_prefix(folder);
            folder.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let files = self.files.iter().filter(|(path, _)| is_below(path));
        let lines = files.map(|(path, text)| {
            let access = if self.may_write(path).is_ok() {
                "writable"
            } else {
                "read-only"
            };
            format!("{path} ({} bytes, {access})", text.len())
        });
        match lines.collect::<Vec<_>>() {
            none if none.is_empty() => format!("There is nothing below {}.", shown(folder)),
            lines => lines.join("\n"),
        }
    }

    /// The lines that hold all words of `query`, whatever their case.
    pub(super) fn search(&self, query: &str) -> Result<String, String> {
        let low = query.to_lowercase();
        let words: Vec<&str> = low.split_whitespace().collect();
        if words.is_empty() {
            return Err("Give words to search for.".to_owned());
        }
        let mut hits = Vec::new();
        for (path, text) in &self.files {
            for (n, line) in (1..).zip(text.lines()) {
                let low = line.to_lowercase();
                if words.iter().all(|word| low.contains(word)) {
                    let mut end = line.len().min(HIT_BYTES);
                    while !line.is_char_boundary(end) {
                        end -= 1;
                    }
                    hits.push(format!("{path}:{n}: {}", &line[..end]));
                }
            }
        }
        let more = hits.len().saturating_sub(HITS);
        hits.truncate(HITS);
        if more > 0 {
            hits.push(format!("and {more} more lines"));
        }
        match hits.is_empty() {
            true => Ok("No line holds all of these words.".to_owned()),
            false => Ok(hits.join("\n")),
        }
    }

    pub(super) fn write(&mut self, path: &str, text: &str) -> Result<(), String> {
        self.may_write(path)?;
        if text.len() > FILE_BYTES {
            return Err(format!("A file has at most {FILE_BYTES} bytes."));
        }
        self.keeps_foreign_lines(path, text)?;
        let skills = self.files.keys().filter(|path| is_skill(path)).count();
        if !self.files.contains_key(path) && skills >= SKILLS {
            return Err(format!("There are at most {SKILLS} skills."));
        }
        self.files.insert(path.to_owned(), text.to_owned());
        Ok(())
    }

    pub(super) fn delete(&mut self, path: &str) -> Result<(), String> {
        self.may_write(path)?;
        self.text(path)?;
        self.keeps_foreign_lines(path, "")?;
        match self.before.contains_key(path) {
            true => return Err("The page itself stays; delete lines of yours.".to_owned()),
            false => self.files.remove(path),
        };
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) -> Result<(), String> {
        let text = self.text(from)?.to_owned();
        if self.files.contains_key(to) {
            return Err(format!("{} exists already.", shown(to)));
        }
        if !is_skill(from) || !is_skill(to) {
            return Err("Only skills can be moved.".to_owned());
        }
        self.may_write(to)?;
        self.delete(from)?;
        self.write(to, &text)
    }

    /// Refuses a text that leaves out, changes or adds to the lines of others on a page.
    pub(super) fn keeps_foreign_lines(&self, path: &str, text: &str) -> Result<(), String> {
        let Some(before) = self.before.get(path) else {
            return Ok(());
        };
        let (before, after) = (foreign_lines(before), foreign_lines(text));
        if before == after {
            return Ok(());
        }
        let gone = before.iter().find(|line| !after.contains(line));
        let new = after.iter().find(|line| !before.contains(line));
        let example = match (gone, new) {
            (Some(gone), _) => format!("this one is gone: {gone}"),
            (None, Some(new)) => format!("this one is new: {new}"),
            (None, None) => "their order or number is another".to_owned(),
        };
        Err(format!(
            "Lines of {path} outside `{}` are not yours and stay as they are; {example}",
            heading()
        ))
    }

    /// The agent's skills, by path.
    pub(super) fn skills(&self) -> impl Iterator<Item = (&String, &String)> {
        let skills = self.files.iter().filter(|(path, _)| is_skill(path));
        skills.filter(|(path, _)| !self.persons_skills.contains(path))
    }

    fn may_write(&self, path: &str) -> Result<(), String> {
        let is_page = self.before.contains_key(path);
        match (
            is_page || is_skill(path),
            self.persons_skills.iter().any(|it| it == path),
        ) {
            (true, false) => Ok(()),
            (true, true) => Err(format!(
                "{path} holds a person's own lines and is read-only."
            )),
            (false, _) => Err(format!(
                "{} cannot be written. Only {CURATED}, {SUMMARY} and skills/<name>/SKILL.md can, where the name has \
                 lower-case letters, digits and `-`.",
                shown(path)
            )),
        }
    }
}

/// Whether a path is that of a skill.
pub(super) fn is_skill(path: &str) -> bool {
    skill_name(path).is_some()
}

/// The name of the skill at a path.
pub(super) fn skill_name(path: &str) -> Option<&str> {
    let name = path.strip_prefix("skills/")?.strip_suffix("/SKILL.md")?;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_device = |name: &str| {
        let numbered = name
            .strip_prefix("com")
            .or_else(|| name.strip_prefix("lpt"));
        DEVICES.contains(&name) || numbered.is_some_and(|rest| rest.len() == 1)
    };
    let is_name = !name.is_empty()
        && name.len() <= NAME_BYTES
        && name.bytes().all(is_plain)
        && !name.starts_with('-')
        && !is_device(name);
    is_name.then_some(name)
}

/// A path as it can be shown: a model may write anything.
fn shown(path: &str) -> String {
    let path: String = path.chars().take(80).collect();
    format!("`{}`", path.escape_default())
}
