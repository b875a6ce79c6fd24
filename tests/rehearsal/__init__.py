"""The nightly job rehearsed whole: `python -m tests.rehearsal` (`.ci/run` does it)."""
