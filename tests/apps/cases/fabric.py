# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Middleware over the device: UCX (ucx_perftest over rc_verbs and ud_verbs) and
libfabric (fi_pingpong, which looks at each byte that comes)."""

from cases.cm import CLIENT_SECONDS, Place, check_installed, judge
from harness.pair import START_SECONDS
from harness.ports import free_port, wait_listening
from harness.report import Failed

UCX_TESTS = ('tag_lat', 'tag_bw', 'ucp_put_lat', 'ucp_get', 'ucp_fadd',
             'ucp_cswap', 'ucp_am_lat')
UCX_TRANSPORTS = ('rc_v', 'ud_v')
# rxm makes one CQ for all peers that it may get, and 256 are its default: more
# than a CQ of rxe has entries. Without an SRQ libfabric 1.17 ends with a fault
# where the peer's disconnect is seen before the last message: it posts that
# one's buffer to the endpoint that it has just freed.
FABRIC_ENV = {'FI_UNIVERSE_SIZE': '16', 'FI_OFI_RXM_USE_SRX': '1'}
DATAGRAMS = {'dgram': ('verbs', 'dgram'), 'rxd': ('verbs;ofi_rxd', 'rdm')}
CONNECTED = {'msg': ('verbs', 'msg'), 'rxm': ('verbs;ofi_rxm', 'rdm')}


def run_both(place, port, argv, client_argv, env):
    """Both ends take the same environment; the server listens by TCP."""
    check_installed(argv[0])
    server = place.server.start_rdma(argv, env)
    client = None
    try:
        if not wait_listening(server, port, START_SECONDS):
            raise Failed('server does not listen', server.tail())
        client = place.client.start_rdma(client_argv, env)
        judge('client', client, CLIENT_SECONDS)
        judge('server', server, CLIENT_SECONDS)
        return client.output()
    finally:
        for process in (client, server):
            if process:
                process.close()


def without_mpi(host):
    """A ucx_perftest that is built with MPI asks that for its partner."""
    shown = host.run(['ucx_perftest', '-h'], rdma=False)
    return ['-P', '0'] if 'MPI mode' in shown.output() + shown.errors() else []


def check_ucx(place, transport, test):
    port = free_port()
    argv = ['ucx_perftest', *without_mpi(place.client), '-p', str(port),
            '-t', test, '-n', '100', '-s', '64' if test in ('tag_bw', 'tag_lat') else '8']
    output = run_both(place, port, argv, [*argv, place.address],
                      {'UCX_TLS': f'{transport},self',
                       'UCX_NET_DEVICES': 'rxe0:1'})
    if 'Final:' not in output:
        raise Failed('no result')


def check_fabric(place, provider, endpoint, env):
    port = free_port()
    argv = ['fi_pingpong', '-p', provider, '-e', endpoint, '-c', '-I', '10']
    output = run_both(place, port, [*argv, '-B', str(port)],
                      [*argv, '-P', str(port), place.address],
                      {**FABRIC_ENV, **env})
    if '=10' not in output:
        raise Failed('no result')


def run(report, setting):
    place = Place(setting, 'ipv4')
    name = setting.name
    for transport in UCX_TRANSPORTS:
        for test in UCX_TESTS:
            report.case(f'{name}.ucx.{transport}.{test}', check_ucx, place,
                        transport, test)
    for kind, (provider, endpoint) in DATAGRAMS.items():
        report.case(f'{name}.libfabric.{kind}', check_fabric, place, provider,
                    endpoint, {})
    # libfabric connects over no loopback interface.
    if setting.name == 'netns':
        for kind, (provider, endpoint) in CONNECTED.items():
            report.case(f'{name}.libfabric.{kind}', check_fabric, place,
                        provider, endpoint,
                        {'FI_VERBS_IFACE': setting.interface})
