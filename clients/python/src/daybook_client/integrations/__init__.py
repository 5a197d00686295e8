"""Daybook in the frameworks that people build agents with. Each module needs its framework, and no other does."""
