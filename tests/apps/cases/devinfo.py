# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""`ibv_devinfo -v` shows what Linux's rxe shows, field for field."""

import os

from harness.report import Failed

GOLDEN = os.path.join(os.path.dirname(__file__), '..', '..', 'golden',
                      'rxe-devinfo.txt')

# Fields whose value is ours by choice, or this machine's, each with why.
OURS = {
    'node_guid': 'made from the device, not from an adapter\'s MAC',
    'sys_image_guid': 'likewise',
    'GID': 'the addresses of this machine',
    'num_comp_vectors': 'the number of processors',
    'max_msg_sz': 'the specification\'s 2 GiB, not rxe\'s 8 MiB',
}


def golden_lines():
    """The lines of the section "=== ibv_devinfo -v"."""
    with open(GOLDEN, encoding='ascii') as f:
        text = f.read()
    section = text.split('=== ibv_devinfo -v\n', 1)[1].split('\n===', 1)[0]
    return section.splitlines()


def fields(lines):
    """[(name, value)] in order; a line without a colon (a capability's name)
    is a name with an empty value; runs of white space count as one."""
    result = []
    for line in lines:
        name, _, value = ' '.join(line.split()).partition(':')
        if name.startswith('GID['):
            name, value = 'GID', ''
        if name:
            result.append((name, value.strip()))
    return result


def paging_split(lines):
    """(names below on-demand paging's four headings, all other fields): that
    part is as long as the capabilities are many, of which rxe had none."""
    paging, rest, inside = [], [], False
    for name, value in lines:
        if name.endswith('_odp_caps'):
            inside = True
        elif name.startswith('completion_timestamp_mask'):
            inside = False
        (paging if inside else rest).append((name, value))
    return [name for name, _ in paging], rest


PAGING = '''
general_odp_caps ODP_SUPPORT ODP_SUPPORT_IMPLICIT
rc_odp_caps SUPPORT_SEND SUPPORT_RECV SUPPORT_WRITE SUPPORT_READ SUPPORT_ATOMIC
SUPPORT_SRQ
uc_odp_caps SUPPORT_SEND SUPPORT_RECV SUPPORT_WRITE SUPPORT_SRQ
ud_odp_caps SUPPORT_SEND SUPPORT_RECV SUPPORT_SRQ
xrc_odp_caps NO SUPPORT
'''


def differences(ours, golden):
    """Human-readable differences, less those of OURS; GIDs count once."""
    ours = [field for field in ours if field[0] != 'GID']
    golden = [field for field in golden if field[0] != 'GID']
    found = []
    for mine, theirs in zip(ours, golden):
        if mine[0] != theirs[0]:
            found.append(f'field {mine[0]} where rxe has {theirs[0]}')
            break
        if mine[1] != theirs[1] and mine[0] not in OURS:
            found.append(f'{mine[0]}: {mine[1]} where rxe has {theirs[1]}')
    if len(ours) != len(golden):
        found.append(f'{len(ours)} fields where rxe has {len(golden)}')
    return found


def check_devinfo(host, env=None):
    shown = host.run(['ibv_devinfo', '-v', '-d', host.device], env=env)
    ours = fields(shown.output().splitlines())
    paging, ours = paging_split(ours)
    found = differences(ours, paging_split(fields(golden_lines()))[1])
    if ' '.join(paging).split() != PAGING.split():
        found.append(f'on-demand paging: {paging}')
    if shown.popen.returncode or found:
        raise Failed(f'{len(found)} differences', found or shown.tail())
    if 'GID' not in dict(ours):
        raise Failed('no GID shown')


def check_netdev(host, interface):
    """sysfs names the interface behind the device, as drivers of adapters do
    and as rdma-core's own tests look for it."""
    device = f'/sys/class/infiniband/{host.device}'
    for words, expected in (
            (['ls', f'{device}/device/net'], interface),
            (['cat', f'{device}/parent'], interface),
            (['cat', f'{device}/ports/1/gid_attrs/ndevs/0'], interface),
            (['cat', f'{device}/ports/1/gid_attrs/types/0'], 'RoCE v2')):
        shown = host.run(words)
        if shown.output().strip() != expected:
            raise Failed(f'{words[1]} shows "{shown.output().strip()}" '
                         f'instead of "{expected}"', shown.tail())


def run(report, setting):
    report.case(f'{setting.name}.devinfo_equals_rxe', check_devinfo,
                setting.hosts[0])
    report.case(f'{setting.name}.devinfo_equals_rxe_without_netlink',
                check_devinfo, setting.hosts[0], {'RNIC_NETLINK': 'off'})
    for host in setting.hosts:
        report.case(f'{setting.name}.{host.name}.netdev_is_named',
                    check_netdev, host, setting.interface)
