# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A checked-in list of the tests that are skipped, each with its reason.

    # Why that is so.
    reason: what the test says (* stands for anything)
    or: what it says elsewhere
        test_module.Class.test_name
        test_module.Class.test_name since 56
    maybe: what a test says that runs on some machines and skips on others
        test_module.Class.test_name

A name may be followed by "since RELEASE" or "until RELEASE": only the suites of those have it.
"""

import fnmatch


class SkipList:
    def __init__(self, text):
        self.reasons = {}       # name of a test: list of patterns
        self.since = {}         # name of a test: the first release that has it
        self.until = {}         # and the last
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
            elif patterns and self.take(line.split(' '), patterns):
                if maybe:
                    self.maybe.add(line.split(' ')[0])
                unused = False
            else:
                raise ValueError(f'line {number}: {line}')
        if unused:
            raise ValueError(f'no test is skipped for "{patterns[0]}"')

    def take(self, words, patterns):
        """A line with a test's name; False if it is none."""
        name, *range_words = words
        if name in self.reasons:
            return False
        if range_words:
            bounds = {'since': self.since, 'until': self.until}.get(range_words[0])
            if bounds is None or len(words) != 3 or not words[2].isdigit():
                return False
            bounds[name] = int(words[2])
        self.reasons[name] = patterns
        return True

    def listed_for(self, release):
        """The names of those that the suite of a release has."""
        return {name for name in self.reasons
                if self.since.get(name, 0) <= release
                <= self.until.get(name, release)}

    def explains(self, name, reason):
        """Is this a skip that the list expects?"""
        return any(fnmatch.fnmatchcase(reason, pattern)
                   for pattern in self.reasons.get(name, ()))

    def wrong(self, names, skipped, run, release):
        """What differs from the list. names: of all tests there are; skipped:
        {name: reason}; run: names of those that did not skip; release: that the
        list knows all tests of, or None."""
        found = []
        for name, reason in sorted(skipped.items()):
            if name not in self.reasons:
                found.append(f'new skip {name}: {reason}')
            elif not self.explains(name, reason):
                found.append(f'{name} skips with another reason: {reason}')
        for name in sorted(set(run) & set(self.reasons) - self.maybe):
            found.append(f'{name} is listed but does not skip')
        if release is not None:
            for name in sorted(self.listed_for(release) - set(names)):
                found.append(f'{name} is listed but does not exist')
        return found
