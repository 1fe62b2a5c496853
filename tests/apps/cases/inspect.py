# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the system's own tools tell of the device: iproute2's rdma (by
NETLINK_RDMA), ibstat, ibstatus, ibv_asyncwatch, and the files of sysfs."""

import json
import os
import re

from harness.pair import run_pingpong
from harness.ports import free_port
from harness.process import until
from harness.report import Failed

PATIENCE = 120
MESSAGE = 5000          # bytes, of rping
GOLDEN = os.path.join(os.path.dirname(__file__), '..', '..', 'golden',
                      'rxe-sysfs.txt')
RESOURCES = ('qp', 'cq', 'mr', 'pd', 'cm_id', 'ctx')


def rdma(host, *words):
    """What `rdma -j` prints, parsed: a list of objects."""
    shown = host.run(['rdma', '-j', *words])
    if shown.popen.returncode:
        raise Failed(f'rdma ended with {shown.popen.returncode}',
                     shown.tail())
    try:
        return json.loads(shown.output())
    except ValueError:
        raise Failed('rdma printed no JSON', shown.tail()) from None


def expect(found, wanted):
    """Each of `wanted` is so in the object `found`."""
    wrong = {name: found.get(name) for name, value in wanted.items()
             if found.get(name) != value}
    if wrong:
        raise Failed(f'{wrong} instead of {wanted}')


# ---- a device, with traffic ----

def start_traffic(ends):
    """A server and a client of rping that do not end."""
    port = str(free_port())
    options = ['-p', port, '-S', str(MESSAGE)]
    server = ends[0].start_rdma(['rping', '-s', '-a', ends[0].ipv4, *options])
    if not until(lambda: listens(ends[0], server, port), PATIENCE, server,
                 interval=0.1):
        raise Failed('no ID of rdma_cm listens', server.tail())
    return server, ends[1].start_rdma(['rping', '-c', '-a', ends[0].ipv4,
                                       *options])


def listens(host, process, port):
    return any(entry['state'] == 'LISTEN'
               and entry['src-addr'].endswith(f':{port}')
               for entry in of_process(host, 'cm_id', process.pid))


def of_process(host, kind, pid):
    return [entry for entry in rdma(host, 'resource', 'show', kind)
            if entry.get('pid') == pid]


def check_resources(host, process):
    """Each kind of object is listed with its owner, while it works."""
    def working():
        return [qp for qp in of_process(host, 'qp', process.pid)
                if qp['state'] == 'RTS']
    found = until(working, PATIENCE, process, interval=0.1)
    if not found:
        raise Failed('rdma resource show qp shows no QP of it in RTS',
                     process.tail())
    expect(found[0], {'ifname': host.device, 'type': 'RC',
                      'comm': 'rping', 'path-mig-state': 'MIGRATED'})
    for kind in RESOURCES:
        entries = of_process(host, kind, process.pid)
        if not entries:
            raise Failed(f'rdma resource show {kind} shows none of it')
        expect(entries[0], {'ifname': host.device, 'comm': 'rping'})
    regions = of_process(host, 'mr', process.pid)
    if not any(region['mrlen'] == MESSAGE and int(region['rkey'], 16)
               for region in regions):
        raise Failed(f'no MR holds a message: {regions}')
    ids = of_process(host, 'cm_id', process.pid)
    if not any(entry['state'] == 'CONNECT' and entry['ps'] == 'TCP'
               and entry.get('lqpn') == found[0]['lqpn'] for entry in ids):
        raise Failed('no ID is connected with that QP',
                     [str(entry) for entry in ids])
    one = rdma(host, 'resource', 'show', 'qp', 'link', f'{host.device}/1',
               'lqpn', str(found[0]['lqpn']))
    if [qp['lqpn'] for qp in one] != [found[0]['lqpn']]:
        raise Failed(f'{one} is not that QP alone')
    summary, = [entry for entry in rdma(host, 'resource')
                if entry['ifname'] == host.device]
    few = {kind: summary[kind] for kind in RESOURCES if summary[kind] < 1}
    if few:
        raise Failed(f'the summary counts {few}')


def check_statistic(host, process):
    """Counters grow with the traffic."""
    def sent():
        port, = rdma(host, 'statistic', 'show', 'link', f'{host.device}/1')
        return port['sent_pkts']
    before = sent()
    if not until(lambda: sent() > before, PATIENCE, process, interval=0.05):
        raise Failed(f'sent_pkts stays {before}')


def check_traffic(setting, check, role):
    ends = setting.ends('ipv4')
    pair = start_traffic(ends)
    try:
        check(ends[role], pair[role])
    except Failed as failure:
        raise Failed(str(failure), [*failure.details, *pair[0].tail(),
                                    *pair[1].tail()]) from None
    finally:
        for process in reversed(pair):
            process.close()


# ---- a device at rest ----

def check_device(host, interface):
    device, = [entry for entry in rdma(host, 'dev')
               if entry['ifname'] == host.device]
    expect(device, {'node_type': 'ca'})
    link, = [entry for entry in rdma(host, 'link')
             if entry['ifname'] == host.device]
    expect(link, {'port': 1, 'state': 'ACTIVE', 'physical_state': 'LINK_UP',
                  'netdev': interface})
    shown = host.run(['rdma', 'system'])
    # Between these newer releases have more.
    if not re.search('netns shared .*copy-on-fork on', shown.output()):
        raise Failed('rdma system says something else', shown.tail())


def check_ibstat(host):
    shown = host.run(['ibstat', host.device])
    for line in (f"CA '{host.device}'", 'Number of ports: 1', 'State: Active',
                 'Physical state: LinkUp', 'Link layer: Ethernet'):
        if line not in shown.output():
            raise Failed(f'ibstat does not say "{line}"', shown.tail(30))


def check_ibstatus(host):
    shown = host.run(['ibstatus', host.device])
    for line in (f"Infiniband device '{host.device}' port 1 status:",
                 '4: ACTIVE', '5: LinkUp', '2.5 Gb/sec (1X SDR)', 'Ethernet'):
        if line not in shown.output():
            raise Failed(f'ibstatus does not say "{line}"', shown.tail(30))


def check_mads(host):
    """libibumad takes no port that is not of link layer InfiniBand, here as
    on any adapter of RoCE: it does not even open umad."""
    for argv in (['sminfo'], ['ibping', '-S'], ['smpquery', 'nodeinfo', '1'],
                 ['perfquery', '-C', host.device, '-P', '1', '1']):
        shown = host.run(argv)
        said = shown.output() + shown.errors()
        if not shown.wait(0) or "can't open UMAD port" not in said:
            raise Failed(f'{argv[0]}: {shown.wait(0)}', shown.tail())
    shown = host.run(['cat', '/dev/infiniband/umad0'])
    if 'Operation not supported' not in shown.output() + shown.errors():
        raise Failed('umad0 says something else', shown.tail())


def check_asyncwatch(host):
    """The port goes down, and up again, with the interface (root)."""
    watch = host.start_rdma(['stdbuf', '-oL', 'ibv_asyncwatch', '-d',
                             host.device])

    def says(text):
        if not until(lambda: text in watch.output(), PATIENCE, watch,
                     interval=0.02):
            raise Failed(f'ibv_asyncwatch does not say "{text}"',
                         watch.tail())
    try:
        says(f'{host.device}: async event FD')
        # IBV_EVENT_PORT_ERR and _PORT_ACTIVE
        for state, event in (('down', '(10)'), ('up', '(9)')):
            host.run(['ip', 'link', 'set', 'veth0', state], rdma=False)
            says(event)
            wanted = {'down': 'DOWN', 'up': 'ACTIVE'}[state]
            link, = [entry for entry in rdma(host, 'link')
                     if entry['ifname'] == host.device]
            expect(link, {'state': wanted})
    finally:
        watch.close()


def change(host, *words):
    """`rdma` that changes something; its exit code."""
    return host.run(['rdma', *words]).popen.returncode


def check_links(host):
    """A second device comes by any name, carries traffic, and goes; without
    netlink, sysfs shows it to libibverbs as well."""
    if change(host, 'link', 'add', 'soft0', 'type', 'rxe', 'netdev', 'lo'):
        raise Failed('rdma link add fails')
    if not change(host, 'link', 'add', 'soft0', 'type', 'rxe', 'netdev', 'lo'):
        raise Failed('rdma link add takes a name twice')
    if not change(host, 'link', 'add', 'x', 'type', 'rxe', 'netdev', 'none'):
        raise Failed('rdma link add takes an interface that is not there')
    for env in (None, {'RNIC_NETLINK': 'off'}):
        shown = host.run(['ibv_devices'], env=env).output()
        if 'soft0' not in shown:
            raise Failed(f'ibv_devices with {env} shows no soft0: {shown}')
    for name in ('soft0', 'soft1'):
        if name == 'soft1' and change(host, 'dev', 'set', 'soft0', 'name',
                                      name):
            raise Failed('rdma dev set fails')
        shown = host.run(['ibv_devinfo', '-d', name]).output()
        if 'PORT_ACTIVE' not in shown:
            raise Failed(f'{name} is not active: {shown}')
    real, host.device, host.ipv4 = (host.device, host.ipv4), 'soft1', \
        '127.0.0.1'
    host.__dict__.pop('gid_indices', None)
    try:
        run_pingpong((host, host), 'ipv4', ['-c', '-n', '100'])
    finally:
        host.device, host.ipv4 = real
        host.__dict__.pop('gid_indices', None)
    if change(host, 'link', 'del', 'soft1'):
        raise Failed('rdma link del fails')
    if 'soft1' in host.run(['ibv_devices']).output():
        raise Failed('ibv_devices still shows it')


# ---- sysfs ----

# Files whose values are ours by choice, or this machine's.
OURS = re.compile(r'/(node_guid|sys_image_guid|parent|gids/|gid_attrs/|'
                  r'(hw_counters|cm_[a-z_]*)/|rdma_cm/(dev|uevent)|coresize)')
LINE = re.compile(r'^(/\S+) \[(\S+)\] = (.*)$')
READER = '''
import os, stat, sys
for path in sys.argv[1:]:
    try:
        mode = stat.filemode(os.stat(path).st_mode)
    except OSError as e:
        print(path, '[-]', '=', e.strerror)
        continue
    try:
        with open(path) as f:
            value = f.read().strip().replace('\\n', ' | ')
    except OSError as e:
        value = e.strerror
    print(path, f'[{mode}]', '=', value)
'''


def golden_files(device):
    """{path: (mode, value)}; an unreadable file's value is the error."""
    found = {}
    with open(GOLDEN, encoding='ascii') as golden:
        for line in golden:
            match = LINE.match(line.strip().replace('rxe0', device))
            if match:
                value = match[3].strip()
                if value.startswith('head: '):
                    value = value.rsplit(': ', 1)[1]
                found[match[1]] = (match[2], value)
    if len(found) < 150:
        raise Failed(f'only {len(found)} files are known of rxe')
    return found


