use daybook_domain::extraction::CitedText;
use daybook_domain::{
    Digest, EventSeq, ExtractionRecord, Observation, ObservationKind, Outcome, Provenance,
};
use daybook_testkit::fixtures::{at, evidence, observation, project_scope, session};

use super::*;
use crate::consolidate::consolidate;
use crate::consolidate::persons_words::PersonsWords;

fn cited(text: &str, event: u64) -> Option<CitedText> {
    Some(CitedText {
        text: text.to_owned(),
        events: vec![EventSeq(event)],
        lines: vec![u32::try_from(event).unwrap()],
    })
}

/// A session whose pages have everything that a page can show.
fn digest() -> Digest {
    Digest {
        task: cited("Round the totals", 1),
        title: cited("Totals in \"cents\"", 2),
        outcome: Some(Outcome::Success),
        last_words: cited("Is it pushed?", 8),
        answered: true,
        open_question: cited("Which header?", 9),
        commits: 3,
        pushed: 2,
        committed: [("Round", 3), ("Test", 4), ("Name", 5)]
            .map(|(subject, event)| cited(subject, event).unwrap())
            .to_vec(),
        highlights: vec![
            cited("The tests failed once", 6).unwrap(),
            cited("never round before the sum", 7).unwrap(),
        ],
        branch: Some("cents".to_owned()),
        from_at: at(60),
        to_at: at(7_260),
        summary: Some("Totals are rounded.\nThe header is open [7f78:L1].".to_owned()),
        ..Digest::default()
    }
}

fn statements() -> Vec<Observation> {
    use ObservationKind as Kind;
    let told = [
        (Kind::Correction, None, true, "never round before the sum"),
        (Kind::Value, Some("cache limit"), false, "50"),
        (Kind::Fix, None, true, "the lock was held twice"),
        (Kind::Decision, None, false, "use postgres"),
        (Kind::Fact, None, false, "the ledger is in cents"),
    ];
    let scope = project_scope("tidepool");
    let statement = |(event, (kind, subject, quoted, text)): (u64, (_, Option<&str>, _, &str))| {
        let piece = evidence(&session("7f78aa01"), &[event]);
        Observation {
            kind,
            subject: subject.map(str::to_owned),
            quoted,
            ..observation(&scope, text, vec![piece])
        }
    };
    (7..).zip(told).map(statement).collect()
}

fn input(digest: Digest, observations: Vec<Observation>) -> MemoryInput {
    MemoryInput {
        scope: project_scope("tidepool"),
        title: "tidepool".to_owned(),
        person: "ada".to_owned(),
        observations,
        extractions: vec![ExtractionRecord {
            session: session("7f78aa01"),
            label: "7f78".to_owned(),
            from: EventSeq(1),
            to: EventSeq(20),
            digest: Some(digest),
            provenance: Provenance::of("extractive/1"),
            at: at(1),
        }],
        uses: Vec::new(),
        persons: PersonsWords::default(),
        proposals: Vec::new(),
        zone: TimeZone::UTC,
        layout: crate::consolidate::FileLayout::Daybook,
    }
}

fn rendered(input: &MemoryInput) -> String {
    let dated = consolidate(input).dated;
    let mut text = format!("Raise RENDERING with each change below: {RENDERING}\n");
    for (name, page) in dated.days().chain(dated.sessions()) {
        let page = page.page();
        text.push_str(&format!("\n{name}: {}\n", page.heading));
        for section in &page.sections {
            text.push_str(&format!("## {}\n", section.title));
            for entry in &section.entries {
                text.push_str(&format!("{}: {}\n", entry.key, entry.lines.join(" | ")));
            }
        }
    }
    text
}

#[test]
fn a_source_is_rendered_as_its_number_promises() {
    insta::assert_snapshot!(rendered(&input(digest(), statements())));
}

fn numbers(input: &MemoryInput) -> Vec<u128> {
    let dated = consolidate(input).dated;
    let pages = dated.days().chain(dated.sessions());
    pages.map(|(_, page)| page.number()).collect()
}

#[test]
fn whatever_changes_a_page_changes_its_number() {
    let before = input(digest(), statements());
    assert_eq!(numbers(&before), numbers(&before.clone()));
    let changed_digest = |change: fn(&mut Digest)| {
        let mut changed = digest();
        change(&mut changed);
        input(changed, statements())
    };
    let changed_statement = |change: fn(&mut Observation)| {
        let mut changed = statements();
        change(&mut changed[0]);
        input(digest(), changed)
    };
    let forgotten = PersonsWords {
        forgotten: [(session("7f78aa01"), EventSeq(6))].into(),
        ..PersonsWords::default()
    };
    let berlin = TimeZone::get("Europe/Berlin").expect("the zone is known");
    let changed = [
        changed_digest(|it| it.outcome = Some(Outcome::Partial)),
        changed_digest(|it| it.answered = false),
        changed_digest(|it| it.committed[0].text.push('.')),
        changed_digest(|it| it.highlights[0].lines = vec![16]),
        changed_digest(|it| it.to_at = at(7_320)),
        changed_statement(|it| it.text = "never round after the sum".to_owned()),
        changed_statement(|it| it.quoted = false),
        changed_statement(|it| it.evidence[0].lines = vec![17]),
        changed_statement(|it| it.kind = ObservationKind::Preference),
        input(digest(), statements().split_off(1)),
        MemoryInput {
            persons: forgotten,
            ..before.clone()
        },
        MemoryInput {
            zone: berlin,
            ..before.clone()
        },
    ];
    for (n, changed) in changed.iter().enumerate() {
        assert_ne!(rendered(&before), rendered(changed), "{n}");
        let (old, new) = (numbers(&before), numbers(changed));
        assert!(old.iter().all(|number| !new.contains(number)), "{n}");
    }
    let renamed = MemoryInput {
        title: "harbour".to_owned(),
        ..before.clone()
    };
    assert_ne!(
        numbers(&before)[0],
        numbers(&renamed)[0],
        "the diary names the project"
    );
    assert_eq!(numbers(&before)[1], numbers(&renamed)[1]);
}

#[test]
fn only_the_latest_sessions_have_pages_of_their_own_and_the_diary_has_all() {
    let count = SESSION_PAGES + 2;
    let mut input = input(Digest::default(), Vec::new());
    let first = input.extractions.remove(0);
    // The order in which they are stored is not that of time.
    input.extractions = (0..count)
        .rev()
        .map(|n| ExtractionRecord {
            session: session(&format!("{n:08}")),
            label: format!("{n:08}"),
            digest: Some(Digest {
                from_at: at(n as u64 * 60),
                to_at: at(n as u64 * 60 + 30),
                ..digest()
            }),
            ..first.clone()
        })
        .collect();
    let dated = consolidate(&input).dated;
    assert_eq!(dated.session_count(), count);
    assert_eq!(dated.sessions().len(), SESSION_PAGES);
    let has_page = |n: usize| {
        let label = format!("{n:08}");
        dated.sessions().any(|(name, _)| name.ends_with(&label))
    };
    assert_eq!(
        [0, 1, 2, count - 1].map(has_page),
        [false, false, true, true]
    );
    let entries = dated
        .days()
        .map(|(_, day)| day.page().sections[0].entries.len());
    assert_eq!(entries.sum::<usize>(), count);
}
