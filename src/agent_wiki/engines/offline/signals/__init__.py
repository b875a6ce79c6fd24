"""One module per family of signals. Each has `lessons(session) -> list[Lesson]`.

The signals, and the junk that they must reject, come from reading whole sessions by hand; the numbers
in the modules' docstrings are those of that list.
"""
