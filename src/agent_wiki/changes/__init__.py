"""What a wiki has gained against another revision of it, and the pull request that says so."""
