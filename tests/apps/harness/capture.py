# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""tcpdump around traffic, classic pcap files, and the ICRC of RoCEv2, all
computed here from the specification, with nothing of the project's own code.

The ICRC (RoCEv2, annex A17) is the CRC-32 of: 8 bytes of ones; the IP header
with the fields that routers change as ones (TOS, TTL, checksum; traffic class,
flow label, hop limit); the UDP header with its checksum as ones; the BTH with
its fifth byte as ones; everything after it. It is stored little-endian."""

import collections
import os
import struct
import zlib

from .process import until
from .report import Failed, Skipped

ROCE_PORT = 4791
IPPROTO_UDP = 17
ETHERTYPE = {0x0800: 4, 0x86dd: 6}
FRAME_LIMIT = 4096 + 200        # the largest MTU and all its headers
SNAP_LENGTH = 5000              # small, so that the buffer holds many
BUFFER_KIB = '65536'
MARKER_PORT = 9                 # discard
MARKER = b'end of the test'
MARKER_SENDER = f"""
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.sendto({MARKER!r}, (sys.argv[1], {MARKER_PORT}))
"""

Datagram = collections.namedtuple('Datagram', 'version ip udp_offset length')


class Capture:
    """tcpdump at `host` on `interface`, from entry to exit."""

    def __init__(self, setting, host, interface, name):
        self.path = f'{setting.base}/{name}.pcap'
        self.host = host
        self.toward = next(other.ipv4 for other in setting.hosts
                           if other is not host)
        self.process = host.start('tcpdump', [
            'tcpdump', '-i', interface, '-w', self.path, '-U', '-Z', 'root',
            '--immediate-mode', '-B', BUFFER_KIB, '-s', str(SNAP_LENGTH),
            'udp', 'port', str(ROCE_PORT), 'or', 'port', str(MARKER_PORT)],
            as_root=True)
        if not until(lambda: 'listening on' in self.process.errors(), 60,
                     self.process):
            raise Skipped('tcpdump does not start: '
                          + self.process.errors().strip())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._await_marker()
        self.process.end()

    def _await_marker(self):
        """tcpdump forgets what it has not read yet when it is ended, so a
        last datagram is sent and waited for."""
        self.host.run(['/usr/bin/python3', '-c', MARKER_SENDER, self.toward],
                      rdma=False, name='marker')
        until(lambda: MARKER in tail_of(self.path), 60, self.process)

    def dropped(self):
        for line in self.process.errors().splitlines():
            if 'dropped by kernel' in line:
                return int(line.split()[0])
        return 0


def tail_of(path, length=256):
    with open(path, 'rb') as f:
        f.seek(max(0, os.path.getsize(path) - length))
        return f.read()


def frames(path):
    """Every captured Ethernet frame of a classic pcap file."""
    with open(path, 'rb') as f:
        data = f.read()
    order = '<' if data[:4] in (b'\xd4\xc3\xb2\xa1',
                                b'\x4d\x3c\xb2\xa1') else '>'
    offset = 24
    while offset + 16 <= len(data):
        captured, = struct.unpack_from(order + 'I', data, offset + 8)
        yield data[offset + 16:offset + 16 + captured]
        offset += 16 + captured


def datagram(frame):
    """The RoCEv2 datagram of an Ethernet frame, or None."""
    version = ETHERTYPE.get(struct.unpack_from('>H', frame, 12)[0])
    if version is None:
        return None
    ip = frame[14:]
    if version == 4:
        offset, protocol = (ip[0] & 15) * 4, ip[9]
        length, = struct.unpack_from('>H', ip, 2)
    else:
        offset, protocol = 40, ip[6]
        length = 40 + struct.unpack_from('>H', ip, 4)[0]
    if protocol != IPPROTO_UDP or \
            struct.unpack_from('>H', ip, offset + 2)[0] != ROCE_PORT:
        return None
    return Datagram(version, ip[:length], offset, length)


def icrc(packet):
    """The right ICRC of a Datagram, as it stands on the wire."""
    data = bytearray(packet.ip[:-4])
    udp = packet.udp_offset
    if packet.version == 4:
        data[1] = data[8] = data[10] = data[11] = 0xff
    else:
        data[0] |= 0x0f
        data[1] = data[2] = data[3] = data[7] = 0xff
    data[udp + 6] = data[udp + 7] = 0xff
    data[udp + 8 + 4] = 0xff
    return struct.pack('<I', zlib.crc32(b'\xff' * 8 + bytes(data)))


def check_capture(path, at_least):
    """Each datagram is one packet of at most an MTU, with a right ICRC."""
    count = 0
    for frame in frames(path):
        packet = datagram(frame)
        if packet is None:
            continue
        count += 1
        if packet.length > FRAME_LIMIT:
            raise Failed(f'datagram {count} has {packet.length} bytes: '
                         'a run, not a packet')
        if len(packet.ip) != packet.length:
            raise Failed(f'datagram {count} is cut off')
        if icrc(packet) != packet.ip[-4:]:
            raise Failed(f'datagram {count} has a wrong ICRC')
    if count < at_least:
        raise Failed(f'{count} RoCEv2 datagrams seen, {at_least} expected')
