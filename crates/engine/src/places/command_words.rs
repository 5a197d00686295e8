//! Cuts a shell command line into its commands, with its subshells.
//!
//! Quotes and escapes are resolved. A word with an expansion keeps its `$`; bodies of here-documents, comments and
//! redirections are left out.
//!
//! Not here: what the commands do.

use std::iter::Peekable;
use std::str::Chars;

/// Most parts of a line that are read.
const PARTS: usize = 64;

/// One part of a command line, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommandPart {
    /// A command.
    Words(Vec<String>),
    /// The beginning of a subshell.
    Open,
    /// Its end.
    Close,
}

/// The parts of a command line, at most [`PARTS`].
pub(super) fn command_parts(line: &str) -> Vec<CommandPart> {
    let mut reader = Reader {
        chars: line.chars().peekable(),
        parts: Vec::new(),
        words: Vec::new(),
        word: String::new(),
        has_word: false,
        heredocs: Vec::new(),
    };
    while reader.parts.len() < PARTS && reader.step() {}
    reader.end_command();
    reader.parts.truncate(PARTS);
    reader.parts
}

struct Reader<'l> {
    chars: Peekable<Chars<'l>>,
    parts: Vec<CommandPart>,
    words: Vec<String>,
    word: String,
    /// Whether a word has begun, be it an empty one in quotes.
    has_word: bool,
    /// Ends of here-documents whose bodies follow the line.
    heredocs: Vec<String>,
}

impl Reader<'_> {
    /// Reads one character and what belongs to it. False at the end.
    fn step(&mut self) -> bool {
        let Some(c) = self.chars.next() else {
            return false;
        };
        match c {
            '\'' => self.quoted(),
            '"' => self.double_quoted(),
            '\\' => match self.chars.next() {
                Some('\n') | None => {}
                Some(next) => self.push(next),
            },
            '`' => self.substituted('`', None),
            '$' if self.chars.peek() == Some(&'(') => self.substituted('$', Some('(')),
            '#' if !self.has_word => while self.chars.next_if(|c| *c != '\n').is_some() {},
            '<' if self.chars.peek() == Some(&'<') => self.heredoc(),
            '>' | '<' => self.redirect(),
            '\n' => {
                self.end_command();
                self.skip_heredocs();
            }
            '&' if self.chars.peek() == Some(&'>') => {}
            ';' | '|' | '&' => self.end_command(),
            '(' | ')' => {
                self.end_command();
                let part = if c == '(' {
                    CommandPart::Open
                } else {
                    CommandPart::Close
                };
                self.parts.push(part);
            }
            c if c.is_whitespace() => self.end_word(),
            c => self.push(c),
        }
        true
    }

    fn push(&mut self, c: char) {
        self.word.push(c);
        self.has_word = true;
    }

    fn end_word(&mut self) {
        if std::mem::take(&mut self.has_word) {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            self.parts.push(CommandPart::Words(words));
        }
    }

    fn quoted(&mut self) {
        self.has_word = true;
        for c in self.chars.by_ref().take_while(|c| *c != '\'') {
            self.word.push(c);
        }
    }

    fn double_quoted(&mut self) {
        self.has_word = true;
        while let Some(c) = self.chars.next() {
            match c {
                '"' => return,
                '\\' => self.word.extend(self.chars.next()),
                '`' => self.substituted('`', None),
                '$' if self.chars.peek() == Some(&'(') => self.substituted('$', Some('(')),
                c => self.word.push(c),
            }
        }
    }

    /// Passes over a command whose output becomes part of the word: the word keeps the sign of it alone.
    fn substituted(&mut self, sign: char, open: Option<char>) {
        self.push(sign);
        let mut depth = 0_usize;
        while let Some(c) = self.chars.next() {
            match (c, open) {
                ('`', None) => return,
                ('(', Some(_)) => depth += 1,
                (')', Some(_)) if depth <= 1 => return,
                (')', Some(_)) => depth -= 1,
                ('\'', Some(_)) => drop(self.chars.by_ref().find(|c| *c == '\'')),
                _ => {}
            }
        }
    }

    /// Leaves out a redirection and its target.
    fn redirect(&mut self) {
        if self.word.chars().all(|c| c.is_ascii_digit()) {
            self.word.clear();
            self.has_word = false;
        }
        self.end_word();
        while self
            .chars
            .next_if(|c| matches!(c, '>' | '<' | '&' | '|'))
            .is_some()
        {}
        while self.chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        let ends = |c: &char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | ')');
        while self.chars.next_if(|c| !ends(c)).is_some() {}
    }

    fn heredoc(&mut self) {
        self.end_word();
        self.chars.next();
        if self.chars.next_if_eq(&'<').is_some() {
            return self.redirect();
        }
        while self
            .chars
            .next_if(|c| matches!(c, '-' | ' ' | '\'' | '"' | '\\'))
            .is_some()
        {}
        let mut end = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
            end.push(c);
        }
        self.chars.next_if(|c| matches!(c, '\'' | '"'));
        if !end.is_empty() {
            self.heredocs.push(end);
        }
    }

    fn skip_heredocs(&mut self) {
        for end in std::mem::take(&mut self.heredocs) {
            loop {
                let line: String = self.chars.by_ref().take_while(|c| *c != '\n').collect();
                if line.trim() == end || self.chars.peek().is_none() {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let shown: Vec<String> = command_parts(line)
            .into_iter()
            .map(|part| match part {
                CommandPart::Words(words) => words.join("·"),
                CommandPart::Open => "(".to_owned(),
                CommandPart::Close => ")".to_owned(),
            })
            .collect();
        assert_eq!(shown.join(" / "), expected, "{line}");
    }

    #[test]
    fn a_line_falls_into_its_commands() {
        check("a b && c | d; e &", "a·b / c / d / e");
        check("(a 'b c'; d) e", "( / a·b c / d / ) / e");
        check("a \"b; c\" d\\ e # f", "a·b; c·d e");
        check("a '' b", "a··b");
    }

    #[test]
    fn redirections_and_here_documents_are_left_out() {
        check("a 2>&1 >/dev/null b", "a·b");
        check("a &> log b", "a·b");
        check("cat <<'EOF' | b\nc; d\nEOF\ne", "cat / b / e");
        check("a <<< word b", "a·b");
    }

    #[test]
    fn a_substituted_command_is_no_command_of_the_line() {
        check("a $(b; c (d)) e", "a·$·e");
        check("a \"x$(b \"c\")y\" `d`", "a·x$y·`");
    }

    #[test]
    fn a_line_that_breaks_off_is_read_to_its_end() {
        check("a 'b", "a·b");
        check("a $(b", "a·$");
        check("a <<EOF\nb", "a");
    }
}
