use daybook_domain::{EntityChange, EntityWrite, EventSeq, SessionId, Tenant, Timestamp};

use super::*;
use crate::extract::entity_tools::EntityRepository;
use crate::files::entities::FolderEntityRepository;
use crate::files::folder_test_support::{TestFolder, lock, stamp};

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

/// What one extraction stages on top of the `waiting` writes.
fn stage(
    memory: &TestFolder,
    waiting: &[StagedEntityWrite],
    from: u64,
    changes: &[EntityChange],
) -> StagedEntityWrite {
    let mut repository = FolderEntityRepository::open(memory.folder.root(), waiting).unwrap();
    for change in changes {
        let proposed = repository.propose("tide", change).unwrap();
        repository.stage(proposed).unwrap();
    }
    window(from, Box::new(repository).staged())
}

fn window(from: u64, writes: Vec<EntityWrite>) -> StagedEntityWrite {
    StagedEntityWrite {
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

fn post(memory: &TestFolder, staged: &[StagedEntityWrite]) -> StagedReport {
    let held = lock(&memory.folder);
    commit_staged(&held, &stamp(), &Redactor::standard(), staged, &|| true).unwrap()
}

fn tide(memory: &TestFolder) -> String {
    let text = memory.read("entities/tide.md").unwrap();
    let body = text.split_once("---\n# tide\n").unwrap().1;
    body.trim().to_owned()
}

#[test]
fn all_that_is_staged_is_one_commit_that_names_its_windows() {
    let memory = TestFolder::new();
    let one = stage(
        &memory,
        &[],
        1,
        &[card("Tide"), record("Source", "the pier")],
    );
    let two = stage(
        &memory,
        std::slice::from_ref(&one),
        11,
        &[record("Source", "the harbour"), record("Port", "8080")],
    );
    let posted = post(&memory, &[one, two]);
    assert_eq!(posted.passed_over, 0);
    assert_eq!(tide(&memory), "## Source\nthe harbour\n\n## Port\n8080");
    assert_eq!(
        memory.read("INDEX.md").unwrap(),
        "# Memory Index\n\n- tide\n"
    );
    let log = memory.log();
    assert_eq!(log.len(), 1);
    assert_eq!(log[0].1, "Entities: post writes of 2 windows");
    let head = memory.folder.head().unwrap().unwrap();
    let message = memory.folder.message(head).unwrap();
    assert!(message.contains(" 7f78 1-10\n") && message.contains(" 7f78 11-20\n"));
    memory.assert_settled();
}

#[test]
fn what_was_posted_before_a_crash_is_not_posted_again() {
    let memory = TestFolder::new();
    let made = stage(
        &memory,
        &[],
        1,
        &[card("Tide"), record("Source", "the pier")],
    );
    let _ = post(&memory, &[made]);
    let staged = [stage(&memory, &[], 11, &[record("Source", "the harbour")])];
    let _ = post(&memory, &staged);
    // The result was not recorded. Meanwhile the person reverts the text, word for word.
    let theirs = memory.read("entities/tide.md").unwrap();
    memory.save(
        "entities/tide.md",
        theirs.replace("the harbour", "the pier"),
    );
    let posted = post(&memory, &staged);
    assert!(matches!(posted.outcome, WriteOutcome::Unchanged(_)));
    assert_eq!(tide(&memory), "## Source\nthe pier");
}

#[test]
fn what_a_person_wrote_since_wins() {
    let memory = TestFolder::new();
    let made = [
        card("Tide"),
        record("Source", "the pier"),
        record("Port", "80"),
    ];
    let _ = post(&memory, &[stage(&memory, &[], 1, &made)]);
    let changes = [
        card("Flood"),
        record("Source", "the harbour"),
        record("Port", "8080"),
        record("New", "by the agent"),
    ];
    let staged = [stage(&memory, &[], 11, &changes)];
    let by_hand = memory.read("entities/tide.md").unwrap();
    let by_hand = by_hand.replace("the pier", "my own words") + "\n## New\nby me\n";
    memory.save("entities/tide.md", by_hand);
    assert_eq!(post(&memory, &staged).passed_over, 2);
    assert_eq!(
        tide(&memory),
        "## Source\nmy own words\n\n## Port\n8080\n\n## New\nby me"
    );
    assert!(
        memory
            .read("entities/tide.md")
            .unwrap()
            .contains("\"Flood\"")
    );
    let staged = [stage(&memory, &[], 21, &[record("Port", "9090")])];
    memory.remove("entities/tide.md");
    assert_eq!(post(&memory, &staged).passed_over, 1);
    assert_eq!(memory.read("entities/tide.md"), None);
}

#[test]
fn of_two_that_were_staged_over_the_same_text_the_later_stays() {
    let memory = TestFolder::new();
    let made = [card("Tide"), record("Source", "the pier")];
    let _ = post(&memory, &[stage(&memory, &[], 1, &made)]);
    let one = stage(&memory, &[], 11, &[record("Source", "the harbour")]);
    let two = stage(
        &memory,
        &[],
        21,
        &[record("Source", "the quay\r\nby night")],
    );
    assert_eq!(post(&memory, &[one, two.clone()]).passed_over, 0);
    assert_eq!(tide(&memory), "## Source\nthe quay\nby night");
    // A record that already has the content is not written again.
    let again = StagedEntityWrite {
        at: Timestamp(6),
        from: EventSeq(22),
        ..two
    };
    let posted = post(&memory, &[again]);
    assert!(matches!(posted.outcome, WriteOutcome::Unchanged(_)));
    assert_eq!(posted.passed_over, 0);
}

#[test]
fn a_lost_lease_posts_nothing() {
    let memory = TestFolder::new();
    let staged = [stage(&memory, &[], 1, &[card("Tide")])];
    let held = lock(&memory.folder);
    let posted = commit_staged(&held, &stamp(), &Redactor::standard(), &staged, &|| false);
    assert_eq!(posted.unwrap().outcome, WriteOutcome::LeaseLost);
    assert_eq!(memory.log(), []);
}

#[test]
fn what_was_staged_under_worse_rules_is_hidden_when_it_is_posted() {
    let memory = TestFolder::new();
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let write = |change| EntityWrite {
        entity: "tide".to_owned(),
        change,
        over: None,
    };
    let writes = vec![write(card("Tide")), write(record("Key", token))];
    let _ = post(&memory, &[window(1, writes)]);
    assert!(!memory.read("entities/tide.md").unwrap().contains(token));
}
