//! What one pass over one window of a session yields.
