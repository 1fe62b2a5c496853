# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""With 1% of the packets dropped each way everything still completes, and
data is right."""

from harness.pair import result_rows, run_perftest, run_pingpong

# At the server's daemon: what the client sent, and what the server sends.
FAULTS = ('rx drop p=0.01 seed=7', 'tx drop p=0.01 seed=8')
SIZES = {'64k': ['-s', '65536', '-n', '100'],
         '1m': ['-s', '1048576', '-n', '20']}
TIMEOUT = 600
LAST_ACK = 'transport retry counter exceeded'


def check_perftest(ends, family, program, options):
    pair = run_perftest(ends, family, program, options, TIMEOUT)
    if len(result_rows(pair.client.output())) != 1:
        pair.fail('no result')


def last_ack_was_lost(pair):
    """One end has all its data and has gone; the acknowledgement of the
    other's last message was lost, and nobody is there to repeat it."""
    return any(gone.popen.returncode == 0 and
               LAST_ACK in other.errors() + other.output()
               for gone, other in ((pair.client, pair.server),
                                   (pair.server, pair.client)))


def check_pingpong(ends, family, options, program='ibv_rc_pingpong'):
    pair = run_pingpong(ends, family, ['-c', *options], TIMEOUT,
                        forgive=last_ack_was_lost, program=program)
    if 'iters in' not in pair.client.output() + pair.server.output():
        pair.fail('no result')


def run(report, setting):
    for family in setting.families(report):
        where = f'{setting.name}.loss.{family}'
        ends = setting.ends(family)
        for program in ('ib_send_bw', 'ib_write_bw', 'ib_read_bw'):
            for size, options in SIZES.items():
                report.case(f'{where}.{program}.{size}', check_perftest,
                            ends, family, program, options)
        report.case(f'{where}.ibv_rc_pingpong.check', check_pingpong,
                    ends, family, ['-n', '200', '-s', '16384'])
        report.case(f'{where}.ibv_srq_pingpong.check', check_pingpong,
                    ends, family, ['-n', '100', '-q', '4'],
                    'ibv_srq_pingpong')
        report.case(f'{where}.ib_send_bw.srq', check_perftest, ends, family,
                    'ib_send_bw', ['--use-srq', *SIZES['64k']])
