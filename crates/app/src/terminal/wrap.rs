//! Fits text for people into the width of their terminal.
//!
//! Output that no terminal shows stays as it is, so that programs find each answer on one line.
//!
//! Not here: styles and printing (`output`).

/// Fewest columns that text is wrapped to: on anything narrower it would only be longer.
const NARROWEST: usize = 20;

/// The columns that standard output has: `COLUMNS` if it is set, else those of the terminal. `None` where no terminal
/// shows it.
pub(crate) fn columns() -> Option<usize> {
    let named = std::env::var("COLUMNS").ok();
    let named = named.and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size_of(std::io::stdout());
    named.or_else(|| terminal().map(|(width, _)| usize::from(width.0)))
}

/// The text, wrapped at word borders; it begins behind `indent` columns, and so does each further line.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    wrapped_to(columns(), text, indent)
}

/// The same for so many columns: each look at the terminal is a call of the system.
pub(crate) fn wrapped_to(columns: Option<usize>, text: &str, indent: usize) -> String {
    match columns {
        Some(columns) => wrap(text, indent, columns.saturating_sub(indent).max(NARROWEST)),
        None => text.to_owned(),
    }
}

/// The text, cut at a word border where it does not fit into one line behind `indent` columns.
pub(crate) fn one_line(text: &str, indent: usize) -> String {
    let Some(columns) = columns() else {
        return text.to_owned();
    };
    let width = columns.saturating_sub(indent).max(NARROWEST);
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let cut: String = text.chars().take(width - 1).collect();
    let border = cut.rfind(' ').filter(|at| *at > width / 2);
    format!("{}…", cut[..border.unwrap_or(cut.len())].trim_end())
}

/// A path of at most so many columns, or else without folders in its middle: `~/.config/…/chatSessions`. Its end stays whole.
pub(crate) fn short_path(path: &str, most: usize) -> String {
    if path.chars().count() <= most {
        return path.to_owned();
    }
    let end = path.rsplit('/').next().unwrap_or(path);
    let begins = path.match_indices('/').map(|(at, _)| &path[..=at]);
    let short = begins.map(|begin| format!("{begin}…/{end}"));
    let fitting = short.take_while(|short| short.chars().count() <= most);
    fitting.last().unwrap_or_else(|| format!("…/{end}"))
}

fn wrap(text: &str, indent: usize, width: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_loses_folders_in_its_middle() {
        for (path, expected) in [
            ("~/.claude/projects", "~/.claude/projects"),
            (
                "~/.local/share/opencode/storage",
                "~/.local/share/…/storage",
            ),
            (
                "~/.config/Code/User/workspaceStorage",
                "~/.config/…/workspaceStorage",
            ),
            (
                "~/.config/Code/User/globalStorage/emptyWindowChatSessions",
                "~/…/emptyWindowChatSessions",
            ),
        ] {
            assert_eq!(short_path(path, 28), expected);
        }
    }

    #[test]
    fn text_is_wrapped_between_words_and_a_long_word_stays_whole() {
        assert_eq!(
            wrap("the tide turns at noon", 2, 10),
            "the tide\n  turns at\n  noon"
        );
        assert_eq!(
            wrap("see tests/evicts_oldest.rs now", 1, 10),
            "see\n tests/evicts_oldest.rs\n now"
        );
        assert_eq!(wrap("", 2, 10), "");
    }
}
