"""A large proposal with every kind of change that the review page must show well.

Added, removed, renamed and moved; index rows, frontmatter, tables, fences, long paragraphs, other scripts; operations
over several files, findings of each severity, evidence of each source.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from django.utils import timezone

from dreams.engines import drafts
from dreams.engines.types import Citation, Edit, Fate, OperationKind
from dreams.lib.files import workspace
from dreams.models import DreamRun, DreamSession, Project, Proposal
from dreams.services import proposals
from dreams.services.memories import syncing
from tests.world import directory as world, review as desk, rows


def memory(name: str, kind: str, body: str, description: str = "") -> str:
    said = f"description: {description}\n" if description else ""
    return f"---\nname: {name}\n{said}type: {kind}\n---\n\n{body}"


PARAGRAPH = (
    "The importer reads the supplier's nightly file, drops the rows without a price, and writes the rest to the "
    "staging table in batches of 500. When a batch fails it is retried twice with a pause of ten seconds, and then "
    "the whole file is put aside under `failed/` with a note that says which row was at fault. Nobody is paged for "
    "a single file; two in a row ring the on-call phone, because that has always meant that the supplier changed "
    "the format without telling us.\n"
)
PARAGRAPH_AFTER = (
    PARAGRAPH.replace("batches of 500", "batches of 2,000")
    .replace("retried twice with a pause of ten seconds", "retried once after a minute")
    .replace("two in a row ring the on-call phone", "three in a row ring the on-call phone")
)
DEPLOY = (
    "# Deploying\n\nThe API runs on host alpha, the workers on beta.\n\n"
    "```sh\nmake build\nmake push TAG=latest\nssh alpha deploy\n```\n\n"
    "| Host | Role | Region |\n|---|---|---|\n| alpha | api | fra |\n| beta | workers | fra |\n\n"
    "- Never deploy on a Friday after noon.\n- Roll back with `make rollback`; it takes about two minutes.\n"
    "- The health page turns green within a minute, else roll back.\n"
)
DEPLOY_AFTER = (
    DEPLOY.replace("TAG=latest", "TAG=$(git rev-parse --short HEAD)")
    .replace("| beta | workers | fra |", "| beta | workers | fra |\n| gamma | workers | ams |")
    .replace("- Never deploy on a Friday after noon.\n", "")
)
RULES = (
    "# House rules\n\n- Commit messages say why, not what.\n- One pull request, one purpose.\n"
    "- Tests are named after what they show.\n- Flaky tests are fixed or deleted within a week.\n"
)
RULES_AFTER = RULES.replace(
    "- One pull request, one purpose.\n",
    "- One pull request, one purpose.\n- Never deploy on a Friday after noon.\n",
).replace(
    "- Commit messages say why, not what.\n- One pull request, one purpose.\n",
    "- One pull request, one purpose.\n- Commit messages say why, not what.\n",
)
KOREAN = (
    "# 말투\n\n사용자는 짧고 분명한 답을 좋아한다. 코드 주석은 영어로, 설명은 한국어로 쓴다.\n\n"
    "- 회의는 매주 화요일 오전 열 시에 한다.\n- 배포 공지는 슬랙 #release 채널에 올린다.\n"
)
KOREAN_AFTER = KOREAN.replace("화요일 오전 열 시", "수요일 오후 두 시")
ONCALL = (
    "# On call\n\nThe rota is in the wiki; swaps are agreed in the channel and written there by hand.\n\n"
    "Pages between midnight and six are looked at in the morning unless the API itself is down.\n"
)
ONCALL_AFTER = ONCALL.replace("written there by hand", "written there by the bot") + (
    "\nWho is on call is in the topic of #ops.\n"
)
GRAFANA = (
    "# Dashboards\n\nStart at [latency](https://grafana.example/d/old-board), then [queues](queues.md).\n\n"
    "The p99 panel lies while a deploy runs.\n"
)
QUEUES = (
    "# Queues\n\n"
    + "".join(
        f"- Queue `q{n:02}` holds work of kind {n} and drains in about {n} minutes.\n" for n in range(1, 25)
    )
    + "\nA stuck queue is drained by hand with `queue drain NAME`.\n"
)
TWIN = "Flaky tests are fixed within a week, or deleted.\n\nSnapshot files are never edited by hand.\n"
STALE = "# Trial of the new editor\n\nWe try the new editor until the end of March 2024.\n\nAsk Dana how it went.\n"
SECRETIVE = "# Access\n\nThe staging console is behind the VPN.\n"
HIDDEN = "# Taste\n\nWorks on the API\u200b team.\nLikes short answers.\n"
TRAIN = (
    "# Release train\n\nReleases leave on Tuesdays at 10:00 UTC, from `main`, and never before a holiday.\n"
)
BILLING = (
    "# Billing\n\nInvoices are closed on the third working day. [[project_importer]] feeds the prices; "
    "see [[reference_queues]] for what waits.\n\n> Refunds above 500 need a second pair of eyes.\n"
)

# Small changes of one kind, in one folder.
TOPICS = 4
FILES: dict[str, str] = {
    "project_importer.md": memory("Importer", "project", PARAGRAPH, "How the nightly import works"),
    "project_deploy.md": memory("Deploy", "project", DEPLOY, "Where it runs"),
    "feedback_rules.md": memory("House rules", "feedback", RULES, "How we work"),
    "user_speech.md": memory("말투", "user", KOREAN, "말투와 약속"),
    "project_oncall.md": memory("On call", "project", ONCALL, "Who is called when"),
    "reference_dashboards.md": memory("Dashboards", "reference", GRAFANA, "Where to look first"),
    "reference_queues.md": memory("Queues", "reference", QUEUES, "What each queue holds"),
    "feedback_flaky.md": memory("Flaky tests", "feedback", TWIN, "Flaky tests"),
    "project_editor_trial.md": memory("Editor trial", "project", STALE, "A trial"),
    "reference_access.md": memory("Access", "reference", SECRETIVE, "Where the consoles are"),
    "user_taste.md": memory("Taste", "user", HIDDEN, "What you like"),
    **{
        f"topics/topic_{n:02}.md": memory(
            f"Topic {n}",
            "project",
            f"# Topic {n}\n\nNumber {n} is looked after by team {n % 4}.\n\nIt moved last month.\n",
        )
        for n in range(1, TOPICS + 1)
    },
}
ROWS = {
    "project_importer.md": "the nightly import",
    "project_deploy.md": "where it runs",
    "feedback_rules.md": "how we work",
    "user_speech.md": "말투와 약속",
    "project_oncall.md": "who is called when",
    "reference_dashboards.md": "where to look first",
    "reference_queues.md": "what each queue holds",
    "feedback_flaky.md": "flaky tests",
    "project_editor_trial.md": "a trial",
}


def row(path: str, hook: str) -> str:
    name = FILES[path].split("\n")[1].removeprefix("name: ") if path in FILES else path
    return f"- [{name}]({path}) — {hook}\n"


INDEX = "# Memory\n\n" + "".join(row(path, hook) for path, hook in ROWS.items())


@dataclass
class Story:
    """The dream's steps, and the resulting index."""

    said: Citation
    steps: list[Edit]
    index: str = INDEX

    def change(
        self,
        path: str,
        old: str,
        new: str,
        key: str,
        kind: OperationKind,
        why: str,
        *fates: Fate,
        said: bool = True,
    ) -> None:
        before = next((s.after for s in reversed(self.steps) if s.path == path), FILES.get(path))
        after = (before or "").replace(old, new) if old else new
        if after == before:
            raise ValueError(f"{old!r} does not stand in {path}")
        quotes = (self.said,) if said else ()
        self.steps.append(Edit(path, before, after, key, kind, why, quotes, fates))

    def remove(self, path: str, key: str, kind: OperationKind, why: str, *fates: Fate) -> None:
        self.steps.append(Edit(path, FILES[path], None, key, kind, why, (self.said,), fates))

    def reindex(self, old: str, new: str, key: str, why: str) -> None:
        after = self.index.replace(old, new) if old else self.index + new
        self.steps.append(Edit("MEMORY.md", self.index, after, key, "index", why))
        self.index = after


