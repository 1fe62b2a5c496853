# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs that connect by rdma_cm: librdmacm's own, perftest -R, qperf, fio, and
sockets over librspreload. A server is up when rnicctl shows its ID as listening."""

import glob
import os
import shutil

from harness.pair import START_SECONDS, TROUBLE
from harness.ports import wait_listening
from harness.process import until
from harness.report import Failed, Skipped

GROUP = {'ipv4': '239.77.1.1', 'ipv6': 'ff05::7701'}
CLIENT_SECONDS = 120
PERFTEST_TRIES = 20     # on a machine with much to do most come too early
QPERF_PORT = 19765
QPERF_TRIES = 20


class Place:
    """A setting's server and client, and the server's daemon."""

    def __init__(self, setting, family):
        self.server, self.client = setting.ends(family)
        self.daemon = setting.daemons[setting.hosts.index(self.server)]
        self.address = self.server.address(family)
        self.client_address = self.client.address(family)

    def listeners(self):
        return [row for row in self.daemon.ctl_json('cm')
                if row['state'] == 'LISTEN']

    def ids(self):
        return self.daemon.ctl_json('cm')


def await_listener(place, server):
    if not until(place.listeners, START_SECONDS, server, 0.05):
        raise Failed('server does not listen', server.tail())


def judge(role, process, seconds):
    code = process.wait(seconds)
    if code is None:
        raise Failed(f'{role} still runs after {seconds} s', process.tail())
    if code:
        raise Failed(f'{role} ended with {code}', process.tail())
    match = TROUBLE.search(process.output() + process.errors())
    if match:
        raise Failed(f'{role} said "{match[0].strip()}"', process.tail())


def run_pair(place, server_argv, client_argv, stays=False, clients=1, env=None):
    """stays: a server that goes on for ever, and is ended here."""
    if not until(lambda: not place.ids(), START_SECONDS):
        raise Failed('IDs of the program before are left')
    server = place.server.start_rdma(server_argv, env)
    processes = [server]
    try:
        await_listener(place, server)
        # One after another: rping's server loses a request that comes while it
        # has not yet looked at the one before.
        for _ in range(clients):
            processes.append(place.client.start_rdma(client_argv, env))
            judge('client', processes[-1], CLIENT_SECONDS)
        if not stays:
            judge('server', server, START_SECONDS)
        return processes
    finally:
        for process in reversed(processes):
            process.close()


def check_rping(place, options, clients=1, count=10):
    common = ['-C', str(count), *options]
    _, *others = run_pair(
        place, ['rping', '-s', '-a', place.address, *common],
        ['rping', '-c', '-a', place.address, *common],
        stays='-P' in options, clients=clients)
    for client in others:
        if '-v' in options and client.output().count('ping data:') != count:
            raise Failed('not all pings came back', client.tail())


def check_cmtime(place):
    """The ends of rdma-core 56's agree by a TCP connection, which is of IPv4."""
    count = ['-c', '100']
    try:
        run_pair(place, ['cmtime', '-b', place.address, *count],
                 ['cmtime', '-s', place.address, *count], stays=True)
    except Failed as failure:
        if 'Address family for hostname not supported' in str(failure.details):
            raise Skipped('this cmtime knows IPv4 only') from failure
        raise


def check_mckey(place, family):
    """The receiver is there when its kernel shows the membership."""
    group = GROUP[family]
    receiver = place.server.start_rdma(
        ['mckey', '-m', group, '-b', place.address, '-C', '10'])
    sender = None
    try:
        def joined():
            shown = place.server.run(['ip', 'maddr', 'show'], rdma=False)
            return group in shown.output()
        if not until(joined, START_SECONDS, receiver, 0.05):
            raise Failed('the receiver does not join', receiver.tail())
        sender = place.client.start_rdma(
            ['mckey', '-s', '-m', group, '-b', place.client_address,
             '-C', '10'])
        judge('sender', sender, CLIENT_SECONDS)
        judge('receiver', receiver, START_SECONDS)
    finally:
        for process in (sender, receiver):
            if process:
                process.close()


