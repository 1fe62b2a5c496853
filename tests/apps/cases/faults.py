# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fault rules of a running daemon: what they do to a stock program, what is
told of them, that a seed repeats them, and that no late packet holds up an
end."""

import json
import os
import re

from harness.daemon import Daemon, DaemonFailed
from harness.pair import run_perftest
from harness.process import until
from harness.report import Failed

from cases.lifetime import figures, start_pair

PATIENCE = 120
FIRED = re.compile(r'fault rule (\d+) (\w+), match (\d+): (\w+) ')
FILE = """# the same twice
seed 11
ingress drop p=0.03 opcode=rc-write
ingress duplicate p=0.1 opcode=rc-write
ingress corrupt=bits:3 p=0.03 opcode=rc-write
rxe0 ingress delay=10us-200us p=0.1 opcode=rc-write
rxe9 ingress drop p=1
"""


def ctl(host, *words):
    """The ended process."""
    return host.run([host.tree.rnicctl, *words], rdma=False, name='rnicctl')


def rule_add(host, *words):
    done = ctl(host, 'fault', 'add', host.device, *words)
    if done.popen.returncode != 0:
        raise Failed('the rule is refused', done.tail())
    return re.search(r'rule (\d+)', done.output()).group(1)


def check_third_response(setting):
    """The third READ response is lost: the program does not notice, the
    requester has asked again, and the rule has fired once."""
    ends, (server, client) = setting.ends('ipv4'), setting.daemons
    number = rule_add(ends[0], 'egress', 'drop', 'opcode=read-response',
                      'nth=3')
    before = (figures(server, ['fault_drops'])['fault_drops'],
              figures(client, ['retransmitted_pkts'])['retransmitted_pkts'])
    run_perftest(ends, 'ipv4', 'ib_read_bw', ['-s', '8192', '-n', '20'])
    rules = server.ctl_json('fault', 'list', ends[0].device)
    after = (figures(server, ['fault_drops'])['fault_drops'],
             figures(client, ['retransmitted_pkts'])['retransmitted_pkts'])
    ctl(ends[0], 'fault', 'del', ends[0].device, number)
    if after[0] != before[0] + 1 or after[1] <= before[1]:
        raise Failed(f'drops and resends {before} became {after}')
    if len(rules) != 1 or rules[0]['fired'] != 1 or rules[0]['seen'] < 40:
        raise Failed(f'the rule says {rules}')


def check_told(setting):
    """Rules are listed as text and JSON, refused by a line, and removed."""
    host, daemon = setting.hosts[0], setting.daemons[0]
    text = 'egress delay=1ms-2ms p=0.5 qp=0xffffff'
    first = rule_add(host, *text.split())
    second = rule_add(host, 'both', 'mark=ce', 'psn=1', 'opcode=cnp')
    rules = daemon.ctl_json('fault', 'list')
    expected = [
        {'device': host.device, 'id': int(first), 'direction': 'egress',
         'action': 'delay', 'rule': text, 'seen': 0, 'fired': 0},
        {'device': host.device, 'id': int(second), 'direction': 'both',
         'action': 'mark', 'rule': 'both mark=ce psn=1 opcode=cnp',
         'seen': 0, 'fired': 0}]
    if rules != expected:
        raise Failed(f'listed is {json.dumps(rules)}')
    listed = ctl(host, 'fault', 'list', host.device).output()
    if f'{host.device} {first}: {text} (seen 0, fired 0)\n' not in listed:
        raise Failed(f'listed is {listed}')
    for words, why in (
            (('add', host.device, 'egress', 'drop', 'opcode=rc-foo'),
             "fault: unknown opcode 'rc-foo'"),
            (('add', 'rxe9', 'egress', 'drop', 'p=1'), 'rxe9'),
            (('del', host.device, '12345'), 'has no rule 12345'),
            (('del', host.device, 'x'), 'has no rule x'),
            (('add', host.device), 'is wanted'), ((), 'is wanted')):
        done = ctl(host, 'fault', *words)
        if done.popen.returncode != 1 or why not in done.errors():
            raise Failed(f'fault {words}', done.tail())
    ctl(host, 'fault', 'del', host.device, first)
    if [rule['id'] for rule in daemon.ctl_json('fault', 'list')] != \
            [int(second)]:
        raise Failed('the first one is not gone')
    ctl(host, 'fault', 'clear', host.device)
    if daemon.ctl_json('fault', 'list'):
        raise Failed('they are not gone')


def check_file_refused(setting):
    """A daemon does not start with a file that is wrong, and says where."""
    near = setting.hosts[1]
    host = setting.add_host('e', near.place, near.owner, '127.0.0.3', None)
    path = os.path.join(host.folder, 'faults')
    with open(path, 'w', encoding='ascii') as file:
        file.write('ingress drop p=0.1\n\nrxe7 egress lose p=1\n')
    os.chmod(path, 0o644)
    for file, why in ((path, "line 3: fault: unknown word 'lose'"),
                      (path + '.not', 'No such file')):
        try:
            Daemon(host, {host.device: host.ipv4},
                   options=['--faults', file]).stop()
        except DaemonFailed as failed:
            if why not in str(failed):
                raise Failed(str(failed)) from failed
            continue
        raise Failed('the daemon has started')


def firings(setting, name):
    """{rule: [match, ...]} of a daemon that had the file while 300 WRITEs
    came."""
    near = setting.hosts[1]
    host = setting.add_host(name, near.place, near.owner, '127.0.0.3', None)
    path = os.path.join(host.folder, 'faults')
    with open(path, 'w', encoding='ascii') as file:
        file.write(FILE)
    os.chmod(path, 0o644)
    daemon = Daemon(host, {host.device: host.ipv4},
                    options=['--faults', path])
    try:
        run_perftest((host, near), 'ipv4', 'ib_write_bw',
                     ['-s', '4096', '-n', '300'])
        said = daemon.process.errors()
    finally:
        code = daemon.stop()
    if code != 0:
        raise Failed(f'the daemon ended with {code}')
    found = {}
    for rule, _, match, _ in FIRED.findall(said):
        found.setdefault(rule, []).append(int(match))
    return found


def check_repeated(setting):
    """Two runs of a daemon with one file fire on the same packets. What is
    sent again differs, so only the common beginning is held."""
    one, two = firings(setting, 'f'), firings(setting, 'g')
    if set(one) != {'1', '2', '3', '4'} or set(two) != set(one):
        raise Failed(f'fired have {sorted(one)} and {sorted(two)}')
    for rule, matches in one.items():
        n = min(len(matches), len(two[rule]))
        if n < 2 or matches[:n] != two[rule][:n]:
            raise Failed(f'rule {rule} fired on {matches}, then on '
                         f'{two[rule]}')


def late_traffic(setting, name):
    """A daemon in which packets wait for an hour, each way."""
    near = setting.hosts[1]
    host = setting.add_host(name, near.place, near.owner, '127.0.0.4', None)
    daemon = Daemon(host, {host.device: host.ipv4},
                    ['both delay=3600s opcode=rc'])
    for process in start_pair((host, near), 'ib_write_bw', ['-D', '60']):
        if not until(lambda: figures(daemon, ['fault_hits'])['fault_hits'],
                     PATIENCE, process, interval=0.02):
            raise Failed('no packet is late', process.tail())
    return host, daemon


def check_late_at_exit(setting):
    """Late packets do not hold up the daemon's end."""
    _, daemon = late_traffic(setting, 'h')
    code = daemon.stop()
    if code != 0:
        raise Failed(f'the daemon ended with {code}', daemon.process.tail())


def check_late_at_removal(setting):
    """Nor a device's, after which the daemon serves another one."""
    host, daemon = late_traffic(setting, 'i')
    try:
        done = ctl(host, 'link', 'del', host.device)
        if done.popen.returncode != 0 or daemon.ctl_json('link', 'show'):
            raise Failed('the device is not gone', done.tail())
        if not daemon.alive():
            raise Failed('the daemon is gone', daemon.process.tail())
    finally:
        code = daemon.stop()
    if code != 0:
        raise Failed(f'the daemon ended with {code}', daemon.process.tail())


def run(report, setting):
    if setting.name != 'loopback':
        return
    for check in (check_third_response, check_told, check_file_refused,
                  check_repeated, check_late_at_exit, check_late_at_removal):
        report.case(f'{setting.name}.faults.{check.__name__[6:]}', check,
                    setting)
