//! files/write