def check_rcopy(place):
    source = os.path.join(place.client.folder, 'rcopy.source')
    target = os.path.join(place.server.folder, 'rcopy.target')
    with open(source, 'wb') as f:
        f.write(os.urandom(1000003))
    os.chmod(source, 0o644)
    run_pair(place, ['rcopy'], ['rcopy', source, f'{place.address}:{target}'],
             stays=True)
    with open(source, 'rb') as a, open(target, 'rb') as b:
        if a.read() != b.read():
            raise Failed('the copy differs')


def check_perftest(place, program, options):
    """perftest connects twice, and its client does not wait until the server
    listens again: who comes too early is rejected and begins anew."""
    common = [program, '-R', '-F', '-n', '100', *options]
    for left in range(PERFTEST_TRIES - 1, -1, -1):
        try:
            run_pair(place, common, common + [place.address])
            return
        except Failed as failure:
            early = any('RDMA_CM_EVENT_REJECTED; error: 8' in line or
                        'RDMA_CM_EVENT_UNREACHABLE; error: 1' in line
                        for line in failure.details)
            if not left or not early:
                raise


def check_installed(*programs):
    missing = [p for p in programs if not shutil.which(p)]
    if missing:
        raise Skipped(f'{", ".join(missing)} not installed')


def check_qperf(place, test):
    """The server tells the client its port before it listens there: who comes
    too early is rejected and begins anew."""
    check_installed('qperf')

    def rejected():
        return place.daemon.process.errors().count('nobody listens')
    for left in range(QPERF_TRIES - 1, -1, -1):
        before = rejected()
        try:
            run_qperf(place, test)
            return
        except Failed:
            if not left or rejected() == before:
                raise


def run_qperf(place, test):
    """The server's control port is TCP's."""
    server = place.server.start_rdma(['qperf'])
    client = None
    try:
        if not wait_listening(server, QPERF_PORT, START_SECONDS):
            raise Failed('server does not listen', server.tail())
        client = place.client.start_rdma(
            ['qperf', '-cm', '1', '-t', '1', '-to', str(CLIENT_SECONDS),
             place.address, test])
        judge('client', client, CLIENT_SECONDS)
        if f'{test}:' not in client.output():
            raise Failed('no result', client.tail())
    finally:
        for process in (client, server):
            if process:
                process.close()


def fio_job(folder, name, lines):
    """Jobs that are processes would outlive a fio that is killed."""
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='ascii') as f:
        f.write('\n'.join(['[job]', 'ioengine=rdma', 'port=8765', 'bs=64k',
                           'size=20m', 'thread', *lines]) + '\n')
    os.chmod(path, 0o644)
    return path


def check_fio(place, verb):
    """Only what comes by "send" is seen by the server, which looks at it. It
    has room for all of the messages, since fio lets nobody wait for a receive
    (rnr_retry_count is 0)."""
    check_installed('fio')
    summed = verb == 'send'
    served = fio_job(place.server.folder, 'served.fio',
                     ['rw=read', 'iodepth=320',
                      *['verify=crc32c', 'verify_fatal=1'] * summed])
    asked = fio_job(place.client.folder, 'asked.fio',
                    ['rw=write', f'hostname={place.address}', f'verb={verb}',
                     'iodepth=1', 'iodepth_batch_complete=1',
                     *['verify=crc32c', 'do_verify=0'] * summed])
    run_pair(place, ['fio', served], ['fio', asked])


def check_iperf(place, first=False):
    """Ordinary TCP programs, whose sockets are connections of rdma_cm.
    rnic-run puts librnic.so before what is preloaded; a script may have put
    something before that."""
    check_installed('iperf')
    found = glob.glob('/usr/lib/*/rsocket/librspreload.so')
    if not found:
        raise Skipped('no librspreload.so')
    before = ['sh', '-c', 'LD_PRELOAD="$0 $LD_PRELOAD" exec "$@"', found[0]]
    env = {} if first else {'LD_PRELOAD': found[0]}
    before = before if first else []
    _, client = run_pair(place, [*before, 'iperf', '-s', '-P', '1'],
                         [*before, 'iperf', '-c', place.address, '-t', '1'],
                         stays=True, env=env)
    if 'bits/sec' not in client.output():
        raise Failed('no result', client.tail())


