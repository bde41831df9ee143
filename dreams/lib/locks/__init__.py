"""The consolidation lock: the agent's own protocol, so that it and we see each other, made safe between our processes.

    taken = acquire(memory_dir, process.current(), now, before_write=save)
    if isinstance(taken, Held):
        with taken, Heartbeat(taken) as beat:
            …  # and check `beat.lost` now and then
            taken.release_completed(now)   # without this line, leaving the block rewinds

`lockfile` reads and writes the file, and finds its holder · `acquiring` takes it, and repairs it after a crash ·
`held` keeps it fresh and releases it. No Django; POSIX only.
"""

from dreams.lib.locks.acquiring import Busy, Healing, LockFact, acquire, heal, status
from dreams.lib.locks.held import Heartbeat, Held, LockLost, LockRecord
from dreams.lib.locks.lockfile import LOCK_NAME, LockFileError, last_consolidated_ns, plain_mtime_ns
