# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""rdma-core's own test suite, as Debian's python3-pyverbs has it, over the
device. Each test counts as one case; what skips is in pyverbs.skips."""

import gzip
import json
import os
import shutil

from harness.gids import gid_index
from harness.process import read_text
from harness.release import rdma_core
from harness.report import Failed, Skipped
from harness.skips import SkipList

HERE = os.path.dirname(os.path.abspath(__file__))
SUITE = '/usr/share/doc/rdma-core/tests'
DRIVER = os.path.join(HERE, '..', 'pyverbs_driver.py')
SKIPS = os.path.join(HERE, '..', 'pyverbs.skips')
SUITE_TESTS = {44: 273, 56: 321}        # rdma-core's release: how many
TEST_SECONDS = 60       # rdma_cm's own limit within a test is 30
RUN_SECONDS = 900


def unpack(suite, folder):
    """The suite with its modules uncompressed, for any user to read."""
    os.mkdir(folder)
    for name in os.listdir(suite):
        source = os.path.join(suite, name)
        target = os.path.join(folder, name.removesuffix('.gz'))
        if name.endswith('.gz'):
            with gzip.open(source) as packed, open(target, 'wb') as plain:
                shutil.copyfileobj(packed, plain)
        elif name.endswith('.py'):
            shutil.copyfile(source, target)
        if os.path.exists(target):
            os.chmod(target, 0o644)
    driver = os.path.join(folder, os.path.basename(DRIVER))
    shutil.copyfile(DRIVER, driver)
    os.chmod(driver, 0o644)
    os.chmod(folder, 0o755)
    return driver


def prints(output):
    """{name of a test: the lines that it printed}"""
    found, lines = {}, []
    for line in output.splitlines():
        if line.startswith('=== '):
            lines = found[line[4:]] = []
        else:
            lines.append(line)
    return found


class Run:
    """The suite's results: name: (result, text)."""

    def __init__(self, setting, host, suite=SUITE, limit=TEST_SECONDS):
        self.host = host
        self.limit = limit
        self.folder = os.path.join(setting.base, 'pyverbs')
        self.driver = unpack(suite, self.folder)
        self.records = os.path.join(host.folder, 'pyverbs.records')
        self.results = {}
        self.prints = {}        # name: lines
        self.names = []

    def start(self, tests):
        """Runs the driver over these tests. One that ended it "died"."""
        argv = ['/usr/bin/python3', self.driver, self.folder, self.records,
                str(self.limit), self.host.device,
                str(gid_index(self.host, 'ipv4')), *tests]
        process = self.host.run(argv, timeout=RUN_SECONDS, name='pyverbs',
                                env={'PYTHONDONTWRITEBYTECODE': '1'})
        if not os.path.exists(self.records):
            raise Failed('the suite cannot be run', process.tail(30))
        running = self.take_records()
        self.prints.update(prints(process.output()))
        if running:
            self.results[running] = ('died', '\n'.join(process.tail(30)))
        elif process.popen.returncode:
            raise Failed('the suite cannot be run', process.tail(30))

    def take_records(self):
        """Returns the test that was running at the end, or None."""
        running = None
        for line in read_text(self.records).splitlines():
            record = json.loads(line)
            if record[0] == 'tests':
                self.names = record[1]
            elif record[0] == 'run':
                running = record[1]
            elif self.results.get(record[1], ('ok', ''))[0] in ('ok', 'skip'):
                self.results[record[1]] = (record[0], record[2])
                running = None
        os.unlink(self.records)
        return running

    def run(self, wanted):
        """wanted(name): is it to be run?"""
        self.start(['-'])               # which tests there are
        while True:
            left = [name for name in self.names
                    if wanted(name) and name not in self.results]
            if not left:
                break
            self.start(left)


def show(run, name):
    result, text = run.results[name]
    if result != 'ok':
        raise Failed(result, text.splitlines()[-30:]
                     + run.prints.get(name, [])[-10:])


def check_whole(run):
    release = rdma_core()
    if release not in SUITE_TESTS:
        raise Skipped(f'the tests of rdma-core {release} are not counted here')
    if len(run.names) != SUITE_TESTS[release]:
        raise Failed(f'{len(run.names)} tests found instead of '
                     f'{SUITE_TESTS[release]}')


def check_skips(run, skipped):
    """Of a release that the list does not know, what differs is only told."""
    with open(SKIPS, encoding='utf-8') as f:
        listed = SkipList(f.read())
    release = rdma_core()
    found = listed.wrong(run.names, skipped,
                         set(run.results) - set(skipped),
                         release if release in SUITE_TESTS else None)
    if found and release not in SUITE_TESTS:
        raise Skipped(f'rdma-core {release}: ' + '; '.join(found))
    if found:
        raise Failed(f'{len(found)} differences', found)


def tell_skips(skipped):
    if skipped:
        raise Skipped(f'{len(skipped)} of its tests, as pyverbs.skips has it')


def check_installed():
    if not os.path.isdir(SUITE):
        raise Skipped(f'no {SUITE} (package python3-pyverbs)')


def run(report, setting):
    prefix = f'{setting.name}.pyverbs'
    report.case(f'{prefix}.is_installed', check_installed)
    if not os.path.isdir(SUITE):
        return
    host = setting.hosts[0]
    suite = Run(setting, host)
    suite.run(lambda name: report.wants(f'{prefix}.{name}'))
    skipped = {name: text for name, (result, text) in suite.results.items()
               if result == 'skip'}
    for name in suite.names:
        if name in suite.results and name not in skipped:
            report.case(f'{prefix}.{name}', show, suite, name)
    report.case(f'{prefix}.is_whole', check_whole, suite)
    report.case(f'{prefix}.skips_are_as_listed', check_skips, suite, skipped)
    report.case(f'{prefix}.skipped', tell_skips, skipped)
