# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The two ends of an interoperation test: programs in a guest of the rig, and under rnic-run."""
import base64
import glob
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

RIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'rig', 'rig')
CASE_SECONDS = 240
DAEMON_SECONDS = 60
PIECE = 65536
# Of the packets to and from a guest two in a hundred are lost before its stack sees them, and after
# rxe sent them. Those are given to lo, which throws them away: rxe would hear of a drop, and repeat.
LOSE = ('table netdev loss { '
        'chain in { type filter hook ingress device eth0 priority 0; '
        'udp dport 4791 numgen random mod 100 < 2 counter drop; }; '
        'chain out { type filter hook egress device eth0 priority 0; '
        'udp dport 4791 numgen random mod 100 < 2 counter fwd to lo; }; }')

# All that the guest sends to the other end is marked on its way.
MARK = ('table netdev marks { '
        'chain out { type filter hook egress device eth0 priority 0; '
        'udp dport 4791 counter ip ecn set ce; }; }')


class Failure(Exception):
    """A case failed, for the reason given."""


class Cannot(Exception):
    """This machine cannot run the rig."""


class Job:
    """A process of ours, the leader of its own session, its output in a file."""
    live = []

    def __init__(self, argv, path, env=None):
        self.path = path
        with open(path, 'ab') as out:
            self.proc = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=out,
                                         stderr=subprocess.STDOUT, env=env, start_new_session=True)
        self.live.append(self)

    def output(self):
        with open(self.path, errors='replace') as f:
            return f.read()

    def wait(self, deadline):
        """The exit status, or None when the deadline came first."""
        try:
            return self.proc.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return None

    def end(self, sig=signal.SIGTERM, grace=5):
        for number in (sig, signal.SIGKILL):
            if self.proc.poll() is None:
                os.killpg(self.proc.pid, number)
                self.wait(time.monotonic() + grace)
        if self in self.live:
            self.live.remove(self)

    @classmethod
    def end_all(cls, keep=()):
        for job in cls.live[::-1]:
            if job not in keep:
                job.end()


