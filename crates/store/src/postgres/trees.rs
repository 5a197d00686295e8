//! The shared histories of memory files.
//!
//! A history is one row, which every change of it locks; so its objects are numbered without holes, in the
//! order in which they become visible.

use async_trait::async_trait;
use daybook_domain::limits::{TREE_NAMES, TREE_OBJECTS};
use daybook_domain::seams::TreeStore;
use daybook_domain::{ObjectName, Scope, StoreError, Tenant, TreeHead, TreeObject};
use tokio_postgres::Row;

use super::PostgresStore;
use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::names::{scope_of, tenant_no};
use super::values::{get, parse_column, values};

/// Objects that one page reads at most.
const PAGE_ROWS: usize = 1_000;

#[async_trait]
impl TreeStore for PostgresStore {
    async fn tree_heads(&self, tenant: &Tenant) -> Result<Vec<(Scope, TreeHead)>, StoreError> {
        let find = "SELECT tenant, kind, name, version, commit, beside, objects
            FROM trees JOIN tenants USING (tenant_no) WHERE tenant = $1 AND commit IS NOT NULL";
        let access = TenantAccess::Only(tenant);
        let heads = self.read(access, |tx| async move {
            let rows = tx.rows(find, values![&tenant.0]).await?;
            let heads = rows.iter().map(|row| Ok((scope_of(row)?, head_of(row)?)));
            heads.collect::<Result<Vec<_>, Fault>>()
        });
        let mut heads = heads.await?;
        heads.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(heads)
    }

    async fn tree_head(&self, scope: &Scope) -> Result<Option<TreeHead>, StoreError> {
        let find = "SELECT version, commit, beside, objects
            FROM trees JOIN tenants USING (tenant_no)
            WHERE tenant = $1 AND kind = $2 AND name = $3 AND commit IS NOT NULL";
        let access = TenantAccess::Only(&scope.tenant);
        let head = self.read(access, |tx| async move {
            let key = values![&scope.tenant.0, scope.kind.as_str(), &scope.name];
            tx.row(find, key).await?.as_ref().map(head_of).transpose()
        });
        head.await
    }

