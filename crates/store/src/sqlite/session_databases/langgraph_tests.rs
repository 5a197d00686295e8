use super::super::test_support::{database, lines, recognized};
use super::*;

const TABLES: &str = "CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, type TEXT, checkpoint BLOB);
    CREATE TABLE writes (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, task_id TEXT, idx INTEGER, channel TEXT, type TEXT, value BLOB);";

/// Two steps of one thread, as the library's own serialisation writes them.
const STEPS: &str = "INSERT INTO writes VALUES
    ('t1', '', '1f1e9fb3-7b75-6cd8-bfff-0db5e9f1f247', 'a', 0, 'messages', 'msgpack', x'9182a4726f6c65a475736572a7636f6e74656e74af636f756e74207468652067756c6c73'),
    ('t1', '', '1f1e9fb3-7b84-6c16-8000-d92f4d2c7512', 'b', 0, 'messages', 'msgpack', x'91c7b20594ba6c616e67636861696e5f636f72652e6d657373616765732e6169a941494d65737361676589a7636f6e74656e74a44f6e652eb16164646974696f6e616c5f6b776172677380b1726573706f6e73655f6d6574616461746180a474797065a26169a46e616d65c0a26964a26131aa746f6f6c5f63616c6c7390b2696e76616c69645f746f6f6c5f63616c6c7390ae75736167655f6d65746164617461c0b36d6f64656c5f76616c69646174655f6a736f6e'),
    ('t1', '', '1f1e9fb3-7b84-6c16-8000-d92f4d2c7512', 'b', 1, 'branch:to:agent', 'null', x'');
    INSERT INTO checkpoints VALUES
    ('t1', '', '1f1e9fb3-7ba1-6f72-8008-8df9220a7b24', 'msgpack', x'81ae6368616e6e656c5f76616c75657381a86d6573736167657392c7960594bd6c616e67636861696e5f636f72652e6d657373616765732e68756d616eac48756d616e4d65737361676586a7636f6e74656e74af636f756e74207468652067756c6c73b16164646974696f6e616c5f6b776172677380b1726573706f6e73655f6d6574616461746180a474797065a568756d616ea46e616d65c0a26964a26831b36d6f64656c5f76616c69646174655f6a736f6ec7b20594ba6c616e67636861696e5f636f72652e6d657373616765732e6169a941494d65737361676589a7636f6e74656e74a44f6e652eb16164646974696f6e616c5f6b776172677380b1726573706f6e73655f6d6574616461746180a474797065a26169a46e616d65c0a26964a26131aa746f6f6c5f63616c6c7390b2696e76616c69645f746f6f6c5f63616c6c7390ae75736167655f6d65746164617461c0b36d6f64656c5f76616c69646174655f6a736f6e');";

/// Each message of a thread in one line: its kind, its content and its time.
fn shown(sql: &str) -> Vec<String> {
    let file = database(&format!("{TABLES} {sql}"));
    assert_eq!(recognized(&file).sessions().expect("ids"), ["t1"]);
    let lines = lines(&file, "t1");
    assert_eq!(lines[0], json!({"langgraph": {"thread": "t1"}}));
    let messages = lines[1..].iter().map(|line| {
        let (message, at) = (&line["langgraph"]["message"], &line["langgraph"]["at"]);
        format!(
            "{} {} {at}",
            message["type"].as_str().unwrap_or_default(),
            message["content"]
        )
    });
    messages.collect()
}

#[test]
fn a_message_of_a_step_and_of_the_newest_checkpoint_is_one_message() {
    let expected = [
        r#"human "count the gulls" 1795740060602"#,
        r#"ai "One." 1795740060608"#,
    ];
    assert_eq!(shown(STEPS), expected);
}

#[test]
fn what_a_graph_has_dropped_comes_from_the_writes_and_what_was_not_written_from_the_checkpoint() {
    let steps = r#"INSERT INTO writes VALUES
        ('t1', '', '1', 'a', 0, 'messages', 'json', '["user", "yes"]'),
        ('t1', '', '2', 'a', 0, 'messages', 'json', '[{"type": "remove", "id": "h1"}]'),
        ('t1', 'inner:1', '3', 'a', 0, 'messages', 'json', '["user", "of a graph within"]');
        INSERT INTO checkpoints VALUES ('t1', '', '1', 'json', '{}'),
        ('t1', '', '4', 'json', '{"channel_values": {"messages": [{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "Done."}}]}}');"#;
    assert_eq!(shown(steps), [r#"human "yes" null"#, r#"ai "Done." null"#]);
}

#[test]
fn a_value_that_cannot_be_read_costs_itself() {
    let steps = r#"INSERT INTO writes VALUES
        ('t1', '', '1', 'a', 0, 'messages', 'msgpack', x'92a1'),
        ('t1', '', '1', 'a', 1, 'messages', 'pickle', x'80'),
        ('t1', '', '2', 'a', 0, 'messages', 'json', '[7, {"content": "of nobody"}, "hello"]');
        INSERT INTO checkpoints VALUES ('t1', '', '1', 'msgpack', NULL);"#;
    assert_eq!(shown(steps), [r#"human "hello" null"#]);
}
