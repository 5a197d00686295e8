//! recall/rank
