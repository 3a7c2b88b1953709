"""Everything that knows Hermes. Reached through one table of seams; every seam may be missing."""
