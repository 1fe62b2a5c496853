# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A live migration of a QEMU machine by rdma: between two stock qemu processes.

The guest is a ROM of a few instructions that never stops to write memory, so
that pages are sent again and again; above that lies random data."""

import filecmp
import json
import os
import socket

from cases.cm import Place
from harness.packages import need
from harness.pair import START_SECONDS
from harness.ports import free_port
from harness.process import until
from harness.report import Failed

QEMU = 'qemu-system-x86_64'
RAM = 128 << 20
DATA_AT, DATA_BYTES = 16 << 20, 96 << 20
COUNTER = 0x500
SECONDS = 300

ROM_BYTES = 64 << 10
ROM_START = bytes((
    0x31, 0xc0,                 # xor ax, ax
    0x8e, 0xd8,                 # mov ds, ax
    0xff, 0x06, 0x00, 0x05,     # round: inc word [0x500]
    0xbf, 0x00, 0x80,           # mov di, 0x8000
    0xff, 0x05,                 # word: inc word [di]
    0x83, 0xc7, 0x02,           # add di, 2
    0x75, 0xf9,                 # jnz word
    0xeb, 0xf0,                 # jmp round
))
ROM_RESET = bytes((0xea, 0x00, 0x00, 0x00, 0xf0))   # jmp 0xf000:0
RESET_AT = ROM_BYTES - 16


def write_file(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, 'wb') as f:
        f.write(data)
    os.chmod(path, 0o644)
    return path


def rom():
    return (ROM_START.ljust(RESET_AT, b'\xf4') + ROM_RESET).ljust(ROM_BYTES,
                                                                  b'\0')


class Machine:
    """A qemu, and its QMP; a context manager."""

    def __init__(self, host, name, options):
        self.host = host
        self.monitor = os.path.join(host.folder, name + '.qmp')
        self.process = host.start_rdma(
            [QEMU, '-machine', 'pc,accel=tcg', '-m', f'{RAM >> 20}M',
             '-nodefaults', '-display', 'none', '-S',
             '-bios', write_file(host.folder, name + '.rom', rom()),
             '-qmp', f'unix:{self.monitor},server=on,wait=off', *options])
        self.socket = self.lines = None

    def __enter__(self):
        try:
            if not until(self.connect, START_SECONDS, self.process, 0.05):
                raise Failed('qemu has no monitor', self.process.tail())
            self.call('qmp_capabilities')
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def connect(self):
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(SECONDS)
        try:
            link.connect(self.monitor)
        except OSError:
            link.close()
            return False
        self.socket = link
        self.lines = link.makefile('r', encoding='utf-8')
        return bool(self.lines.readline())      # the greeting

    def call(self, command, **arguments):
        """Its answer; events in between are passed over."""
        self.socket.sendall(json.dumps(
            {'execute': command, 'arguments': arguments}).encode())
        for line in self.lines:
            answer = json.loads(line)
            if 'error' in answer:
                raise Failed(f'{command}: {answer["error"]["desc"]}',
                             self.process.tail())
            if 'return' in answer:
                return answer['return']
        raise Failed(f'{command}: qemu has ended', self.process.tail())

    def memory(self, name, at=0, size=RAM):
        path = os.path.join(self.host.folder, name)
        self.call('pmemsave', val=at, size=size, filename=path)
        return path

    def counter(self):
        with open(self.memory('counter', COUNTER, 2), 'rb') as f:
            return f.read()

    def await_progress(self):
        before = self.counter()
        if not until(lambda: self.counter() != before, START_SECONDS,
                     self.process, 0.01):
            raise Failed('the guest does not run', self.process.tail())

    def close(self):
        for thing in (self.lines, self.socket, self.process):
            if thing:
                thing.close()


def migrate(source, target, place, pin_all):
    """Pinned or not is said to both ends."""
    port = free_port()
    for machine in (source, target):
        machine.call('migrate-set-capabilities', capabilities=[
            {'capability': 'rdma-pin-all', 'state': pin_all}])
    target.call('migrate-incoming', uri=f'rdma:{place.address}:{port}')
    source.call('migrate', uri=f'rdma:{place.address}:{port}')
    for machine in (source, target):
        def ended(machine=machine):
            status = machine.call('query-migrate').get('status')
            return status in ('completed', 'failed', 'cancelled') and status
        status = until(ended, SECONDS, machine.process, 0.05)
        if status != 'completed':
            raise Failed(f'the migration is {status}', source.process.tail() +
                         target.process.tail())


def check_migration(place, pin_all):
    need({QEMU: 'qemu-system-x86'})
    data = write_file(place.client.folder, 'guest.data',
                      os.urandom(DATA_BYTES))
    loader = ['-device', f'loader,file={data},addr={DATA_AT},force-raw=on']
    with Machine(place.client, 'source', loader) as source, \
            Machine(place.server, 'target', ['-incoming', 'defer']) as target:
        source.call('cont')
        source.await_progress()
        migrate(source, target, place, pin_all)
        memories = [source.memory('before'), target.memory('after')]
        if not filecmp.cmp(*memories, shallow=False):
            raise Failed('the memories differ')
        with open(memories[1], 'rb') as after, open(data, 'rb') as f:
            after.seek(DATA_AT)
            if after.read(DATA_BYTES) != f.read():
                raise Failed('the data are not in the memory')
        target.call('cont')
        target.await_progress()


def run(report, setting):
    place = Place(setting, 'ipv4')
    for name, pin_all in ('chunks', False), ('pinned', True):
        report.case(f'{setting.name}.migration.{name}', check_migration,
                    place, pin_all)
