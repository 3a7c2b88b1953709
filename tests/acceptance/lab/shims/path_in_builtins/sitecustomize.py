"""For Hermes 0.22 on a Python before 3.14: its TUI backend annotates with a `Path` it doesn't import.

Only annotations evaluated at import need the name; Python 3.14 evaluates none.
"""

import builtins
import pathlib

builtins.Path = pathlib.Path  # type: ignore[attr-defined]
