# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One process, one SRQ, two QPs that send to themselves: the SRQ grows and
shrinks under way, is full and says so, and each message has its receive, in
order and with its data. srq_resize.py DEVICE GID_INDEX"""

import sys

import pyverbs.enums as e
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

SLOT = 64
SLOTS = 512


class Pair:
    """QPs with one SRQ, each connected to itself."""

    def __init__(self, device, gid_index, room):
        self.context = Context(name=device)
        self.pd = PD(self.context)
        self.cq = CQ(self.context, 1024)
        access = e.IBV_ACCESS_LOCAL_WRITE
        self.mr = MR(self.pd, SLOT * SLOTS * 2, access)
        self.srq = SRQ(self.pd, SrqInitAttr(SrqAttr(max_wr=room, max_sge=1)))
        self.qps = [self.qp(gid_index) for _ in range(2)]
        self.posted = self.sent = self.received = 0

    def qp(self, gid_index):
        cap = QPCap(max_send_wr=64, max_recv_wr=0, max_send_sge=1,
                    max_recv_sge=0)
        qp = QP(self.pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq,
                                    rcq=self.cq, srq=self.srq, cap=cap),
                QPAttr(port_num=1))
        gid = self.context.query_gid(1, gid_index)
        route = GlobalRoute(dgid=gid, sgid_index=gid_index)
        attr = QPAttr(port_num=1)
        attr.dest_qp_num = qp.qp_num
        attr.path_mtu = e.IBV_MTU_1024
        attr.min_rnr_timer = 12
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
        attr.timeout, attr.retry_cnt, attr.rnr_retry = 14, 7, 7
        attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
        qp.to_rts(attr)
        return qp

    def room(self):
        return self.srq.query().max_wr

    def resize(self, room):
        self.srq.modify(SrqAttr(max_wr=room), e.IBV_SRQ_MAX_WR)

    def fill(self):
        """Receives until the SRQ refuses one; how many."""
        n = 0
        while True:
            at = self.mr.buf + self.posted % SLOTS * SLOT
            wr = RecvWR(sg=[SGE(at, SLOT, self.mr.lkey)], num_sge=1,
                        wr_id=self.posted)
            try:
                self.srq.post_recv(wr)
            except PyverbsRDMAError:
                return n
            n += 1
            self.posted += 1

    def message(self, number):
        return f'message {number:08}'.ljust(SLOT)

    def send(self, n):
        """One at a time, by turns, and each is received."""
        for _ in range(n):
            at = SLOT * SLOTS + self.sent % SLOTS * SLOT
            self.mr.write(self.message(self.sent), SLOT, at)
            wr = SendWR(wr_id=1 << 32, num_sge=1, sg=[
                SGE(self.mr.buf + at, SLOT, self.mr.lkey)])
            self.qps[self.sent % 2].post_send(wr)
            self.sent += 1
            self.completions(2)

    def completions(self, n):
        while n:
            count, wcs = self.cq.poll(n)
            n -= count
            for wc in wcs:
                assert wc.status == e.IBV_WC_SUCCESS, wc
                if not wc.opcode & e.IBV_WC_RECV:
                    continue
                number = self.received
                assert wc.wr_id == number, (wc.wr_id, number)
                data = self.mr.read(SLOT, number % SLOTS * SLOT).decode()
                assert data == self.message(number), (number, data)
                self.received += 1


def main():
    pair = Pair(sys.argv[1], int(sys.argv[2]), 10)
    assert pair.fill() == pair.room() >= 10
    pair.send(6)
    for room in (100, 20, 200, 200):
        pair.resize(room)
        assert pair.room() >= room
        pair.fill()
        left = pair.posted - pair.received
        assert left == pair.room(), (left, pair.room())
        try:
            pair.resize(left // 2)
            raise AssertionError('it has lost receives')
        except PyverbsRDMAError:
            pass
        pair.send(left - 9)
    pair.send(9)
    print(f'{pair.received} messages received')


main()
