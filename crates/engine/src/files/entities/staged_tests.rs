use daybook_domain::{EntityChange, EntityWrite, EventSeq, SessionId, Tenant, Timestamp};

use super::*;
use crate::extract::entity_tools::Shelf;
use crate::files::entities::FolderShelf;
use crate::files::testbed::{Testbed, lock, stamp};

fn card(name: &str) -> EntityChange {
    EntityChange::Card {
        name: name.to_owned(),
        description: "the sea".to_owned(),
    }
}

fn record(record: &str, content: &str) -> EntityChange {
    EntityChange::Record {
        record: record.to_owned(),
        content: content.to_owned(),
    }
}

/// What one extraction stages, seeing what waits.
fn stage(bed: &Testbed, waiting: &[Staged], from: u64, changes: &[EntityChange]) -> Staged {
    let mut shelf = FolderShelf::open(bed.folder.root(), waiting).unwrap();
    for change in changes {
        let proposed = shelf.propose("tide", change).unwrap();
        shelf.stage(proposed).unwrap();
    }
    window(from, Box::new(shelf).staged())
}

fn window(from: u64, writes: Vec<EntityWrite>) -> Staged {
    Staged {
        session: SessionId {
            tenant: Tenant::local(),
            agent: "assistant".to_owned(),
            host_id: "7f78aa01".to_owned(),
        },
        label: "7f78".to_owned(),
        from: EventSeq(from),
        to: EventSeq(from + 9),
        at: Timestamp(5),
        writes,
    }
}

fn post(bed: &Testbed, staged: &[Staged]) -> Posted {
    let held = lock(&bed.folder);
    post_staged(&held, &stamp(), &Redactor::standard(), staged, &|| true).unwrap()
}

fn tide(bed: &Testbed) -> String {
    let text = bed.read("entities/tide.md").unwrap();
    let body = text.split_once("---\n# tide\n").unwrap().1;
    body.trim().to_owned()
}

#[test]
fn all_that_is_staged_is_one_commit_that_names_its_windows() {
    let bed = Testbed::new();
    let one = stage(&bed, &[], 1, &[card("Tide"), record("Source", "the pier")]);
    let two = stage(
        &bed,
        std::slice::from_ref(&one),
        11,
        &[record("Source", "the harbour"), record("Port", "8080")],
    );
    let posted = post(&bed, &[one, two]);
    assert_eq!(posted.passed_over, 0);
    assert_eq!(tide(&bed), "## Source\nthe harbour\n\n## Port\n8080");
    assert_eq!(bed.read("INDEX.md").unwrap(), "# Memory Index\n\n- tide\n");
    let log = bed.log();
    assert_eq!(log.len(), 1);
    assert_eq!(log[0].1, "Entities: post writes of 2 windows");
    let head = bed.folder.head().unwrap().unwrap();
    let message = bed.folder.message(head).unwrap();
    assert!(message.contains(" 7f78 1-10\n") && message.contains(" 7f78 11-20\n"));
    bed.assert_settled();
}

#[test]
fn what_was_posted_before_a_crash_is_not_posted_again() {
    let bed = Testbed::new();
    let made = stage(&bed, &[], 1, &[card("Tide"), record("Source", "the pier")]);
    let _ = post(&bed, &[made]);
    let staged = [stage(&bed, &[], 11, &[record("Source", "the harbour")])];
    let _ = post(&bed, &staged);
    // Nobody said that it was posted. Meanwhile the person takes it back, word for word.
    let theirs = bed.read("entities/tide.md").unwrap();
    bed.save(
        "entities/tide.md",
        theirs.replace("the harbour", "the pier"),
    );
    let posted = post(&bed, &staged);
    assert!(matches!(posted.outcome, WriteOutcome::Unchanged(_)));
    assert_eq!(tide(&bed), "## Source\nthe pier");
}

#[test]
fn what_a_person_wrote_since_wins() {
    let bed = Testbed::new();
    let made = [
        card("Tide"),
        record("Source", "the pier"),
        record("Port", "80"),
    ];
    let _ = post(&bed, &[stage(&bed, &[], 1, &made)]);
    let changes = [
        card("Flood"),
        record("Source", "the harbour"),
        record("Port", "8080"),
        record("New", "by the agent"),
    ];
    let staged = [stage(&bed, &[], 11, &changes)];
    let by_hand = bed.read("entities/tide.md").unwrap();
    let by_hand = by_hand.replace("the pier", "my own words") + "\n## New\nby me\n";
    bed.save("entities/tide.md", by_hand);
    assert_eq!(post(&bed, &staged).passed_over, 2);
    assert_eq!(
        tide(&bed),
        "## Source\nmy own words\n\n## Port\n8080\n\n## New\nby me"
    );
    assert!(bed.read("entities/tide.md").unwrap().contains("\"Flood\""));
    let staged = [stage(&bed, &[], 21, &[record("Port", "9090")])];
    bed.remove("entities/tide.md");
    assert_eq!(post(&bed, &staged).passed_over, 1);
    assert_eq!(bed.read("entities/tide.md"), None);
}

#[test]
fn of_two_that_were_staged_over_the_same_text_the_later_stays() {
    let bed = Testbed::new();
    let made = [card("Tide"), record("Source", "the pier")];
    let _ = post(&bed, &[stage(&bed, &[], 1, &made)]);
    let one = stage(&bed, &[], 11, &[record("Source", "the harbour")]);
    let two = stage(&bed, &[], 21, &[record("Source", "the quay\r\nby night")]);
    assert_eq!(post(&bed, &[one, two.clone()]).passed_over, 0);
    assert_eq!(tide(&bed), "## Source\nthe quay\nby night");
    // What stands there already is not written anew.
    let again = Staged {
        at: Timestamp(6),
        from: EventSeq(22),
        ..two
    };
    let posted = post(&bed, &[again]);
    assert!(matches!(posted.outcome, WriteOutcome::Unchanged(_)));
    assert_eq!(posted.passed_over, 0);
}

#[test]
fn a_lost_lease_posts_nothing() {
    let bed = Testbed::new();
    let staged = [stage(&bed, &[], 1, &[card("Tide")])];
    let held = lock(&bed.folder);
    let posted = post_staged(&held, &stamp(), &Redactor::standard(), &staged, &|| false);
    assert_eq!(posted.unwrap().outcome, WriteOutcome::LeaseLost);
    assert_eq!(bed.log(), []);
}

#[test]
fn what_was_staged_under_worse_rules_is_hidden_when_it_is_posted() {
    let bed = Testbed::new();
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let write = |change| EntityWrite {
        entity: "tide".to_owned(),
        change,
        over: None,
    };
    let writes = vec![write(card("Tide")), write(record("Key", token))];
    let _ = post(&bed, &[window(1, writes)]);
    assert!(!bed.read("entities/tide.md").unwrap().contains(token));
}
