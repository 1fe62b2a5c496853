# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Storage over iSER: tgt's target, and libiscsi's programs as initiators.

tgtd 1.0.85 lets an initiator in by iSER only if both its address and its name
are bound to the target, otherwise it says 'Target not found', as it does to who
comes by TCP.

What libiscsi 1.19 itself has wrong over iSER, seen in its source and by gdb:
- A connection's state comes uninitialized from malloc, so that the second one
  of a process may find the buffers, and the keys, of the first: a local
  protection error. ZEROED has malloc fill it with zeros.
- A second without an answer is an error to it ('revents is not POLLIN'), after
  which it goes on with what it has freed. Then the program begins anew here.
- iscsi-ls destroys its CQ in the handler of a completion, and polls it once
  more; for LUNs (-s) it asks by TCP.
- More than 100 commands under way (iscsi-test-cu's Read10, Write10) run out of
  buffers, more than 256 KiB (ExtendedCopy, qemu-img) are refused too late, task
  management (Reserve6, iSCSITMF) has no task: a null pointer or a freed one.
- Residual counts are passed over (Inquiry, ModeSense6, iSCSIResiduals).
By TCP, without the soft-RNIC, all but these come to the same result."""

import os
import re
import tempfile

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
MEMORY = '/dev/shm'         # so that no write waits for a busy disk
DISK_BYTES = 16 << 20
DATA_BYTES = 8 << 20
ZEROED = {'GLIBC_TUNABLES': 'glibc.malloc.perturb=255'}
LOGGED = {'LIBISCSI_DEBUG': '1'}
IMPATIENT = 'revents is not POLLIN'
TRIES = 10
PROGRAM = os.path.join(os.path.dirname(os.path.dirname(__file__)), 'iser_data.py')
TESTS = ('Read16.Simple', 'Write16.Simple', 'OrWrite.Verify',
         'Verify16.Mismatch', 'WriteVerify16.Simple', 'WriteSame16.Simple')
SUMMARY = re.compile(r'^ +tests +(\d+) +(\d+) +(\d+) +0 +0$', re.M)


class Target:
    """A tgtd with one LUN, for one initiator; a context manager."""

    def __init__(self, place):
        self.place = place
        self.image = None
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
        folder = MEMORY if os.access(MEMORY, os.W_OK) else None
        descriptor, self.image = tempfile.mkstemp(prefix='rnic-apps-',
                                                  dir=folder)
        os.truncate(descriptor, DISK_BYTES)
        os.close(descriptor)
        os.chmod(self.image, 0o666)
        self.process = self.place.server.start_rdma(
            [TGTD, '-f', '--iscsi', f'portal=127.0.0.1:{free_port()}',
             '--iser', 'pool_sz_mb=128'], self.env)
        try:
            self.set_up()
        except BaseException:
            self.__exit__()
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
        os.unlink(self.image)


def run_client(place, argv, is_right):
    for left in range(TRIES - 1, -1, -1):
        client = place.client.start_rdma(argv, ZEROED | LOGGED)
        try:
            judge('client', client, CLIENT_SECONDS)
            if not is_right(client.output()):
                raise Failed('another result', client.tail(20))
            return
        except Failed:
            if not left or IMPATIENT not in client.errors():
                raise
        finally:
            client.close()


def run_stock(place, is_right, program, *options):
    run_client(place, [program, *options, '-i', INITIATOR,
                       f'iser://{place.address}:{PORT}/{TARGET}/1'], is_right)


def check_inquiry(place, _target):
    run_stock(place, lambda output: 'VIRTUAL-DISK' in output, 'iscsi-inq')


def check_capacity(place, _target):
    run_stock(place, lambda output: f'Total size:{DISK_BYTES}\n' in output,
              'iscsi-readcapacity16')


def all_pass(output):
    """iscsi-test-cu ends with 0 too when it could not log in."""
    found = SUMMARY.search(output)
    return found and found[1] != '0' and len(set(found.groups())) == 1


def check_test(place, _target, test):
    run_stock(place, all_pass, 'iscsi-test-cu', '-n', '--dataloss', '-t',
              f'ALL.{test}')


def check_data(place, target):
    """What was written comes back, and is what the target's file has."""
    path = os.path.join(place.client.folder, 'data')
    data = os.urandom(DATA_BYTES)
    with open(path, 'wb') as f:
        f.write(data)
    os.chmod(path, 0o644)
    same = f'{DATA_BYTES} bytes came back the same'
    run_client(place, ['/usr/bin/python3', place.client.lend(PROGRAM), f'{place.address}:{PORT}',
                       TARGET, INITIATOR, path],
               lambda output: same in output)
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
    **{f'test_cu.{test}': (check_test, test) for test in TESTS},
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