def tell(said: Citation) -> list[Edit]:
    """Adds the dream's edits, step by step."""
    story = Story(said, [])
    story.change("project_importer.md", PARAGRAPH, PARAGRAPH_AFTER, "batch", "update",
                 "You raised the batch size and the alarm on 3 March.")  # fmt: skip
    deploy, rules = FILES["project_deploy.md"], FILES["feedback_rules.md"]
    story.steps.append(Edit("project_deploy.md", deploy, deploy.replace(DEPLOY, DEPLOY_AFTER), "friday", "merge",
                            "The rule on Fridays is a house rule, no property of one host.", (said,),
                            (Fate("- Never deploy on a Friday after noon.", "kept-in", "feedback_rules.md",
                                  "- Never deploy on a Friday after noon."),)))  # fmt: skip
    story.steps.append(Edit("feedback_rules.md", rules, rules.replace(RULES, RULES_AFTER), "friday", "merge",
                            "The rule on Fridays is a house rule, no property of one host.", (said,)))  # fmt: skip
    story.change(
        "user_speech.md", KOREAN, KOREAN_AFTER, "meeting", "update", "The meeting moved to Wednesday."
    )
    old = FILES["project_oncall.md"]
    new = old.replace(ONCALL, ONCALL_AFTER).replace("name: On call", "name: On-call rota")
    story.steps.append(
        Edit(
            "project_oncall.md",
            old,
            None,
            "rename",
            "edit",
            "The file is named after what it holds.",
            (said,),
        )
    )
    story.steps.append(
        Edit(
            "project_oncall_rota.md",
            None,
            new,
            "rename",
            "edit",
            "The file is named after what it holds.",
            (said,),
        )
    )
    story.reindex(row("project_oncall.md", "who is called when"),
                  row("project_oncall.md", "who is called when").replace("On call", "On-call rota").replace("project_oncall.md", "project_oncall_rota.md"),
                  "rename", "Its file has another name.")  # fmt: skip
    story.change(
        "reference_dashboards.md",
        "/d/old-board",
        "/d/api-latency",
        "board",
        "update",
        "The board was replaced.",
    )
    story.change(
        "reference_dashboards.md",
        "(queues.md)",
        "(reference_queues.md)",
        "target",
        "index",
        "The file has another name.",
        said=False,
    )
    story.change("reference_queues.md", "description: What each queue holds", "description: What each queue holds, and how long it takes",
                 "front", "edit", "The description left out half of it.", said=False)  # fmt: skip
    story.change("reference_queues.md", "- Queue `q12` holds work of kind 12 and drains in about 12 minutes.\n", "", "q12", "prune",
                 "That queue was removed last week.", Fate("- Queue `q12` holds work of kind 12 and drains in about 12 minutes.", "stated", note="“q12 is gone since Monday”"))  # fmt: skip
    story.remove("feedback_flaky.md", "flaky", "merge", "Says the same as the house rules.",
                 Fate("Flaky tests are fixed within a week, or deleted.", "merged-into", "feedback_rules.md", "Flaky tests are fixed or deleted within a week."))  # fmt: skip
    story.reindex(row("feedback_flaky.md", "flaky tests"), "", "flaky", "Its file is merged.")
    story.remove("project_editor_trial.md", "trial", "prune", "The trial is over since March 2024.",
                 Fate("We try the new editor until the end of March 2024.", "stated", note="That day has passed."))  # fmt: skip
    story.reindex(row("project_editor_trial.md", "a trial"), "", "trial", "Its file is removed.")
    story.change(
        "user_taste.md",
        "short answers",
        "very short answers, in Korean where you can",
        "taste",
        "update",
        "You asked for it twice.",
    )
    story.change(
        "project_release_train.md",
        "",
        memory("Release train", "project", TRAIN, "When releases leave"),
        "train",
        "learn",
        "You said when releases leave.",
    )
    story.reindex(
        "",
        "- [Release train](project_release_train.md) — when releases leave\n",
        "train",
        "A row for the new memory.",
    )
    story.change(
        "project_billing.md",
        "",
        memory("Billing", "project", BILLING, "How invoices are closed"),
        "billing",
        "learn",
        "From the session on invoices.",
    )
    story.reindex(
        "",
        "- [Billing](project_billing.md) — how invoices are closed\n",
        "billing",
        "A row for the new memory.",
    )
    for n in range(1, TOPICS + 1):
        story.change(
            f"topics/topic_{n:02}.md",
            "It moved last month.",
            "It moved in February 2026.",
            f"date-{n}",
            "date",
            "“Last month” was February 2026.",
        )
    return story.steps