    async fn tree_objects(
        &self,
        scope: &Scope,
        after: u64,
        bytes: usize,
    ) -> Result<Vec<TreeObject>, StoreError> {
        // The lengths are added up before any bytes are read or sent.
        let find = "SELECT object, what, bytes FROM (
                SELECT tree_no, nth, sum(length) OVER (ORDER BY nth) AS total,
                    row_number() OVER (ORDER BY nth) AS place
                FROM trees JOIN tenants USING (tenant_no) JOIN tree_objects USING (tree_no)
                WHERE tenant = $1 AND kind = $2 AND name = $3 AND nth > $4
                ORDER BY nth LIMIT $6
            ) AS page JOIN tree_objects USING (tree_no, nth)
            WHERE total <= $5 OR place = 1 ORDER BY nth";
        let access = TenantAccess::Only(&scope.tenant);
        let objects = self.read(access, |tx| async move {
            let (kind, name) = (scope.kind.as_str(), &scope.name);
            let key = values![&scope.tenant.0, kind, name, after, bytes, PAGE_ROWS];
            let rows = tx.rows(find, key).await?;
            rows.iter().map(object_of).collect()
        });
        objects.await
    }

    async fn tree_object_names(
        &self,
        scope: &Scope,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, ObjectName)>, StoreError> {
        let find = "SELECT nth, object
            FROM trees JOIN tenants USING (tenant_no) JOIN tree_objects USING (tree_no)
            WHERE tenant = $1 AND kind = $2 AND name = $3 AND nth > $4
            ORDER BY nth LIMIT $5";
        let access = TenantAccess::Only(&scope.tenant);
        let names = self.read(access, |tx| async move {
            let (kind, name) = (scope.kind.as_str(), &scope.name);
            let key = values![&scope.tenant.0, kind, name, after, most.min(TREE_NAMES)];
            let rows = tx.rows(find, key).await?;
            let names = rows.iter();
            let names = names.map(|row| Ok((get(row, "nth")?, name_of(row, "object")?)));
            names.collect()
        });
        names.await
    }

    async fn put_tree_objects(
        &self,
        scope: &Scope,
        objects: &[TreeObject],
    ) -> Result<(), StoreError> {
        if objects.len() > TREE_OBJECTS {
            let what = format!("{} objects at once; at most {TREE_OBJECTS}", objects.len());
            return Err(StoreError::Refused(what));
        }
        let insert = "WITH new AS (
                SELECT object, what, bytes, row_number() OVER (ORDER BY place) AS further
                FROM (SELECT DISTINCT ON (object) object, what, bytes, place
                    FROM unnest($3, $4, $5) WITH ORDINALITY AS given (object, what, bytes, place)
                    ORDER BY object, place) AS given
                WHERE NOT EXISTS (SELECT FROM tree_objects AS known
                    WHERE known.tree_no = $2 AND known.object = given.object)
            ), added AS (
                INSERT INTO tree_objects (tenant_no, tree_no, nth, object, what, bytes, length)
                SELECT $1, $2, objects + further, object, what, bytes, length(bytes)
                FROM new, trees WHERE tree_no = $2
                RETURNING nth
            )
            UPDATE trees SET objects = objects + (SELECT count(*) FROM added) WHERE tree_no = $2";
        let access = TenantAccess::Only(&scope.tenant);
        let put = self.write(access, |tx| async move {
            let (tenant, tree) = tree_no(&tx, scope).await?;
            let names: Vec<Vec<u8>> = objects.iter().map(|o| o.name.0.to_vec()).collect();
            let kinds: Vec<String> = objects.iter().map(|o| o.kind.as_str().to_owned()).collect();
            let bytes: Vec<Vec<u8>> = objects.iter().map(|o| o.bytes.clone()).collect();
            tx.execute(insert, values![tenant, tree, names, kinds, bytes])
                .await?;
            Ok(())
        });
        put.await
    }

    async fn advance_tree(
        &self,
        scope: &Scope,
        seen: u64,
        commit: ObjectName,
        beside: &str,
    ) -> Result<Option<TreeHead>, StoreError> {
        let has = "SELECT FROM tree_objects WHERE tree_no = $1 AND object = $2";
        let advance = "UPDATE trees SET version = version + 1, commit = $2, beside = $3
            WHERE tree_no = $1 AND version = $4
            RETURNING version, commit, beside, objects";
        let access = TenantAccess::Only(&scope.tenant);
        let advanced = self.write(access, |tx| async move {
            let (_, tree) = tree_no(&tx, scope).await?;
            if tx.row(has, values![tree, commit.0]).await?.is_none() {
                return Err(StoreError::NotFound(format!("commit {commit}")).into());
            }
            let row = tx
                .row(advance, values![tree, commit.0, beside, seen])
                .await?;
            row.as_ref().map(head_of).transpose()
        });
        advanced.await
    }
}

/// The numbers of a scope's tenant and history, which is locked until the transaction ends.
async fn tree_no(tx: &Tx, scope: &Scope) -> Result<(i64, i64), Fault> {
    let find = "SELECT tree_no FROM trees
        WHERE tenant_no = $1 AND kind = $2 AND name = $3 FOR UPDATE";
    let insert = "INSERT INTO trees (tenant_no, kind, name, version, beside, objects)
        VALUES ($1, $2, $3, 0, '', 0) RETURNING tree_no";
    let tenant = tenant_no(tx, &scope.tenant).await?;
    let key = values![tenant, scope.kind.as_str(), &scope.name];
    let tree = match tx.row(find, key).await? {
        Some(row) => row,
        None => tx.one(insert, key).await?,
    };
    Ok((tenant, get(&tree, "tree_no")?))
}

fn head_of(row: &Row) -> Result<TreeHead, Fault> {
    Ok(TreeHead {
        version: get(row, "version")?,
        commit: name_of(row, "commit")?,
        beside: get(row, "beside")?,
        objects: get(row, "objects")?,
    })
}

fn object_of(row: &Row) -> Result<TreeObject, Fault> {
    Ok(TreeObject {
        name: name_of(row, "object")?,
        kind: parse_column(row, "what")?,
        bytes: get(row, "bytes")?,
    })
}

fn name_of(row: &Row, column: &str) -> Result<ObjectName, Fault> {
    let bytes: Vec<u8> = get(row, column)?;
    let name = bytes.try_into().map(ObjectName);
    name.map_err(|_| Fault::corrupt(format!("{column} is not the name of an object")))
}
