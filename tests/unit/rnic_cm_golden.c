/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Our passive side is fed what Linux's active side said in the recorded traces, and must say what
 * Linux's passive side said to it there, each MAD bit for bit: what its owner chooses (QP number,
 * PSN, resources, private data) is taken from the recorded answer, and IDs, TIDs of its own and
 * the GUID, which are each adapter's own, are translated.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "bth/packet.h"
#include "bth_trace.h"
#include "cm_rig.h"
#include "rnic_fixture.h"

struct replay {
	struct cm_rig rig;
	bool begun;
	uint32_t their_id; /* of the recorded passive side; 0: not known yet */
	uint64_t their_tid, our_tid;
	unsigned seen[CM_TYPE_LAST + 1];
};

static void gid_of(const struct icrc_flow *flow, const uint8_t *addr, uint8_t gid[16])
{
	memset(gid, 0, 16);
	if (flow->ipv6) {
		memcpy(gid, addr, 16);
		return;
	}
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, addr, 4);
}

static void same(const struct cm_msg *ours, struct cm_msg theirs, const struct replay *r)
{
	uint8_t a[MAD_LEN], b[MAD_LEN];

	if (theirs.type != CM_REJ) {
		ck_assert_uint_ne(ours->local_id, 0);
		theirs.local_id = rnic_cm_local_id(r->rig.asked);
	}
	if (theirs.type == CM_REP)
		theirs.ca_guid = CM_RIG_GUID;
	if (theirs.type == CM_DREQ)
		theirs.tid = ours->tid;
	cm_encode(ours, a);
	cm_encode(&theirs, b);
	for (uint32_t i = 0; i < MAD_LEN; i++)
		ck_assert_msg(a[i] == b[i], "%s: byte %u is %02x, Linux's was %02x",
			      cm_type_name(ours->type), i, a[i], b[i]);
}

/* The owner's part of a REP or DREQ. */
static void owner_says(struct replay *r, const struct cm_msg *theirs)
{
	struct cm_msg msg = *theirs;

	msg.type = 0;
	msg.tid = msg.ca_guid = msg.local_id = msg.remote_id = 0;
	if (theirs->type == CM_REP) {
		r->their_id = theirs->local_id;
		ck_assert_int_eq(rnic_cm_rep(r->rig.asked, r->rig.now, &msg), 0);
	} else if (theirs->type == CM_DREQ) {
		msg.qpn = 0;
		ck_assert_int_eq(rnic_cm_dreq(r->rig.asked, r->rig.now, &msg), 0);
	} else if (theirs->type == CM_DREP) {
		ck_assert_int_eq(rnic_cm_drep(r->rig.asked, r->rig.now, &msg), 0);
	}
}

static void passive_said(struct replay *r, const struct cm_msg *theirs)
{
	const struct cm_msg *ours;

	owner_says(r, theirs);
	ours = cm_rig_said(&r->rig, theirs->type);
	same(ours, *theirs, r);
	r->their_tid = theirs->tid;
	r->our_tid = ours->tid;
}

static void active_said(struct replay *r, const struct cm_msg *theirs)
{
	struct cm_msg msg = *theirs;

	if (msg.remote_id) {
		ck_assert_uint_eq(msg.remote_id, r->their_id);
		msg.remote_id = rnic_cm_local_id(r->rig.asked);
	}
	if (msg.tid == r->their_tid)
		msg.tid = r->our_tid;
	cm_rig_hear(&r->rig, &msg);
}

static void packet_replay(const struct trace_packet *tp, void *ctx)
{
	struct replay *r = ctx;
	uint8_t src[16], dst[16];
	struct bth_packet pkt;
	struct cm_msg msg;
	struct mad mad;

	ck_assert_int_eq(bth_decode(tp->bth, tp->len - BTH_ICRC_LEN, &pkt), BTH_OK);
	if (pkt.dqpn != 1)
		return;
	ck_assert(mad_decode(pkt.payload, pkt.payload_len, &mad));
	ck_assert(cm_decode(&mad, &msg));
	gid_of(&tp->flow, tp->flow.src, src);
	gid_of(&tp->flow, tp->flow.dst, dst);
	r->seen[msg.type]++;
	if (!r->begun) {
		uint16_t refuse = r->rig.refuse;

		cm_rig_begin_at(&r->rig, dst, src);
		r->rig.refuse = refuse;
		r->begun = true;
	}
	if (memcmp(src, r->rig.peer, 16) == 0)
		active_said(r, &msg);
	else
		passive_said(r, &msg);
}

static void all_told(struct cm_rig *rig, enum rnic_cm_event_type last)
{
	cm_rig_told(rig, RNIC_CM_EV_ESTABLISHED);
	cm_rig_told(rig, last);
	cm_rig_untold(rig);
	cm_rig_silent(rig);
	ck_assert_int_eq(rnic_cm_state(rig->asked), RNIC_CM_TIMEWAIT);
	rnic_cm_destroy(rig->asked, rig->now);
	cm_rig_end(rig);
}

START_TEST(passive_side_says_what_linux_said)
{
	static const struct {
		const char *trace;
		enum rnic_cm_event_type last;
	} runs[] = {
		{"cm_rping", RNIC_CM_EV_DREQ},
		{"cm_rping_ipv6", RNIC_CM_EV_DREQ},
		{"cm_ucmatose", RNIC_CM_EV_DISCONNECTED},
	};
	static struct replay r;

	trace_for_each(runs[_i].trace, packet_replay, &r);
	ck_assert_uint_eq(r.seen[CM_REQ], 1);
	ck_assert_uint_eq(r.seen[CM_REP], 1);
	ck_assert_uint_eq(r.seen[CM_RTU], 1);
	ck_assert_uint_ge(r.seen[CM_DREQ], 1);
	ck_assert_uint_ge(r.seen[CM_DREP], 1);
	ck_assert_uint_eq(r.rig.n_requests, 1);
	all_told(&r.rig, runs[_i].last);
}
END_TEST

START_TEST(request_that_nobody_listens_for_is_rejected_as_linux_does)
{
	static struct replay r;

	r.rig.refuse = CM_REJ_INVALID_SERVICE_ID;
	trace_for_each("cm_reject", packet_replay, &r);
	ck_assert_uint_eq(r.seen[CM_REQ], 1);
	ck_assert_uint_eq(r.seen[CM_REJ], 1);
	cm_rig_silent(&r.rig);
	cm_rig_untold(&r.rig);
	ck_assert_uint_eq(cm_rig_ends(&r.rig), 0);
	cm_rig_end(&r.rig);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		request_that_nobody_listens_for_is_rejected_as_linux_does,
	};
	const struct fixture_loop loops[] = {{passive_side_says_what_linux_said, 0, 3}, {0}};

	return fixture_run_loops("rnic_cm_golden", NULL, tests, sizeof(tests) / sizeof(tests[0]),
				 loops);
}
