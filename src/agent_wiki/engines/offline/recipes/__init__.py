"""How a session's commands become a recipe another session can follow: the modules behind synthesize-skill."""
