"""``python -m plan_mode``."""

import os
import sys
from contextlib import suppress

from .cli import main


def _leave_the_current_folder() -> None:
    """Python looks for modules in the current folder first: a project's own ``tools`` would be taken for the host's, and run."""
    with suppress(OSError):
        here = os.getcwd()
        if sys.path[0] in ("", here) and os.path.dirname(os.path.dirname(os.path.abspath(__file__))) != here:
            del sys.path[0]


if __name__ == "__main__":
    _leave_the_current_folder()
    raise SystemExit(main())
