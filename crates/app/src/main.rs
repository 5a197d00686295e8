//! The daybook command.
fn main() {}
