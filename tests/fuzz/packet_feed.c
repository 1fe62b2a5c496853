/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packets from a fuzzer's input, with ICRCs that are right unless it says otherwise. */
#include "config.h"

#include <stdlib.h>

#include "bth/icrc.h"
#include "bth/mad.h"
#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "packet_feed.h"

#define QKEY 0x11111111u
#define QKEY_GSI 0x80010000u
#define SPORT 0xc123

static struct icrc_flow flow_of(const struct packet *p)
{
	return (struct icrc_flow){.src = {10, 0, 0, p->from_stranger ? 9 : 2},
				  .dst = {10, 0, 0, 1},
				  .sport = SPORT,
				  .dport = BTH_UDP_PORT};
}

static uint32_t icrc_of(const struct packet *p, uint32_t len)
{
	struct icrc_flow flow = flow_of(p);

	return icrc_finish(icrc_begin(&flow, len + BTH_ICRC_LEN, 0), p->data, len);
}

/* What spoils it: most often nothing. */
static void finish(struct rig *r, struct packet *p, size_t len)
{
	uint8_t how = feed_u8(r->feed);

	p->from_stranger = how % 16 == 15;
	if (how / 16 == 1 && len)
		p->data[feed_u16(r->feed) % len] = feed_u8(r->feed);
	if (how / 16 == 2)
		len = feed_u16(r->feed) % (len + 1);
	icrc_store(p->data + len, icrc_of(p, (uint32_t)len) ^ (how / 16 == 3));
	p->len = (uint32_t)len + BTH_ICRC_LEN;
}

static uint32_t psn_choose(struct rig *r, const struct rnic_qp_info *info)
{
	uint8_t how = feed_u8(r->feed);
	uint32_t base = how & 1 ? info->sq_una_psn : info->rq_psn;

	if (how & 2)
		base = info->sq_psn;
	if (how & 4)
		return feed_u32(r->feed) & BTH_PSN_MASK;
	return psn_add(base, how & 8 ? (uint32_t)(int8_t)feed_u8(r->feed) : 0);
}

/* The extension headers' fields, where the opcode has them. */
static void extensions(struct rig *r, struct bth_packet *pkt, uint32_t flags)
{
	if (flags & BTH_F_DETH) {
		uint8_t how = feed_u8(r->feed);

		pkt->qkey = how & 1 ? QKEY_GSI : how & 2 ? feed_u32(r->feed) : QKEY;
		pkt->sqpn = how & 4 ? 1 : RIG_PEER_QPN;
	}
	if (flags & (BTH_F_RETH | BTH_F_ATOMIC_ETH | BTH_F_FETH)) {
		pkt->va = rig_addr(r);
		pkt->rkey = rig_key(r);
		pkt->dmalen = rig_len(r);
		pkt->swap_add = pkt->compare = pkt->va;
		pkt->flush_type = pkt->dmalen;
	}
	if (flags & BTH_F_AETH) {
		pkt->syndrome = feed_u8(r->feed);
		pkt->msn = feed_u8(r->feed);
	}
	if (flags & (BTH_F_IMM | BTH_F_IETH))
		pkt->imm = pkt->inv_rkey = rig_key(r);
}

void packet_by_fields(struct rig *r, struct packet *p)
{
	const struct rig_qp *q = &r->qp[feed_u8(r->feed) % RIG_QPS];
	uint8_t opcode = feed_u8(r->feed), bits = feed_u8(r->feed);
	struct bth_packet pkt = {.opcode = opcode, .pkey = 0xffff, .dqpn = 1};
	struct rnic_qp_info info = {0};
	uint32_t flags;

	if (!bth_opcode_info(opcode)->name)
		pkt.opcode = BTH_OPCODE(BTH_RC, BTH_SEND_ONLY); /* the encoder knows no others */
	flags = bth_opcode_info(pkt.opcode)->flags;
	if (q->qp) {
		rnic_qp_info_get(q->qp, &info);
		pkt.dqpn = info.qpn;
	}
	pkt.psn = psn_choose(r, &info);
	pkt.ackreq = bits & 1;
	pkt.se = bits & 2;
	pkt.migreq = !(bits & 4);
	pkt.fecn = bits & 8;
	pkt.becn = bits & 16;
	if (bits & 32)
		pkt.pkey = feed_u16(r->feed);
	extensions(r, &pkt, flags);
	pkt.payload_len = flags & BTH_F_PAYLOAD ? rig_len(r) % 4097 : 0;
	if (bits & 64)
		pkt.dmalen = pkt.payload_len;
	pkt.pad = bth_pad(pkt.payload_len);
	memset(p->data, opcode, sizeof(p->data));
	{
		size_t len = bth_encode_headers(&pkt, p->data);

		p->data[0] = opcode;
		finish(r, p, len + pkt.payload_len + pkt.pad);
	}
}

static struct cm_msg cm_fields(struct rig *r)
{
	struct cm_msg m = {.type = (enum cm_type)(CM_TYPE_FIRST + feed_u8(r->feed) % 11)};
	const struct rnic_cm *cm = r->cm[feed_u8(r->feed) % RIG_CMS];

	m.tid = feed_u8(r->feed);
	m.local_id = feed_u8(r->feed);
	m.remote_id = cm ? rnic_cm_local_id(cm) : feed_u32(r->feed);
	m.service_id = feed_u8(r->feed);
	m.ca_guid = feed_u8(r->feed);
	m.qpn = RIG_PEER_QPN + feed_u8(r->feed) % 2;
	m.qkey = QKEY;
	m.starting_psn = feed_u8(r->feed);
	m.transport = feed_u8(r->feed) & 3;
	m.reason = m.status = m.which = feed_u8(r->feed);
	m.remote_timeout = m.local_timeout = m.service_timeout = feed_u8(r->feed) & 31;
	m.max_cm_retries = m.retry_count = feed_u8(r->feed) & 7;
	m.path_mtu = feed_u8(r->feed) & 15;
	memcpy(m.primary.local_gid, r->world.node[1].gid, 16);
	memcpy(m.primary.remote_gid, r->world.node[0].gid, 16);
	return m;
}

void packet_of_cm(struct rig *r, struct packet *p)
{
	struct bth_packet pkt = {.opcode = BTH_OPCODE(BTH_UD, BTH_SEND_ONLY),
				 .migreq = true,
				 .pkey = 0xffff,
				 .dqpn = 1,
				 .qkey = QKEY_GSI,
				 .sqpn = 1,
				 .payload_len = MAD_LEN};
	struct cm_msg m = cm_fields(r);
	size_t len = bth_encode_headers(&pkt, p->data);

	cm_encode(&m, p->data + len);
	finish(r, p, len + MAD_LEN);
}

void packet_by_bytes(struct rig *r, struct packet *p)
{
	size_t len = feed_u16(r->feed) % (PACKET_ROOM - BTH_ICRC_LEN);

	memset(p->data, 0, sizeof(p->data));
	feed_bytes(r->feed, p->data, len);
	finish(r, p, len);
}

bool packet_receive(const struct rig *r, const struct packet *p, struct rnic_rx *rx)
{
	uint32_t len = p->len - BTH_ICRC_LEN;

	if (p->len < BTH_ICRC_LEN || icrc_load(p->data + len) != icrc_of(p, len))
		return false;
	*rx = (struct rnic_rx){.data = p->data, .len = len, .hop_limit = 64, .sport = SPORT};
	memcpy(rx->sgid, r->world.node[1].gid, 16);
	rx->sgid[15] ^= p->from_stranger ? 8 : 0;
	memcpy(rx->dgid, r->world.node[0].gid, 16);
	return true;
}
