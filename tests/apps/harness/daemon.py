# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One rnicd, from its start to its readiness to its end."""

import json
import os
import select
import signal
import socket


class DaemonFailed(Exception):
    pass


class Daemon:
    """Starts rnicd at `host` (see setting.Host) and returns when it is ready.

    devices: {"rxe0": "lo"}; faults: rules as of `rnicd --fault`;
    options: more words of its command line."""

    def __init__(self, host, devices, faults=(), timeout=60, options=()):
        self.host = host
        argv = [host.tree.rnicd, '--dir', host.folder]
        for name, where in devices.items():
            argv += ['--device', f'{name}={where}']
        for rule in faults:
            argv += ['--fault', rule]
        argv += options
        path = os.path.join(host.folder, 'ready')
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
            notified.bind(path)
            os.chmod(path, 0o777)
            self.process = host.start('rnicd', argv,
                                      env={'NOTIFY_SOCKET': path})
            try:
                self._await_ready(notified, timeout)
            except DaemonFailed:
                self.process.close()
                raise
            finally:
                os.unlink(path)

    def _await_ready(self, notified, timeout):
        poll = select.poll()
        poll.register(notified, select.POLLIN)
        poll.register(self.process.pidfd, select.POLLIN)
        while True:
            ready = [fd for fd, _ in poll.poll(timeout * 1000)]
            if notified.fileno() in ready:
                if b'READY=1' in notified.recv(4096):
                    return
            elif ready:
                raise DaemonFailed('rnicd ended: ' + self.last_words())
            else:
                raise DaemonFailed('rnicd is not ready: ' + self.last_words())

    def last_words(self):
        return (self.process.errors().strip().splitlines() or ['(silent)'])[-1]

    def alive(self):
        return self.process.running()

    def stat(self):
        """What `rnicctl stat --json` says."""
        return self.ctl_json('stat')

    def ctl_json(self, *words):
        text = self.host.run([self.host.tree.rnicctl, *words, '--json'],
                             rdma=False, name='rnicctl').output()
        return json.loads(text)

    def stop(self):
        """Ends it as a user would; its exit code, or None if it had to be
        killed."""
        self.process.signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.process.close()
        return code
