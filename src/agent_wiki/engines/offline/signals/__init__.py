"""One module a family of signals, each with `lessons(session) -> list[Lesson]`. The numbers are those of a list of
signals that was made by reading whole sessions by hand.
"""
