//! Which chunks a compaction may take.
