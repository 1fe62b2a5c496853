/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A hostile peer of QPs of every type and state: packets whose ICRC is right and whose fields are
 * random, and random bytes, from a raw socket with a source address of its choice.
 *
 *     peer SECONDS [SEED]     needs CAP_NET_RAW
 *
 * The QPs are this program's own, so that it also sees that memory beside its MR stays untouched.
 */
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "bth/icrc.h"
#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/wire.h"
#include "rig.h"

#define QPS 12
#define SIZE 65536
#define GUARD 4096
#define CANARY 0xc5
#define NOBODYS_QPN 0xfffff0
#define SPORT 0xc123
#define ADDRESS 0x7f000001u
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct victim {
	struct ibv_qp *qp;
	enum ibv_qp_state state; /* that it is brought to */
};

static uint64_t state;
static int raw;
static struct victim victims[QPS];
static uint8_t memory[GUARD + SIZE + GUARD];
static struct ibv_mr *mr;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint32_t one_of(const uint32_t *list, size_t n)
{
	return list[rnd() % n];
}

static void post_requests(struct ibv_qp *qp)
{
	static const enum ibv_wr_opcode ops[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
						 IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_RDMA_READ};
	struct ibv_sge sge = {(uintptr_t)memory + GUARD, 8, mr->lkey};
	size_t n = qp->qp_type == IBV_QPT_RC ? ARRAY_SIZE(ops) : 2;

	for (size_t i = 0; i < n && qp->qp_type != IBV_QPT_UD; i++) {
		sge.length = ops[i] == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : 3000;
		rig_post(qp, ops[rnd() % n], &sge, 1, sge.addr, mr->rkey);
	}
}

/* From RESET to the victim's state, with requests that nobody answers but we. */
static void revive(struct rig *r, struct victim *v)
{
	struct ibv_sge sge = {(uintptr_t)memory + GUARD, 4000, mr->lkey};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	MUST(!ibv_modify_qp(v->qp, &attr, IBV_QP_STATE));
	if (v->state == IBV_QPS_RESET)
		return;
	rig_connect_with(r, v->qp, NOBODYS_QPN, 0, 7, 7);
	for (int i = 0; i < 16; i++)
		rig_recv(v->qp, &sge, 1);
	post_requests(v->qp);
	attr.qp_state = v->state;
	if (v->state == IBV_QPS_ERR)
		MUST(!ibv_modify_qp(v->qp, &attr, IBV_QP_STATE));
}

static void victims_create(struct rig *r)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
	static const enum ibv_qp_state states[] = {IBV_QPS_RTS, IBV_QPS_ERR, IBV_QPS_RESET};

	for (size_t i = 0; i < QPS; i++) {
		victims[i].qp = rig_qp(r, types[i % 4]);
		victims[i].state = states[i / 4];
		revive(r, &victims[i]);
	}
}

static void fields(struct bth_packet *p)
{
	static const uint32_t lens[] = {0, 0, 1, 4, 8, 256, 1023, 1024, 1024, 2048, 4096};
	static const uint32_t dmalens[] = {0, 1, 8, 1024, 3000, 65536, 0x7fffffff, 0xffffffff};
	bool odd = rnd() % 16 == 0;

	p->opcode = (uint8_t)(rnd() % 3 ? rnd() % 24 : rnd());
	p->dqpn = odd ? (uint32_t)rnd() & (rnd() % 2 ? 1 : 0xffffff)
		      : victims[rnd() % 3 ? rnd() % 4 : rnd() % QPS].qp->qp_num;
	p->psn = (uint32_t)(rnd() % 8 ? rnd() % 20 : rnd()) & 0xffffff;
	p->pkey = rnd() % 32 ? 0xffff : (uint16_t)rnd();
	p->ackreq = rnd() % 2;
	p->se = rnd() % 2;
	p->migreq = rnd() % 4;
	p->becn = rnd() % 16 == 0;
	p->payload_len = one_of(lens, ARRAY_SIZE(lens));
	p->pad = bth_pad(p->payload_len);
	p->qkey = rnd() % 4 ? 0x11111111 : (uint32_t)rnd();
	p->sqpn = (uint32_t)rnd() & 0xffffff;
	p->va = rnd() % 4 ? (uintptr_t)memory + GUARD + (rnd() % SIZE & ~7ull) : rnd();
	p->rkey = rnd() % 8 ? mr->rkey : (uint32_t)rnd();
	p->dmalen = one_of(dmalens, ARRAY_SIZE(dmalens));
	p->swap_add = rnd();
	p->compare = rnd();
	p->syndrome = (uint8_t)(rnd() % 2 ? rnd() % 32 : rnd());
	p->msn = (uint32_t)rnd() % 12;
	p->orig = rnd();
	p->imm = (uint32_t)rnd();
	p->inv_rkey = rnd() % 2 ? mr->rkey : (uint32_t)rnd();
}

