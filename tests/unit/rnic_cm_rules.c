/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rules of communication management that need more than one message: what a message carries, how
 * often and how late it is repeated, and what comes twice, too late or from the past. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "cm_reach.h"
#include "rnic_fixture.h"

/* Twice a packet's lifetime as Linux gives it for RoCE. */
#define MANY 50000
#define TIMEWAIT_NS (2 * (4096ull << 18))

static struct cm_rig rig;

static void setup(void)
{
	cm_rig_begin(&rig);
}

static void end(struct rnic_cm *cm)
{
	rnic_cm_destroy(cm, rig.now);
	cm_rig_end(&rig);
}

static void hear(struct rnic_cm *cm, enum cm_type type)
{
	struct cm_msg msg = cm_reach_msg(&rig, cm, type);

	cm_rig_hear(&rig, &msg);
}

/* A flood of requests is no harder to bear the longer it lasts: were each looked for among all that
 * came before, this would take too long. */
START_TEST(request_is_found_among_many)
{
	struct cm_msg req = cm_reach_msg(&rig, NULL, CM_REQ);
	uint32_t cursor = 0;
	struct rnic_cm *cm;

	for (uint32_t i = 1; i <= MANY; i++) {
		req.local_id = req.qpn = i;
		cm_rig_hear(&rig, &req);
	}
	ck_assert_uint_eq(rig.n_requests, MANY);
	cm_rig_silent(&rig);
	for (uint32_t i = 1; i <= MANY; i += MANY / 50) {
		req.local_id = req.qpn = i;
		cm_rig_hear(&rig, &req);
		cm_rig_said(&rig, CM_MRA);
	}
	ck_assert_uint_eq(rig.n_requests, MANY);
	while ((cm = rnic_cm_next(rig.dev, &cursor))) {
		if (rig.n_sent == CM_RIG_MAX)
			cm_rig_forget(&rig);
		rnic_cm_destroy(cm, rig.now);
	}
	cm_rig_forget(&rig);
	cm_rig_end(&rig);
}
END_TEST

/* ---- what messages carry ---- */

START_TEST(reject_is_passed_up_whatever_its_reason)
{
	struct rnic_cm *cm = cm_reach(&rig, AT_REQ_SENT);
	struct cm_msg rej = cm_reach_msg(&rig, cm, CM_REJ);
	const struct cm_msg *told;

	rej.reason = (uint16_t)_i;
	rej.ari_length = CM_ARI_LEN;
	memset(rej.ari, 0xa1, CM_ARI_LEN);
	for (int i = 0; i < CM_REJ_PRIVATE; i++)
		rej.private_data[i] = (uint8_t)(i + _i);
	cm_rig_hear(&rig, &rej);
	told = &cm_rig_told(&rig, RNIC_CM_EV_REJ)->msg;
	ck_assert_uint_eq(told->reason, (unsigned)_i);
	ck_assert_uint_eq(told->ari_length, CM_ARI_LEN);
	ck_assert_mem_eq(told->ari, rej.ari, CM_ARI_LEN);
	ck_assert_mem_eq(told->private_data, rej.private_data, CM_REJ_PRIVATE);
	end(cm);
}
END_TEST

START_TEST(refused_request_gets_that_reason)
{
	rig.refuse = (uint16_t)_i;
	hear(NULL, CM_REQ);
	const struct cm_msg *rej = cm_rig_said(&rig, CM_REJ);

	ck_assert_uint_eq(rej->reason, (unsigned)_i);
	ck_assert_uint_eq(rej->which, 0);
	ck_assert_uint_eq(rej->remote_id, CM_RIG_PEER_ID);
	ck_assert_uint_eq(rej->tid, REACH_PEER_TID);
	ck_assert_uint_eq(cm_rig_ends(&rig), 0);
	cm_rig_end(&rig);
}
END_TEST

START_TEST(refused_sidr_request_gets_that_status)
{
	rig.refuse = CM_SIDR_REJECT;
	hear(NULL, CM_SIDR_REQ);
	const struct cm_msg *rep = cm_rig_said(&rig, CM_SIDR_REP);

	ck_assert_uint_eq(rep->status, CM_SIDR_REJECT);
	ck_assert_uint_eq(rep->local_id, CM_RIG_PEER_ID);
	ck_assert_uint_eq(rep->service_id, REACH_SERVICE);
	ck_assert_uint_eq(rep->tid, REACH_PEER_TID);
	cm_rig_end(&rig);
}
END_TEST

