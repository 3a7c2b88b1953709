"""One whole plan-mode session in the real classic CLI, played and checked: `python3 -m demo`."""
