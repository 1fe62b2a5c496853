# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Clients of the control socket that do not keep to its protocol."""

import array
import contextlib
import errno
import fcntl
import mmap
import os
import random
import re
import select
import signal
import socket
import struct
import threading
import traceback

from rulebook import PATIENCE, Broken, until

HELLO, JOIN, OPEN, ATTACH, WRITE, IOCTL, CLOSED, ADMIN = range(1, 9)
NETLINK, PORT = 10, 11
FLOOD = 600
CONTROL_H = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..',
                         '..', 'verbs', 'abi', 'control.h')


def control_version():
    with open(CONTROL_H, encoding='utf-8') as f:
        return int(re.search(r'define RNIC_CTL_VERSION (\d+)', f.read())[1])


def connect(book):
    end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    end.settimeout(PATIENCE)
    end.connect(os.path.join(book.folder, 'control'))
    return end


def request(op, data=b'', args=(0, 0, 0, 0)):
    return struct.pack('=II4Q', op, len(data), *args) + data


def hello():
    return struct.pack('=II16sQ16s', control_version(), 0, bytes(16), os.getpid(),
                       b'liar')


def send(end, message, fds=()):
    end.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                             array.array('i', fds))] if fds else [])


def answer(end):
    return struct.unpack('=q', end.recv(8192)[:8])[0]


def welcomed(book):
    """A session, and the eventfd that wakes the daemon."""
    end = connect(book)
    fds = [os.open('/proc/self/mem', os.O_RDWR),
           os.open('/proc/self/maps', os.O_RDONLY)]
    send(end, request(HELLO, hello()), fds)
    for fd in fds:
        os.close(fd)
    data, parts, _, _ = end.recvmsg(8192, 256)
    got = array.array('i')
    if struct.unpack('=q', data[:8])[0]:
        raise Broken('no welcome')
    got.frombytes(parts[0][2])
    return end, list(got)


def wrong_descriptors(book):
    for names in (('/dev/null', '/dev/null'), ('/proc/self/maps',) * 2,
                  ('/proc/self/mem',), ('/proc/self/mem',) * 6):
        with connect(book) as end:
            fds = [os.open(name, os.O_RDONLY) for name in names]
            send(end, request(HELLO, hello()), fds)
            for fd in fds:
                os.close(fd)
            if answer(end) >= 0:
                raise Broken(f'{names} is taken for memory')


def ids_of_others(book):
    """A bystander's are among the first numbers."""
    end, fds = welcomed(book)
    with end:
        for number in range(1, 200):
            for op in (WRITE, IOCTL, PORT):
                send(end, request(op, args=(number, 0, 0, 0)))
                if answer(end) != -errno.EBADF:
                    raise Broken(f'request {op} may name {number}')
    for fd in fds:
        os.close(fd)


def files_in_place_of_ours(book):
    """Memfds, unsealed, empty and sealed, and what else is no channel."""
    unsealed, empty, sealed = (os.memfd_create('mem', os.MFD_ALLOW_SEALING)
                               for _ in range(3))
    os.truncate(unsealed, 1 << 20)
    fcntl.fcntl(sealed, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL)
    lies = [unsealed, empty, sealed, os.eventfd(0),
            os.open('/dev/null', os.O_RDWR), *os.pipe()]
    end, fds = welcomed(book)
    for fd in lies:
        send(end, request(ATTACH), [fd])
        if answer(end) != -errno.ENOTTY:
            raise Broken('a file of its own is taken for one of ours')
        with connect(book) as other:
            send(other, request(HELLO, hello()), [fd, fd])
            if answer(other) >= 0:
                raise Broken('a file is taken for memory')
    end.close()
    for fd in lies + fds:
        os.close(fd)


def shared_page_is_read_only(book):
    """All clients have the one page that says whether the daemon sleeps."""
    end, fds = welcomed(book)
    again = os.open(f'/proc/self/fd/{fds[0]}', os.O_RDWR)
    for change in (lambda: os.truncate(again, 0),
                   lambda: os.write(again, b'x')):
        try:
            change()
        except PermissionError:
            continue
        raise Broken('the page can be changed')
    end.close()
    for fd in [again, *fds]:
        os.close(fd)


def proc_files():
    """A HELLO's descriptors as they ought to be."""
    return [os.open('/proc/self/mem', os.O_RDWR),
            os.open('/proc/self/maps', os.O_RDONLY)]


def lingering_socket():
    """Closed last it waits for its peer, who does not read, for a day."""
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        listener.listen(1)
        end = socket.create_connection(listener.getsockname())
        peer, _ = listener.accept()
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                   struct.pack('=ii', 1, 86400))
    end.setblocking(False)
    try:
        while True:
            end.send(bytes(65536))
    except BlockingIOError:
        pass
    return end, peer


