"""All models, by topic."""

from dreams.models.config import LoginLink, LoginSession, Override, Policy
from dreams.models.decisions import AppliedBatch, AppliedFile, AuditEntry, Decision, LeftOut
from dreams.models.dreams import DreamLog, DreamRun, DreamSession, Turn, WorkStep, WorkText
from dreams.models.hosts import Host, HostRequest
from dreams.models.inbox import Channel, FeedToken, Snooze
from dreams.models.jobs import JobRun, ScheduledJob
from dreams.models.memories import COUNTED_MEMORIES, Blob, InstructionText, Memory, Purge, SearchText, Version
from dreams.models.projects import GateEvaluation, LockHold, Project, TranscriptFolder
from dreams.models.proposals import Evidence, FileChange, Finding, Hunk, LedgerEntry, Operation, Proposal
from dreams.models.questions import Card, Question, QuestionOption
from dreams.models.sessions import (
    COUNTED_SESSIONS,
    HiddenPrompt,
    HistoryFile,
    HistoryPrompt,
    MemoryWrite,
    NotesRequest,
    OpenEnd,
    Prompt,
    RequestUsage,
    SaidAgain,
    Session,
    SessionNotes,
    TranscriptFile,
)
from dreams.models.usage import DreamUsage, ModelRequest, Price, SetAside
