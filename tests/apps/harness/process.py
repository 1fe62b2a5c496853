# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One program run by a test: its output goes to files (so that nobody blocks
on a pipe), its end is awaited by pidfd, and it is ended by its own pid."""

import os
import select
import signal
import subprocess
import time


class Process:
    """A started program. `stem` is the path its output files begin with."""

    def __init__(self, argv, stem, env=None, cwd=None):
        self.argv = argv
        self.stem = stem
        with open(stem + '.out', 'wb') as out, \
                open(stem + '.err', 'wb') as err:
            self.popen = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                env=env, cwd=cwd, start_new_session=True)
        self.pid = self.popen.pid
        self.pidfd = os.pidfd_open(self.pid)

    def wait(self, timeout):
        """The exit code, or None when it still runs after `timeout` s."""
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        if self.popen.returncode is None and not poll.poll(timeout * 1000):
            return None
        return self.popen.wait()

    def running(self):
        return self.wait(0) is None

    def signal(self, number):
        """Signals the program itself, if it still runs."""
        if self.running():
            signal.pidfd_send_signal(self.pidfd, number)

    def end(self, patience=3):
        """Asks the program to end, then ends it; returns its exit code.
        What it left behind in its session goes with it."""
        self.signal(signal.SIGTERM)
        if self.wait(patience) is None:
            self.signal(signal.SIGKILL)
            self.popen.wait()
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        return self.popen.returncode

    def close(self):
        if self.pidfd >= 0:
            self.end(0.5)
            os.close(self.pidfd)
            self.pidfd = -1

    def output(self):
        return read_text(self.stem + '.out')

    def errors(self):
        return read_text(self.stem + '.err')

    def tail(self, lines=12):
        """The last lines of both outputs, to show beside a failure."""
        text = (self.output() + self.errors()).splitlines()
        return [' '.join(self.argv)] + ['  ' + t for t in text[-lines:]]


def read_text(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        return f.read()


def until(condition, timeout, process=None, interval=0.002):
    """Looks at `condition` until it gives a true value, which is returned;
    None after `timeout` s, or as soon as `process` has ended without it."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            return None
        if process is None:
            select.select([], [], [], interval)
        elif process.wait(interval) is not None:
            return condition() or None
