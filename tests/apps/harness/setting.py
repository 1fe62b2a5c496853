# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Where a server and a client run.

Loopback: an ordinary user, daemon A on lo (::1 and 127.0.0.1), daemon B on
127.0.0.2. Root starts all of it as an unprivileged user, in a network
namespace that has nothing but its lo, so that runs do not disturb each other.

Namespaces: root, two network namespaces with a veth pair, a daemon in each.

IPv6 loopback has one address, so there both programs use daemon A."""

import functools
import os
import shutil
import signal
import socket
import subprocess
import tempfile

from .daemon import Daemon
from .process import Process, until
from .tree import Tree

ORDINARY_USER = 65534
VETH_MTU = 9000         # gives the device an MTU of 4096, as golden's


class Host:
    """One "machine": a namespace, a user, a daemon's folder, its addresses."""

    device = 'rxe0'
    on_demand = False       # rnic-run finds or starts a daemon by itself

    def __init__(self, name, base, tree, place, owner, ipv4, ipv6):
        """place: the words that enter the namespace, if any; owner: the user
        to be there, if it is not the one that runs the tests."""
        self.name = name
        self.tree = tree
        self.place = place
        self.owner = owner
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        self.folder = os.path.join(base, name)
        self.processes = []
        self.count = 0
        os.mkdir(self.folder, 0o700)
        if owner is not None:
            os.chown(self.folder, owner, owner)

    def environment(self, more):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(('RNIC_', 'XDG_', 'LD_'))}
        env.update(HOME=self.folder, TMPDIR=self.folder, LC_ALL='C')
        if self.on_demand:
            env['XDG_RUNTIME_DIR'] = self.folder
        else:
            env['RNIC_DIR'] = self.folder
        env.update(more or {})
        return env

    def start(self, name, argv, env=None, as_root=False):
        """Starts a program here; it is ended with the setting at the latest.
        as_root: as the user that runs the tests, not as the owner."""
        self.count += 1
        stem = f'{self.folder}-{self.count:03d}-{name}'
        who = []
        if self.owner is not None and not as_root:
            who = as_user(self.owner)
        process = Process(self.place + who + argv, stem,
                          self.environment(env), self.folder)
        self.processes.append(process)
        return process

    def start_rdma(self, argv, env=None):
        """Starts a stock program under rnic-run."""
        if Setting.log:
            Setting.log.program(argv)
        return self.start(os.path.basename(argv[0]),
                          [self.tree.rnic_run] + argv, env)

    def run(self, argv, timeout=600, rdma=True, name=None, env=None):
        """Runs a program to its end; returns its (ended) process."""
        if rdma:
            process = self.start_rdma(argv, env)
        else:
            process = self.start(name or os.path.basename(argv[0]), argv, env)
        if process.wait(timeout) is None:
            process.end(0)
        return process

    def lend(self, path):
        """A copy of a file of the tests, where the owner can read it."""
        copy = os.path.join(self.folder, os.path.basename(path))
        shutil.copyfile(path, copy)
        os.chmod(copy, 0o644)
        return copy

    def address(self, family):
        return self.ipv4 if family == 'ipv4' else self.ipv6

    def close(self):
        for process in reversed(self.processes):
            process.close()


class Setting:
    """Context manager; afterwards `hosts` and `daemons` are gone."""

    name = None
    interface = None        # what the devices are bound to
    keep = False            # keep the folder with all outputs
    log = None              # the record of the run

    def __init__(self, builddir, faults=(), daemons=True):
        """faults: rules for the server's daemon (daemon A)."""
        self.tree = Tree(builddir)
        self.faults = faults
        self.start_daemons = daemons
        self.base = None
        self.hosts = []
        self.daemons = []
        self.namespaces = []

    def __enter__(self):
        self.base = tempfile.mkdtemp(prefix='rnic-apps-')
        os.chmod(self.base, 0o711)
        try:
            self.build()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.stop()
        for host in self.hosts:
            host.close()
        for namespace in self.namespaces:
            self.delete_namespace(namespace)
        if self.keep:
            print(f'outputs kept in {self.base}')
        else:
            shutil.rmtree(self.base, ignore_errors=True)

    def build(self):
        raise NotImplementedError

    def add_host(self, *args):
        host = Host(args[0], self.base, self.tree, *args[1:])
        self.hosts.append(host)
        return host

    def add_daemon(self, host, where):
        if not self.start_daemons:
            host.on_demand = True
        else:
            faults = self.faults if not self.daemons else ()
            self.daemons.append(Daemon(host, {host.device: where}, faults))

    def add_namespace(self, suffix):
        """A new network namespace with its lo up; returns its name."""
        unique = os.path.basename(self.base).rsplit('-', 1)[1]
        name = f'rnic-{os.getpid()}-{unique}-{suffix}'
        command('ip', 'netns', 'add', name)
        self.namespaces.append(name)
        command('ip', '-n', name, 'link', 'set', 'lo', 'up')
        return name

    @staticmethod
    def delete_namespace(name):
        """Deletes it after ending what is left in it, which is all ours."""
        for pid in pids_in(name):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        subprocess.run(['ip', 'netns', 'del', name], check=False)

    def ends(self, family):
        """(server, client) for traffic over that family."""
        raise NotImplementedError

    def families(self, report):
        """Those that it has addresses of."""
        if self.ends('ipv6')[0].ipv6:
            return ('ipv4', 'ipv6')
        report.skip(f'{self.name}.ipv6', 'its interface has no such address')
        return ('ipv4',)