def state_of(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii') as stat:
        return stat.read().rsplit(')', 1)[1].split()[0]


def linger_in(book, end, count=1, data=b'x'):
    """A message with sockets whose last close waits: rnicd's, which first
    sees it when they are closed here."""
    sockets = [lingering_socket() for _ in range(count)]
    numbers = array.array('i', [own.fileno() for own, _ in sockets])
    pid = book.daemon.popen.pid     # no child of this process
    os.kill(pid, signal.SIGSTOP)
    until(lambda: state_of(pid) == 'T', interval=0.001)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        end.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
    closes = [threading.Thread(target=own.close, daemon=True)
              for own, _ in sockets]
    for close in closes:
        close.start()
    for close in closes:
        close.join(1)           # which waits only if it is the last after all
    os.kill(pid, signal.SIGCONT)
    return end, [peer for _, peer in sockets]


def opened(book, op, data=b'', args=(os.O_RDWR, 0, 0, 0)):
    """What it gives to a program: a socket of rdma_cm, or of netlink."""
    end, fds = welcomed(book)
    send(end, request(op, data, args))
    said, parts, _, _ = end.recvmsg(8192, 256)
    if struct.unpack('=q', said[:8])[0] < 0:
        raise Broken(f'{data} is not to be had: {said[:8]}')
    got = array.array('i')
    got.frombytes(parts[0][2])
    for fd in fds:
        os.close(fd)
    return end, socket.socket(fileno=got[0])


def ask_with(book, held, op, data, fds, greet=False):
    """A message with descriptors, whose answer is not waited for."""
    if greet:
        end, got = welcomed(book)
        for fd in got:
            os.close(fd)
    else:
        end = connect(book)
    held.append(end)
    send(end, request(op, data), fds)


def undying_descriptors(book, _, path):
    """Files that nobody answers for, wherever a descriptor may come, and too
    many of them. What has come back is kept: nothing is to be closed yet."""
    mute, held, good = os.open(path, os.O_RDWR), [], proc_files()
    for fds in ([mute, good[1]], [good[0], mute], [mute] * 2, [mute] * 4):
        ask_with(book, held, HELLO, hello(), fds)
    for op, greet in ((JOIN, False), (ATTACH, False), (ATTACH, True),
                      (CLOSED, True), (OPEN, True), (ADMIN, False)):
        ask_with(book, held, op, b'stat\0', [mute], greet)
    end, peer = lingering_socket()
    ask_with(book, held, ATTACH, b'', [end.fileno()], True)
    # It is rnicd, or this thread, whose close is the last.
    threading.Thread(target=end.close, daemon=True).start()
    return held, peer


def held_pipe(book, server, path):
    """One that nobody can write to, ask about or close: its lock is held by
    a reader whose memory does not answer. It lies for as long as that."""
    before = server.output().count('waits')
    out, into = os.pipe()
    file = os.open(path, os.O_RDWR)
    memory = mmap.mmap(file, 4096)
    os.write(into, b'x')
    threading.Thread(target=os.readv, args=(out, [memory]),
                     daemon=True).start()
    until(lambda: server.output().count('waits') > before)
    held = []
    ask_with(book, held, ATTACH, b'', [into], True)
    ask_with(book, held, HELLO, hello(), [into, into])
    return held, memory


def undying_in_queues(book, server, path):
    """Descriptors where the daemon reads none, or fewer."""
    held = [opened(book, OPEN, b'/dev/infiniband/rdma_cm'),
            opened(book, NETLINK)]
    held += [linger_in(book, end) for _, end in held]
    held += [linger_in(book, connect(book), 20),
             linger_in(book, connect(book), 1, b''),
             held_pipe(book, server, path)]
    return held


def apart(lie, *args):
    """A process that tells its lie, says so, and ends when it is told to: one
    that has such a file open can neither start others nor close it. Its number,
    and two files: for a byte that it says, and to be closed."""
    (said, says), (told, tell) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid:
        os.close(says)
        os.close(told)
        return pid, open(said, 'rb', buffering=0), open(tell, 'wb', buffering=0)
    try:
        os.close(tell)
        kept = lie(*args)
        os.write(says, b'.' if kept else b'')
        os.read(told, 1)
    except Exception:           # pylint: disable=broad-except
        traceback.print_exc()
    finally:
        os._exit(0)


def random_messages(book, seed=4791):
    rng = random.Random(seed)
    for _ in range(300):
        end, fds = welcomed(book)
        with end:
            for _ in range(rng.randrange(1, 12)):
                data = rng.randbytes(rng.choice((0, 1, 16, 48, 200, 4000)))
                args = [rng.choice((0, 1, 2, 3, rng.getrandbits(64),
                                    rng.getrandbits(32))) for _ in range(4)]
                text = request(rng.randrange(0, 14), data, args)
                if rng.random() < 0.2:
                    text = text[:rng.randrange(1, len(text))]
                try:
                    send(end, text, rng.sample([0, 1, *fds],
                                               rng.randrange(0, 4)))
                    if rng.random() < 0.5:
                        end.recv(8192)
                except (ConnectionError, BrokenPipeError):
                    break
        for fd in fds:
            os.close(fd)


def deaf_reader(book):
    """Asks and asks, and reads no answer."""
    with connect(book) as end:
        end.setblocking(False)
        try:
            for _ in range(20000):
                send(end, request(ADMIN, b'stat\0'))
        except (BlockingIOError, ConnectionError):
            pass
        book.ctl('stat')


def flood(book):
    """Connections that say nothing, more than some limits allow."""
    ends = []
    try:
        for _ in range(FLOOD):
            ends.append(connect(book))
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ECONNREFUSED,
                               errno.EAGAIN):
            raise
    finally:
        for end in ends:
            end.close()
    book.serves_again()


def blocking_eventfd(book):
    """What wakes the daemon is shared with the client, and so are its flags:
    a client that makes it block and reads it may not stop the daemon."""
    end, fds = welcomed(book)
    with end:
        os.set_blocking(fds[1], True)
        for _ in range(3000):
            os.write(fds[1], struct.pack('=Q', 1))
            if select.select([fds[1]], [], [], 0)[0]:
                os.set_blocking(fds[1], False)
                try:
                    os.read(fds[1], 8)
                except BlockingIOError:
                    pass
                os.set_blocking(fds[1], True)
        book.ctl('stat')
    for fd in fds:
        os.close(fd)
