"""What a model is asked and shown, what it answered, and what that cost."""
