#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What docs/SUPPORT.md says to work, and a run of all tests has not shown, since tests for it were
left out here. It is told and is no failure: another machine may show it.

    shown.py FOLDER         of the logs that tests/check-all leaves"""

import os
import re
import sys

sys.dont_write_bytecode = True
import page     # pylint: disable=C0413

LINE = re.compile(r'^(ok|skip) ([^\s:]+)', flags=re.MULTILINE)
# Those whose passed tests are told by name.
NAMED = ('abi', 'apps', 'capture', 'drill', 'links', 'rules', 'use')


def verdicts(folder):
    """{"ok" or "skip": [the parts of a test's name]}"""
    found = {'ok': [], 'skip': []}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding='utf-8', errors='replace') as log:
            for verdict, test in LINE.findall(log.read()):
                found[verdict].append(test.split('.'))
    return found


def is_of(wanted, parts):
    """A name on the page has some of the parts of a whole name, or their beginnings."""
    return all(any(part == word or word.endswith('_') and part.startswith(word)
                   for part in parts) for word in wanted)


def left_out(test, found):
    folder, _, name = test.partition('/')
    words = name.split('.')
    if folder not in NAMED or (folder != 'apps' and len(words) > 1):
        return False
    if folder == 'apps':
        words = words[1:]
    return not any(is_of(words, parts) for parts in found['ok'])


def main():
    found = verdicts(sys.argv[1])
    for section in page.sections():
        for row in section.rows:
            if row.state not in ('works', 'partly'):
                continue
            for test in re.findall(r'`([^`]+)`', row.tests):
                if left_out(test, found):
                    print(f'not shown by this run: {row.name}: {test}')


if __name__ == '__main__':
    main()
