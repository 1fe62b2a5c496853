# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uDAPL's programs over its providers: "ofa" connects by rdma_cm, "scm" by a
socket of its own. dtest looks at each byte of its ping-pong of WRITEs."""

import os

from cases.cm import CLIENT_SECONDS, Place, await_listener, judge
from harness.packages import need
from harness.pair import START_SECONDS
from harness.ports import wait_listening
from harness.report import Failed

PACKAGES = {'dtest': 'dapl2-utils'}
PORT = 15828            # where all but dtestsrq exchange their addresses
TRIES = 20
# As dtest and dtestcm name the event, and dtestx its number.
REJECTED = ('DAT_CONNECTION_EVENT_NON_PEER_REJECTED',
            '!conn established: 0x4003')
LIBRARIES = {'ofa': 'libdaplofa.so.2', 'scm': 'libdaploscm.so.2'}
# name: (program and options, what a good client prints)
PROGRAMS = {
    'dtest': (['dtest', '-b', '65536', '-B', '20'], 'Complete. PASSED'),
    'dtest_checked': (['dtest', '-W', '-D', '-b', '65536', '-B', '20'],
                      'Complete. PASSED'),
    'dtest_polled': (['dtest', '-p', '-b', '64', '-B', '20'],
                     'Complete. PASSED'),
    'dtestx': (['dtestx'], 'immed/atomic test PASSED'),
    'dtestcm': (['dtestcm', '-c', '20'], 'Num=20'),
    'dtestsrq': (['dtestsrq', '-c', '4', '-B', '10'], 'SRQ Test Complete'),
}
# How dtestsrq's server listens by "scm" cannot be seen; dtestx takes 6 s, and
# does nothing else there than by "ofa".
NOT_SCM = ('dtestsrq', 'dtestx')


def registry(host, address, provider):
    """A dat.conf of the test's own; the words to find it by."""
    path = os.path.join(host.folder, f'dat.{provider}')
    where = {'ofa': f'{address} 0', 'scm': f'{host.device} 1'}[provider]
    with open(path, 'w', encoding='ascii') as f:
        f.write(f'ofa-v2-test u2.0 nonthreadsafe default '
                f'{LIBRARIES[provider]} dapl.2.0 "{where}" ""\n')
    os.chmod(path, 0o644)
    return {'DAT_OVERRIDE': path}


def await_server(place, server, program):
    if program == 'dtestsrq':
        await_listener(place, server)
    elif not wait_listening(server, PORT, START_SECONDS):
        raise Failed('server does not listen', server.tail())


def check(place, provider, program, good):
    """The servers tell their address and listen only then: who comes too early
    is rejected, and both begin anew."""
    need(PACKAGES)
    for left in range(TRIES - 1, -1, -1):
        try:
            run_both(place, provider, program, good)
            return
        except Failed as failure:
            early = any(word in line for line in failure.details
                        for word in REJECTED)
            if not left or not early:
                raise


def run_both(place, provider, program, good):
    argv = [program[0], '-P', 'ofa-v2-test', *program[1:]]
    server = place.server.start_rdma(
        [*argv, '-s'], registry(place.server, place.address, provider))
    client = None
    try:
        await_server(place, server, program[0])
        client = place.client.start_rdma(
            [*argv, '-h', place.address],
            registry(place.client, place.client_address, provider))
        judge('client', client, CLIENT_SECONDS)
        if good not in client.output():
            raise Failed(f'no "{good}"', client.tail(40) + server.tail())
        judge('server', server, CLIENT_SECONDS)
    finally:
        for process in (client, server):
            if process:
                process.close()


def run(report, setting):
    place = Place(setting, 'ipv4')
    for provider in LIBRARIES:
        # It looks for an address that is not a loopback interface's.
        if (setting.name, provider) == ('loopback', 'scm'):
            continue
        for name, (program, good) in PROGRAMS.items():
            if provider == 'scm' and name in NOT_SCM:
                continue
            report.case(f'{setting.name}.dapl.{provider}.{name}', check,
                        place, provider, program, good)
