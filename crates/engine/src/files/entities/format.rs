//! Parses and writes the text of `entities/<entity>.md` and of `INDEX.md`.
//!
//! An entity file is a head between two `---` lines, with a name and a description in quotes, and a body: a
//! title, then one section under `## <record>` for each record. A change touches only the lines of its card
//! or record; all others stay as a person left them.
//!
//! Invariant: every text is read back as it was written. A quote or a backslash in a name is escaped with a
//! backslash, and so is a line of a record that would otherwise begin another record.
//!
//! Not here: file access, and which names are good.

/// Name and description of an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Display name.
    pub name: String,
    /// One-line description.
    pub description: String,
}

/// First line of `INDEX.md`.
const INDEX_TITLE: &str = "# Memory Index";
const FENCE: &str = "---";
/// The field of the head that lists other names.
const ALIASES: &str = "aliases";

/// Parses the card in the head of an entity file; `None` if the head is missing or incomplete.
pub(super) fn card(text: &str) -> Option<Card> {
    let (head, _) = split_head(text)?;
    let value = |key: &str| {
        head.iter().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            (found.trim() == key).then(|| unquoted(value.trim()))
        })
    };
    Some(Card {
        name: value("name")?,
        description: value("description")?,
    })
}

/// The file with this card: a new file, or the old one with its body and with all other lines of its head.
pub(super) fn with_card(old: Option<&str>, entity: &str, card: &Card) -> String {
    let old = old.unwrap_or_default();
    let (head, body) = split_head(old).unwrap_or((Vec::new(), old));
    let others = head.into_iter().filter(|line| {
        let key = line.split_once(':').map(|(key, _)| key.trim());
        !matches!(key, Some("name" | "description"))
    });
    let others: String = others.map(|line| format!("{line}\n")).collect();
    let body = match body.trim() {
        "" => format!("# {entity}\n"),
        _ => with_line_end(body),
    };
    format!(
        "{FENCE}\nname: {}\ndescription: {}\n{others}{FENCE}\n{body}",
        quoted(&card.name),
        quoted(&card.description)
    )
}

/// The file with this record, and whether the record is new. If several sections have the name, the first
/// one is replaced.
pub(super) fn with_record(old: &str, record: &str, content: &str) -> (String, bool) {
    let lines: Vec<&str> = old.lines().collect();
    let body = escaped(content.trim());
    let heading = format!("## {record}");
    let section = match body.is_empty() {
        true => heading,
        false => format!("{heading}\n{body}"),
    };
    let Some(at) = lines.iter().position(|line| title(line) == Some(record)) else {
        let before = old.trim_end();
        return (format!("{before}\n\n{section}\n"), true);
    };
    let behind = lines[at + 1..]
        .iter()
        .position(|line| title(line).is_some());
    let mut new: String = lines[..at].iter().map(|line| format!("{line}\n")).collect();
    new.push_str(&section);
    new.push('\n');
    if let Some(behind) = behind {
        new.push('\n');
        new.extend(
            lines[at + 1 + behind..]
                .iter()
                .map(|line| format!("{line}\n")),
        );
    }
    (new, false)
}

/// The content of a file's first record of this name, unescaped.
pub(super) fn record(text: &str, record: &str) -> Option<String> {
    let all = records(text).into_iter();
    all.filter(|(name, _)| name == record)
        .map(|(_, body)| body)
        .next()
}

/// The records of a file, in its order, unescaped.
pub(super) fn records(text: &str) -> Vec<(String, String)> {
    let mut records: Vec<(String, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match (title(line), records.last_mut()) {
            (Some(title), _) => records.push((title.to_owned(), Vec::new())),
            (None, Some((_, body))) => body.push(line),
            (None, None) => {}
        }
    }
    let joined = |body: Vec<&str>| {
        body.into_iter()
            .map(unescaped)
            .collect::<Vec<_>>()
            .join("\n")
    };
    records
        .into_iter()
        .map(|(title, body)| (title, joined(body).trim().to_owned()))
        .collect()
}

/// The other names in the head of an entity file: `aliases: ["a", "b"]`.
pub(super) fn aliases(text: &str) -> Vec<String> {
    let Some((head, _)) = split_head(text) else {
        return Vec::new();
    };
    let listed = head.iter().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == ALIASES).then(|| value.trim())
    });
    let listed = listed.unwrap_or_default();
    // A person may write them without quotes.
    serde_json::from_str(listed).unwrap_or_else(|_| {
        let inner = listed.trim_matches(['[', ']']);
        let names = inner.split(',').map(|name| unquoted(name.trim()));
        names.filter(|name| !name.is_empty()).collect()
    })
}

