# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Which index of a device's GID table holds an address, read from what
`ibv_devinfo -v` prints: `GID[  1]:  ::ffff:10.77.0.2, RoCE v2`."""

import ipaddress
import re

LINE = re.compile(r'^\s*GID\[\s*(\d+)\]:\s*([0-9a-fA-F:.]+)')


def parse_gids(devinfo):
    """{index: ipaddress.IPv6Address} of an ibv_devinfo -v output."""
    found = {}
    for line in devinfo.splitlines():
        match = LINE.match(line)
        if match:
            found[int(match[1])] = ipaddress.IPv6Address(match[2])
    return found


def gid_of(address):
    address = ipaddress.ip_address(address)
    if address.version == 4:
        return ipaddress.IPv6Address(f'::ffff:{address}')
    return address


def gid_index(host, family):
    """The index at `host` of its own address; remembered by the host."""
    known = host.__dict__.setdefault('gid_indices', {})
    if family not in known:
        shown = host.run(['ibv_devinfo', '-v', '-d', host.device])
        wanted = gid_of(host.address(family))
        for index, gid in parse_gids(shown.output()).items():
            if gid == wanted:
                known[family] = index
                break
        else:
            raise LookupError(f'no GID {wanted} at {host.name}: '
                              + ' / '.join(shown.tail(6)))
    return known[family]