START_TEST(request_to_an_address_that_is_not_the_devices_is_refused)
{
	rig.own[15] ^= 4;
	hear(NULL, CM_REQ);
	ck_assert_uint_eq(cm_rig_said(&rig, CM_REJ)->reason, CM_REJ_INVALID_SERVICE_ID);
	hear(NULL, CM_SIDR_REQ);
	ck_assert_uint_eq(cm_rig_said(&rig, CM_SIDR_REP)->status, CM_SIDR_UNSUPPORTED);
	ck_assert_uint_eq(rig.n_requests, 0);
	cm_rig_end(&rig);
}
END_TEST

START_TEST(way_back_is_what_the_request_says)
{
	struct cm_msg req = cm_reach_msg(&rig, NULL, CM_REQ);
	const struct rnic_av *av;

	req.primary.hop_limit = (uint8_t)_i;
	req.primary.traffic_class = 0x68;
	req.primary.flow_label = 0x12345;
	cm_rig_hear(&rig, &req);
	av = rnic_cm_av(rig.asked);
	ck_assert_uint_eq(av->hop_limit, _i > 1 ? (unsigned)_i : 64);
	ck_assert_uint_eq(av->traffic_class, 0x68);
	ck_assert_uint_eq(av->flow_label, 0x12345);
	ck_assert_uint_eq(av->sgid_index, 3);
	ck_assert_mem_eq(av->sgid, rig.own, 16);
	ck_assert_mem_eq(av->dgid, rig.peer, 16);
	end(rig.asked);
}
END_TEST

/* IBA 12: an exchange has the TID of its first message. */
START_TEST(answers_have_the_tid_of_what_they_answer)
{
	struct cm_msg own = cm_reach_own(), rtu = {0}, rep, dreq;
	struct rnic_av av = cm_reach_av(&rig);
	struct rnic_cm *cm = rnic_cm_create(rig.dev, &rig);
	uint64_t tid;

	ck_assert_int_eq(rnic_cm_req(cm, rig.now, &av, &own), 0);
	tid = cm_rig_said(&rig, CM_REQ)->tid;
	rep = cm_reach_msg(&rig, cm, CM_REP);
	cm_rig_hear(&rig, &rep);
	ck_assert_int_eq(rnic_cm_rtu(cm, rig.now, &rtu), 0);
	ck_assert_uint_eq(cm_rig_said(&rig, CM_RTU)->tid, tid);
	dreq = cm_reach_msg(&rig, cm, CM_DREQ);
	dreq.tid = 0x987654321;
	cm_rig_hear(&rig, &dreq);
	ck_assert_int_eq(rnic_cm_drep(cm, rig.now, &rtu), 0);
	ck_assert_uint_eq(cm_rig_said(&rig, CM_DREP)->tid, 0x987654321);
	end(cm);
}
END_TEST

START_TEST(disconnect_names_the_peers_qp_and_begins_a_transaction)
{
	struct rnic_cm *cm = cm_reach(&rig, AT_ESTABLISHED_PASSIVE);
	struct cm_msg own = {0};
	const struct cm_msg *dreq;

	ck_assert_int_eq(rnic_cm_dreq(cm, rig.now, &own), 0);
	dreq = cm_rig_said(&rig, CM_DREQ);
	ck_assert_uint_eq(dreq->qpn, CM_RIG_PEER_QPN);
	ck_assert_uint_ne(dreq->tid, REACH_PEER_TID);
	ck_assert_uint_eq(dreq->remote_id, CM_RIG_PEER_ID);
	ck_assert_uint_eq(dreq->local_id, rnic_cm_local_id(cm));
	end(cm);
}
END_TEST

START_TEST(disconnect_of_another_qp_is_none)
{
	struct rnic_cm *cm = cm_reach(&rig, AT_ESTABLISHED_ACTIVE);
	struct cm_msg dreq = cm_reach_msg(&rig, cm, CM_DREQ);

	dreq.qpn ^= 1;
	cm_rig_hear(&rig, &dreq);
	cm_rig_silent(&rig);
	cm_rig_untold(&rig);
	ck_assert_int_eq(rnic_cm_state(cm), RNIC_CM_ESTABLISHED);
	end(cm);
}
END_TEST