class Rig:
    def __init__(self, guests):
        self.name = 'rnic-check-%d' % os.getpid()
        self.env = dict(os.environ, RNIC_RIG_NAME=self.name)
        self.guests = guests

    def up(self):
        job = subprocess.Popen([RIG, 'up', str(self.guests)], env=self.env, stdin=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
        said = ''
        try:
            for said in job.stderr:
                print(said, end='', file=sys.stderr, flush=True)
            status = job.wait()
        except BaseException:
            os.killpg(job.pid, signal.SIGTERM)
            job.wait()
            raise
        if status == 77:
            raise Cannot(said.strip())
        if status:
            raise Failure('rig up, exit %d: %s' % (status, said.strip()))

    def down(self):
        subprocess.run([RIG, 'down'], env=self.env, check=False)

    def host(self, *argv):
        return [RIG, 'host', *argv]


def run_commands(end, commands):
    for argv in commands:
        ran = subprocess.run(end.plain(*argv), env=end.env, stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=CASE_SECONDS, check=False)
        if ran.returncode:
            raise Failure('%s: %s: %s' % (end.kind, ' '.join(argv), last_line(ran.stdout + ran.stderr)))


class Guest:
    """An end in a guest, on Linux's rxe."""
    kind = 'rxe'
    daemon = None

    def __init__(self, rig, number):
        self.rig = rig
        self.env = rig.env
        self.number = number
        self.address = '10.77.0.%d' % (number + 1)
        self.address6 = 'fd77::%d' % (number + 1)

    def start(self):
        pass

    def revive(self):
        return ''

    def take(self, path):
        """Put a program of this machine into the guest."""
        with open(path, 'rb') as f:
            content = f.read()
        target = '/rig/bin/' + os.path.basename(path)
        # In pieces: a command's length has a limit.
        for at in range(0, len(content), PIECE):
            text = base64.b64encode(content[at:at + PIECE]).decode()
            put = 'echo %s | base64 -d >%s%s && chmod 755 %s' % (text, '>' if at else '', target, target)
            status = subprocess.run([RIG, 'exec', str(self.number), put], env=self.env, stdin=subprocess.DEVNULL,
                                    timeout=CASE_SECONDS, check=False).returncode
            if status:
                raise Failure('cannot put %s into guest %d, exit %d' % (path, self.number, status))

    def plain(self, *argv):
        """A command of this end that needs no RDMA device."""
        return [RIG, 'exec', '-t', str(CASE_SECONDS), str(self.number), shlex.join(map(str, argv))]

    def rdma(self, *argv):
        """A command of this end that uses the device."""
        return self.plain(*argv)

    def cm_ids(self):
        """The command that shows IDs of rdma_cm with their states."""
        return self.plain('rdma', 'resource', 'show', 'cm_id')

    @staticmethod
    def group_mac(group):
        """What rxe's interface listens to once a QP is attached: it takes every GID for one of IPv6."""
        return '3333' + socket.inet_aton(group).hex()

    def set_mtu(self, mtu):
        run_commands(self, [('ip', 'link', 'set', 'eth0', 'mtu', str(mtu))])

    def lose(self):
        """From now on its network loses packets, both ways."""
        run_commands(self, [('nft', LOSE)])

    def mark(self):
        """From now on all that it sends is marked Congestion Experienced."""
        run_commands(self, [('nft', MARK)])

    def unmark(self):
        run_commands(self, [('nft', 'delete table netdev marks')])

    def lost(self):
        """How many packets its network has lost: in, out."""
        out = subprocess.run(self.plain('nft', 'list', 'table', 'netdev', 'loss'), env=self.env,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=CASE_SECONDS, check=False).stdout
        return [int(count) for count in re.findall(r'counter packets (\d+)', out)]

    def statistics(self):
        """What the guest's kernel counts, by name."""
        out = subprocess.run(self.plain('rdma', 'statistic', 'show', 'link', 'rxe0/1'), env=self.env,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=CASE_SECONDS, check=False).stdout
        return {name: int(value) for name, value in re.findall(r'(\w+) (\d+)\b', out)}


class Host:
    """The end on this machine: rnicd, and programs under rnic-run."""
    kind = 'rnic'
    address = '10.77.0.1'
    address6 = 'fd77::1'

    def __init__(self, rig, build, folder):
        self.rig = rig
        self.tools = os.path.join(build, 'tools')
        self.folder = folder
        self.daemon = None
        self.faults = []
        self.env = dict(rig.env, RNIC_DIR=os.path.join(folder, 'rnic'))

    def cm_ids(self):
        return self.plain(self.tool('rnicctl'), '--dir', self.env['RNIC_DIR'], 'cm')

    def counters(self):
        """What rnicd counts, by name."""
        out = subprocess.run(self.plain(self.tool('rnicctl'), '--dir', self.env['RNIC_DIR'], '--json', 'stat', 'rxe0'),
                             env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=CASE_SECONDS, check=False).stdout
        return json.loads(out)[0]

    def restart(self, faults):
        self.faults = faults
        self.daemon.end()
        self.start()

    def start(self):
        """Start rnicd and wait for what it tells a service manager: READY=1."""
        os.makedirs(self.env['RNIC_DIR'], 0o700, exist_ok=True)
        path = os.path.join(self.folder, 'notify')
        if os.path.exists(path):
            os.unlink(path)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(path)
            notify.settimeout(0.2)
            argv = self.rig.host(self.tool('rnicd'), '--dir', self.env['RNIC_DIR'], '--device', 'rxe0=br0',
                                 *[word for rule in self.faults for word in ('--fault', rule)])
            self.daemon = Job(argv, os.path.join(self.folder, 'rnicd.log'), dict(self.env, NOTIFY_SOCKET=path))
            deadline = time.monotonic() + DAEMON_SECONDS
            while True:
                try:
                    if b'READY=1' in notify.recv(4096):
                        return
                except socket.timeout:
                    pass
                if self.daemon.proc.poll() is not None or time.monotonic() > deadline:
                    raise Failure('rnicd did not come up: ' + self.daemon.output().strip())

    def revive(self):
        """If the daemon died, start another and tell so."""
        status = self.daemon.proc.poll()
        if status is None:
            return ''
        self.daemon.end()
        self.start()
        return '; rnicd had ended, status %d' % status

    def tool(self, name):
        path = os.path.join(self.tools, name)
        if not os.access(path, os.X_OK):
            raise Failure('no program %s in %s' % (name, self.tools))
        return path

    def take(self, path):
        """A program of the build folder is run from where it is."""
        self.env['PATH'] = os.path.dirname(path) + os.pathsep + self.env['PATH']

    def plain(self, *argv):
        return self.rig.host(*map(str, argv))

    def rdma(self, *argv):
        return self.rig.host(self.tool('rnic-run'), *map(str, argv))

    @staticmethod
    def group_mac(group):
        """What the interface listens to with a member of the group (RFC 1112: its last 23 bits)."""
        _, second, third, last = socket.inet_aton(group)
        return '01005e%02x%02x%02x' % (second & 0x7f, third, last)

    def set_mtu(self, mtu):
        """The tap keeps its own: a frame that is too long must not get lost unseen."""
        run_commands(self, [('ip', 'link', 'set', 'br0', 'mtu', str(mtu))])


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip(' -\t')]
    return lines[-1] if lines else 'no output'


def remove_stale():
    """Remove what a killed run of this program left: its names carry its pid."""
    names = subprocess.run(['ip', 'netns', 'list'], capture_output=True, text=True, check=False).stdout
    for pid in re.findall(r'^rnic-check-(\d+)', names, re.M):
        if not os.path.exists('/proc/' + pid):
            subprocess.run([RIG, 'down'], env=dict(os.environ, RNIC_RIG_NAME='rnic-check-' + pid), check=False)
    for folder in glob.glob(os.path.join(tempfile.gettempdir(), 'rnic-check-*.*')):
        pid = re.search(r'rnic-check-(\d+)\.', folder)
        if pid and not os.path.exists('/proc/' + pid.group(1)):
            shutil.rmtree(folder, ignore_errors=True)