def make_project(folder: Path) -> Project:
    project = world.make_project(folder, {**FILES, "MEMORY.md": INDEX})
    Project.objects.filter(pk=project.pk).update(name="orchard")
    project.refresh_from_db()
    return project


def make_proposal(project: Project) -> Proposal:
    """18 files, with one finding of each severity besides those of the checks."""
    session = rows.make_session(project, "Prices of the new supplier")
    dream = rows.make_dream(project, DreamRun.Status.COMPLETED)
    DreamSession.objects.create(dream=dream, session=session, to_byte=4000)
    said = Citation(
        "transcript",
        "from now on 2,000 at a time, and only ring when it happens three nights in a row",
        place=session.path,
        session_pk=session.pk,
        line_no=88,
        offset=40_000,
        role="user",
        at=timezone.now() - dt.timedelta(days=4),
    )
    steps = tell(said)
    before = workspace.take(syncing.memory_dir(project)).contents()
    after = dict(before)
    for step in steps:
        if step.after is None:
            after.pop(step.path)
        else:
            after[step.path] = step.after.encode()
    origin = proposals.ProposalOrigin(
        Proposal.Origin.DREAM, summary="Tidied after nine sessions.", dream=dream
    )
    made = proposals.create(project, origin, drafts.draft(before, after, steps), before)
    made.findings.all().delete()
    desk.add_finding(
        made,
        "very short answers",
        "block",
        "The line above it holds an invisible character (U+200B).",
        "Look at what stands around it.",
    )
    desk.add_finding(made, "batches of 2,000", "warn", "“3 March” names no year.", "Name the year.")
    desk.add_finding(
        made, "Releases leave", "refuse", "It tells an agent to run a command at every start.", "Reject it."
    )
    desk.add_finding(made, "q12", "info", "The line was quoted by two other memories.")
    return made
