#!/usr/bin/env python
"""Every command of memoryweb: `python manage.py help`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    if sys.argv[1:3] == ["hook", "session-end"]:
        from memoryweb import session_hook

        session_hook.run()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit("Django is not installed here. Run `make install`, then use .venv/bin/python manage.py.")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"memoryweb cannot start: {error}")


if __name__ == "__main__":
    main()
