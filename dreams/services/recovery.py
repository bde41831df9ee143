"""Recovers after a crash: finishes or undoes applies, cleans histories, restores locks, ends lost dreams.

Runs at every start of `serve` and by command. Needs no network and no model. If one step fails, the others still run.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from django.conf import settings

from dreams.lib.files import flush, workspace
from dreams.lib.storage import history, journal
from dreams.services import secret_purge
from dreams.services.apply import writing
from dreams.services.memories import exports, syncing
from dreams.services.scheduling import scheduler

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Recovery:
    """What was done, and what failed (with the reason), one line each."""

    applies: list[str] = field(default_factory=list)
    histories: list[str] = field(default_factory=list)
    dreams: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def said(self) -> list[str]:
        return [*self.applies, *self.histories, *self.dreams, *self.problems]


def recover() -> Recovery:
    """Recovers everything in this data directory. Safe at any time, even while dreams run."""
    found = Recovery()
    _try(found, "interrupted applies", partial(_applies, found))
    for path in syncing.history_paths():
        _try(found, f"the history {path.name}", partial(_history, path, found))
    _try(found, "imports", lambda: found.histories.extend(exports.recover()))
    _try(found, "purges", lambda: found.histories.extend(secret_purge.resume()))
    _try(found, "scratch copies", lambda: workspace.remove_abandoned(settings.DATA_DIR))
    _try(found, "locks and dreams", lambda: found.dreams.extend(_dreams()))
    return found


def _applies(found: Recovery) -> None:
    ended, waiting = writing.recovered()
    found.applies.extend(ended)
    found.problems.extend(waiting)


def _history(path: Path, found: Recovery) -> None:
    with history.HistoryStore(path) as store:
        found.histories.extend(f"{path.name}: {line}" for line in store.recover())


def _dreams() -> list[str]:
    report = scheduler.repair()
    return [f"{dream} had lost its worker and has been ended." for dream in report.lost] + report.healed


def _try(found: Recovery, what: str, do: Callable[[], None]) -> None:
    try:
        do()
    except journal.JournalBusy:
        found.problems.append("Changes are being applied right now. Run `recover` again later.")
    except history.HistoryBusy as error:
        found.problems.append(f"{what}: {error}")
    except Exception as error:
        log.exception("recovering %s", what)
        why = f"{str(error).rstrip('.')}. `verify` says what is damaged."
        if isinstance(error, OSError) and error.errno:
            why = flush.refusal(error, "")
        found.problems.append(f"{what} could not be recovered: {why}")
