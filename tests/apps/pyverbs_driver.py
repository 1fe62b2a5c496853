#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Runs tests of rdma-core's own suite in this process, one after the other.

Usage: pyverbs_driver.py SUITE RECORDS LIMIT DEVICE GID-INDEX TEST...

SUITE is the folder with the suite's modules. Each step is one JSON line of
RECORDS, written at once, so that the caller knows where a crash or a hang was:
["tests", [NAME...]] first, then ["run", NAME] and [RESULT, NAME, TEXT] for each
test. What a test prints stands on stdout below a line "=== NAME". A test that takes longer than LIMIT seconds ends the process, after
writing to stderr where it stood."""

import faulthandler
import gc
import importlib.util
import json
import os
import sys
import unittest


class Records(unittest.TestResult):
    """unittest's result, told as it happens."""

    def __init__(self, path, limit):
        super().__init__()
        self.stream = open(path, 'a', encoding='utf-8')
        self.limit = limit

    def tell(self, *what):
        self.stream.write(json.dumps(what) + '\n')
        self.stream.flush()

    def startTest(self, test):
        super().startTest(test)
        self.tell('run', name_of(test))
        print(f'=== {name_of(test)}', flush=True)
        faulthandler.dump_traceback_later(self.limit, exit=True)

    def stopTest(self, test):
        faulthandler.cancel_dump_traceback_later()
        super().stopTest(test)

    def addSuccess(self, test):
        self.tell('ok', name_of(test), '')

    def addSkip(self, test, reason):
        self.tell('skip', name_of(test), reason)

    def addFailure(self, test, err):
        self.tell('failed', name_of(test), self._exc_info_to_string(err, test))

    def addError(self, test, err):
        self.tell('error', name_of(test), self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        if err:
            self.addFailure(test, err)


def name_of(test):
    return test.id().removeprefix('tests.')


def flatten(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flatten(test)
        else:
            yield test


def load(folder, options):
    """All tests of the suite, as its own run_tests.py finds them."""
    sys.path.insert(0, folder)
    sys.argv = ['run_tests.py', *options]
    spec = importlib.util.spec_from_file_location(
        'tests', os.path.join(folder, '__init__.py'),
        submodule_search_locations=[folder])
    module = importlib.util.module_from_spec(spec)
    sys.modules['tests'] = module
    spec.loader.exec_module(module)
    module.parser.parse_args()
    return flatten(unittest.defaultTestLoader.loadTestsFromModule(module))


def main():
    folder, records, limit, device, gid = sys.argv[1:6]
    wanted = set(sys.argv[6:])
    result = Records(records, float(limit))
    tests = list(load(folder, ['--dev', device, '--gid', gid]))
    result.tell('tests', [name_of(test) for test in tests])
    # Of a context and a CQ that are garbage together pyverbs closes the context first, and then
    # destroys the CQ of a context that is freed. So nothing is collected, nor at the end.
    gc.disable()
    for test in tests:
        if name_of(test) in wanted:
            unittest.TestSuite([test]).run(result)
    sys.stdout.flush()
    os._exit(0)


if __name__ == '__main__':
    main()