class Loopback(Setting):
    name = 'loopback'
    interface = 'lo'

    def build(self):
        place, owner = [], None
        if makes_namespaces():
            place = ['ip', 'netns', 'exec', self.add_namespace('lo')]
        else:   # an earlier group's daemon on demand may not have ended
            until(lambda: roce_port_is_free('127.0.0.1'), 60)
        if becomes_others():
            owner = ORDINARY_USER
            if not self.tree.reachable_by_others():
                self.tree = self.tree.copy(os.path.join(self.base, 'tree'))
        ipv6 = '::1' if place or roce_port_is_free('::1') else None
        first = self.add_host('a', place, owner, '127.0.0.1', ipv6)
        second = self.add_host('b', place, owner, '127.0.0.2', None)
        self.add_daemon(first, 'lo')
        self.add_daemon(second, second.ipv4)

    def ends(self, family):
        if family == 'ipv4':
            return self.hosts[0], self.hosts[1]
        return self.hosts[0], self.hosts[0]


class Namespaces(Setting):
    name = 'netns'
    interface = 'veth0'

    def build(self):
        names = [self.add_namespace('a'), self.add_namespace('b')]
        command('ip', '-n', names[0], 'link', 'add', 'veth0', 'mtu',
                str(VETH_MTU), 'type', 'veth', 'peer', 'name', 'veth0',
                'mtu', str(VETH_MTU), 'netns', names[1])
        for i, name in enumerate(names):
            self.configure(name, i + 1)
        for i, name in enumerate(names):
            if not until(lambda ns=name: settled(ns), 60):
                raise RuntimeError(f'addresses of {name} stay tentative')
            host = self.add_host('ab'[i], ['ip', 'netns', 'exec', name], None,
                                 f'10.77.0.{i + 1}', f'fd77::{i + 1}')
            self.add_daemon(host, 'veth0')

    @staticmethod
    def configure(name, number):
        """No duplicate address detection: addresses are there at once."""
        command('ip', 'netns', 'exec', name, 'sh', '-c',
                'for i in all veth0; do '
                'echo 0 > /proc/sys/net/ipv6/conf/$i/accept_dad; done')
        for address in (f'10.77.0.{number}/24', f'fd77::{number}/64'):
            command('ip', '-n', name, 'addr', 'add', address, 'dev', 'veth0',
                    *(['nodad'] if ':' in address else []))
        command('ip', '-n', name, 'link', 'set', 'veth0', 'up')

    def ends(self, _family):
        return self.hosts[0], self.hosts[1]


@functools.cache
def makes_namespaces():
    """Named ones; the root of a user's own namespace cannot, nor can the root
    of many a container."""
    return os.geteuid() == 0 and os.access('/run', os.W_OK) \
        and works('unshare', '--net', '--mount', 'true')


@functools.cache
def becomes_others():
    """Likewise: there may be no other user."""
    return os.geteuid() == 0 and works(*as_user(ORDINARY_USER), 'true')


def as_user(uid):
    """The words in front of a program that is to run as that user."""
    return ['setpriv', f'--reuid={uid}', f'--regid={uid}', '--clear-groups',
            '--']


def roce_port_is_free(address):
    """False too where there is no such address."""
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 4791))
    except OSError:
        return False
    return True


def works(*argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def settled(namespace):
    """The interface is up and all its addresses can be used."""
    done = subprocess.run(['ip', '-n', namespace, 'addr', 'show', 'dev',
                           'veth0'], text=True, stdout=subprocess.PIPE,
                          check=False)
    return 'fe80::' in done.stdout and 'tentative' not in done.stdout


def pids_in(namespace):
    """The processes that run in a named network namespace."""
    done = subprocess.run(['ip', 'netns', 'pids', namespace], text=True,
                          stdout=subprocess.PIPE, check=False)
    return [int(word) for word in done.stdout.split()]


def command(*argv):
    """Runs a setup command that must succeed."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stdout.strip()}")


SETTINGS = {kind.name: kind for kind in (Loopback, Namespaces)}
