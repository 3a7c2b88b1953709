"""May this call run? Pure and total; ``decide`` does no input or output."""
