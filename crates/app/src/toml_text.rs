//! Parses TOML that people write, however damaged it is.
//!
//! Not here: what the values mean.

use std::thread;

use anyhow::{Error, Result, bail};
use toml_edit::DocumentMut;

/// Most brackets of a document. Each may be one level of nesting.
const MOST_BRACKETS: usize = 20_000;
/// Most brackets that any thread's stack is enough for.
const FEW_BRACKETS: usize = 150;
/// Stack that one level of nesting takes at most, in bytes: 2.7 KB were measured without optimisation.
const STACK_OF_A_LEVEL: usize = 8 << 10;

/// Parses a document into its values.
///
/// # Errors
/// When the text is not TOML, or has more than [`MOST_BRACKETS`].
pub(crate) fn parse_table(text: &str) -> Result<toml::Table> {
    parse_with_stack(text, |text| Ok(text.parse()?))
}

/// Parses a document so that it can be written again with its comments and its layout.
///
/// # Errors
/// When the text is not TOML, or has more than [`MOST_BRACKETS`].
pub(crate) fn parse_document(text: &str) -> Result<DocumentMut> {
    parse_with_stack(text, |text| Ok(text.parse()?))
}

/// Runs `parse` where the stack is enough for every bracket of `text` inside another.
///
/// The parser's own limit of 80 levels does not hold in a damaged document: after each pair of brackets at a
/// wrong place it takes the nesting for one level less. A stack overflow ends the process, so it is ruled out here.
fn parse_with_stack<T: Send>(text: &str, parse: fn(&str) -> Result<T>) -> Result<T> {
    let brackets = text.bytes().filter(|byte| b"[{".contains(byte)).count();
    if brackets > MOST_BRACKETS {
        bail!("it has {brackets} brackets, and settings have fewer than {MOST_BRACKETS}");
    }
    if brackets <= FEW_BRACKETS {
        return parse(text);
    }
    let stack = (brackets + FEW_BRACKETS) * STACK_OF_A_LEVEL;
    let with_stack = thread::Builder::new().stack_size(stack);
    thread::scope(|scope| {
        let parser = with_stack.spawn_scoped(scope, || parse(text))?;
        parser
            .join()
            .unwrap_or_else(|_| Err(Error::msg("the parser of TOML stopped")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document whose misplaced pairs of brackets let the parser go `levels` deep.
    fn misplaced_and_deep(levels: usize) -> String {
        let misplaced = "{}".repeat(levels);
        format!("a = {{ b = 1 {misplaced}, c = {}", "{ d = ".repeat(levels))
    }

    #[test]
    fn a_damaged_document_of_any_depth_is_an_error() {
        for levels in [10, 100, 1_000, 9_000, 100_000] {
            let text = misplaced_and_deep(levels);
            parse_table(&text).unwrap_err();
            parse_document(&text).unwrap_err();
        }
    }

    #[test]
    fn many_brackets_beside_each_other_are_read() {
        let lines: Vec<String> = (0..5_000)
            .map(|n| format!("[t.n{n}]\na = {{}}\n"))
            .collect();
        let table = parse_table(&lines.concat()).unwrap();
        assert_eq!(table["t"].as_table().map(toml::Table::len), Some(5_000));
    }

    #[test]
    fn a_document_with_too_many_brackets_says_how_many() {
        let refused = parse_table(&"[".repeat(20_001)).unwrap_err().to_string();
        assert!(refused.contains("20001 brackets"), "{refused}");
    }
}
