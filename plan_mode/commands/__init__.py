"""Slash commands: parse, call, render. A handler never raises; every failure is a sentence."""
