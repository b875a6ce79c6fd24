"""What a session read in a wiki, and which of its words come from it."""