START_TEST(forgotten_request_is_taken_back_by_its_adapters_name)
{
	struct rnic_cm *cm = cm_reach(&rig, AT_REQ_SENT);
	const uint64_t guid = CM_RIG_GUID;
	const struct cm_msg *rej;

	rnic_cm_destroy(cm, rig.now);
	rej = cm_rig_said(&rig, CM_REJ);
	ck_assert_uint_eq(rej->reason, CM_REJ_TIMEOUT);
	ck_assert_uint_eq(rej->ari_length, 8);
	for (int i = 0; i < 8; i++)
		ck_assert_uint_eq(rej->ari[i], (uint8_t)(guid >> (56 - 8 * i)));
	cm_rig_end(&rig);
}
END_TEST

/* The peer has not learnt this side's ID yet. */
START_TEST(request_is_taken_back_by_the_peers_id_alone)
{
	struct rnic_cm *cm = cm_reach(&rig, AT_REQ_RCVD);
	struct cm_msg rej = cm_reach_msg(&rig, cm, CM_REJ), wrong;

	rej.remote_id = 0;
	rej.reason = CM_REJ_TIMEOUT;
	wrong = rej;
	wrong.reason = CM_REJ_CONSUMER;
	cm_rig_hear(&rig, &wrong);
	wrong = rej;
	wrong.tid++;
	cm_rig_hear(&rig, &wrong);
	wrong = rej;
	wrong.local_id++;
	cm_rig_hear(&rig, &wrong);
	cm_rig_untold(&rig);
	cm_rig_hear(&rig, &rej);
	ck_assert_uint_eq(cm_rig_told(&rig, RNIC_CM_EV_REJ)->msg.reason, CM_REJ_TIMEOUT);
	end(cm);
}
END_TEST

/* ---- time ---- */

static const struct {
	enum cm_at at;
	enum cm_type repeated;
	enum rnic_cm_event_type told;
	bool rejects;
} waits[] = {
	{AT_REQ_SENT, CM_REQ, RNIC_CM_EV_UNREACHABLE, true},
	{AT_REP_SENT, CM_REP, RNIC_CM_EV_UNREACHABLE, true},
	{AT_DREQ_SENT, CM_DREQ, RNIC_CM_EV_DISCONNECTED, false},
	{AT_SIDR_REQ_SENT, CM_SIDR_REQ, RNIC_CM_EV_UNREACHABLE, false},
};

START_TEST(unanswered_message_is_repeated_as_asked_and_given_up)
{
	struct rnic_cm *cm = cm_reach(&rig, waits[_i].at);
	uint64_t begin = rig.now;

	for (uint32_t i = 1; i <= REACH_RETRIES; i++) {
		cm_rig_until(&rig, begin + i * REACH_TIMEOUT_NS - 1);
		cm_rig_silent(&rig);
		cm_rig_until(&rig, begin + i * REACH_TIMEOUT_NS);
		cm_rig_said(&rig, waits[_i].repeated);
	}
	cm_rig_until(&rig, begin + (REACH_RETRIES + 1) * REACH_TIMEOUT_NS - 1);
	cm_rig_silent(&rig);
	cm_rig_untold(&rig);
	cm_rig_until(&rig, begin + (REACH_RETRIES + 1) * REACH_TIMEOUT_NS);
	if (waits[_i].rejects)
		ck_assert_uint_eq(cm_rig_said(&rig, CM_REJ)->reason, CM_REJ_TIMEOUT);
	cm_rig_silent(&rig);
	ck_assert_int_eq(cm_rig_told(&rig, waits[_i].told)->msg.type, 0);
	cm_rig_untold(&rig);
	end(cm);
}
END_TEST

START_TEST(request_is_repeated_from_never_to_fifteen_times)
{
	struct cm_msg own = cm_reach_own();
	struct rnic_av av = cm_reach_av(&rig);
	struct rnic_cm *cm = rnic_cm_create(rig.dev, &rig);

	own.max_cm_retries = (uint8_t)_i;
	own.remote_timeout = 31; /* nobody waits for 2.4 hours */
	ck_assert_int_eq(rnic_cm_req(cm, rig.now, &av, &own), 0);
	cm_rig_until(&rig, rig.now + ((unsigned)_i + 1) * (4096ull << 24));
	for (int i = 0; i <= _i; i++)
		cm_rig_said(&rig, CM_REQ);
	cm_rig_said(&rig, CM_REJ);
	cm_rig_told(&rig, RNIC_CM_EV_UNREACHABLE);
	end(cm);
}
END_TEST

