"""From records to pages: what sessions contributed, joined, and each kind of page rendered whole."""