/// The file with these other names. A file without a head gets none.
pub(super) fn with_aliases(old: &str, aliases: &[String]) -> String {
    let Some((head, body)) = split_head(old) else {
        return old.to_owned();
    };
    let is_listed = |line: &&str| {
        line.split_once(':')
            .is_some_and(|(key, _)| key.trim() == ALIASES)
    };
    let mut lines: Vec<String> = head
        .into_iter()
        .filter(|line| !is_listed(line))
        .map(str::to_owned)
        .collect();
    let names: Vec<String> = aliases.iter().map(|name| quoted(name)).collect();
    lines.push(format!("{ALIASES}: [{}]", names.join(", ")));
    format!("{FENCE}\n{}\n{FENCE}\n{body}", lines.join("\n"))
}

/// The entities that an index lists, in its order, without duplicates.
pub(super) fn parse_index(index: &str) -> Vec<String> {
    let mut entities: Vec<String> = Vec::new();
    for entity in index.lines().filter_map(item) {
        if !entities.iter().any(|known| known == entity) {
            entities.push(entity.to_owned());
        }
    }
    entities
}

/// The index with this entity added, sorted. All other lines of it stay.
pub(super) fn with_entity(index: &str, entity: &str) -> String {
    let mut entities = parse_index(index);
    if entities.iter().any(|known| known == entity) {
        return index.to_owned();
    }
    entities.push(entity.to_owned());
    entities.sort();
    let items: String = entities.iter().map(|item| format!("- {item}\n")).collect();
    if index.trim().is_empty() {
        return format!("{INDEX_TITLE}\n\n{items}");
    }
    let Some(first) = index.lines().position(|line| item(line).is_some()) else {
        return format!("{}\n\n{items}", index.trim_end());
    };
    let mut new = String::new();
    for (at, line) in index.lines().enumerate() {
        if at == first {
            new.push_str(&items);
        }
        if item(line).is_none() {
            new.push_str(line);
            new.push('\n');
        }
    }
    new
}

/// The index without this entity. All other lines of it stay.
pub(super) fn without_entity(index: &str, entity: &str) -> String {
    let kept = index.lines().filter(|line| item(line) != Some(entity));
    kept.map(|line| format!("{line}\n")).collect()
}

fn item(line: &str) -> Option<&str> {
    let entity = line.trim().strip_prefix('-')?.trim();
    let is_entity = !entity.is_empty() && entity.bytes().all(|byte| byte.is_ascii_lowercase());
    is_entity.then_some(entity)
}

/// The lines of the head, and the text after it.
fn split_head(text: &str) -> Option<(Vec<&str>, &str)> {
    let mut rest = text;
    let mut head = Vec::new();
    for n in 0.. {
        let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        let line = line.trim_end_matches('\r');
        match (n, line.trim_end() == FENCE) {
            (0, false) => return None,
            (0, true) => {}
            (_, true) => return Some((head, behind)),
            (_, false) => head.push(line),
        }
        if behind.is_empty() {
            return None;
        }
        rest = behind;
    }
    None
}

/// The name of the record that a line begins.
fn title(line: &str) -> Option<&str> {
    let title = line.strip_prefix("##")?;
    title.starts_with([' ', '\t']).then(|| title.trim())
}

