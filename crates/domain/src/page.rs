//! Pages of a listing.
//!
//! A listing is ordered by a key that no two of its items share, so the next page begins behind the last item
//! of the page before, whatever came or went in between.

use std::future::Future;

use crate::limits::PAGE;

/// Which page of a listing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest<K> {
    /// Begins behind this key; at the start without one.
    pub after: Option<K>,
    /// Most items; see [`PageRequest::most`].
    pub limit: usize,
}

impl<K> PageRequest<K> {
    /// The first page, of at most `limit` items.
    #[must_use]
    pub fn first(limit: usize) -> Self {
        Self { after: None, limit }
    }

    /// How many items the page has at most: the limit, but at least one and at most [`PAGE`].
    #[must_use]
    pub fn most(&self) -> usize {
        self.limit.clamp(1, PAGE)
    }
}

/// One page of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T, K> {
    /// In the order of the listing.
    pub items: Vec<T>,
    /// Where the next page begins; `None` when this is the last one.
    pub next: Option<K>,
}

impl<T, K> Page<T, K> {
    /// The page of at most `most` items, made from up to one item more, which shows that another page follows.
    #[must_use]
    pub fn cut(mut items: Vec<T>, most: usize, key: impl Fn(&T) -> K) -> Self {
        let has_more = items.len() > most;
        items.truncate(most);
        let next = items.last().filter(|_| has_more).map(key);
        Self { items, next }
    }

    /// The page with each item changed.
    #[must_use]
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U, K> {
        Page {
            items: self.items.into_iter().map(change).collect(),
            next: self.next,
        }
    }
}

/// Reads all pages of a listing, each of at most [`PAGE`] items, and hands each item to `visit`. Holds one page
/// at a time.
///
/// # Errors
/// The first error of `read`.
pub async fn visit_all<T, K, E, F>(
    mut read: impl FnMut(PageRequest<K>) -> F,
    mut visit: impl FnMut(T),
) -> Result<(), E>
where
    F: Future<Output = Result<Page<T, K>, E>>,
{
    let mut request = PageRequest::first(PAGE);
    loop {
        let page = read(request).await?;
        page.items.into_iter().for_each(&mut visit);
        let Some(next) = page.next else {
            return Ok(());
        };
        request = PageRequest {
            after: Some(next),
            limit: PAGE,
        };
    }
}

/// Reads the first `most` items of a listing, page by page.
///
/// # Errors
/// The first error of `read`.
pub async fn read_first<T, K, E, F>(
    most: usize,
    mut read: impl FnMut(PageRequest<K>) -> F,
) -> Result<Vec<T>, E>
where
    F: Future<Output = Result<Page<T, K>, E>>,
{
    let (mut first, mut after) = (Vec::new(), None);
    while first.len() < most {
        let limit = most - first.len();
        let page = read(PageRequest { after, limit }).await?;
        first.extend(page.items);
        if page.next.is_none() {
            break;
        }
        after = page.next;
    }
    Ok(first)
}

/// Reads all items of a listing, page by page.
///
/// # Errors
/// The first error of `read`.
pub async fn read_all<T, K, E, F>(read: impl FnMut(PageRequest<K>) -> F) -> Result<Vec<T>, E>
where
    F: Future<Output = Result<Page<T, K>, E>>,
{
    let mut all = Vec::new();
    visit_all(read, |item| all.push(item)).await?;
    Ok(all)
}
