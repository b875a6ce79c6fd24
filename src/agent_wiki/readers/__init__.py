"""One module per recorded format. A newcomer adds a format by adding a file here and its name to `READERS`;
another package by an entry point of the group `agent_wiki.readers` that names a module or an object with the same.

Each reader module has

    FORMAT: str                                          the name that goes into `source.format`
    claims(sample: Sample) -> bool                       is this recording of that format? By content only.
    read(recording: Recording) -> Iterator[Trajectory]   every trajectory in it, in recorded order

A reader raises `UnreadableRecording` for a recording it cannot read, and lets one bad record cost that
record only. It reads as a stream where the format has lines. It never looks at the file's name to tell the
format, never puts an answer key, an absolute path of this machine or anything unrecorded into a trajectory.
"""