fn escaped(content: &str) -> String {
    let lines = content.lines().map(|line| match would_begin(line) {
        true => format!("\\{line}"),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn unescaped(line: &str) -> &str {
    match line.strip_prefix('\\') {
        Some(unescaped) if would_begin(unescaped) => unescaped,
        Some(_) | None => line,
    }
}

/// Whether a line would begin a record without its leading backslashes.
fn would_begin(line: &str) -> bool {
    title(line.trim_start_matches('\\')).is_some()
}

fn with_line_end(body: &str) -> String {
    format!("{}\n", body.trim_end())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn unquoted(value: &str) -> String {
    let inner = value.strip_prefix('"').unwrap_or(value);
    let inner = match inner.strip_suffix('"') {
        // A quote that is itself escaped does not end the value.
        Some(before) if !before.ends_with('\\') || before.ends_with("\\\\") => before,
        Some(_) | None => inner,
    };
    let mut text = String::new();
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('"' | '\\')) => text.extend(letters.next()),
            (letter, _) => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ada(name: &str, description: &str) -> Card {
        Card {
            name: name.to_owned(),
            description: description.to_owned(),
        }
    }

    #[test]
    fn a_new_entity_has_a_head_and_a_title() {
        let text = with_card(None, "tidepool", &ada("Tidepool", "tables of tides"));
        assert_eq!(
            text,
            "---\nname: \"Tidepool\"\ndescription: \"tables of tides\"\n---\n# tidepool\n"
        );
        let (text, added) = with_record(&text, "Owner", " Ada\n");
        let (text, also_added) = with_record(&text, "Port", "8080");
        assert!(added && also_added);
        assert!(text.ends_with("---\n# tidepool\n\n## Owner\nAda\n\n## Port\n8080\n"));
        let (text, added) = with_record(&text, "Owner", "Grace");
        assert!(!added);
        assert!(text.ends_with("---\n# tidepool\n\n## Owner\nGrace\n\n## Port\n8080\n"));
    }

    #[test]
    fn quotes_and_backslashes_do_not_grow() {
        for name in [
            "a \"b\" c",
            "\"",
            "\\",
            "\\\"",
            "c:\\tides\\",
            "x\\\\",
            "'y'",
        ] {
            let card = ada(name, &format!("{name} of {name}"));
            let mut text = with_card(None, "tide", &card);
            for n in 0..5 {
                text = with_record(&text, "r", &n.to_string()).0;
                text = with_card(Some(&text), "tide", &super::card(&text).unwrap());
            }
            assert_eq!(super::card(&text), Some(card));
        }
    }

    #[test]
    fn a_record_may_hold_headings() {
        let contents = [
            "before\n## Other\nafter",
            "## first",
            "\\## escaped\n\\\\## twice",
            "##tight\n### deeper\n#",
            "",
        ];
        let mut text = with_card(None, "tide", &ada("T", "d"));
        for (n, content) in contents.iter().enumerate() {
            text = with_record(&text, &format!("r{n}"), content).0;
        }
        // Writing them again keeps them unchanged.
        for (n, content) in contents.iter().enumerate() {
            text = with_record(&text, &format!("r{n}"), content).0;
        }
        let expected = contents.iter().enumerate();
        let expected = expected.map(|(n, content)| (format!("r{n}"), (*content).to_owned()));
        assert_eq!(records(&text), expected.collect::<Vec<_>>());
    }

    #[test]
    fn what_a_person_wrote_around_it_stays() {
        let by_hand = "---\nname: old\ntags: [sea]\ndescription: x\n---\n\n# Tides\n  mine  \n\n## a\n1\n## a\n2\n";
        let text = with_card(Some(by_hand), "tide", &ada("New", "y"));
        assert_eq!(
            text,
            "---\nname: \"New\"\ndescription: \"y\"\ntags: [sea]\n---\n\n# Tides\n  mine  \n\n## a\n1\n## a\n2\n"
        );
        let (text, added) = with_record(&text, "a", "3");
        assert!(
            !added && text.ends_with("# Tides\n  mine  \n\n## a\n3\n\n## a\n2\n"),
            "{text}"
        );
    }

    #[test]
    fn a_file_without_a_head_is_a_body() {
        assert_eq!(card("# tide\n"), None);
        assert_eq!(card("---\nname: x\n"), None);
        assert_eq!(card("---\nname: x\n---\n"), None);
        assert_eq!(
            with_card(Some("kept\n"), "tide", &ada("T", "d")),
            "---\nname: \"T\"\ndescription: \"d\"\n---\nkept\n"
        );
    }

    #[test]
    fn the_index_is_sorted_and_keeps_other_text() {
        let one = with_entity("", "tide");
        assert_eq!(one, "# Memory Index\n\n- tide\n");
        let two = with_entity(&one, "harbour");
        assert_eq!(two, "# Memory Index\n\n- harbour\n- tide\n");
        assert_eq!(with_entity(&two, "tide"), two);
        let by_hand = "# Mine\n\n- zebra\nsee Ada\n- tide\n- two words\n";
        assert_eq!(
            with_entity(by_hand, "harbour"),
            "# Mine\n\n- harbour\n- tide\n- zebra\nsee Ada\n- two words\n"
        );
        assert_eq!(parse_index("- a\n -  b \n- a\n- C\n"), ["a", "b"]);
    }
}