def check_sysfs(host):
    golden = golden_files(host.device)
    shown = host.run(['python3', '-c', READER, *golden])
    ours = {match[1]: (match[2], match[3].strip())
            for match in map(LINE.match, shown.output().splitlines())
            if match}
    wrong = []
    for path, (mode, value) in golden.items():
        mine = ours.get(path, ('-', 'is not there'))
        if mine[0] != mode or (mine[1] != value and not OURS.search(path)):
            wrong.append(f'{path} {mine} where rxe has {(mode, value)}')
    if wrong:
        raise Failed(f'{len(wrong)} differences', wrong + shown.tail(3))


def check_live_counters(host):
    """A value is that of the moment when its file is opened."""
    path = f'/sys/class/infiniband/{host.device}/ports/1/hw_counters/sent_pkts'

    def value():
        return int(host.run(['cat', path]).output())
    before = value()
    run_pingpong((host, host), 'ipv4', ['-n', '10'])
    if value() <= before:
        raise Failed(f'sent_pkts stays {before}')


def run(report, setting):
    where = f'{setting.name}.inspect'
    host = setting.hosts[0]
    report.case(f'{where}.rdma_shows_device_and_link', check_device, host,
                setting.interface)
    for role, name in enumerate(('server', 'client')):
        report.case(f'{where}.rdma_shows_resources_of_{name}', check_traffic,
                    setting, check_resources, role)
    report.case(f'{where}.rdma_statistic_is_live', check_traffic, setting,
                check_statistic, 1)
    report.case(f'{where}.ibstat', check_ibstat, host)
    report.case(f'{where}.ibstatus', check_ibstatus, host)
    report.case(f'{where}.mads_are_refused_as_by_roce', check_mads, host)
    report.case(f'{where}.sysfs_is_rxes', check_sysfs, host)
    report.case(f'{where}.sysfs_values_are_live', check_live_counters, host)
    if setting.name == 'netns':
        report.case(f'{where}.rdma_adds_and_deletes_links', check_links, host)
        report.case(f'{where}.asyncwatch_sees_the_port', check_asyncwatch,
                    host)
