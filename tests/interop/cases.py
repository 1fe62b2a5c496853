# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What is run between rnicd and Linux's rxe, and what its output has to say."""
import re
from collections import namedtuple

# client_check, server_check: functions of (case, output) that return what is wrong, or None
Case = namedtuple('Case', 'program args client_check server_check size count ipv6', defaults=(False,))


def check_row(case, output):
    """The report must have a row of this size and count.

    The rates in it tell nothing: perftest measures the processor's clock first, and says 0
    where a busy machine made that measurement fail.
    """
    if not re.search(r'^\s*%d\s+%d\s+\S+\s+\S+' % (case.size, case.count), output, re.M):
        return 'no row of results'
    return None


def check_quiet(_case, output):
    """An end that reports nothing must not complain either."""
    bad = re.search(r'^.*(failed|error|unable|couldn.t|mismatch).*(\nEvent: .*)?$', output, re.M | re.I)
    return ' '.join(bad.group(0).split()) if bad else None


def check_pingpong(case, output):
    if 'invalid data' in output:
        return 'invalid data'
    total = 2 * case.size * case.count
    return None if re.search(r'^%d bytes in ' % total, output, re.M) else 'no count of bytes'


def check_rcdata(_case, output):
    return None if 'all data right' in output else 'no verdict on the data'


def bandwidth(program):
    size, count = 65536, 100
    return Case(program, ('-F', '-u', 18, '-s', size, '-n', count), check_row, check_row, size, count)


# The passive end of perftest's latency tests prints no row.
CASES = {
    'ib_write_bw': bandwidth('ib_write_bw'),
    'ib_read_bw': bandwidth('ib_read_bw'),
    'ib_send_bw': bandwidth('ib_send_bw'),
    'ib_atomic_lat': Case('ib_atomic_lat', ('-F', '-u', 18, '-n', 100), check_row, check_quiet, 8, 100),
    'ibv_rc_pingpong_c': Case('ibv_rc_pingpong', ('-c', '-s', 16384, '-n', 100),
                              check_pingpong, check_pingpong, 16384, 100),
    'rcdata': Case('rcdata', (), check_rcdata, check_rcdata, 0, 0),
    'rcdata_srq': Case('rcdata', ('-s',), check_rcdata, check_rcdata, 0, 0),
}
# Over link-local IPv6 GIDs (the programs' own TCP keeps to IPv4).
CASES['ibv_rc_pingpong_c_ipv6'] = CASES['ibv_rc_pingpong_c']._replace(ipv6=True)

# Path MTU 4096 before, 1024 after.
SMALL_MTU = 1500
SMALL_MTU_CASES = ('ib_read_bw', 'ib_send_bw', 'rcdata')

# Messages of one packet and of many, at every path MTU.
for _mtu in (256, 512, 1024, 2048):
    CASES['rcdata_path_mtu_%d' % _mtu] = CASES['rcdata']._replace(args=('-m', _mtu))
CASES['rcdata_rnr'] = CASES['rcdata']._replace(args=('-r',))


def datagrams(program, transport):
    size, count = 2048, 100
    args = ('-F', '-u', 18, '-s', size, '-n', count, '-c', transport)
    return Case(program, args, check_row, check_row, size, count)


CASES.update({
    'ib_send_bw_uc': datagrams('ib_send_bw', 'UC'),
    'ib_write_bw_uc': datagrams('ib_write_bw', 'UC'),
    'ib_send_bw_ud': datagrams('ib_send_bw', 'UD'),
    'ibv_uc_pingpong_c': Case('ibv_uc_pingpong', ('-c', '-s', 4096, '-n', 100),
                              check_pingpong, check_pingpong, 4096, 100),
    'ibv_ud_pingpong_c': Case('ibv_ud_pingpong', ('-c', '-s', 1024, '-n', 100),
                              check_pingpong, check_pingpong, 1024, 100),
    'ibv_srq_pingpong_c': Case('ibv_srq_pingpong', ('-c', '-s', 4096, '-n', 200, '-q', 8),
                               check_pingpong, check_pingpong, 4096, 200),
})

# With 2% of the packets lost each way, what promises delivery delivers.
LOSS_CASES = ('ib_write_bw', 'ib_read_bw', 'ib_send_bw', 'rcdata')


def check_nothing(_case, _output):
    return None


def check_pings(_case, output):
    return None if output.count('ping data: rdma-ping') == 10 else 'not all pings came back'


# Programs that connect by rdma_cm: what server and client are given; {to} is the server's address, {own} that
# of the end. stays: the server goes on for ever. group: it listens to that one.
CmCase = namedtuple('CmCase', 'program server client client_check stays group ipv6',
                    defaults=(check_quiet, False, None, False))
GROUP = '239.77.1.2'

CM_CASES = {
    'rping': CmCase('rping', '-s -a {to} -C 10 -v', '-c -a {to} -C 10 -v', check_pings),
    'ucmatose': CmCase('ucmatose', '-b {to}', '-s {to}'),
    'ucmatose_20': CmCase('ucmatose', '-b {to} -c 20', '-s {to} -c 20'),
    'udaddy': CmCase('udaddy', '-b {to}', '-s {to}'),
    'mckey': CmCase('mckey', '-m %s -b {own} -C 10' % GROUP, '-s -m %s -b {own} -C 10' % GROUP, group=GROUP),
    'rping_ipv6': CmCase('rping', '-s -a {to} -C 10 -v', '-c -a {to} -C 10 -v', check_pings, ipv6=True),
    'ucmatose_ipv6': CmCase('ucmatose', '-b {to} -f ipv6', '-s {to} -f ipv6', ipv6=True),
    # No mckey over IPv6: Linux 6.1 refuses to join (ENOTSUPP).
    'cmtime': CmCase('cmtime', '-b {to} -c 50', '-s {to} -c 50', check_nothing, True),
    'ib_write_bw_cm': CmCase('ib_write_bw', '-R -F -n 100', '-R -F -n 100 {to}'),
    'ib_send_bw_cm_ud': CmCase('ib_send_bw', '-R -F -n 100 -c UD', '-R -F -n 100 -c UD {to}'),
}
