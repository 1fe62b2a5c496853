# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""An iSER initiator by libiscsi: writes a file to a LUN, in pieces of other
sizes than it reads them back, and compares. iser_data.py PORTAL TARGET INITIATOR FILE"""

import ctypes
import sys
from itertools import cycle

BLOCK = 512
LUN = 1
# libiscsi has a buffer of 256 KiB for each command over iSER.
WRITES = (512, 262144, 4096, 65536, 1536)
READS = (8192, 512, 131072, 262144)

# From iscsi/iscsi.h.
ISER_TRANSPORT = 1
SESSION_NORMAL = 2
HEADER_DIGEST_NONE = 0

lib = ctypes.CDLL('libiscsi.so.7')
lib.iscsi_create_context.restype = ctypes.c_void_p
lib.iscsi_get_error.restype = ctypes.c_char_p


class Vector(ctypes.Structure):
    """struct scsi_iovec"""

    _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]


class Disk:
    def __init__(self, portal, target, initiator):
        self.context = ctypes.c_void_p(
            lib.iscsi_create_context(initiator.encode()))
        self.must(lib.iscsi_init_transport(self.context, ISER_TRANSPORT))
        self.must(lib.iscsi_set_targetname(self.context, target.encode()))
        self.must(lib.iscsi_set_session_type(self.context, SESSION_NORMAL))
        self.must(lib.iscsi_set_header_digest(self.context,
                                              HEADER_DIGEST_NONE))
        self.must(lib.iscsi_full_connect_sync(self.context, portal.encode(),
                                              LUN))

    def must(self, result):
        if result:
            text = lib.iscsi_get_error(self.context)
            raise SystemExit(f'libiscsi: {text.decode()}')

    def end_task(self, task):
        """A task begins with its SCSI status."""
        self.must(not task)
        self.must(ctypes.cast(task, ctypes.POINTER(ctypes.c_int))[0])
        lib.scsi_free_scsi_task(ctypes.c_void_p(task))

    def call(self, function, at, *more):
        function.restype = ctypes.c_void_p
        self.end_task(function(self.context, LUN, ctypes.c_uint64(at // BLOCK),
                               *more))

    def write(self, at, data):
        self.call(lib.iscsi_write16_sync, at, data, len(data), BLOCK,
                  0, 0, 0, 0, 0)

    def read(self, at, length):
        room = ctypes.create_string_buffer(length)
        vector = Vector(ctypes.addressof(room), length)
        self.call(lib.iscsi_read16_iov_sync, at, length, BLOCK, 0, 0, 0, 0, 0,
                  ctypes.byref(vector), 1)
        return room.raw

    def close(self):
        self.must(lib.iscsi_logout_sync(self.context))


def pieces(length, sizes):
    at = 0
    for size in cycle(sizes):
        if at >= length:
            return
        yield at, min(size, length - at)
        at += size


def main(portal, target, initiator, path):
    with open(path, 'rb') as f:
        data = f.read()
    disk = Disk(portal, target, initiator)
    for at, length in pieces(len(data), WRITES):
        disk.write(at, data[at:at + length])
    for at, length in pieces(len(data), READS):
        if disk.read(at, length) != data[at:at + length]:
            raise SystemExit(f'{length} bytes at {at} come back different')
    disk.close()
    print(f'{len(data)} bytes came back the same')


if __name__ == '__main__':
    main(*sys.argv[1:])
