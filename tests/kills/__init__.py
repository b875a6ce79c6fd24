"""`python -m tests.kills`: commands that are killed at random moments and run again, and what was lost by it."""
