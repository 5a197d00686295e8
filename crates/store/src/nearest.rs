//! The few least of many, in a total order.

use std::collections::BinaryHeap;

/// Keeps what has the least distance; among equals, what has the least `order`.
#[derive(Debug)]
pub(crate) struct Nearest<O: Ord, T: Ord> {
    limit: usize,
    heap: BinaryHeap<(u32, O, T)>,
}

impl<O: Ord, T: Ord> Nearest<O, T> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            heap: BinaryHeap::new(),
        }
    }

    /// The greatest distance at which an item may still be among the least.
    #[cfg(feature = "sqlite")]
    pub(crate) fn bound(&self) -> u32 {
        match self.heap.peek() {
            Some(worst) if self.heap.len() >= self.limit => worst.0,
            _ => u32::MAX,
        }
    }

    pub(crate) fn offer(&mut self, distance: u32, order: O, what: T) {
        self.heap.push((distance, order, what));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    /// The least first.
    pub(crate) fn into_sorted(self) -> Vec<T> {
        let sorted = self.heap.into_sorted_vec();
        sorted.into_iter().map(|(_, _, what)| what).collect()
    }
}
