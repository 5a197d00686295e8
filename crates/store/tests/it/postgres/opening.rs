//! What opening a database does to it, and what it refuses.

use super::*;

#[test]
fn an_ordinary_role_makes_its_tables_once() {
    let Some(database) = postgres::empty() else {
        return;
    };
    drop(open(&database.address()));
    drop(open(&database.address()));
}

#[test]
fn a_copy_is_ready() {
    let Some(_made) = on_server() else { return };
}
