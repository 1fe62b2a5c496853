# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""UC and UD: libibverbs' examples, and perftest as unreliable.matrix says.
Nothing makes good what is lost, so these programs end only if nothing is."""

import itertools
import os

from cases import matrix
from harness.pair import result_rows, run_perftest, run_pingpong

FILE = os.path.join(os.path.dirname(__file__), '..', 'unreliable.matrix')
PINGPONGS = {
    'ibv_uc_pingpong': {
        'plain': [],
        'events': ['-e'],
        'mtu4096_64k': ['-m', '4096', '-s', '65536'],
        'mtu256_odd': ['-m', '256', '-s', '12289'],
    },
    'ibv_ud_pingpong': {
        'plain': [],
        'events': ['-e'],
        'odd': ['-s', '1021'],
    },
}


def check_pingpong(ends, family, program, options):
    pair = run_pingpong(ends, family, ['-n', '300', *options],
                        program=program)
    if '300 iters in' not in pair.client.output():
        pair.fail('no result')


def check_multicast(host, program):
    """Both ends at one device: perftest's group is ff01::, which never
    leaves a host, and lo has no route for it."""
    options = ['-C'] if program.endswith('_lat') else []
    pair = run_perftest((host, host), 'ipv6', program,
                        [*options, '-c', 'UD', '-g', '-n', '300'])
    if len(result_rows(pair.client.output())) != 1:
        pair.fail('no result')


def run_refused(report):
    matrix.run_refused(report, matrix.Matrix(FILE))


class Bounded(matrix.Matrix):
    """Where the sender cannot see how full the receiver is (another network
    namespace): no more than its socket holds."""

    def arguments(self, program, option):
        words = super().arguments(program, option)
        if program.endswith(':UC') and '-s' not in words:
            words = [*words, '-s', '16384', '-n', '48']
        return words


def perftest_cells(table, setting, family):
    for program, option in table.taken():
        # All sizes once: they take their time, and 8 MiB of UC need a
        # receiver that can be seen.
        if option == 'all' and (family, setting.name) != ('ipv4', 'loopback'):
            continue
        # What is the same whatever the addresses are.
        if family == 'ipv6' and option not in ('plain', 'bidir', 'inline64'):
            continue
        yield f'{setting.name}.{family}.{program}.{option}', program, option


def run(report, setting):
    families = setting.families(report)
    for family, program in itertools.product(families, PINGPONGS):
        for name, options in PINGPONGS[program].items():
            report.case(f'{setting.name}.{family}.{program}.{name}',
                        check_pingpong, setting.ends(family), family, program,
                        options)
    kind = Bounded if setting.name == 'netns' else matrix.Matrix
    table = kind(FILE)
    if setting.name == 'netns':
        for program in ('ib_send_bw', 'ib_send_lat'):
            report.case(f'{setting.name}.ipv6.{program}.multicast',
                        check_multicast, setting.hosts[0], program)
    for family in families:
        for name, program, option in perftest_cells(table, setting, family):
            report.case(name, matrix.check_taken, table, setting.ends(family),
                        family, program, option)
