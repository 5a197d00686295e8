//! The program `daybook`. All of it is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    daybook_app::run()
}