/* Tries that one exchange has used up are not missing in the next. */
START_TEST(disconnect_has_all_its_tries_after_a_slow_connect)
{
	enum cm_at at = _i ? AT_REP_SENT : AT_REQ_SENT;
	struct rnic_cm *cm = cm_reach(&rig, at);
	struct cm_msg own = {0};

	cm_rig_until(&rig, rig.now + REACH_RETRIES * REACH_TIMEOUT_NS);
	hear(cm, _i ? CM_RTU : CM_REP);
	if (!_i)
		ck_assert_int_eq(rnic_cm_rtu(cm, rig.now, &own), 0);
	cm_rig_forget(&rig);
	ck_assert_int_eq(rnic_cm_dreq(cm, rig.now, &own), 0);
	cm_rig_until(&rig, rig.now + (REACH_RETRIES + 1) * REACH_TIMEOUT_NS);
	for (int i = 0; i <= REACH_RETRIES; i++)
		cm_rig_said(&rig, CM_DREQ);
	cm_rig_silent(&rig);
	cm_rig_told(&rig, RNIC_CM_EV_DISCONNECTED);
	end(cm);
}
END_TEST

/* The MRA's service timeout, and the time that it takes it to come. */
START_TEST(mra_prolongs_the_wait_for_an_answer)
{
	struct rnic_cm *cm = cm_reach(&rig, _i ? AT_REP_SENT : AT_REQ_SENT);
	struct cm_msg mra = cm_reach_msg(&rig, cm, CM_MRA);
	uint64_t wait = (4096ull << mra.service_timeout) + (4096ull << 18);

	mra.which = _i ? 1 : 0;
	cm_rig_hear(&rig, &mra);
	cm_rig_until(&rig, rig.now + wait - 1);
	cm_rig_silent(&rig);
	cm_rig_until(&rig, rig.now + 1);
	cm_rig_said(&rig, _i ? CM_REP : CM_REQ);
	end(cm);
}
END_TEST

START_TEST(mra_of_another_message_prolongs_nothing)
{
	struct rnic_cm *cm = cm_reach(&rig, _i ? AT_REP_SENT : AT_REQ_SENT);
	struct cm_msg mra = cm_reach_msg(&rig, cm, CM_MRA);

	mra.which = _i ? 0 : 1;
	cm_rig_hear(&rig, &mra);
	mra.which = 2;
	cm_rig_hear(&rig, &mra);
	cm_rig_until(&rig, rig.now + REACH_TIMEOUT_NS);
	cm_rig_said(&rig, _i ? CM_REP : CM_REQ);
	end(cm);
}
END_TEST

START_TEST(time_wait_ends_and_is_told)
{
	struct rnic_cm *cm = cm_reach(&rig, AT_TIMEWAIT_DREP);
	uint64_t wait = TIMEWAIT_NS + REACH_TIMEOUT_NS; /* its request may be repeated */

	cm_rig_until(&rig, rig.now + wait - 1);
	ck_assert_int_eq(rnic_cm_state(cm), RNIC_CM_TIMEWAIT);
	cm_rig_untold(&rig);
	cm_rig_until(&rig, rig.now + 1);
	cm_rig_told(&rig, RNIC_CM_EV_TIMEWAIT_EXIT);
	ck_assert_int_eq(rnic_cm_state(cm), RNIC_CM_IDLE);
	end(cm);
}
END_TEST

/* ---- the past ---- */

/* The DREP was lost, and the peer asks again late: it is not left to its timeouts. */
START_TEST(disconnect_is_answered_after_the_time_wait)
{
	struct rnic_cm *cm = cm_reach(&rig, AT_TIMEWAIT_DREP);
	struct cm_msg dreq = cm_reach_msg(&rig, cm, CM_DREQ);

	cm_rig_until(&rig, rig.now + 2 * TIMEWAIT_NS);
	cm_rig_told(&rig, RNIC_CM_EV_TIMEWAIT_EXIT);
	cm_rig_hear(&rig, &dreq);
	ck_assert_uint_eq(cm_rig_said(&rig, CM_DREP)->remote_id, CM_RIG_PEER_ID);
	cm_rig_untold(&rig);
	end(cm);
}
END_TEST

START_TEST(answer_to_an_unknown_id_names_both)
{
	struct cm_msg msg = cm_reach_msg(&rig, NULL, _i ? CM_REP : CM_DREQ);
	const struct cm_msg *said;

	msg.remote_id = 0x1234567;
	cm_rig_hear(&rig, &msg);
	said = cm_rig_said(&rig, _i ? CM_REJ : CM_DREP);
	ck_assert_uint_eq(said->local_id, 0x1234567);
	ck_assert_uint_eq(said->remote_id, CM_RIG_PEER_ID);
	ck_assert_uint_eq(said->tid, msg.tid);
	if (_i) {
		ck_assert_uint_eq(said->reason, CM_REJ_INVALID_COMM_ID);
		ck_assert_uint_eq(said->which, 1);
	}
	cm_rig_end(&rig);
}
END_TEST

