//! files/history
