//! The routes of mem0's own server. Their paths have no version, and no slash at the end.

use axum::extract::Path;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use super::platform::{added_json, delete_of};
use super::{AddRequest, Answer, FindRequest, Mem0Body, Mem0Query, one_memory, owner_of, run};
use crate::http::bounds::within;
use crate::http::executor::{RequestExecutor, TenantExecutors};
use crate::service::mem0::Owners;
use crate::service::mem0::adding;
use crate::service::mem0::changing::{self, Update};
use crate::service::mem0::reading::{self, Wanted};

/// Memories of an answer that names no number, most of one, and the least score of one.
const LIMITS: (usize, usize, f64) = (20, 1_000, 0.1);

pub(super) fn routes() -> Router<TenantExecutors> {
    Router::new()
        .route("/memories", post(add).get(list).delete(delete_all))
        .route(
            "/memories/{memory}",
            get(one_memory::show).put(update).delete(forget),
        )
        .route("/memories/{memory}/history", get(one_memory::history))
        .route("/search", post(search))
        .route("/reset", post(reset))
        .route("/entities", get(entities))
        .route("/entities/{kind}/{name}", delete(delete_entity))
}

async fn add(executor: RequestExecutor, Mem0Body(asked): Mem0Body<AddRequest>) -> Answer {
    let (addition, is_to_learn) = asked.parse()?;
    if is_to_learn {
        let event = run(&executor, |daybook| async move {
            adding::add_to_learn(&daybook, &addition).await
        });
        // What is learned is not known yet.
        return Ok(Json(
            json!({"results": [], "event_id": event.await?, "status": "PENDING"}),
        ));
    }
    let added = run(&executor, |daybook| async move {
        adding::add_as_is(&daybook, &addition).await
    });
    let results: Vec<Value> = added.await?.iter().map(added_json).collect();
    Ok(Json(json!({ "results": results })))
}

#[derive(Deserialize)]
struct ListQuery {
    top_k: Option<usize>,
    show_expired: Option<bool>,
}

async fn list(
    executor: RequestExecutor,
    Mem0Query(owners): Mem0Query<Owners>,
    Mem0Query(asked): Mem0Query<ListQuery>,
) -> Answer {
    let limit = asked.top_k.unwrap_or(LIMITS.0);
    within("top_k", limit, LIMITS.1, "memories")?;
    let wanted = Wanted {
        filter: reading::of_owners(&owners)?,
        expired: asked.show_expired.unwrap_or(false),
    };
    let listed = run(&executor, move |daybook| async move {
        let mut listed = reading::list(&daybook, &wanted).await?;
        listed.truncate(limit);
        Ok(listed)
    });
    Ok(Json(json!({"results": listed.await?})))
}

async fn search(executor: RequestExecutor, Mem0Body(asked): Mem0Body<FindRequest>) -> Answer {
    asked.check_query()?;
    let limit = asked.top_k.unwrap_or(LIMITS.0);
    within("top_k", limit, LIMITS.1, "memories")?;
    let (wanted, threshold) = (asked.wanted()?, asked.threshold.unwrap_or(LIMITS.2));
    let found = run(&executor, move |daybook| async move {
        reading::search(&daybook, &asked.query, (&wanted, limit), threshold).await
    });
    Ok(Json(json!({"results": found.await?})))
}

async fn update(
    executor: RequestExecutor,
    Path(memory): Path<String>,
    Mem0Body(new): Mem0Body<Update>,
) -> Answer {
    one_memory::update(&executor, memory, new).await?;
    Ok(Json(json!({"message": "Memory updated successfully!"})))
}

async fn forget(executor: RequestExecutor, Path(memory): Path<String>) -> Answer {
    one_memory::forget(&executor, memory).await?;
    Ok(Json(json!({"message": "Memory deleted successfully"})))
}

async fn delete_all(executor: RequestExecutor, Mem0Query(owners): Mem0Query<Owners>) -> Answer {
    delete_of(&executor, owners).await?;
    Ok(Json(json!({"message": "All relevant memories deleted"})))
}

/// Forgets all that belongs to a user or an agent. `daybook undo` brings it back.
async fn reset(executor: RequestExecutor) -> Answer {
    let all = Wanted {
        expired: true,
        ..Wanted::default()
    };
    let deleted = run(&executor, move |daybook| async move {
        changing::delete_all(&daybook, &all).await
    });
    deleted.await?;
    Ok(Json(json!({"message": "All memories reset"})))
}

async fn entities(executor: RequestExecutor) -> Answer {
    let all = run(&executor, |daybook| async move {
        reading::entities(&daybook).await
    });
    Ok(Json(json!(all.await?)))
}

async fn delete_entity(
    executor: RequestExecutor,
    Path((kind, name)): Path<(String, String)>,
) -> Answer {
    delete_of(&executor, owner_of(&kind, name)?).await?;
    Ok(Json(json!({"message": "Entity deleted successfully"})))
}
