# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs that die in mid-traffic, and a daemon that has nothing to do."""

import os
import re
import select
import signal

from harness.gids import gid_index
from harness.pair import run_pingpong
from harness.ports import free_port, wait_listening
from harness.process import read_text, until
from harness.report import Failed

RETRY_EXC_ERR = 12      # IBV_WC_RETRY_EXC_ERR, as perftest prints it
OBJECTS = ('pd', 'mr', 'cq', 'srq', 'qp', 'ah', 'context')
IDLE_SECONDS = 10
PATIENCE = 60             # a busy machine may need it
SWITCHES = re.compile(r'^(?:non)?voluntary_ctxt_switches:\s*(\d+)$', re.M)


def figures(daemon, names):
    """The first value of each name anywhere in `rnicctl stat --json`."""
    found = {}

    def look(item):
        if isinstance(item, dict):
            for name, value in item.items():
                if name in names and isinstance(value, int):
                    found[name] = found.get(name, 0) + value
                else:
                    look(value)
        elif isinstance(item, list):
            for value in item:
                look(value)
    look(daemon.stat())
    missing = set(names) - set(found)
    if missing:
        raise Failed(f'rnicctl stat does not show {missing}')
    return found


def start_pair(ends, program, options, family='ipv4'):
    """Starts a server and a client and leaves them running."""
    port = str(free_port())

    def argv(host):
        gid = str(gid_index(host, family))
        flags = {'ibv_rc_pingpong': ['-g', gid]}.get(program,
                                                     ['-F', '-x', gid])
        return [program, '-d', host.device, '-p', port, *flags, *options]
    server = ends[0].start_rdma(argv(ends[0]))
    if not wait_listening(server, int(port), PATIENCE):
        raise Failed('server does not listen', server.tail())
    return server, ends[1].start_rdma(argv(ends[1]) + [ends[0].ipv4])


def wait_traffic(daemon, process, packets=2000):
    before = figures(daemon, ['sent_pkts'])['sent_pkts']
    if not until(lambda: figures(daemon, ['sent_pkts'])['sent_pkts']
                 > before + packets, PATIENCE, process, interval=0.05):
        raise Failed('no traffic', process.tail())


def check_killed(setting):
    """What a killed program had is freed; its peer sees the retries exceeded;
    others notice nothing."""
    ends = setting.ends('ipv4')
    before = [figures(daemon, OBJECTS) for daemon in setting.daemons]
    server, client = start_pair(ends, 'ib_write_bw', ['-D', '30'])
    wait_traffic(setting.daemons[1], client)
    server.signal(signal.SIGKILL)
    run_pingpong(ends, 'ipv4', ['-c', '-n', '200'])
    if client.wait(PATIENCE) is None:
        raise Failed('the peer notices nothing', client.tail())
    if f'status {RETRY_EXC_ERR}' not in client.output() + client.errors():
        raise Failed('the peer saw something else', client.tail())
    if not until(lambda: [figures(daemon, OBJECTS)
                          for daemon in setting.daemons] == before, PATIENCE,
                 interval=0.05):
        raise Failed('objects are left', [
            f'{figures(daemon, OBJECTS)} instead of {old}'
            for daemon, old in zip(setting.daemons, before)])


def switches(pid):
    """How often the threads of a process have gone to sleep or been moved."""
    return sum(int(count) for task in os.listdir(f'/proc/{pid}/task')
               for count in SWITCHES.findall(
                   read_text(f'/proc/{pid}/task/{task}/status')))


def asleep(pid):
    """No thread runs, or waits for a processor."""
    return all(read_text(f'/proc/{pid}/task/{task}/stat')
               .rsplit(')', 1)[1].split()[0] == 'S'
               for task in os.listdir(f'/proc/{pid}/task'))


def check_idle(setting):
    """Daemons whose QPs are connected but silent do not wake up."""
    server, client = start_pair(setting.ends('ipv4'), 'ibv_rc_pingpong',
                                ['-e', '-n', '1000000'])
    wait_traffic(setting.daemons[1], client)
    for process in (client, server):
        process.signal(signal.SIGSTOP)
    pids = [daemon.process.pid for daemon in setting.daemons]

    def changes(seconds):
        before = [switches(pid) for pid in pids]
        select.select([], [], [], seconds)
        return sum(map(switches, pids)) - sum(before)
    if not until(lambda: changes(1) == 0 and all(map(asleep, pids)),
                 PATIENCE):
        raise Failed('the daemons do not come to rest')
    woken = changes(IDLE_SECONDS)
    for process in (client, server):
        process.signal(signal.SIGCONT)
        process.close()
    if woken:
        raise Failed(f'{woken} wake-ups in {IDLE_SECONDS} s')


def run(report, setting):
    where = f'{setting.name}.lifetime'
    report.case(f'{where}.killed_program_is_cleaned_up', check_killed, setting)
    if setting.name == 'loopback':
        report.case(f'{where}.idle_daemon_sleeps', check_idle, setting)
