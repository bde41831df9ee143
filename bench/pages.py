"""Server time, queries and weight of every page, with few rows and with very many, side by side in one run.

`python bench/pages.py [--sessions 100000] [--memories 10000] [--dreams 10000]` fills two databases in a temporary
directory, one with a hundredth of the rows, and asks each page of both. A page that does more queries as rows grow is
named, and the run then ends with exit 1. Times are medians of five, with Django's own test client (no network).
"""

from __future__ import annotations

import argparse
import datetime as dt
import gzip
import hashlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RUNS = 5
SMALL = 100  # the small database has this fraction
CHUNK = 2_000
WORDS = [
    "deploy",
    "staging",
    "database",
    "tests",
    "review",
    "index",
    "session",
    "memory",
    "release",
    "cache",
    "token",
]


# --- Filling ------------------------------------------------------------------------------------------------------


def fill(sessions: int, memories: int, dreams: int) -> None:
    """Rows through the ORM, in bulk. One project in ten has most of everything, as with people."""
    from django.utils import timezone

    from dreams import auditlog
    from dreams.hosts import host
    from dreams.models import Project

    random.seed(7)
    now = timezone.now()
    count = max(3, memories // 40)
    projects = Project.objects.bulk_create(
        Project(
            host=host(),
            memory_dir=f"/nowhere/.claude/projects/-p{n}/memory",
            slug=f"-p{n}",
            name=f"project {n}",
            root="/nowhere/.claude",
            history_key=f"bench{n}",
            last_session_at=now - dt.timedelta(minutes=n),
        )
        for n in range(count)
    )
    fill_sessions(projects, sessions, now)
    fill_memories(projects, memories, now)
    fill_dreams(projects, dreams, now)
    for number in range(min(2_000, dreams)):
        auditlog.record("setting.changed", actor="owner", object_id="paused", was=None, now=bool(number % 2))


def share(projects: list[Any], number: int) -> Any:
    """The first project gets a tenth of everything, the rest is spread."""
    return projects[0] if number % 10 == 0 else projects[number % len(projects)]


def chunks(rows: Iterator[Any], model: Any) -> list[Any]:
    made: list[Any] = []
    batch: list[Any] = []
    for row in rows:
        batch.append(row)
        if len(batch) == CHUNK:
            made += model.objects.bulk_create(batch)
            batch = []
    return made + model.objects.bulk_create(batch)


def fill_sessions(projects: list[Any], count: int, now: dt.datetime) -> None:
    from dreams.models import Prompt, RequestUsage, Session

    def session(number: int) -> Any:
        at = now - dt.timedelta(minutes=7 * number)
        return Session(
            project=share(projects, number),
            session_id=f"{number:08d}",
            path=f"/nowhere/.claude/projects/-p/{number}.jsonl",
            title=f"Session {number} about {random.choice(WORDS)}",
            touched_at=at,
            last_at=at,
            started_at=at - dt.timedelta(minutes=5),
            size=10_000,
            lines=100,
            user_turns=4,
            assistant_turns=20,
        )

    made = chunks((session(n) for n in range(count)), Session)
    chunks(
        (
            RequestUsage(
                key=2 * n + k,
                message_key=2 * n + k,
                session=one,
                model="claude-sonnet-5-5" if k else "claude-haiku-5-5",
                at=one.last_at,
                input_tokens=100,
                output_tokens=50,
                cache_read_tokens=5_000,
            )
            for n, one in enumerate(made)
            for k in range(2)
        ),
        RequestUsage,
    )
    chunks(
        (
            Prompt(
                key=n,
                session=one,
                offset=10,
                line_no=1,
                at=one.last_at,
                text=f"please look at the {WORDS[n % len(WORDS)]}",
            )
            for n, one in enumerate(made)
        ),
        Prompt,
    )


def fill_memories(projects: list[Any], count: int, now: dt.datetime) -> None:
    from dreams.models import Blob, Memory, Version

    def text(number: int, version: int) -> bytes:
        body = "\n".join(f"- {' '.join(random.sample(WORDS, 6))} {number}.{k}" for k in range(20))
        return f"---\nname: Note {number}\ndescription: {WORDS[number % len(WORDS)]}\ntype: project\n---\n\n{body}\n{version}\n".encode()

    rows, blobs, versions = [], [], []
    for number in range(count):
        data = [text(number, version) for version in range(2)]
        shas = [hashlib.sha256(one).hexdigest() for one in data]
        blobs += [Blob(sha256=s, data=d, size=len(d)) for s, d in zip(shas, data, strict=True)]
        rows.append(
            Memory(
                project=share(projects, number),
                path=f"note_{number}.md",
                type="project",
                name=f"Note {number}",
                sha256=shas[1],
                size=len(data[1]),
                lines=27,
                changed_at=now - dt.timedelta(hours=number),
            )
        )
        versions.append([(shas[0], 60), (shas[1], 1)])
    chunks(iter(blobs), Blob)
    made = chunks(iter(rows), Memory)
    chunks(
        (
            Version(
                memory=memory,
                sha256=sha,
                size=600,
                at=now - dt.timedelta(days=days),
                origin=Version.Origin.FOUND if days == 60 else Version.Origin.OUTSIDE,
            )
            for memory, states in zip(made, versions, strict=True)
            for sha, days in states
        ),
        Version,
    )


def fill_dreams(projects: list[Any], count: int, now: dt.datetime) -> None:
    from dreams.models import DreamRun, FileChange, GateEvaluation, Hunk, Proposal, Turn

    states = [DreamRun.Status.COMPLETED] * 8 + [DreamRun.Status.FAILED, DreamRun.Status.KILLED]

    def dream(number: int) -> Any:
        at = now - dt.timedelta(hours=number)
        return DreamRun(
            project=share(projects, number),
            status=states[number % 10],
            engine="anthropic" if number % 3 else "rules",
            model="claude-sonnet-5-5" if number % 3 else "",
            trigger=DreamRun.Trigger.SCHEDULE,
            started_at=at,
            ended_at=at + dt.timedelta(seconds=90),
            told_at=now if number > 20 else None,
            input_tokens=10_000,
            output_tokens=2_000,
        )

    made = chunks((dream(n) for n in range(count)), DreamRun)
    # auto_now_add gave all of them this moment.
    for start in range(0, len(made), CHUNK):
        batch = made[start : start + CHUNK]
        for row in batch:
            row.created_at = row.started_at
        DreamRun.objects.bulk_update(batch, ["created_at"])
    chunks(
        (
            Turn(dream=one, number=k, phase="gather", text="Looking.", at=one.started_at)
            for one in made
            for k in range(2)
        ),
        Turn,
    )
    proposals = chunks(
        (
            Proposal(
                project=one.project,
                dream=one,
                origin=Proposal.Origin.DREAM,
                state=Proposal.State.APPLIED,
                summary="Tidied.",
                closed_at=now,
            )
            for one in made
            if one.status == DreamRun.Status.COMPLETED
        ),
        Proposal,
    )
    for number, project in enumerate(projects[: max(3, len(projects) // 4)]):
        open_one = Proposal.objects.create(
            project=project, origin=Proposal.Origin.DREAM, summary="To look at.", dream=None
        )
        proposals.append(open_one)
        del number
    files = chunks(
        (
            FileChange(proposal=one, path=f"note_{n}.md", kind=FileChange.Kind.MODIFY, memory_type="project")
            for n, one in enumerate(proposals)
        ),
        FileChange,
    )
    chunks(
        (
            Hunk(file=file, hunk_id=f"h{n}", number=0, base_start=1, base_count=1, new_start=1, new_count=1)
            for n, file in enumerate(files)
        ),
        Hunk,
    )
    chunks(
        (
            GateEvaluation(
                project=project,
                at=now - dt.timedelta(hours=k),
                open=False,
                fingerprint=f"f{k}",
                results=[
                    {"name": "time", "passed": False, "reason": "Too soon.", "opens_at": now.isoformat()}
                ],
            )
            for project in projects
            for k in range(10)
        ),
        GateEvaluation,
    )


# --- Asking -------------------------------------------------------------------------------------------------------


def addresses() -> dict[str, str]:
    """Every page, of the project that has most."""
    from dreams.models import DreamRun, Memory, Project, Proposal, Session

    project = Project.objects.get(slug="-p0")
    memory = Memory.objects.filter(project=project).earliest("pk")
    session = Session.objects.filter(project=project).earliest("pk")
    dream = DreamRun.objects.filter(project=project).earliest("pk")
    proposal = Proposal.objects.filter(project=project, state="open").latest("pk")
    mine = f"/projects/{project.pk}"
    return {
        "inbox": "/",
        "pulse": "/pulse/",
        "projects": "/projects/",
        "project": f"{mine}/",
        "project: memories": f"{mine}/?show=memories",
        "project: sessions": f"{mine}/?show=sessions",
        "project: timeline": f"{mine}/?show=timeline",
        "project: by whom": f"{mine}/?show=timeline&who=-system",
        "directory at a moment": f"{mine}/at/",
        "between two moments": f"{mine}/between/?a=2000-01-01",
        "bring back": f"{mine}/at/restore/?when=2000-01-01",
        "recall": f"{mine}/recall/?q=deploy+database",
        "secrets": f"{mine}/secrets/",
        "project settings": f"{mine}/settings/",
        "memory": f"/memories/{memory.pk}/",
        "memory: blame": f"/memories/{memory.pk}/blame/",
        "memory: compare": f"/memories/{memory.pk}/compare/",
        "session": f"/sessions/{session.pk}/",
        "search": "/search/?q=deploy",
        "search, rare": "/search/?q=note+7",
        "dreams": "/dreams/",
        "dreams, last page": "/dreams/?page=last",
        "dream": f"/dreams/{dream.public_id}/",
        "review": f"/review/{proposal.public_id}/",
        "usage": "/usage/",
        "audit": "/audit/",
        "settings": "/settings/",
        "engines": "/engines/",
        "health": "/health/",
    }


def ask() -> dict[str, dict[str, float]]:
    """Page → milliseconds, queries, bytes compressed, status."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from dreams.login import ensure_owner
    from dreams.search import index

    index.catch_up(600)
    client = Client(HTTP_HOST="127.0.0.1:8765", SERVER_PORT="8765")
    client.force_login(ensure_owner())
    found = {}
    for name, address in addresses().items():
        client.get(address)
        times = []
        for _ in range(RUNS):
            start = time.perf_counter()
            response = client.get(address)
            times.append(time.perf_counter() - start)
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        body = b"".join(response) if response.streaming else response.content
        found[name] = {
            "ms": statistics.median(times) * 1000,
            "queries": len(queries),
            "bytes": len(gzip.compress(body)) + linked_bytes(body.decode()),
            "status": response.status_code,
        }
    return found


def linked_bytes(page: str) -> int:
    """Styles and scripts that the page loads, compressed as they are served."""
    from django.conf import settings

    names = set(re.findall(r'(?:href|src)="/static/([^"]+\.(?:css|js))"', page))
    return sum(len(gzip.compress((Path(settings.STATIC_ROOT) / name).read_bytes())) for name in names)


def child(folder: Path, counts: list[int]) -> dict[str, dict[str, float]]:
    """Its own process, as settings name one database."""
    environment = os.environ | {
        "MEMORYWEB_DATA_DIR": str(folder),
        "MEMORYWEB_ROOTS": str(folder / "root"),
        "HOME": str(folder),
        "DJANGO_SETTINGS_MODULE": "memoryweb.settings",
    }
    line = [sys.executable, __file__, "--child", *map(str, counts)]
    done = subprocess.run(line, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def run_child(counts: list[int]) -> None:
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    from dreams import database
    from dreams.serving import assets

    database.ensure()
    assets.collect()
    fill(*counts)
    print(json.dumps(ask()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--dreams", type=int, default=10_000)
    parser.add_argument("--child", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_child(options.child)
        return 0
    counts = [options.sessions, options.memories, options.dreams]
    with tempfile.TemporaryDirectory(prefix="bench-pages-") as folder:
        few = child(Path(folder) / "few", [max(30, n // SMALL) for n in counts])
        many = child(Path(folder) / "many", counts)
    return tell(few, many, counts)


def tell(few: dict[str, dict[str, float]], many: dict[str, dict[str, float]], counts: list[int]) -> int:
    sizes = "{:,} sessions, {:,} memories, {:,} dreams".format(*counts)
    print(f"{sizes}, against a hundredth of each; medians of {RUNS}")
    print(f"  {'page':<24}{'few':>9}{'many':>10}{'ratio':>8}{'queries':>12}{'gzip':>10}")
    worse = []
    for name, big in many.items():
        small = few[name]
        grown = big["queries"] > small["queries"]
        worse += [name] if grown or big["status"] != 200 else []
        print(
            f"  {name:<24}{small['ms']:7.1f} ms{big['ms']:7.1f} ms{big['ms'] / small['ms']:7.1f}x"
            f"{small['queries']:6.0f} {big['queries']:4.0f}{big['bytes'] / 1000:8.1f} KB{'  MORE' if grown else ''}"
            f"{'' if big['status'] == 200 else '  status ' + str(int(big['status']))}"
        )
    if worse:
        print(f"More queries with more rows, or no page: {', '.join(worse)}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
