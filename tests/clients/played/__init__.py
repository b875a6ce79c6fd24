"""A server on loopback that plays the model behind a real agent program."""