/* Only the source is of random choice: the packets are for this namespace's daemon. */
static void send_datagram(const uint8_t *data, size_t len, uint32_t src)
{
	uint8_t buf[8192];
	struct iphdr ip = {.version = 4,
			   .ihl = 5,
			   .tot_len = htons((uint16_t)(sizeof(ip) + 8 + len)),
			   .frag_off = htons(IP_DF),
			   .ttl = 64,
			   .protocol = IPPROTO_UDP,
			   .saddr = htonl(src),
			   .daddr = htonl(ADDRESS)};
	struct udphdr udp = {.source = htons(SPORT),
			     .dest = htons(BTH_UDP_PORT),
			     .len = htons((uint16_t)(8 + len))};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(ADDRESS)};

	memcpy(buf, &ip, sizeof(ip));
	memcpy(buf + sizeof(ip), &udp, sizeof(udp));
	memcpy(buf + sizeof(ip) + sizeof(udp), data, len);
	sendto(raw, buf, sizeof(ip) + sizeof(udp) + len, 0, (struct sockaddr *)&to, sizeof(to));
}

static void attack(void)
{
	uint32_t src = rnd() % 16 ? ADDRESS : 0x7f000000u | (uint32_t)(rnd() % 250 + 2);
	struct icrc_flow flow = {.sport = SPORT, .dport = BTH_UDP_PORT};
	struct bth_packet p = {0};
	uint8_t buf[BTH_HEADERS_MAX + 4096 + 4 + BTH_ICRC_LEN];
	uint8_t opcode;
	size_t len;

	fields(&p);
	opcode = p.opcode;
	if (!bth_opcode_info(opcode)->name)
		p.opcode = BTH_RC | BTH_SEND_ONLY; /* the encoder knows no others */
	memset(buf, 'p', sizeof(buf));
	len = bth_encode_headers(&p, buf);
	buf[0] = opcode;
	for (uint64_t n = rnd() % 5 ? 0 : rnd() % 3; n--;)
		buf[rnd() % len] = (uint8_t)rnd();
	len += p.payload_len + p.pad;
	if (rnd() % 32 == 0)
		len = rnd() % (len + 1); /* cut off anywhere */
	if (rnd() % 32 == 0)
		for (size_t i = 0; i < len; i++)
			buf[i] = (uint8_t)rnd();
	wire_put32(flow.src, src);
	wire_put32(flow.dst, ADDRESS);
	if (len >= BTH_LEN && rnd() % 32)
		icrc_store(buf + len,
			   icrc_finish(icrc_begin(&flow, len + BTH_ICRC_LEN, 0), buf, len));
	send_datagram(buf, len + (len >= BTH_LEN ? BTH_ICRC_LEN : 0), src);
}

static void drain(struct ibv_cq *cq, uint64_t *done)
{
	struct ibv_wc wc[32];
	int n;

	while ((n = ibv_poll_cq(cq, 32, wc)) > 0)
		*done += (uint64_t)n;
	MUST(!n);
}

int main(int argc, char **argv)
{
	uint64_t end, packets = 0, done = 0;
	struct rig r;

	MUST(argc >= 2);
	state = argc > 2 ? strtoull(argv[2], NULL, 0) | 1 : 88172645463325252ull;
	raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	MUST(raw >= 0);
	memset(memory, CANARY, sizeof(memory));
	rig_open(&r);
	mr = rig_mr(&r, memory + GUARD, SIZE);
	victims_create(&r);
	end = rig_now() + strtoull(argv[1], NULL, 0) * 1000000000;
	while (rig_now() < end) {
		for (int i = 0; i < 24; i++, packets++)
			attack();
		drain(r.cq, &done);
		revive(&r, &victims[rnd() % 3 ? rnd() % 4 : rnd() % QPS]);
	}
	for (size_t i = 0; i < GUARD; i++)
		MUST(memory[i] == CANARY && memory[GUARD + SIZE + i] == CANARY);
	printf("packets %llu completions %llu\n", (unsigned long long)packets,
	       (unsigned long long)done);
	return 0;
}
