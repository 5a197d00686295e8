//! Splits a stream into lines, and skips lines that are too long without holding them.
//!
//! Not here: the content of a line (`envelope`).

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::MESSAGE;
use super::id_scanner::IdScanner;

/// A line without its end.
#[derive(Debug, PartialEq)]
pub(super) enum InputLine {
    Whole(Vec<u8>),
    /// Longer than [`MESSAGE`], with the id that was found in it, or null.
    TooLong(Value),
}

/// Reads lines. Dropping a read loses no bytes.
pub(super) struct InputLineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Scans the rest of a line that is too long for its id.
    skipping: Option<IdScanner>,
}

impl<R: AsyncRead + Unpin> InputLineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            skipping: None,
        }
    }

    /// The next line; `None` at the end. Bytes after the last newline are a line, too.
    pub(super) async fn next(&mut self) -> io::Result<Option<InputLine>> {
        loop {
            let available = self.input.fill_buf().await?;
            let is_at_end = available.is_empty();
            let newline = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..newline.unwrap_or(available.len())];
            let taken = part.len() + usize::from(newline.is_some());
            if self.skipping.is_none() && self.line.len() + part.len() > MESSAGE {
                let mut scanner = IdScanner::default();
                scanner.feed(&std::mem::take(&mut self.line));
                self.skipping = Some(scanner);
            }
            match &mut self.skipping {
                Some(scanner) => scanner.feed(part),
                None => self.line.extend_from_slice(part),
            }
            self.input.consume(taken);
            if newline.is_some() {
                return Ok(Some(self.take()));
            }
            if is_at_end {
                let is_rest = self.skipping.is_some() || !self.line.is_empty();
                return Ok(is_rest.then(|| self.take()));
            }
        }
    }

    fn take(&mut self) -> InputLine {
        match self.skipping.take() {
            Some(scanner) => InputLine::TooLong(scanner.id()),
            None => InputLine::Whole(std::mem::take(&mut self.line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn lines(input: &[u8]) -> Vec<InputLine> {
        let mut reader = InputLineReader::new(input);
        let mut lines = Vec::new();
        while let Some(line) = reader.next().await.expect("memory can be read") {
            assert!(reader.line.capacity() <= 2 * MESSAGE);
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn lines_end_at_newlines_and_at_the_end() {
        let whole = |text: &str| InputLine::Whole(text.as_bytes().to_vec());
        assert_eq!(lines(b"").await, []);
        assert_eq!(
            lines(b"a\n\nb\r\nc").await,
            [whole("a"), whole(""), whole("b\r"), whole("c")]
        );
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_its_id_is_known() {
        let filler = "x".repeat(MESSAGE);
        let front = format!("{{\"id\":7,\"method\":\"{filler}\"}}\nnext\n");
        let back = format!("{{\"params\":{{\"id\":1,\"a\":\"{filler}\"}},\"id\":\"b\"}}");
        let next = InputLine::Whole(b"next".to_vec());
        assert_eq!(
            lines(front.as_bytes()).await,
            [InputLine::TooLong(json!(7)), next]
        );
        assert_eq!(
            lines(back.as_bytes()).await,
            [InputLine::TooLong(json!("b"))]
        );
        let exact = "x".repeat(MESSAGE);
        assert_eq!(
            lines(exact.as_bytes()).await,
            [InputLine::Whole(exact.into_bytes())]
        );
    }
}
