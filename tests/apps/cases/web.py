# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A web server and a web client over rsockets: busybox's httpd, which forks for
each connection, and curl; the files are compared.

Not every server can be run by librspreload.so, whatever the adapter: it knows
neither SOCK_CLOEXEC (python's http.server: its sockets stay TCP's) nor the C
library's checked read (webfsd: it finds every connection closed)."""

import glob
import os

from cases.cm import CLIENT_SECONDS, Place, judge
from cases.lifetime import figures
from harness.packages import need
from harness.pair import START_SECONDS
from harness.ports import free_port, wait_listening
from harness.report import Failed, Skipped

PACKAGES = {'busybox': 'busybox', 'curl': 'curl'}
# A server's child that ends before curl has closed its rsocket lets it wait until
# its retries are exceeded: 40 s, by the timeout that rdma_cm chose.
SIZES = {'empty': 0, 'odd': 65537, 'large': 10000019}
# librspreload's own, by which it lets forked servers take turns. One that was
# killed meanwhile leaves it taken, for all that come later.
SEMAPHORE = '/dev/shm/sem.rsocket_fork'


def preload():
    found = glob.glob('/usr/lib/*/rsocket/librspreload.so')
    if not found:
        raise Skipped('not installed: librdmacm1')
    return {'LD_PRELOAD': found[0], 'RDMAV_FORK_SAFE': '1'}


def release_semaphore():
    try:
        os.unlink(SEMAPHORE)
    except FileNotFoundError:
        pass
    except PermissionError:
        raise Skipped(f'{SEMAPHORE} is another user\'s') from None


def put_files(host):
    folder = os.path.join(host.folder, 'www')
    os.mkdir(folder)
    os.chmod(folder, 0o755)
    for name, size in SIZES.items():
        path = os.path.join(folder, name)
        with open(path, 'wb') as f:
            f.write(os.urandom(size))
        os.chmod(path, 0o644)
    return folder


def fetch(place, url, source):
    target = os.path.join(place.client.folder, 'fetched')
    client = place.client.start_rdma(['curl', '-sS', '-f', '-o', target, url],
                                     preload())
    try:
        judge('curl', client, CLIENT_SECONDS)
    finally:
        client.close()
    # curl makes no file of nothing.
    got = b''
    if os.path.exists(target):
        with open(target, 'rb') as f:
            got = f.read()
        os.unlink(target)
    with open(source, 'rb') as f:
        if f.read() != got:
            raise Failed(f'{len(got)} bytes came, which differ')


def check_web(place):
    need(PACKAGES)
    release_semaphore()
    folder, port = put_files(place.server), free_port()
    before = figures(place.daemon, ['sent_bytes'])['sent_bytes']
    server = place.server.start_rdma(
        ['busybox', 'httpd', '-f', '-p', f'{place.address}:{port}',
         '-h', folder], preload())
    try:
        if not wait_listening(server, port, START_SECONDS):
            raise Failed('server does not listen', server.tail())
        for name in SIZES:
            fetch(place, f'http://{place.address}:{port}/{name}',
                  os.path.join(folder, name))
    finally:
        server.close()
        release_semaphore()
    sent = figures(place.daemon, ['sent_bytes'])['sent_bytes'] - before
    if sent < sum(SIZES.values()):
        raise Failed(f'the device has sent only {sent} bytes')


def run(report, setting):
    report.case(f'{setting.name}.web.busybox_httpd_and_curl', check_web,
                Place(setting, 'ipv4'))
