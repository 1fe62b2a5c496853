# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Without any daemon rnic-run starts one, which programs started later share,
and which ends after its last client."""

import os

from harness.pair import run_perftest, run_pingpong
from harness.process import read_text, until
from harness.report import Failed

AT_ONCE = 50
END_SECONDS = 120


def check_shared(host):
    run_pingpong((host, host), 'ipv4', ['-c', '-n', '100'])
    run_perftest((host, host), 'ipv4', 'ib_write_bw', ['-n', '100'])


def finish_all(processes, words):
    for process in processes:
        code = process.wait(END_SECONDS)
        if code != 0 or words not in process.output():
            raise Failed(f'ended with {code}', process.tail())


def check_at_once(host):
    """Many that find no daemon at the same moment end well."""
    finish_all([host.start_rdma(['ibv_devices']) for _ in range(AT_ONCE)],
               host.device)


def check_private(host):
    """Private daemons at once, each with a device of its own."""
    argv = [host.tree.rnic_run, '--private', 'ibv_devinfo', '-v']
    finish_all([host.start('private', argv) for _ in range(2)],
               'PORT_ACTIVE')


def daemons_of(setting):
    """Those that were started by programs of this setting."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if read_text(f'/proc/{pid}/comm').strip().endswith('rnicd') \
                    and setting.base in read_text(f'/proc/{pid}/environ'):
                yield pid
        except OSError:     # it is gone, or another user's
            pass


def check_ended(setting):
    """After all that no daemon is left, nor its address taken."""
    if not until(lambda: not list(daemons_of(setting)), END_SECONDS,
                 interval=0.1):
        raise Failed(f'{len(list(daemons_of(setting)))} daemons still run')


def run(report, setting):
    if setting.name != 'loopback':
        return
    host = setting.hosts[0]
    report.case(f'{setting.name}.ondemand.shared', check_shared, host)
    report.case(f'{setting.name}.ondemand.at_once', check_at_once, host)
    report.case(f'{setting.name}.ondemand.private', check_private, host)
    report.case(f'{setting.name}.ondemand.ended', check_ended, setting)
