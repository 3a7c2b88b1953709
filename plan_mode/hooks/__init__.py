"""One module a callback: host kwargs in, host directive out. None of them raises."""
