# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A marked packet is answered with a CNP, and the CNP slows its sender down:
seen on the wire, between two namespaces, with our own bottleneck as the
switch that marks."""

import os
import shutil
import subprocess

from harness.capture import Capture
from harness.pair import run_perftest
from harness.report import Failed, Skipped

MBIT = 1000000
# The first CNP leaves LIMIT, which grows by 1 Mbit/s each 131 ms from the fifth period on.
LIMIT = 10
CONTROL = (f'rp_rate_to_set_on_first_cnp={LIMIT}', 'rp_min_rate=10',
           'rp_ai_rate=1', 'rp_hai_rate=1', 'rp_time_reset=131071')
BOTTLENECK = ('egress', 'rate=500mbit', 'queue=8m', 'red=2k,20k,1')
TRAFFIC = ['-s', '65536', '-n', '90']
SETTLED = 0.2           # s: until then the bottleneck's queue has drained
MOST = 2 * LIMIT * MBIT     # with all that it grows in the time it takes

DATA = 'infiniband && ip.src == {client} && infiniband.bth.opcode != 129'
FIELDS = ('frame.time_epoch', 'frame.len', 'ip.dsfield.ecn',
          'ip.dsfield.dscp', 'infiniband.bth.destqp')


def tshark(path, display_filter):
    """The FIELDS of all packets that the filter shows."""
    argv = ['tshark', '-r', path, '-Y', display_filter, '-T', 'fields']
    for field in FIELDS:
        argv += ['-e', field]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=300, check=False)
    if done.returncode:
        raise Failed(f'tshark ended with {done.returncode}')
    return [line.split('\t') for line in done.stdout.splitlines()]


def rnicctl(host, *words):
    done = host.run([host.tree.rnicctl, *words], rdma=False, name='rnicctl')
    if done.popen.returncode:
        raise Failed(' '.join(words) + ': ' + done.errors().strip())


def stat_of(daemon):
    return daemon.stat()[0]


def check_wire(path, server, client):
    data = tshark(path, DATA.format(client=client.ipv4))
    marked = [p for p in data if p[2] == '3']
    cnps = tshark(path, f'ip.src == {server.ipv4} && '
                        'infiniband.bth.opcode == 129 && udp.payload[4:1] == 40')
    if not marked:
        raise Failed('no packet is marked')
    if not cnps:
        raise Failed(f'no CNP answers {len(marked)} marks')
    if any(p[2] not in ('2', '3') for p in data):
        raise Failed('the client sends packets that are not ECT(0)')
    if any(p[2:4] != ['0', '48'] for p in cnps):
        raise Failed('a CNP is ECT, or has another DSCP than 48')
    first = float(cnps[0][0])
    if first < float(marked[0][0]):
        raise Failed('a CNP comes before a mark')
    check_rate([p for p in data if float(p[0]) > first + SETTLED])
    return len(marked), len(cnps)


def check_rate(data):
    """It is limited, and the limit is the one that was asked for: a slow
    machine can only make it less."""
    if len(data) < 20:
        raise Failed(f'{len(data)} packets came after the first CNP')
    seconds = float(data[-1][0]) - float(data[0][0])
    bits = 8 * sum(int(p[1]) for p in data[1:])
    if bits > MOST * seconds:
        raise Failed(f'{bits / seconds / MBIT:.1f} Mbit/s after a CNP')


def check_counters(setting, marked, cnps):
    server, client = (stat_of(daemon) for daemon in setting.daemons)
    # A full socket may have lost some.
    if not 0 < server['np_ecn_marked_roce_packets'] <= marked:
        raise Failed(f"{server['np_ecn_marked_roce_packets']} marks counted, "
                     f'{marked} seen')
    if server['np_cnp_sent'] != cnps or client['rp_cnp_handled'] > cnps:
        raise Failed(f"{server['np_cnp_sent']} CNPs sent, "
                     f"{client['rp_cnp_handled']} handled, {cnps} seen")
    if not client['rp_cnp_handled']:
        raise Failed('the client took no notice of CNPs')


def check_marks_slow_down(setting):
    for tool in ('tcpdump', 'tshark'):
        if not shutil.which(tool):
            raise Skipped(f'no {tool}')
    server, client = setting.ends('ipv4')
    rnicctl(client, 'cc', 'set', 'rxe0', *CONTROL)
    rnicctl(client, 'fault', 'add', 'rxe0', *BOTTLENECK)
    # Where its sender sees that packets are to be sent one by one.
    with Capture(setting, client, 'veth0', 'congestion') as capture:
        run_perftest((server, client), 'ipv4', 'ib_write_bw', TRAFFIC)
    if capture.dropped():
        raise Skipped(f'the kernel dropped {capture.dropped()} of the capture')
    marked, cnps = check_wire(capture.path, server, client)
    check_counters(setting, marked, cnps)


def check_names(setting):
    """What is set is shown; what is wrong changes nothing."""
    daemon, host = setting.daemons[0], setting.hosts[0]
    rnicctl(host, 'cc', 'set', 'rxe0', 'mode=window', 'profile=1g',
            'rp_ai_rate=7')
    shown = daemon.ctl_json('cc', 'show', 'rxe0')[0]
    if (shown['mode'], shown['rp_max_rate'], shown['rp_ai_rate']) != \
            ('window', 1000, 7):
        raise Failed(f'shown: {shown}')
    try:
        rnicctl(host, 'cc', 'set', 'rxe0', 'rp_ai_rate=8', 'rp_gd=99')
    except Failed as refused:
        if 'rp_gd is a number from 10 to 20, not 99' not in str(refused):
            raise
    else:
        raise Failed('rp_gd=99 is taken')
    if daemon.ctl_json('cc', 'show', 'rxe0')[0]['rp_ai_rate'] != 7:
        raise Failed('a part of a wrong command was done')
    rnicctl(host, 'cc', 'set', 'rxe0', 'mode=dcqcn', 'profile=40g')


def run(report, setting):
    where = f'{setting.name}.congestion'
    report.case(f'{where}.parameters_by_name', check_names, setting)
    if setting.name == 'netns' and os.geteuid() == 0:
        report.case(f'{where}.marks_slow_down', check_marks_slow_down,
                    setting)
