# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""TCP ports on which the programs under test exchange their addresses."""

import random

from .process import until

LISTEN = '0A'
FIRST_PORT, LAST_PORT = 20000, 32000    # below the ephemeral range
_next_port = random.randint(FIRST_PORT, LAST_PORT)


def ports_in(pid, states=None):
    """The local TCP ports in use in the network namespace of `pid`."""
    found = set()
    for table in ('tcp', 'tcp6'):
        try:
            with open(f'/proc/{pid}/net/{table}', encoding='ascii') as f:
                rows = f.read().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            fields = row.split()
            if states is None or fields[3] in states:
                found.add(int(fields[1].rsplit(':', 1)[1], 16))
    return found


def free_port():
    """A port that nobody uses here; in a fresh namespace any is free, and
    going upwards does not meet the last run's connections."""
    global _next_port       # pylint: disable=global-statement
    used = ports_in('self')
    while True:
        _next_port += 1
        if _next_port > LAST_PORT:
            _next_port = FIRST_PORT
        if _next_port not in used:
            return _next_port


def wait_listening(process, port, timeout):
    """Waits until something in the namespace of `process` listens on `port`.
    False when the time is over or the process has ended before that."""
    return bool(until(lambda: port in ports_in(process.pid, {LISTEN}),
                      timeout, process))
