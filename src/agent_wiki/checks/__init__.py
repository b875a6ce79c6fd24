"""What `wiki check` looks for in a finished wiki: named checks, family by family. Nothing here writes but `mending`."""
