# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The RoCEv2 packets that leave on lo, with the kernel's times of them."""

import socket
import struct
from collections import namedtuple

from rulebook import Skipped

ETH_P_IP = 0x0800
SO_RCVBUFFORCE = 33
SO_TIMESTAMPNS = 35
PORT = 4791

Sent = namedtuple('Sent', 'time opcode dqpn psn')


class Sniffer:
    def __init__(self):
        try:
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                                        socket.htons(ETH_P_IP))
        except PermissionError:
            raise Skipped('no packet sockets here') from None
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        except PermissionError:
            pass        # some hundred packets fit all the same
        self.socket.setblocking(False)

    def sent(self):
        """Those that have come since the last call, in order."""
        while True:
            try:
                data, notes, _, _ = self.socket.recvmsg(64, 128)
            except BlockingIOError:
                return
            if len(data) < 40 or \
                    struct.unpack_from('>H', data, 22)[0] != PORT:
                continue
            seconds, nanoseconds = struct.unpack('@qq', notes[0][2][:16])
            yield Sent(seconds + nanoseconds / 1e9, data[28],
                       struct.unpack_from('>I', data, 32)[0] & 0xffffff,
                       struct.unpack_from('>I', data, 36)[0] & 0xffffff)

    def close(self):
        self.socket.close()
