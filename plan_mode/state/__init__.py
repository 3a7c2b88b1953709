"""Which mode is a session in? Everything here runs without Hermes."""
