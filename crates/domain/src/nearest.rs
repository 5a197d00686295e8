//! The few least of many, in a total order.

use std::collections::BinaryHeap;

/// Keeps what has the least distance; among equals, what has the least `order`.
#[derive(Debug)]
pub struct Nearest<O: Ord, T: Ord> {
    limit: usize,
    heap: BinaryHeap<(u32, O, T)>,
}

impl<O: Ord, T: Ord> Nearest<O, T> {
    /// None yet, and room for `limit`.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            heap: BinaryHeap::new(),
        }
    }

    /// The greatest distance at which an item may still be among the least.
    #[must_use]
    pub fn bound(&self) -> u32 {
        match self.heap.peek() {
            Some(worst) if self.heap.len() >= self.limit => worst.0,
            _ => u32::MAX,
        }
    }

    /// Offers an item; among equals the least `order` stays.
    pub fn offer(&mut self, distance: u32, order: O, what: T) {
        self.heap.push((distance, order, what));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    /// The least first.
    #[must_use]
    pub fn into_sorted(self) -> Vec<T> {
        let sorted = self.heap.into_sorted_vec();
        sorted.into_iter().map(|(_, _, what)| what).collect()
    }
}
