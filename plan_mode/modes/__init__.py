"""What a mode is. Knows no host and no session."""
