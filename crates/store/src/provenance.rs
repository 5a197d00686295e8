//! The provenance of extractions in columns, the same in both databases.
//!
//! Rows that were written before the columns of fallbacks have both extractors and the day in one text:
//! `extractive/1 for extract/3 openai/x until 2026-12-01`. Nothing else parses that text.

use daybook_domain::calendar::Day;
use daybook_domain::{FallbackFor, Provenance, Timestamp};

/// Builds the provenance from the columns `extractor`, `fallback_for` and `fallback_until`.
pub(crate) fn provenance_of(
    extractor: String,
    fallback_for: Option<String>,
    fallback_until: Option<i64>,
) -> Provenance {
    let fallback = fallback_for.zip(fallback_until);
    match fallback {
        Some((name, until)) => Provenance {
            extractor,
            fallback_for: Some(FallbackFor {
                extractor: name,
                until: Timestamp(until),
            }),
        },
        None => parse_older(&extractor).unwrap_or_else(|| Provenance::of(extractor)),
    }
}

/// The columns `fallback_for` and `fallback_until`.
pub(crate) fn fallback_columns(provenance: &Provenance) -> (Option<&str>, Option<i64>) {
    let fallback = provenance.fallback_for.as_ref();
    (
        fallback.map(|fallback| fallback.extractor.as_str()),
        fallback.map(|fallback| fallback.until.0),
    )
}

fn parse_older(text: &str) -> Option<Provenance> {
    let (names, until) = text.rsplit_once(" until ")?;
    let (extractor, fallback_for) = names.split_once(" for ")?;
    Some(Provenance {
        extractor: extractor.to_owned(),
        fallback_for: Some(FallbackFor {
            extractor: fallback_for.to_owned(),
            until: Day::parse(until)?.begins(),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fallback(name: &str) -> Provenance {
        Provenance {
            extractor: "extractive/1".to_owned(),
            fallback_for: Some(FallbackFor {
                extractor: name.to_owned(),
                until: Timestamp(1_796_083_200_000),
            }),
        }
    }

    #[test]
    fn a_fallback_is_read_from_the_columns_that_it_is_written_to() {
        for provenance in [
            fallback("extract/3 openai/x"),
            Provenance::of("extract/3 openai/x"),
        ] {
            let (name, until) = fallback_columns(&provenance);
            let read = provenance_of(provenance.extractor.clone(), name.map(str::to_owned), until);
            assert_eq!(read, provenance);
        }
    }

    #[test]
    fn a_fallback_in_one_text_is_read_from_older_rows() {
        let older = "extractive/1 for extract/3 ollama/for until until 2026-12-01";
        let read = provenance_of(older.to_owned(), None, None);
        assert_eq!(read, fallback("extract/3 ollama/for until"));
        for other in [
            "extractive/1",
            "extract/3 openai/x",
            "a until 2026-12-01",
            "a for b until c",
            "",
        ] {
            assert_eq!(
                provenance_of(other.to_owned(), None, None),
                Provenance::of(other)
            );
        }
    }
}
