# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs that connect by rdma_cm: librdmacm's own, perftest -R. A server is up when rnicctl shows its ID as listening."""

import os

from harness.pair import START_SECONDS, TROUBLE
from harness.process import until
from harness.report import Failed

GROUP = {'ipv4': '239.77.1.1', 'ipv6': 'ff05::7701'}
CLIENT_SECONDS = 120
PERFTEST_TRIES = 5


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
    yield 'cmtime', ['cmtime', '-b', to], ['cmtime', '-s', to, '-c', '100'], \
        {'stays': True}
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

RPING = {
    'plain': (['-v'], 1), 'own_queue': (['-q'], 1), 'validated': (['-V', '-S', '60000'], 1),
    'many_clients': (['-P'], 5),
}


def run(report, setting):
    for family in ('ipv4', 'ipv6'):
        place = Place(setting, family)
        prefix = f'{setting.name}.{family}.cm'
        for name, (options, clients) in RPING.items():
            report.case(f'{prefix}.rping.{name}', check_rping, place, options,
                        clients)
        for name, server, client, more in librdmacm_cases(place, family):
            report.case(f'{prefix}.{name}', run_pair, place, server, client,
                        **more)
        if (setting.name, family) != ('loopback', 'ipv6'):  # lo has no route
            report.case(f'{prefix}.mckey', check_mckey, place, family)
        if family == 'ipv4':    # rcopy takes a colon for the end of a name
            report.case(f'{prefix}.rcopy', check_rcopy, place)
        for name, options in PERFTEST.items() if family == 'ipv4' else ():
            report.case(f'{prefix}.{name}', check_perftest, place,
                        name.split('.')[0], options)
