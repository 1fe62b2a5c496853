# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Open MPI and MPICH over UCX's rc_verbs and ud_verbs: mpi_ring.c, which looks at
each byte, with 2 and 4 ranks; in two namespaces half of the ranks in each."""

import os
import subprocess

from cases.cm import judge
from cases.lifetime import figures
from harness.packages import need
from harness.report import Failed

SOURCE = os.path.join(os.path.dirname(__file__), '..', 'mpi_ring.c')
RANKS = (2, 4)
TRANSPORTS = ('rc_v', 'ud_v')
RUN_SECONDS = 300
# How it starts what is to run on the other "machine", in rsh's place.
AGENT = """#!/bin/sh
# HOST COMMAND...
shift
exec {place} env -u LD_PRELOAD RNIC_DIR={folder} TMPDIR={folder} {rnic_run} sh -c "$*"
"""


class OpenMpi:
    name = 'openmpi'
    packages = {'mpicc.openmpi': 'libopenmpi-dev',
                'mpirun.openmpi': 'openmpi-bin'}
    environment = {'OMPI_ALLOW_RUN_AS_ROOT': '1',
                   'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}

    @staticmethod
    def words(ranks, hosts, agent, transport):
        """pml and osc: nothing but UCX will do."""
        yield from ['mpirun.openmpi', '--oversubscribe', '-n', str(ranks),
                    '--mca', 'pml', 'ucx', '--mca', 'osc', 'ucx',
                    '--mca', 'btl', '^openib', '-x', f'UCX_TLS={transport}']
        if agent:
            each = ranks // len(hosts)
            yield from ['--mca', 'plm_rsh_agent', agent, '--map-by', 'node',
                        '--host', ','.join(f'{host.ipv4}:{each}'
                                           for host in hosts)]


class Mpich:
    name = 'mpich'
    packages = {'mpicc.mpich': 'libmpich-dev', 'mpirun.mpich': 'mpich'}
    environment = {}

    @staticmethod
    def words(ranks, hosts, agent, _transport):
        yield from ['mpirun.mpich', '-n', str(ranks),
                    '-localhost', hosts[0].ipv4]
        if agent:
            each = ranks // len(hosts)
            # The rank has the environment of its own machine's rnic-run.
            yield from ['-launcher', 'rsh', '-launcher-exec', agent,
                        '-genvlist', 'UCX_TLS,UCX_NET_DEVICES',
                        '-hosts', ','.join(f'{host.ipv4}:{each}'
                                           for host in hosts)]


def agent_for(setting, host):
    path = os.path.join(setting.base, 'agent')
    with open(path, 'w', encoding='ascii') as f:
        f.write(AGENT.format(place=' '.join(host.place), folder=host.folder,
                             rnic_run=host.tree.rnic_run))
    os.chmod(path, 0o755)
    return path


def compiled(setting, mpi):
    path = os.path.join(setting.base, f'mpi_ring.{mpi.name}')
    if not os.path.exists(path):
        done = subprocess.run([f'mpicc.{mpi.name}', '-O1', '-o', path, SOURCE],
                              text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            raise Failed('is not compiled', done.stdout.splitlines())
        os.chmod(path, 0o755)
    return path


def check(setting, mpi, transport, ranks):
    need(mpi.packages)
    hosts, agent = setting.hosts[:1], None
    if setting.name == 'netns':
        hosts, agent = setting.hosts, agent_for(setting, setting.hosts[1])
    daemons = setting.daemons[:len(hosts)]
    before = [figures(daemon, ['sent_pkts'])['sent_pkts']
              for daemon in daemons]
    transport += ',self'
    process = hosts[0].start_rdma(
        [*mpi.words(ranks, hosts, agent, transport), compiled(setting, mpi)],
        {'UCX_TLS': transport, 'UCX_NET_DEVICES': f'{hosts[0].device}:1',
         **mpi.environment})
    try:
        judge('mpirun', process, RUN_SECONDS)
    finally:
        process.close()
    if f'{ranks} ranks done' not in process.output():
        raise Failed('did not come to its end', process.tail())
    for daemon, old in zip(daemons, before):
        sent = figures(daemon, ['sent_pkts'])['sent_pkts'] - old
        if sent < 1000:         # a megabyte in packets of an MTU, and more
            raise Failed(f'a device has sent only {sent} packets')


def run(report, setting):
    for mpi in (OpenMpi, Mpich):
        for transport in TRANSPORTS:
            for ranks in RANKS:
                report.case(f'{setting.name}.{mpi.name}.{transport}.{ranks}',
                            check, setting, mpi, transport, ranks)
