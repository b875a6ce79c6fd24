"""What a model is asked and shown, the journal of its answers, and their cost."""
