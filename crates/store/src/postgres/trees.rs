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
        let find = "SELECT tenant, kind, name, version, commit, beside, objects, rewrites
            FROM trees JOIN tenants USING (tenant_no) WHERE tenant = $1 AND version > 0";
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
        let find = "SELECT version, commit, beside, objects, rewrites
            FROM trees JOIN tenants USING (tenant_no)
            WHERE tenant = $1 AND kind = $2 AND name = $3 AND version > 0";
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
        rewrites: u64,
        objects: &[TreeObject],
    ) -> Result<bool, StoreError> {
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
            let history = lock(&tx, scope).await?;
            if history.rewrites != rewrites {
                return Ok(false);
            }
            let names: Vec<Vec<u8>> = objects.iter().map(|o| o.name.0.to_vec()).collect();
            let kinds: Vec<String> = objects.iter().map(|o| o.kind.as_str().to_owned()).collect();
            let bytes: Vec<Vec<u8>> = objects.iter().map(|o| o.bytes.clone()).collect();
            tx.execute(
                insert,
                values![history.tenant, history.tree, names, kinds, bytes],
            )
            .await?;
            Ok(true)
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
        let access = TenantAccess::Only(&scope.tenant);
        let advanced = self.write(access, |tx| async move {
            let history = lock(&tx, scope).await?;
            if history.version != seen {
                return Ok(None);
            }
            let head = advance(&tx, history.tree, commit, (beside, 0)).await?;
            Ok(Some(head))
        });
        advanced.await
    }

    async fn rewrite_tree(
        &self,
        scope: &Scope,
        seen: u64,
        commit: ObjectName,
        beside: &str,
        kept: &[ObjectName],
    ) -> Result<Option<TreeHead>, StoreError> {
        let access = TenantAccess::Only(&scope.tenant);
        let rewritten = self.write(access, |tx| async move {
            let history = lock(&tx, scope).await?;
            if history.version != seen {
                return Ok(None);
            }
            keep_objects(&tx, history.tree, kept).await?;
            let head = advance(&tx, history.tree, commit, (beside, 1)).await?;
            Ok(Some(head))
        });
        rewritten.await
    }
}

/// Moves a history to a commit that it has. `rewrites` are added to its count.
async fn advance(
    tx: &Tx,
    tree: i64,
    commit: ObjectName,
    (beside, rewrites): (&str, i64),
) -> Result<TreeHead, Fault> {
    let advance = "UPDATE trees SET version = version + 1, commit = $2, beside = $3,
            rewrites = rewrites + $4
        WHERE tree_no = $1
            AND EXISTS (SELECT FROM tree_objects WHERE tree_no = $1 AND object = $2)
        RETURNING version, commit, beside, objects, rewrites";
    let to = values![tree, commit.0, beside, rewrites];
    match tx.row(advance, to).await? {
        Some(row) => head_of(&row),
        None => Err(StoreError::NotFound(format!("commit {commit}")).into()),
    }
}

/// Deletes the other objects of a history, and numbers these from 1, in their order.
async fn keep_objects(tx: &Tx, tree: i64, kept: &[ObjectName]) -> Result<(), Fault> {
    let names: Vec<Vec<u8>> = kept.iter().map(|name| name.0.to_vec()).collect();
    let delete = "DELETE FROM tree_objects WHERE tree_no = $1 AND object <> ALL ($2)";
    tx.execute(delete, values![tree, names]).await?;
    // By way of negative numbers: no two objects may have one number, not even in between.
    let renumber = "UPDATE tree_objects SET nth = -place FROM (
            SELECT nth AS was, row_number() OVER (ORDER BY nth) AS place
            FROM tree_objects WHERE tree_no = $1) AS placed
        WHERE tree_no = $1 AND nth = was";
    tx.execute(renumber, values![tree]).await?;
    let positive = "UPDATE tree_objects SET nth = -nth WHERE tree_no = $1";
    tx.execute(positive, values![tree]).await?;
    let count = "UPDATE trees SET objects = (SELECT count(*) FROM tree_objects WHERE tree_no = $1)
        WHERE tree_no = $1";
    tx.execute(count, values![tree]).await?;
    Ok(())
}

/// A history that is locked until the transaction ends.
struct LockedHistory {
    tenant: i64,
    tree: i64,
    version: u64,
    rewrites: u64,
}

/// Locks a scope's history, which begins with that.
async fn lock(tx: &Tx, scope: &Scope) -> Result<LockedHistory, Fault> {
    let find = "SELECT tree_no, version, rewrites FROM trees
        WHERE tenant_no = $1 AND kind = $2 AND name = $3 FOR UPDATE";
    let insert = "INSERT INTO trees (tenant_no, kind, name, version, beside, objects)
        VALUES ($1, $2, $3, 0, '', 0) RETURNING tree_no, version, rewrites";
    let tenant = tenant_no(tx, &scope.tenant).await?;
    let key = values![tenant, scope.kind.as_str(), &scope.name];
    let row = match tx.row(find, key).await? {
        Some(row) => row,
        None => tx.one(insert, key).await?,
    };
    Ok(LockedHistory {
        tenant,
        tree: get(&row, "tree_no")?,
        version: get(&row, "version")?,
        rewrites: get(&row, "rewrites")?,
    })
}

fn head_of(row: &Row) -> Result<TreeHead, Fault> {
    Ok(TreeHead {
        version: get(row, "version")?,
        commit: commit_of(row)?,
        beside: get(row, "beside")?,
        objects: get(row, "objects")?,
        rewrites: get(row, "rewrites")?,
    })
}

fn object_of(row: &Row) -> Result<TreeObject, Fault> {
    Ok(TreeObject {
        name: name_of(row, "object")?,
        kind: parse_column(row, "what")?,
        bytes: get(row, "bytes")?,
    })
}

fn commit_of(row: &Row) -> Result<Option<ObjectName>, Fault> {
    let bytes: Option<Vec<u8>> = get(row, "commit")?;
    bytes.map(|bytes| name_from(bytes, "commit")).transpose()
}

fn name_of(row: &Row, column: &str) -> Result<ObjectName, Fault> {
    name_from(get(row, column)?, column)
}

fn name_from(bytes: Vec<u8>, column: &str) -> Result<ObjectName, Fault> {
    let name = bytes.try_into().map(ObjectName);
    name.map_err(|_| Fault::corrupt(format!("{column} is not the name of an object")))
}
