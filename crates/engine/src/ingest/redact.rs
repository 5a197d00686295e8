//! ingest/redact
