# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What is left of the programs that have cases in cm.py and fabric.py: every
other test of qperf by rdma_cm and of ucx_perftest, ucx_info and fi_info."""

from cases.cm import CLIENT_SECONDS, Place, check_qperf, judge
from cases.fabric import UCX_TRANSPORTS, check_ucx
from harness.packages import need
from harness.report import Failed

# Those of UC and UD know only LIDs, which RoCE has not.
QPERF = ('rc_rdma_read_lat', 'rc_rdma_write_lat', 'rc_rdma_write_poll_lat')
UCX = ('tag_sync_lat', 'tag_sync_bw', 'ucp_put_bw', 'ucp_add', 'ucp_swap',
       'stream_lat', 'stream_bw', 'ucp_am_bw')
PACKAGES = {'ucx_info': 'ucx-utils', 'fi_info': 'libfabric-bin'}


def check_shown(host, argv, env, words):
    need({argv[0]: PACKAGES[argv[0]]})
    process = host.start_rdma(argv, env)
    try:
        judge(argv[0], process, CLIENT_SECONDS)
    finally:
        process.close()
    missing = [word for word in words if word not in process.output()]
    if missing:
        raise Failed(f'does not show {missing}', process.tail())


def run(report, setting):
    place = Place(setting, 'ipv4')
    name = setting.name
    for test in QPERF:
        report.case(f'{name}.qperf.{test}', check_qperf, place, test)
    for transport in UCX_TRANSPORTS:
        for test in UCX:
            report.case(f'{name}.ucx.{transport}.{test}', check_ucx, place,
                        transport, test)
    host = setting.hosts[0]
    # UCX 1.18 has a part for mlx5 only, which tells of others that it failed.
    report.case(f'{name}.ucx_info', check_shown, host, ['ucx_info', '-d'],
                {'UCX_MODULES': '^mlx5'},
                ['Transport: rc_verbs', 'Transport: ud_verbs',
                 f'Device: {host.device}:1'])
    # libfabric connects over no loopback interface.
    kinds = ['FI_EP_DGRAM'] + ['FI_EP_MSG'] * (name == 'netns')
    for kind in kinds:
        report.case(f'{name}.fi_info.{kind}', check_shown, host,
                    ['fi_info', '-p', 'verbs', '-t', kind],
                    {'FI_VERBS_IFACE': setting.interface},
                    [f'domain: {host.device}', kind])
