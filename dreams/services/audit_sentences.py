"""Turns audit log entries into sentences: who did what to which memory. The ids stay in the entry.

Sentences are made from the entries alone; the names are looked up for a page at once, with ids for things that no longer exist.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from dreams import conf
from dreams.engines import versions
from dreams.lib import memdir
from dreams.lib.files.text import joined, plural
from dreams.lib.locks import LOCK_NAME
from dreams.lib.secrets.forms import spoken
from dreams.models import AuditEntry, FileChange, HostRequest, Memory, Proposal, Question
from dreams.services.auditlog import ACTIONS
from dreams.services.inbox.snoozing import QUESTIONS_KEY
from dreams.services.policies import earned
from dreams.services.proposals import decisions, undos

SYSTEM = "memoryweb"
POLICY = "policy"
_Say = Callable[["Sentences", AuditEntry], str]
MOST_NAMED = 2  # in one sentence; chosen
_OUTCOME = {"auto": "applied without asking", "review": "reviewed by a person"}


@dataclass(frozen=True, slots=True)
class Sentences:
    """The names for the entries of one page, from a few queries. `you` is the reader; `redos` are proposals that undo an undo."""

    you: str = ""
    titles: Mapping[tuple[int, str], str] = field(default_factory=dict)
    paths: Mapping[str, Sequence[str]] = field(default_factory=dict)
    answers: Mapping[tuple[str, str], str] = field(default_factory=dict)
    redos: Collection[str] = ()

    @classmethod
    def of(cls, entries: Sequence[AuditEntry], you: str = "") -> "Sentences":
        wanted = {entry.object_id for entry in entries if entry.object_id}
        paths: dict[str, list[str]] = {}
        files = FileChange.objects.filter(proposal__public_id__in=wanted)
        # Sorted here, as databases sort names differently.
        for name, path in sorted(files.values_list("proposal__public_id", "path"), key=itemgetter(1)):
            paths.setdefault(name, []).append(path)
        answers: dict[tuple[str, str], str] = {}
        asked = Question.objects.filter(public_id__in=wanted)
        for name, places, option, label in asked.values_list(
            "public_id", "places", "options__option_id", "options__label"
        ):
            paths[name] = list(dict.fromkeys(p["path"] for p in places if not p.get("session")))
            answers[name, option] = label
        named = {path for found in paths.values() for path in found}
        named |= {path for entry in entries for path in _paths_in(entry)}
        projects = {entry.project_id_was for entry in entries}
        rows = Memory.objects.filter(project__in=projects - {None}, path__in=named)
        titles = {
            (pk, path): title for pk, path, title in rows.values_list("project", "path", "name") if title
        }
        back = Proposal.objects.filter(public_id__in=wanted, undoes__isnull=False)
        turned = dict(back.values_list("pk", "public_id"))
        return cls(you, titles, paths, answers, {turned[pk] for pk in undos.redos(turned)})

    def sentence(self, entry: AuditEntry) -> str:
        """One sentence, with a capital (except our own name) and a full stop."""
        if entry.action not in ACTIONS:
            return f"{self.who(entry)}: {entry.action} {entry.object_id}".strip()
        text = ACTIONS[entry.action][1].format_map(_Words(self, entry)).strip()
        reason = str(entry.data.get("reason") or "") if entry.action in _WITH_REASON else ""
        command = ", by command" if entry.data.get("by_command") else ""
        why = f" Reason: {reason.rstrip('.')}." if reason else ""
        begins = text if text.startswith(SYSTEM) else f"{text[:1].upper()}{text[1:]}"
        return f"{begins}{command}.{why}"

    def who(self, entry: AuditEntry) -> str:
        if not entry.actor:
            return SYSTEM
        if entry.actor == POLICY:
            return "a policy"
        return "you" if entry.actor == self.you else entry.actor

    def memories(self, entry: AuditEntry, paths: Iterable[str] = ()) -> str:
        """ "“Commit style”, “Deploys”, 3 more memories and the index": those at `paths`, else those of its proposal or question."""
        found = list(dict.fromkeys(paths)) or list(self.paths.get(entry.object_id, ()))
        found = [path for path in found if path != LOCK_NAME]  # it belongs to a folder that is undone
        if not found:
            return ""
        # The index last, as it follows the memories.
        found.sort(key=memdir.is_index)
        names = [self.title(entry, path) for path in found[:MOST_NAMED]]
        indexes = [path for path in found[MOST_NAMED:] if memdir.is_index(path)]
        if more := max(0, len(found) - MOST_NAMED - len(indexes)):
            names.append(plural(more, "more memory", "more memories"))
        return joined(names + [self.title(entry, path) for path in indexes[:MOST_NAMED]])

    def title(self, entry: AuditEntry, path: str) -> str:
        folder, _, name = path.rpartition("/")
        if name == memdir.INDEX_NAME:
            return f"the index of {folder}" if folder else "the index"
        title = self.titles.get((entry.project_id_was or 0, path))
        return f"“{title}”" if title else path


def _paths_in(entry: AuditEntry) -> list[str]:
    """The files named in an entry."""
    data = entry.data
    if entry.action == "memory.secrets_shown":
        return [entry.object_id]
    files = data.get("files", [])
    listed = sorted(files) if isinstance(files, dict) else [each[0] for each in _lists(files)]
    return listed + [each[0] for each in _lists(data.get("hunks"))] + [p for p in [data.get("path")] if p]


def _lists(value: object) -> list[list[Any]]:
    return [each for each in value if isinstance(each, list) and each] if isinstance(value, list) else []


def _in(entry: AuditEntry, word: str = "in") -> str:
    return f" {word} {entry.project_label}" if entry.project_label else ""


def _to(s: Sentences, entry: AuditEntry, paths: Iterable[str] = ()) -> str:
    """ " to Commit style in acme-api", or only the project if no memory is known."""
    named = s.memories(entry, paths)
    return f" to {named}{_in(entry)}" if named else _in(entry)


@dataclass(frozen=True, slots=True)
class _Words:
    """What the sentences of `ACTIONS` may name; each is made only where it is named."""

    sentences: Sentences
    entry: AuditEntry

    def __getitem__(self, word: str) -> str:
        return _WORDS[word](self.sentences, self.entry)


def _logins_ended(s: Sentences, entry: AuditEntry) -> str:
    number = plural(int(entry.data.get("count") or 1), "login")
    return f"{s.who(entry)} ended {number} of {'their own' if entry.object_id == entry.actor else entry.object_id}"


def _role(s: Sentences, entry: AuditEntry) -> str:
    role = str(entry.data.get("role") or "person")
    what = f"{'an' if role == 'admin' else 'a'} {role}"
    if entry.action == "person.added":
        return f"{s.who(entry)} added {entry.object_id} as {what}"
    return f"{s.who(entry)} made {entry.object_id} {what} (before: {entry.data.get('was') or 'nothing'})"


def _requested(s: Sentences, entry: AuditEntry) -> str:
    skipping = ", skipping closed gates" if entry.data.get("forced") else ""
    did = f"{s.who(entry)} asked for a dream" if entry.actor else "a dream was requested automatically"
    return f"{did}{_in(entry)}{skipping}"


def _ended(s: Sentences, entry: AuditEntry) -> str:
    did = {"completed": "was completed", "failed": "failed", "killed": "was cancelled"}
    error = str(entry.data.get("error") or "").rstrip(".")
    status = str(entry.data.get("status", ""))
    return f"a dream{_in(entry)} {did.get(status, 'ended')}" + (f": {error}" if error else "")


def _proposed(s: Sentences, entry: AuditEntry) -> str:
    doers = {
        Proposal.Origin.DREAM: "a dream proposed changes",
        Proposal.Origin.ROLLBACK: "{who} prepared an undo of changes",
        Proposal.Origin.RESTORE: "{who} chose to restore an earlier version: changes",
        Proposal.Origin.EDIT: "{who} made changes by hand",
        Proposal.Origin.FORGET: "{who} chose to forget: changes",
        Proposal.Origin.REDACTION: "{who} asked to remove secrets: changes",
        Proposal.Origin.ANSWERS: "{who} answered questions: changes",
        Proposal.Origin.SUGGESTED: "{who} suggested a memory: changes",
        Proposal.Origin.COPIED: "{who} asked to copy memories from another project: changes",
        Proposal.Origin.CAUGHT: "something you said in a session was caught: changes",
    }
    origin = entry.data.get("origin")
    did = doers.get(origin, "{who} proposed changes").format(who=s.who(entry))
    if target := entry.data.get("moved_to"):
        way = f"to {target}" if origin == Proposal.Origin.FORGET else "here from another project"
        did = f"{s.who(entry)} chose to move a memory {way}: changes"
    if entry.object_id in s.redos:
        did = did.replace("an undo of", "a redo of")
    return did + _to(s, entry, _paths_in(entry))


def _decided(s: Sentences, entry: AuditEntry) -> str:
    verbs = {
        "approved": "approved",
        "rejected": "rejected",
        "edited": "edited",
        "pending": "undid the decision on",
    }
    hunks = _lists(entry.data.get("hunks"))
    number = "a change" if len(hunks) == 1 else plural(len(hunks), "change")
    return f"{s.who(entry)} {verbs.get(str(entry.data.get('verdict')), 'decided on')} {number}{_to(s, entry, _paths_in(entry))}"


def _written(s: Sentences, entry: AuditEntry) -> str:
    """Each file: added, changed or removed."""
    files = _lists(entry.data.get("files"))
    deeds: dict[str, list[str]] = {}
    for path, before, after in (file for file in files if len(file) == 3):
        deeds.setdefault("added" if not before else "changed" if after else "removed", []).append(path)
    said = [
        f"{deed} {s.memories(entry, deeds[deed])}"
        for deed in ("added", "changed", "removed")
        if deed in deeds
    ]
    return f"{s.who(entry)} {joined(said) if said else 'wrote nothing'}{_in(entry)}"


def _confirmed(s: Sentences, entry: AuditEntry) -> str:
    code = str(entry.data.get("code", ""))
    code = spoken(code) if "secret-" in code else code.replace("-", " ")
    return (
        f"{s.who(entry)} confirmed a finding" + (f" ({code})" if code else "") + f" on changes{_to(s, entry)}"
    )


def _answered(s: Sentences, entry: AuditEntry) -> str:
    verb = {
        "question.answered": "answered a question",
        "question.taken_back": "undid the answer to a question",
        "question.later": "put off a question",
    }[entry.action]
    named = s.memories(entry)
    answer = str(entry.data.get("answer") or "") if entry.action == "question.answered" else ""
    answer = s.answers.get((entry.object_id, answer)) or answer
    about = f" about {named}" if named else ""
    return f"{s.who(entry)} {verb}{about}{_in(entry)}" + (f" with “{answer}”" if answer else "")


def _set(s: Sentences, entry: AuditEntry) -> str:
    spec = conf.specs().get(entry.object_id)
    label = spec.label if spec else entry.object_id
    was, now = entry.data.get("was"), entry.data.get("now")
    whom = _in(entry, "for")
    if now is None:
        return f"{s.who(entry)} reset “{label}”{whom}"
    return f"{s.who(entry)} set “{label}” to {_value(now)}{whom}" + (
        f" (it was {_value(was)})" if was is not None else ""
    )


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:,.15g}"
    return f"“{value}”" if isinstance(value, str) else str(value)


def _policy(s: Sentences, entry: AuditEntry) -> str:
    operation, _, memory_type = entry.object_id.partition(" ")
    of_type = "any memory" if memory_type == "any" else f"{memory_type} memories"
    done = {"add": "additions to", "change": "changes to", "remove": "removals from"}.get(operation)
    what = f"{done} {of_type}" if done else decisions.kind_label(operation).lower()
    what = "cards that were caught" if operation == "catch" else what
    now = _OUTCOME.get(str(entry.data.get("now")))
    whom = _in(entry, "for")
    if now is None:
        return f"{s.who(entry)} removed the policy for {what}{whom}"
    return f"{s.who(entry)} set a policy{whom}: {what} are {now}"


def _earned(s: Sentences, entry: AuditEntry) -> str:
    what = f"{decisions.kind_label(entry.object_id).lower()} from {versions.maker_name(str(entry.data.get('maker', '')))}"
    if entry.action == "policy.earned":
        return f"{s.who(entry)} let {what} be applied without asking, after {plural(int(entry.data.get('decisions', 0)), 'approval')}"
    if entry.action == "policy.declined":
        return f"{s.who(entry)} declined to have {what} applied without asking"
    if entry.data.get("by_itself"):
        did = "refused" if str(entry.data.get("why")).endswith(earned.REFUSED) else "undid"
        return f"the earned policy for {what} ended, because {s.who(entry)} {did} one"
    return f"{s.who(entry)} ended the earned policy for {what}"


def _snoozed(s: Sentences, entry: AuditEntry) -> str:
    until = str(entry.data.get("until") or "")
    when = f"until {until[:10]}" if until else "until the next dream"
    return f"{s.who(entry)} snoozed {_waiting(s, entry)} {when}"


def _waiting(s: Sentences, entry: AuditEntry) -> str:
    if label := str(entry.data.get("label") or ""):
        return f"the job “{label}”"
    if entry.object_id == QUESTIONS_KEY:
        return "all questions"
    return f"changes{to}" if (to := _to(s, entry)) else entry.object_id


def _job(s: Sentences, entry: AuditEntry) -> str:
    verb = {"job.added": "added", "job.removed": "removed", "job.started": "started"}[entry.action]
    label, when = str(entry.data.get("label") or ""), str(entry.data.get("when") or "")
    named = f"the job “{label}”" if label else "a job"
    return f"{s.who(entry)} {verb} {named}" + (f", {when}" if when else "")


def _asked_elsewhere(s: Sentences, entry: AuditEntry) -> str:
    labels = {deed.value: deed.label.lower() for deed in HostRequest.Deed}
    deed = labels.get(str(entry.data.get("deed")), "do something")
    verb = "asked" if entry.action == "request.asked" else "no longer asks"
    return f"{s.who(entry)} {verb} {entry.data.get('host') or 'another host'} to {deed}{_in(entry)}"


#: Actions whose reason a person typed.
_WITH_REASON = frozenset(
    {
        "review.decided",
        "review.second_refused",
        "apply.done",
        "rollback.done",
        "history.purged",
        "audit.cut_known",
    }
)


def _cut(page: Sentences, entry: AuditEntry) -> str:
    first, last = int(entry.data.get("left", 0)) + 1, entry.data.get("last_number", "the newest")
    missing = f"entry {first} was" if first == last else f"entries {first} to {last} were"
    return f"memoryweb found the audit log cut off: {missing} missing"


def _number(value: object, one: str) -> str:
    """A number, or that of the things in a list."""
    return plural(len(value) if isinstance(value, list | dict) else int(str(value or 0)), one)


_WORDS: Mapping[str, _Say] = {
    "who": Sentences.who,
    "in": lambda s, entry: _in(entry),
    "of": lambda s, entry: _in(entry, "of"),
    "to": lambda s, entry: _to(s, entry, _paths_in(entry)),
    "id": lambda s, entry: entry.object_id,
    "memory": lambda s, entry: s.title(entry, entry.object_id),
    "files": lambda s, entry: s.memories(entry, _paths_in(entry)) or "a file",
    "error": lambda s, entry: str(entry.data.get("error") or "the files changed meanwhile").rstrip("."),
    "with_a": lambda s, entry: f" with a {by}" if (by := entry.data.get("by")) else "",
    "trusts": lambda s, entry: "trusted" if entry.data.get("now") else "no longer trusts",
    "undid": lambda s, entry: "redid" if entry.object_id in s.redos else "undid",
    "waiting": _waiting,
    "things": lambda s, entry: _number(entry.data.get("told"), "thing"),
    "versions": lambda s, entry: _number(entry.data.get("versions"), "version"),
    "plans": lambda s, entry: _number(entry.data.get("plans"), "write"),
    "texts": lambda s, entry: _number(entry.data.get("replaced"), "kept text"),
    "nothing_kept": lambda s, entry: (
        ", with everything rejected" if entry.data.get("state") == Proposal.State.REJECTED else ""
    ),
    "logins_ended": _logins_ended,
    "role": _role,
    "requested": _requested,
    "ended": _ended,
    "proposed": _proposed,
    "decided": _decided,
    "confirmed": _confirmed,
    "answered": _answered,
    "written": _written,
    "set": _set,
    "policy": _policy,
    "earned": _earned,
    "snoozed": _snoozed,
    "job": _job,
    "asked_elsewhere": _asked_elsewhere,
    "cut": _cut,
}
