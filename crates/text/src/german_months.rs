//! Tells the number of a day in German from the end of a sentence and the number of an item: "am 22. Oktober".

/// How the names of months begin.
const GERMAN_MONTHS: [&str; 12] = [
    "jan", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez",
];

/// Whether a text begins with the name of a month.
pub(crate) fn begins_with_month(text: &str) -> bool {
    let word: String = text.chars().take_while(|c| c.is_alphabetic()).collect();
    let word = word.to_lowercase();
    GERMAN_MONTHS.iter().any(|month| word.starts_with(month))
}
