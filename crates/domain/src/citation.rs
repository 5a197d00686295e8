//! References from a memory to the events that it rests on: `7f78:L636`, `7f78:L382,476`, `ca:L83-143`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A session's label and the lines that are cited; inclusive ranges in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Citation {
    /// The session's label, or any unambiguous beginning of its host id.
    pub session: String,
    /// First and last line of each cited stretch; empty cites the whole session.
    pub lines: Vec<(u32, u32)>,
}

impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.session)?;
        for (n, (from, to)) in self.lines.iter().enumerate() {
            f.write_str(if n == 0 { ":L" } else { "," })?;
            if from == to {
                write!(f, "{from}")?;
            } else {
                write!(f, "{from}-{to}")?;
            }
        }
        Ok(())
    }
}

impl Citation {
    /// Reads what [`Citation`] prints; surrounding brackets are allowed.
    ///
    /// ```
    /// use daybook_domain::Citation;
    /// let cited = Citation::parse("[7f78:L382,476-480]").unwrap();
    /// assert_eq!(cited.lines, [(382, 382), (476, 480)]);
    /// assert_eq!(cited.to_string(), "7f78:L382,476-480");
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('[').trim_end_matches(']');
        let Some((session, lines)) = text.rsplit_once(":L") else {
            let whole = !text.is_empty() && !text.contains(char::is_whitespace);
            return whole.then(|| Self {
                session: text.to_owned(),
                lines: Vec::new(),
            });
        };
        let lines = lines
            .split(',')
            .map(parse_range)
            .collect::<Option<Vec<_>>>()?;
        (!session.is_empty()).then(|| Self {
            session: session.to_owned(),
            lines,
        })
    }
}

fn parse_range(text: &str) -> Option<(u32, u32)> {
    let text = text.trim().trim_start_matches('L');
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (from.parse().ok()?, to.trim_start_matches('L').parse().ok()?);
    (from <= to).then_some((from, to))
}
