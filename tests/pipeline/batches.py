"""Runs a `--batch` command as a process of its own, and sees that it leaves no database behind."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[2]


def run_batch(data_dir: Path, command: str, *lines: str) -> list[dict[str, Any]]:
    environment = dict(os.environ, MEMORYWEB_DATA_DIR=str(data_dir))
    environment.pop("DATABASE_URL", None)
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, "manage.py", command, "--batch"],
        cwd=PROJECT,
        env=environment,
        input="\n".join(lines).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert not list(data_dir.rglob("*sqlite*"))
    return [json.loads(line) for line in done.stdout.splitlines()]
