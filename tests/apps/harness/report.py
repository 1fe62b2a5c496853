# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One line a case: `ok NAME`, `not ok NAME: reason`, `skip NAME: reason`."""

import sys
import time


class Failed(Exception):
    """A case's reason to fail; `details` are lines to show below it."""

    def __init__(self, reason, details=()):
        super().__init__(reason)
        self.details = details


class Skipped(Exception):
    pass


class Report:
    def __init__(self, only=(), stream=sys.stdout, log=None):
        """only: run just the cases whose name contains one of these; log: a
        record of the run (log.Log)."""
        self.only = only
        self.stream = stream
        self.log = log
        self.passed = self.skipped = 0
        self.failures = []
        self.began = time.monotonic()

    def wants(self, name):
        return not self.only or any(part in name for part in self.only)

    def case(self, name, function, *args, **named):
        """Runs one case, unless it is filtered out."""
        if not self.wants(name):
            return
        began = time.monotonic()
        try:
            function(*args, **named)
        except Failed as failure:
            self._fail(name, str(failure), failure.details, began)
        except Skipped as reason:
            self.skip(name, str(reason))
        except Exception as error:  # pylint: disable=broad-except
            self._fail(name, f'{type(error).__name__}: {error}', (), began)
        else:
            self.passed += 1
            took = time.monotonic() - began
            self._say(f'ok {name} ({took:.1f} s)')
            self._record('ok', name, took)

    def fail(self, name, reason):
        """A failure outside of any case, such as a daemon that died."""
        self._fail(name, reason, ())

    def skip(self, name, reason):
        self.skipped += 1
        self._say(f'skip {name}: {reason}')
        self._record('skip', name, None, reason)

    def _fail(self, name, reason, details, began=None):
        self.failures.append(name)
        self._record('not ok', name,
                     None if began is None else time.monotonic() - began,
                     reason)
        self._say(f'not ok {name}: {reason}')
        for line in details:
            self._say(f'    {line}')

    def _record(self, *words):
        if self.log:
            self.log.case(*words)

    def _say(self, line):
        print(line, file=self.stream, flush=True)

    def finish(self):
        """Prints the sum; the exit code."""
        skipped = f', {self.skipped} skipped' if self.skipped else ''
        total = (f'{self.passed} passed, {len(self.failures)} failed'
                 f'{skipped} in {time.monotonic() - self.began:.0f} s')
        self._say(total)
        if self.log:
            self.log.finish(total)
        return 1 if self.failures or not self.passed else 0
