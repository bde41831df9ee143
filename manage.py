#!/usr/bin/env python
"""Every command of memoryweb: `python manage.py help`."""

import sys

from memoryweb import SOURCE_COMMAND
from memoryweb.__main__ import run

if __name__ == "__main__":
    run(sys.argv[1:], SOURCE_COMMAND)
