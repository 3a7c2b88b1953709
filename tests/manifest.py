"""The plugin.yaml of a plugin that is made for one test."""

MANIFEST = """\
name: {name}
version: 0.0.1
description: Plugin made for one test.
author: tests
kind: standalone
"""
