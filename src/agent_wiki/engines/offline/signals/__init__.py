"""One module a family of signals, with `lessons(session)`; the numbers are those of a list made by reading sessions."""
