# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A checked-in list of the tests that are skipped, each with its reason.

    # Why that is so.
    reason: what the test says (* stands for anything)
    or: what it says elsewhere
        test_module.Class.test_name
    maybe: what a test says that runs on some machines and skips on others
        test_module.Class.test_name
"""

import fnmatch


class SkipList:
    def __init__(self, text):
        self.reasons = {}       # name of a test: list of patterns
        self.maybe = set()      # names of those that may run
        patterns, unused, maybe = [], False, False
        for number, line in enumerate(text.splitlines(), 1):
            line = line.strip()
            if not line or line.startswith('#'):
                continue
            key, _, value = line.partition(': ')
            if key in ('reason', 'maybe') and not unused:
                patterns, unused, maybe = [value], True, key == 'maybe'
            elif key == 'or' and unused:
                patterns.append(value)
            elif patterns and ' ' not in line and line not in self.reasons:
                self.reasons[line] = patterns
                if maybe:
                    self.maybe.add(line)
                unused = False
            else:
                raise ValueError(f'line {number}: {line}')
        if unused:
            raise ValueError(f'no test is skipped for "{patterns[0]}"')

    def explains(self, name, reason):
        """Is this a skip that the list expects?"""
        return any(fnmatch.fnmatchcase(reason, pattern)
                   for pattern in self.reasons.get(name, ()))

    def wrong(self, names, skipped, run):
        """What differs from the list. names: of all tests there are; skipped:
        {name: reason}; run: names of those that did not skip."""
        found = []
        for name, reason in sorted(skipped.items()):
            if name not in self.reasons:
                found.append(f'new skip {name}: {reason}')
            elif not self.explains(name, reason):
                found.append(f'{name} skips with another reason: {reason}')
        for name in sorted(set(run) & set(self.reasons) - self.maybe):
            found.append(f'{name} is listed but does not skip')
        for name in sorted(set(self.reasons) - set(names)):
            found.append(f'{name} is listed but does not exist')
        return found