def check_low_port(place):
    """Ports below 1024 are for who has CAP_NET_BIND_SERVICE."""
    root = os.geteuid() == 0 and place.server.owner is None
    argv = ['rping', '-s', '-a', place.address, '-p', '1000', '-C', '1']
    without = ['setpriv', '--bounding-set', '-net_bind_service'] if root else []
    refused = place.server.start_rdma([*without, *argv])
    try:
        refused.wait(START_SECONDS)
        if 'Permission denied' not in refused.output() + refused.errors():
            raise Failed('port 1000 without the capability', refused.tail())
    finally:
        refused.close()
    if not root:
        return
    run_pair(place, argv, ['rping', '-c', '-a', place.address, '-p', '1000', '-C', '1'])


def librdmacm_cases(place, family):
    """name: (server, client, more)"""
    to = place.address
    yield 'ucmatose', ['ucmatose', '-b', to], ['ucmatose', '-s', to], {}
    yield 'ucmatose_migrates', ['ucmatose', '-b', to, '-m'], \
        ['ucmatose', '-s', to, '-m'], {}
    yield 'ucmatose_50', ['ucmatose', '-b', to, '-c', '50'], \
        ['ucmatose', '-s', to, '-c', '50'], {}
    yield 'udaddy', ['udaddy', '-b', to], ['udaddy', '-s', to], {}
    yield 'udaddy_20', ['udaddy', '-b', to, '-c', '20'], \
        ['udaddy', '-s', to, '-c', '20'], {}
    for name, program, options in (
            ('riostream', 'riostream', ['-I', '10']),
            ('rstream', 'rstream', ['-I', '20', '-C', '20']),
            ('rstream_nonblocking', 'rstream',
             ['-I', '20', '-C', '20', '-T', 'n'])):
        yield name, [program, '-b', to, *options], \
            [program, '-s', to, *options], {}
    if family == 'ipv4':
        yield 'rdma_server', ['rdma_server'], ['rdma_client', '-s', to], {}
        yield 'rdma_xserver', ['rdma_xserver', '-c', 'r'], \
            ['rdma_xclient', '-c', 'r', '-s', to], {}


# Each takes some seconds, which perftest waits when it connects.
# This release cannot resolve an IPv6 address of a peer.
PERFTEST = {
    'ib_write_bw': [], 'ib_read_lat': [], 'ib_atomic_bw': [],
    'ib_send_bw.ud': ['-c', 'UD'], 'ib_write_bw.q4': ['-q', '4'],
}

# Its tests of UC and UD do not use rdma_cm.
QPERF = ('rc_lat', 'rc_bw', 'rc_bi_bw', 'rc_rdma_write_bw', 'rc_rdma_read_bw',
         'rc_compare_swap_mr', 'rc_fetch_add_mr', 'ver_rc_compare_swap',
         'ver_rc_fetch_add')

RPING = {
    'plain': (['-v'], 1), 'own_queue': (['-q'], 1), 'validated': (['-V', '-S', '60000'], 1),
    'many_clients': (['-P'], 5),
}


def run(report, setting):
    for family in setting.families(report):
        place = Place(setting, family)
        prefix = f'{setting.name}.{family}.cm'
        for name, (options, clients) in RPING.items():
            report.case(f'{prefix}.rping.{name}', check_rping, place, options,
                        clients)
        for name, server, client, more in librdmacm_cases(place, family):
            report.case(f'{prefix}.{name}', run_pair, place, server, client,
                        **more)
        report.case(f'{prefix}.cmtime', check_cmtime, place)
        if (setting.name, family) != ('loopback', 'ipv6'):  # lo has no route
            report.case(f'{prefix}.mckey', check_mckey, place, family)
        if family == 'ipv4':    # rcopy takes a colon for the end of a name
            report.case(f'{prefix}.rcopy', check_rcopy, place)
            report.case(f'{prefix}.low_port', check_low_port, place)
        if family == 'ipv6':
            continue
        for test in QPERF:
            report.case(f'{prefix}.qperf.{test}', check_qperf, place, test)
        for verb in ('write', 'read', 'send'):
            report.case(f'{prefix}.fio.{verb}', check_fio, place, verb)
        report.case(f'{prefix}.iperf', check_iperf, place)
        report.case(f'{prefix}.iperf_librspreload_first', check_iperf, place,
                    True)
        for name, options in PERFTEST.items():
            report.case(f'{prefix}.{name}', check_perftest, place,
                        name.split('.')[0], options)
