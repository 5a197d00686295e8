//! Turns the Markdown of a chat history into lines of JSON, as it is read: one for each block of one speaker.
//!
//! Aider ends each line that it writes for a person or a tool with two blanks. Headings and quotations within an answer
//! begin alike and do not end so, which tells them apart.
//!
//! Not here: what a line means.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use serde_json::json;

/// How a session begins.
pub(crate) const START: &[u8] = b"# aider chat started at ";
/// Most bytes of one block: a longer one is several.
const BLOCK: usize = 1024 * 1024;
/// What Aider writes for a message without a text.
const BLANK: &str = "<blank>";

/// Whether a text that begins so is such a history.
pub(crate) fn is_evident(first: &[u8]) -> bool {
    first.trim_ascii_start().starts_with(START)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
    Tool,
}

impl Speaker {
    fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// The blocks of a history, as lines.
pub(crate) struct AiderBlocks<R: Read> {
    input: BufReader<R>,
    speaker: Speaker,
    block: String,
    /// The newest lines that were not handed out yet.
    ready: Cursor<Vec<u8>>,
    has_ended: bool,
}

impl<R: Read> AiderBlocks<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input: BufReader::new(input),
            speaker: Speaker::Assistant,
            block: String::new(),
            ready: Cursor::default(),
            has_ended: false,
        }
    }

    /// Reads up to the end of a block.
    fn fill(&mut self) -> io::Result<()> {
        self.ready = Cursor::default();
        while self.ready.get_ref().is_empty() && !self.has_ended {
            let mut line = Vec::new();
            let limit = u64::try_from(BLOCK).unwrap_or(u64::MAX);
            let read = (&mut self.input).take(limit).read_until(b'\n', &mut line)?;
            self.has_ended = read == 0;
            match self.has_ended {
                true => self.finish_block(),
                false => self.take_line(&String::from_utf8_lossy(&line)),
            }
        }
        Ok(())
    }

    fn take_line(&mut self, line: &str) {
        let line = line.trim_end_matches(['\n', '\r']);
        if let Some(started) = line.as_bytes().strip_prefix(START) {
            self.finish_block();
            let started = String::from_utf8_lossy(started);
            self.push(json!({"aider": "session", "started": started.trim()}));
            return;
        }
        let is_marked = line.ends_with("  ");
        let (speaker, text) = match (line.strip_prefix("#### "), line.strip_prefix("> ")) {
            (Some(words), _) if is_marked => (Speaker::User, words.trim_end()),
            (_, Some(output)) if is_marked => (Speaker::Tool, output.trim_end()),
            // A blank line ends a person's block, and belongs to an answer.
            _ if line.is_empty() && self.speaker != Speaker::Assistant => {
                return self.finish_block();
            }
            _ => (Speaker::Assistant, line),
        };
        if speaker != self.speaker || self.block.len() > BLOCK {
            self.finish_block();
        }
        self.speaker = speaker;
        self.block.push_str(text);
        self.block.push('\n');
    }

    fn finish_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        let text = block.trim();
        if !text.is_empty() && text != BLANK {
            self.push(json!({"aider": self.speaker.as_str(), "text": text}));
        }
        self.speaker = Speaker::Assistant;
    }

    fn push(&mut self, line: serde_json::Value) {
        let ready = self.ready.get_mut();
        ready.extend(line.to_string().into_bytes());
        ready.push(b'\n');
    }
}

impl<R: Read> Read for AiderBlocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = u64::try_from(self.ready.get_ref().len()).unwrap_or(u64::MAX);
        if self.ready.position() == length {
            self.fill()?;
        }
        self.ready.read(buffer)
    }
}
