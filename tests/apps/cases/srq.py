# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Shared receive queues: ibv_srq_pingpong, whose QPs share one, and perftest's
--use-srq; and one that is resized while messages come."""

import os

from harness.gids import gid_index
from harness.pair import result_rows, run_perftest, run_pingpong
from harness.report import Failed

RESIZE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..',
                      'srq_resize.py')
PINGPONGS = {
    'plain': [],
    'events': ['-e'],
    'one_qp': ['-q', '1'],
    # A receive a QP: many messages find none.
    'few_receives': ['-q', '24', '-r', '24'],
    'check_mtu256_odd': ['-c', '-m', '256', '-s', '12289', '-q', '4'],
}

# UD: no more than the receiving socket holds, since nothing is sent again.
BANDWIDTHS = {
    'rc': [],
    'rc_qp4': ['-q', '4'],
    'rc_bidir': ['-b'],
    'rc_events': ['-e'],
    'rc_list16': ['-l', '16'],
    'uc': ['-c', 'UC', '-s', '1024', '-n', '100'],
    'ud': ['-c', 'UD', '-s', '64', '-n', '100'],
}


def check_pingpong(ends, options):
    pair = run_pingpong(ends, 'ipv4', ['-n', '100', *options],
                        program='ibv_srq_pingpong')
    if ' iters in' not in pair.client.output():
        pair.fail('no result')


def check_bandwidth(ends, options):
    # perftest 25.01 takes no option twice.
    iterations = [] if '-n' in options else ['-n', '320']
    pair = run_perftest(ends, 'ipv4', 'ib_send_bw',
                        ['--use-srq', *iterations, *options])
    if len(result_rows(pair.client.output())) != 1:
        pair.fail('not one result')


def check_resize(host):
    done = host.run(['/usr/bin/python3', host.lend(RESIZE), host.device,
                     str(gid_index(host, 'ipv4'))])
    if done.popen.returncode or ' messages received' not in done.output():
        raise Failed(f'ended with {done.popen.returncode}', done.tail())


def run(report, setting):
    report.case(f'{setting.name}.srq_resize', check_resize, setting.hosts[0])
    ends = setting.ends('ipv4')
    for name, options in PINGPONGS.items():
        report.case(f'{setting.name}.ibv_srq_pingpong.{name}',
                    check_pingpong, ends, options)
    for name, options in BANDWIDTHS.items():
        report.case(f'{setting.name}.ib_send_bw.use_srq.{name}',
                    check_bandwidth, ends, options)
