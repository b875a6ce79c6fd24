"""The tests. To rewrite their assertions and those of hypothesis anew takes longer than to read them back."""

import sys

sys.dont_write_bytecode = False
