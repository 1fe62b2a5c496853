# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Storage over iSER: tgt's target, and libiscsi's programs as initiators.

tgtd 1.0.85 lets an initiator in by iSER only if both its address and its name
are bound to the target, otherwise it says 'Target not found'. libiscsi 1.19
takes the state of a connection uninitialized from malloc, so that a second one
of a process may find the memory regions of the first (a local protection
error): ZEROED has malloc fill it with zeros. Its iscsi-ls destroys its CQ in
the handler of a completion and polls it once more, and asks for LUNs by TCP:
not run here. The suites of iscsi-test-cu that have more than 100 commands
under way (Read10, Write10) run out of its buffers and follow a null pointer."""

import os
import re

from cases.cm import CLIENT_SECONDS, Place, judge
from harness.packages import need
from harness.pair import START_SECONDS
from harness.ports import free_port
from harness.process import until
from harness.report import Failed, Skipped

TGTD = '/usr/sbin/tgtd'
TGTADM = '/usr/sbin/tgtadm'
TARGET = 'iqn.2001-04.example:disk'
INITIATOR = 'iqn.2001-04.example:client'
PORT = 3260                 # tgtd's parser of another one trips over errno
DISK_BYTES = 16 << 20
DATA_BYTES = 8 << 20
ZEROED = {'GLIBC_TUNABLES': 'glibc.malloc.perturb=255'}
PROGRAM = os.path.join(os.path.dirname(os.path.dirname(__file__)), 'iser_data.py')
SUITES = ('Read16', 'Write16', 'OrWrite', 'Verify16', 'WriteVerify16')
SUMMARY = re.compile(r'^ +tests +(\d+) +(\d+) +(\d+) +0 +0$', re.M)


class Target:
    """A tgtd with one LUN, for one initiator; a context manager."""

    def __init__(self, place):
        self.place = place
        self.image = os.path.join(place.server.folder, 'disk')
        self.env = {'TGT_IPC_SOCKET':
                    os.path.join(place.server.folder, 'tgtd')}
        self.process = None

    def admin(self, *words):
        done = self.place.server.run([TGTADM, *words], rdma=False,
                                     env=self.env)
        return done if done.wait(0) == 0 else None

    def must(self, *words):
        if not self.admin('--lld', 'iser', *words):
            raise Failed(f'tgtadm {" ".join(words)}', self.process.tail())

    def __enter__(self):
        with open(self.image, 'wb') as f:
            f.truncate(DISK_BYTES)
        os.chmod(self.image, 0o666)
        self.process = self.place.server.start_rdma(
            [TGTD, '-f', '--iscsi', f'portal=127.0.0.1:{free_port()}',
             '--iser', 'pool_sz_mb=128'], self.env)
        try:
            self.set_up()
        except BaseException:
            self.process.close()
            raise
        return self

    def set_up(self):
        if not until(lambda: self.admin('--op', 'show', '--mode', 'sys'),
                     START_SECONDS, self.process, 0.1):
            raise Failed('tgtd does not answer', self.process.tail())
        self.must('--op', 'new', '--mode', 'target', '--tid', '1', '-T', TARGET)
        self.must('--op', 'new', '--mode', 'logicalunit', '--tid', '1',
                  '--lun', '1', '-b', self.image)
        self.must('--op', 'bind', '--mode', 'target', '--tid', '1', '-I', 'ALL')
        self.must('--op', 'bind', '--mode', 'target', '--tid', '1',
                  '-Q', INITIATOR)

    def __exit__(self, *_):
        self.process.close()


def run_client(place, argv):
    client = place.client.start_rdma(argv, ZEROED)
    try:
        judge('client', client, CLIENT_SECONDS)
        return client.output()
    finally:
        client.close()


def run_stock(place, program, *options):
    return run_client(place, [program, *options, '-i', INITIATOR,
                              f'iser://{place.address}:{PORT}/{TARGET}/1'])


def check_inquiry(place, target):
    if 'VIRTUAL-DISK' not in run_stock(place, 'iscsi-inq'):
        raise Failed('no product', target.process.tail())


def check_capacity(place, target):
    if f'Total size:{DISK_BYTES}\n' not in run_stock(place,
                                                     'iscsi-readcapacity16'):
        raise Failed('another size', target.process.tail())


def check_suite(place, target, suite):
    """iscsi-test-cu ends with 0 too when the suite could not log in."""
    output = run_stock(place, 'iscsi-test-cu', '-n', '--dataloss', '-t',
                       f'ALL.{suite}')
    found = SUMMARY.search(output)
    if not found or len(set(found.groups())) != 1:
        raise Failed('not all tests pass', output.splitlines()[-20:] +
                     target.process.tail())


def check_data(place, target):
    """What was written comes back, and is what the target's file has."""
    path = os.path.join(place.client.folder, 'data')
    data = os.urandom(DATA_BYTES)
    with open(path, 'wb') as f:
        f.write(data)
    os.chmod(path, 0o644)
    output = run_client(place, ['/usr/bin/python3', PROGRAM,
                                f'{place.address}:{PORT}', TARGET, INITIATOR,
                                path])
    if f'{DATA_BYTES} bytes came back the same' not in output:
        raise Failed('no result', target.process.tail())
    with open(target.image, 'rb') as f:
        if f.read() != data + bytes(DISK_BYTES - DATA_BYTES):
            raise Failed('the file of the target differs')


def check_sessions_end(_place, target):
    """tgtd frees a session when its connection is through TIMEWAIT and all of
    its receives were flushed."""
    def gone():
        shown = target.admin('--lld', 'iser', '--op', 'show', '--mode',
                             'target')
        return shown and 'I_T nexus: ' not in shown.output()
    if not until(gone, START_SECONDS, target.process, 0.1):
        raise Failed('a session is left', target.process.tail())


CASES = {
    'inquiry': (check_inquiry,),
    'capacity': (check_capacity,),
    'data': (check_data,),
    **{f'test_cu.{suite}': (check_suite, suite) for suite in SUITES},
    'sessions_end': (check_sessions_end,),
}


def run(report, setting):
    prefix = f'{setting.name}.iser'
    if not any(report.wants(f'{prefix}.{name}') for name in CASES):
        return
    try:
        need({TGTD: 'tgt', 'iscsi-inq': 'libiscsi-bin'})
    except Skipped as reason:
        report.skip(prefix, str(reason))
        return
    place = Place(setting, 'ipv4')
    with Target(place) as target:
        for name, (check, *more) in CASES.items():
            report.case(f'{prefix}.{name}', check, place, target, *more)
