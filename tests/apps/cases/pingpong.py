# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""libibverbs' own examples: ibv_devices, ibv_devinfo, ibv_rc_pingpong."""

import itertools

from harness.pair import run_pingpong
from harness.report import Failed

OPTIONS = {
    'plain': [],
    'events': ['-e'],
    'new_send': ['-N'],
    'events_new_send': ['-e', '-N'],
    'check': ['-c'],
    'check_events_new_send': ['-c', '-e', '-N'],
    'check_mtu4096_64k': ['-c', '-m', '4096', '-s', '65536'],
    'check_mtu256_odd': ['-c', '-m', '256', '-s', '12289'],
}


def check_pingpong(ends, family, options):
    pair = run_pingpong(ends, family, ['-n', '300', *options])
    if '300 iters in' not in pair.client.output():
        pair.fail('no result')


def check_shows(host, argv, words):
    shown = host.run(argv)
    missing = [word for word in words if word not in shown.output()]
    if shown.popen.returncode or missing:
        raise Failed(f'ended with {shown.popen.returncode}, without {missing}',
                     shown.tail())


def run(report, setting):
    for host in setting.hosts:
        where = f'{setting.name}.{host.name}'
        report.case(f'{where}.ibv_devices', check_shows, host,
                    ['ibv_devices'], [host.device])
        report.case(f'{where}.ibv_devinfo', check_shows, host,
                    ['ibv_devinfo'], [host.device, 'PORT_ACTIVE'])
        report.case(f'{where}.ibv_devinfo_list', check_shows, host,
                    ['ibv_devinfo', '-l'], ['1 HCA found', host.device])
    for family, name in itertools.product(setting.families(report), OPTIONS):
        report.case(f'{setting.name}.{family}.ibv_rc_pingpong.{name}',
                    check_pingpong, setting.ends(family), family,
                    OPTIONS[name])