START_TEST(request_of_a_connected_qp_is_stale_and_ends_the_old_connection)
{
	struct rnic_cm *cm = cm_reach(&rig, _i ? AT_ESTABLISHED_PASSIVE : AT_ESTABLISHED_ACTIVE);
	struct cm_msg req = cm_reach_msg(&rig, cm, CM_REQ);

	req.local_id++;
	req.tid++;
	rig.n_requests = 0;
	cm_rig_hear(&rig, &req);
	ck_assert_uint_eq(cm_rig_said(&rig, CM_REJ)->reason, CM_REJ_STALE_CONN);
	ck_assert_uint_eq(cm_rig_said(&rig, CM_DREQ)->remote_id, CM_RIG_PEER_ID);
	cm_rig_told(&rig, RNIC_CM_EV_DREQ);
	ck_assert_uint_eq(rig.n_requests, 0);
	end(cm);
}
END_TEST

START_TEST(request_of_a_qp_that_still_asks_is_stale)
{
	struct rnic_cm *cm = cm_reach(&rig, AT_REQ_RCVD);
	struct cm_msg req = cm_reach_msg(&rig, cm, CM_REQ);

	req.local_id++;
	cm_rig_hear(&rig, &req);
	ck_assert_uint_eq(cm_rig_said(&rig, CM_REJ)->reason, CM_REJ_STALE_CONN);
	cm_rig_silent(&rig);
	cm_rig_untold(&rig);
	end(cm);
}
END_TEST

START_TEST(request_is_new_if_adapter_address_qp_or_connection_differ)
{
	struct rnic_cm *cm = cm_reach(&rig, _i == 3 ? AT_TIMEWAIT_DREP : AT_ESTABLISHED_PASSIVE);
	struct cm_msg req = cm_reach_msg(&rig, cm, CM_REQ);
	uint8_t from[16];

	memcpy(from, rig.peer, 16);
	req.local_id++;
	req.ca_guid += _i == 0;
	req.qpn += _i == 1;
	from[15] = (uint8_t)(from[15] + (_i == 2));
	rig.n_requests = 0;
	cm_rig_hear_from(&rig, from, &req);
	cm_rig_silent(&rig);
	ck_assert_uint_eq(rig.n_requests, 1);
	rnic_cm_destroy(rig.asked, rig.now);
	end(cm);
}
END_TEST

/* The peer counts its IDs up and begins anew; its TID tells that it is another request. */
START_TEST(request_with_an_old_id_and_a_new_tid_is_new)
{
	struct rnic_cm *cm = cm_reach(&rig, AT_TIMEWAIT_REJECTED);
	struct cm_msg req = cm_reach_msg(&rig, cm, CM_REQ);

	req.tid++;
	rig.n_requests = 0;
	cm_rig_hear(&rig, &req);
	ck_assert_uint_eq(rig.n_requests, 1);
	cm_rig_silent(&rig);
	rnic_cm_destroy(rig.asked, rig.now);
	end(cm);
}
END_TEST

START_TEST(rejected_end_may_ask_again_and_meet_another_id)
{
	struct rnic_cm *cm = cm_reach(&rig, AT_REQ_SENT);
	struct rnic_av av = cm_reach_av(&rig);
	struct cm_msg own = cm_reach_own(), rep;

	hear(cm, CM_MRA); /* tells the peer's ID */
	hear(cm, CM_REJ);
	cm_rig_told(&rig, RNIC_CM_EV_REJ);
	ck_assert_int_eq(rnic_cm_req(cm, rig.now, &av, &own), 0);
	rep = cm_reach_msg(&rig, cm, CM_REP);
	rep.local_id++;
	cm_rig_hear(&rig, &rep);
	cm_rig_told(&rig, RNIC_CM_EV_REP);
	end(cm);
}
END_TEST

/* ---- what is no message ---- */

static uint64_t counted(const uint64_t count[RNIC_CM_TYPES], enum cm_type type)
{
	return count[type - CM_TYPE_FIRST];
}

