//! Numbers in digits.

/// The runs of digits in a text: of "2.5 GB" both "2" and "5".
///
/// ```
/// let runs: Vec<&str> = daybook_text::digits::digit_runs("v2.5 has 10 rows").collect();
/// assert_eq!(runs, ["2", "5", "10"]);
/// ```
pub fn digit_runs(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_ascii_digit());
    runs.filter(|run| !run.is_empty())
}
