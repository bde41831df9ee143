"""The consolidation lock: the agent's own protocol, so that two dreamers see each other, made safe among ours.

    taken = acquire(memory_dir, process.current(), now, before_write=save)
    if isinstance(taken, Held):
        with taken, Heartbeat(taken) as beat:
            …  # and look at `beat.lost` now and then
            taken.release_completed(now)   # without this line, leaving the block rewinds

`lockfile` reads and writes the file, and says who holds it · `acquiring` takes it, and repairs what a crash left ·
`held` keeps it fresh and lets it go. No Django; POSIX only.
"""

from dreams.lib.locks.acquiring import Busy, Healing, LockFact, acquire, heal, status
from dreams.lib.locks.held import Heartbeat, Held, LockLost, LockRecord
from dreams.lib.locks.lockfile import LOCK_NAME, LockFileError, last_consolidated_ns, plain_mtime_ns
