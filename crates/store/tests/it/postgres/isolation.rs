//! The server's own tenant isolation: any statement of a transaction stays within its tenant. Each table is
//! tried by raw SQL in the role of the store, which owns the tables.

use super::*;
use daybook_domain::PageRequest;

/// Tables without rows of any tenant.
const OPEN: [&str; 2] = ["schema_migrations", "tallies"];

struct TenantTable {
    name: String,
    /// The column that names a row's tenant.
    whose: String,
    /// Columns that must be given, with their types.
    columns: Vec<(String, String)>,
}

/// All tables, from the server's catalogue, so that added ones are tested, too.
async fn tables(admin: &Client) -> Vec<TenantTable> {
    let select = "SELECT table_name::TEXT, column_name::TEXT, data_type::TEXT,
            is_nullable = 'NO' AND is_identity = 'NO'
        FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
        WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
        ORDER BY table_name = 'tenants' DESC, table_name, ordinal_position";
    let mut tables: Vec<TenantTable> = Vec::new();
    for row in admin.query(select, &[]).await.unwrap() {
        let (name, column): (String, String) = (row.get(0), row.get(1));
        if OPEN.contains(&name.as_str()) {
            continue;
        }
        if tables.last().is_none_or(|table| table.name != name) {
            tables.push(TenantTable {
                name,
                whose: String::new(),
                columns: Vec::new(),
            });
        }
        let table = tables.last_mut().unwrap();
        let is_tenants_own = table.name == "tenants" && column == "tenant_no";
        if (column == "tenant_no" && !is_tenants_own) || column == "tenant" {
            table.whose.clone_from(&column);
        }
        if row.get(3) {
            table.columns.push((column, row.get(2)));
        }
    }
    tables
}

impl TenantTable {
    /// Adds a row of the tenant with this number, called `name`. Its other columns differ as well.
    fn insert(&self, number: i64, name: &str) -> String {
        let columns: Vec<String> = self
            .columns
            .iter()
            .map(|(c, _)| format!("\"{c}\""))
            .collect();
        let value = |(_, kind): &(String, String)| match kind.as_str() {
            "bigint" => number.to_string(),
            "text" => format!("'{name}'"),
            "boolean" => "TRUE".to_owned(),
            "bit varying" => format!("{number}::BIT(8)"),
            "bytea" => format!("'{name}'::BYTEA"),
            "ARRAY" => "'{}'".to_owned(),
            other => panic!("a column of type {other} in {}", self.name),
        };
        let values: Vec<String> = self.columns.iter().map(value).collect();
        let (columns, values) = (columns.join(", "), values.join(", "));
        format!("INSERT INTO {} ({columns}) VALUES ({values})", self.name)
    }

    fn whose_is(&self, number: i64, name: &str) -> String {
        match self.whose.as_str() {
            "tenant" => format!("tenant = '{name}'"),
            _ => format!("tenant_no = {number}"),
        }
    }
}

/// A database in which tenants 1, "one", and 2, "two", have a row in each table.
async fn fill_tables(database: &TestDatabase) -> Vec<TenantTable> {
    let admin = admin(database).await;
    let tables = tables(&admin).await;
    assert!(tables.len() >= 20, "only {} tables", tables.len());
    for table in &tables {
        assert!(!table.whose.is_empty(), "whose is a row of {}?", table.name);
        for (number, name) in [(1, "one"), (2, "two")] {
            let insert = table.insert(number, name);
            admin.batch_execute(&insert).await.expect(&insert);
        }
    }
    tables
}

async fn count(client: &Client, table: &str) -> i64 {
    let select = format!("SELECT count(*) FROM {table}");
    client.query_one(&select, &[]).await.unwrap().get(0)
}

#[test]
fn a_transaction_sees_and_changes_only_what_is_its_tenants() {
    let Some(fixture) = on_server() else { return };
    run(async {
        let tables = fill_tables(&fixture.database).await;
        let client = connect(&fixture.database.address()).await;
        let within = "BEGIN; SET LOCAL daybook.tenant = 'one'";
        for table in &tables {
            let name = &table.name;
            client.batch_execute(within).await.unwrap();
            assert_eq!(count(&client, name).await, 1, "rows of {name}");
            let theirs = table.whose_is(2, "two");
            let select = format!("SELECT FROM {name} WHERE {theirs}");
            assert_eq!(client.execute(&select, &[]).await.unwrap(), 0, "{select}");
            let whose = &table.whose;
            let update = format!("UPDATE {name} SET {whose} = {whose} WHERE {theirs}");
            assert_eq!(client.execute(&update, &[]).await.unwrap(), 0, "{update}");
            let delete = format!("DELETE FROM {name}");
            assert_eq!(client.execute(&delete, &[]).await.unwrap(), 1, "{delete}");
            let refused = client.batch_execute(&table.insert(3, "three")).await;
            let refused = refused.expect_err(name);
            assert!(
                format!("{refused:?}").contains("row-level security"),
                "{name}: {refused:?}"
            );
            client.batch_execute("ROLLBACK").await.unwrap();
        }
    });
}

#[test]
fn a_transaction_without_a_tenant_sees_nothing_and_a_workers_everything() {
    let Some(fixture) = on_server() else { return };
    run(async {
        let tables = fill_tables(&fixture.database).await;
        let client = connect(&fixture.database.address()).await;
        let check = async |begin: &str, rows: i64| {
            client.batch_execute(begin).await.unwrap();
            for table in &tables {
                assert_eq!(count(&client, &table.name).await, rows, "{}", table.name);
            }
            client.batch_execute("ROLLBACK").await.unwrap();
        };
        check("BEGIN", 0).await;
        check("BEGIN; SET LOCAL daybook.tenants = 'all'", 2).await;
        // Like a pooled connection after a transaction that named a tenant.
        check("BEGIN; SET LOCAL daybook.tenant = 'one'", 1).await;
        check("BEGIN", 0).await;
    });
}

#[test]
fn a_tenants_name_may_hold_anything() {
    let Some(fixture) = on_server() else { return };
    for name in ["o'neill", "\\'; --", "all", "", "日本", "two\nlines"] {
        let mut id = session("7f78aa01");
        id.tenant = Tenant(name.to_owned());
        run(fixture.append(&append(&id, events("word", 2)))).unwrap();
        let sessions = run(fixture.sessions(&id.tenant, PageRequest::first(10)))
            .unwrap()
            .items;
        assert_eq!(sessions.len(), 1, "{name:?}");
    }
}
