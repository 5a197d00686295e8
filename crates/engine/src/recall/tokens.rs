//! recall/tokens
