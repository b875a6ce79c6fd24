"""`python -m tests.bad_inputs`: named bad inputs of every kind, each tried with every command that takes it."""
