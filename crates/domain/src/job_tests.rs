//! Every transition of a job, as sentences.
