"""One module per recorded format. To add a format, add a file here.

Another package adds one by an entry point of the group `agent_wiki.readers`, which names a module or an object with the
same members.

Each reader module has

    FORMAT: str                                          the name that goes into `source.format`
    claims(sample: Sample) -> bool                       whether a recording has that format, by content alone
    read(recording: Recording) -> Iterator[Trajectory]   every trajectory in it, in recorded order

A reader raises `UnreadableRecording` for a recording it cannot read. A bad record loses that
record only. It streams formats that have lines. A file beside the recording it reads by `Recording.beside` alone, so
that a change of that file is noticed. It never uses the file's name to detect the
format, and never puts an answer key, an absolute path of this machine or anything unrecorded into a trajectory.
"""