/* As Linux's cm_tx_msgs, cm_tx_retries, cm_rx_msgs and cm_rx_duplicates. */
START_TEST(messages_are_counted_by_type)
{
	const struct rnic_cm_counts *n = rnic_cm_counts(rig.dev);
	struct rnic_cm *cm = cm_reach(&rig, AT_REP_SENT);
	uint64_t begin = rig.now;

	ck_assert_uint_eq(counted(n->rcvd, CM_REQ), 1);
	ck_assert_uint_eq(counted(n->known, CM_REQ), 0);
	ck_assert_uint_eq(counted(n->sent, CM_REP), 1);
	hear(NULL, CM_REQ); /* answered once more */
	ck_assert_uint_eq(counted(n->rcvd, CM_REQ), 2);
	ck_assert_uint_eq(counted(n->known, CM_REQ), 1);
	ck_assert_uint_eq(counted(n->sent, CM_REP), 2);
	ck_assert_uint_eq(counted(n->repeated, CM_REP), 0);
	cm_rig_until(&rig, begin + REACH_TIMEOUT_NS);
	ck_assert_uint_eq(counted(n->repeated, CM_REP), 1);
	ck_assert_uint_eq(counted(n->sent, CM_REP), 3);
	ck_assert_uint_eq(counted(n->sent, CM_REJ), 0);
	cm_rig_forget(&rig);
	end(cm);
}
END_TEST

START_TEST(what_is_no_cm_message_is_dropped_and_counted)
{
	static const struct {
		uint32_t at, len, qkey;
		uint8_t value;
	} wrong[] = {
		{0, MAD_LEN - 4, 0x80010000u, 1}, {0, MAD_LEN, 0x11111111u, 1},
		{1, MAD_LEN, 0x80010000u, 3},	  {17, MAD_LEN, 0x80010000u, 0x1b},
		{3, MAD_LEN, 0x80010000u, 1},	  {0, 0, 0x80010000u, 1},
	};
	struct cm_msg req = cm_reach_msg(&rig, NULL, CM_REQ);
	uint8_t mad[MAD_LEN];

	cm_encode(&req, mad);
	mad[wrong[_i].at] = wrong[_i].value;
	cm_rig_hear_bytes(&rig, mad, wrong[_i].len, wrong[_i].qkey);
	cm_rig_silent(&rig);
	ck_assert_uint_eq(rig.n_requests, 0);
	ck_assert_uint_eq(rnic_device_counters(rig.dev)->rx_dropped_malformed, 1);
	cm_rig_end(&rig);
}
END_TEST

START_TEST(states_have_names)
{
	for (int i = 0; i < RNIC_CM_STATES; i++)
		ck_assert_ptr_nonnull(rnic_cm_state_name((enum rnic_cm_state)i));
	cm_rig_end(&rig);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		refused_sidr_request_gets_that_status,
		request_to_an_address_that_is_not_the_devices_is_refused,
		answers_have_the_tid_of_what_they_answer,
		disconnect_names_the_peers_qp_and_begins_a_transaction,
		disconnect_of_another_qp_is_none,
		forgotten_request_is_taken_back_by_its_adapters_name,
		request_is_taken_back_by_the_peers_id_alone,
		time_wait_ends_and_is_told,
		disconnect_is_answered_after_the_time_wait,
		request_of_a_qp_that_still_asks_is_stale,
		request_with_an_old_id_and_a_new_tid_is_new,
		rejected_end_may_ask_again_and_meet_another_id,
		request_is_found_among_many,
		states_have_names,
	};
	const struct fixture_loop loops[] = {
		{reject_is_passed_up_whatever_its_reason, 0, 40},
		{refused_request_gets_that_reason, 1, 35},
		{way_back_is_what_the_request_says, 0, 4},
		{unanswered_message_is_repeated_as_asked_and_given_up, 0, 4},
		{request_is_repeated_from_never_to_fifteen_times, 0, 16},
		{disconnect_has_all_its_tries_after_a_slow_connect, 0, 2},
		{mra_prolongs_the_wait_for_an_answer, 0, 2},
		{mra_of_another_message_prolongs_nothing, 0, 2},
		{answer_to_an_unknown_id_names_both, 0, 2},
		{request_of_a_connected_qp_is_stale_and_ends_the_old_connection, 0, 2},
		{request_is_new_if_adapter_address_qp_or_connection_differ, 0, 4},
		{messages_are_counted_by_type, 0, 1},
		{what_is_no_cm_message_is_dropped_and_counted, 0, 6},
		{0},
	};

	return fixture_run_loops("rnic_cm_rules", setup, tests, sizeof(tests) / sizeof(tests[0]),
				 loops);
}
