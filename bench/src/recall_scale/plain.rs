//! The same notes in a plain FTS5 table, asked in the order of bm25: the baseline.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use rusqlite::{Connection, params};

use super::corpus::{GeneratedQuestion, NoteCorpus, WordList};

/// Fills the table. Returns how many notes a second it took.
pub(super) fn make(folder: &Path, words: &WordList, memories: usize) -> Result<f64> {
    let mut connection = open(folder)?;
    connection.execute_batch("CREATE VIRTUAL TABLE notes USING fts5 (text)")?;
    let mut corpus = NoteCorpus::new(words, memories);
    let began = Instant::now();
    while let Some((_, notes)) = corpus.next_session() {
        let tx = connection.transaction()?;
        let mut insert = tx.prepare_cached("INSERT INTO notes (text) VALUES (?)")?;
        for note in notes {
            insert.execute([note])?;
        }
        drop(insert);
        tx.commit()?;
    }
    Ok(memories as f64 / began.elapsed().as_secs_f64())
}

/// How long the first question took, and how long each took then.
pub(super) fn ask(
    folder: &Path,
    questions: &[GeneratedQuestion],
    answers: usize,
) -> Result<(Duration, Vec<Duration>)> {
    let connection = open(folder)?;
    let first = timed(&connection, &questions[0], answers)?;
    let times = questions
        .iter()
        .map(|question| timed(&connection, question, answers));
    Ok((first, times.collect::<Result<_>>()?))
}

fn timed(
    connection: &Connection,
    question: &GeneratedQuestion,
    answers: usize,
) -> Result<Duration> {
    let words = question.words.iter().map(|word| format!("\"{word}\""));
    let any = words.collect::<Vec<_>>().join(" OR ");
    let began = Instant::now();
    let mut find = connection
        .prepare_cached("SELECT text FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT ?")?;
    let found = find.query_map(params![any, answers], |row| row.get(0))?;
    let _: Vec<String> = found.collect::<Result<_, _>>()?;
    Ok(began.elapsed())
}

fn open(folder: &Path) -> Result<Connection> {
    let connection = Connection::open(folder.join("plain.db"))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192;",
    )?;
    Ok(connection)
}
