/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The ways that cm_reach.h describes. */
#include "config.h"

#include <string.h>

#include "cm_reach.h"

static const struct {
	const char *name;
	enum rnic_cm_state state;
	enum { ACTIVE, PASSIVE, SIDR_ACTIVE, SIDR_PASSIVE } side;
} ats[] = {
	[AT_IDLE] = {"IDLE", RNIC_CM_IDLE, ACTIVE},
	[AT_REQ_SENT] = {"REQ_SENT", RNIC_CM_REQ_SENT, ACTIVE},
	[AT_REQ_RCVD] = {"REQ_RCVD", RNIC_CM_REQ_RCVD, PASSIVE},
	[AT_REP_SENT] = {"REP_SENT", RNIC_CM_REP_SENT, PASSIVE},
	[AT_REP_RCVD] = {"REP_RCVD", RNIC_CM_REP_RCVD, ACTIVE},
	[AT_ESTABLISHED_PASSIVE] = {"ESTABLISHED, passive", RNIC_CM_ESTABLISHED, PASSIVE},
	[AT_ESTABLISHED_ACTIVE] = {"ESTABLISHED, active", RNIC_CM_ESTABLISHED, ACTIVE},
	[AT_DREQ_SENT] = {"DREQ_SENT", RNIC_CM_DREQ_SENT, PASSIVE},
	[AT_DREQ_RCVD] = {"DREQ_RCVD", RNIC_CM_DREQ_RCVD, PASSIVE},
	[AT_TIMEWAIT_REJECTED] = {"TIMEWAIT after its REJ", RNIC_CM_TIMEWAIT, PASSIVE},
	[AT_TIMEWAIT_REFUSED] = {"TIMEWAIT after the peer's REJ", RNIC_CM_TIMEWAIT, PASSIVE},
	[AT_TIMEWAIT_DREP] = {"TIMEWAIT after its DREP", RNIC_CM_TIMEWAIT, PASSIVE},
	[AT_TIMEWAIT_REP_REFUSED] = {"TIMEWAIT after REP and REJ", RNIC_CM_TIMEWAIT, ACTIVE},
	[AT_TIMEWAIT_GIVEN_UP] = {"TIMEWAIT after no answer", RNIC_CM_TIMEWAIT, ACTIVE},
	[AT_SIDR_REQ_SENT] = {"SIDR_REQ_SENT", RNIC_CM_SIDR_REQ_SENT, SIDR_ACTIVE},
	[AT_SIDR_REQ_RCVD] = {"SIDR_REQ_RCVD", RNIC_CM_SIDR_REQ_RCVD, SIDR_PASSIVE},
	[AT_TIMEWAIT_SIDR] = {"TIMEWAIT after its SIDR_REP", RNIC_CM_TIMEWAIT, SIDR_PASSIVE},
};

const char *cm_at_name(enum cm_at at)
{
	return ats[at].name;
}

enum rnic_cm_state cm_at_state(enum cm_at at)
{
	return ats[at].state;
}

bool cm_at_made_by(enum cm_at at, enum cm_type request)
{
	return ats[at].side == (request == CM_SIDR_REQ ? SIDR_PASSIVE : PASSIVE);
}

struct cm_msg cm_reach_own(void)
{
	return (struct cm_msg){
		.service_id = REACH_SERVICE,
		.qpn = CM_RIG_QPN,
		.starting_psn = 0x123456,
		.pkey = 0xffff,
		.remote_timeout = REACH_TIMEOUT,
		.local_timeout = REACH_TIMEOUT,
		.max_cm_retries = REACH_RETRIES,
	};
}

struct rnic_av cm_reach_av(const struct cm_rig *r)
{
	struct rnic_av av = {.grh = true, .port_num = 1, .hop_limit = 64, .sgid_index = 3};

	memcpy(av.sgid, r->own, 16);
	memcpy(av.dgid, r->peer, 16);
	return av;
}

struct cm_msg cm_reach_msg(const struct cm_rig *r, const struct rnic_cm *cm, enum cm_type type)
{
	bool answer = type == CM_REP || type == CM_MRA || type == CM_SIDR_REP;
	struct cm_msg msg = {
		.type = type,
		.tid = answer && r->n_sent ? r->sent[r->n_sent - 1].tid : REACH_PEER_TID,
		.local_id = CM_RIG_PEER_ID,
		.remote_id = cm ? rnic_cm_local_id(cm) : 0,
		.service_id = REACH_SERVICE,
		.ca_guid = REACH_PEER_GUID,
		.qpn = type == CM_DREQ || type == CM_LAP ? CM_RIG_QPN : CM_RIG_PEER_QPN,
		.starting_psn = 0x654321,
		.pkey = 0xffff,
		.remote_timeout = REACH_TIMEOUT,
		.local_timeout = REACH_TIMEOUT,
		.max_cm_retries = REACH_RETRIES,
		.reason = type == CM_REJ ? CM_REJ_CONSUMER : 0,
		.service_timeout = REACH_TIMEOUT + 4,
	};

	if (type == CM_SIDR_REP)
		msg.local_id = cm ? rnic_cm_local_id(cm) : 0;
	return msg;
}

static void hear(struct cm_rig *r, struct rnic_cm *cm, enum cm_type type)
{
	struct cm_msg msg = cm_reach_msg(r, cm, type);

	cm_rig_hear(r, &msg);
}

static struct rnic_cm *active(struct cm_rig *r, enum cm_at at)
{
	struct cm_msg own = cm_reach_own(), rtu = {0};
	struct rnic_av av = cm_reach_av(r);
	struct rnic_cm *cm = rnic_cm_create(r->dev, r);

	ck_assert_ptr_nonnull(cm);
	if (at == AT_IDLE)
		return cm;
	if (at == AT_SIDR_REQ_SENT) {
		ck_assert_int_eq(rnic_cm_sidr_req(cm, r->now, &av, &own), 0);
		return cm;
	}
	ck_assert_int_eq(rnic_cm_req(cm, r->now, &av, &own), 0);
	if (at == AT_TIMEWAIT_GIVEN_UP)
		cm_rig_until(r, r->now + (REACH_RETRIES + 1) * REACH_TIMEOUT_NS);
	if (at == AT_REQ_SENT || at == AT_TIMEWAIT_GIVEN_UP)
		return cm;
	hear(r, cm, CM_REP);
	if (at == AT_TIMEWAIT_REP_REFUSED)
		hear(r, cm, CM_REJ);
	else if (at != AT_REP_RCVD)
		ck_assert_int_eq(rnic_cm_rtu(cm, r->now, &rtu), 0);
	return cm;
}

/* From REQ_RCVD on. */
static void passive_ends(struct cm_rig *r, struct rnic_cm *cm, enum cm_at at)
{
	struct cm_msg own = cm_reach_own(), end = {.reason = CM_REJ_CONSUMER};

	if (at == AT_TIMEWAIT_REJECTED) {
		ck_assert_int_eq(rnic_cm_rej(cm, r->now, &end), 0);
		return;
	}
	if (at == AT_TIMEWAIT_REFUSED) {
		hear(r, cm, CM_REJ);
		return;
	}
	ck_assert_int_eq(rnic_cm_rep(cm, r->now, &own), 0);
	if (at == AT_REP_SENT)
		return;
	hear(r, cm, CM_RTU);
	if (at == AT_DREQ_SENT)
		ck_assert_int_eq(rnic_cm_dreq(cm, r->now, &end), 0);
	if (at == AT_DREQ_RCVD || at == AT_TIMEWAIT_DREP)
		hear(r, cm, CM_DREQ);
	if (at == AT_TIMEWAIT_DREP)
		ck_assert_int_eq(rnic_cm_drep(cm, r->now, &end), 0);
}

static struct rnic_cm *passive(struct cm_rig *r, enum cm_at at)
{
	bool sidr = ats[at].side == SIDR_PASSIVE;
	struct cm_msg own = cm_reach_own();

	hear(r, NULL, sidr ? CM_SIDR_REQ : CM_REQ);
	ck_assert_ptr_nonnull(r->asked);
	if (at == AT_TIMEWAIT_SIDR)
		ck_assert_int_eq(rnic_cm_sidr_rep(r->asked, r->now, &own), 0);
	else if (at != AT_REQ_RCVD && at != AT_SIDR_REQ_RCVD)
		passive_ends(r, r->asked, at);
	return r->asked;
}

struct rnic_cm *cm_reach(struct cm_rig *r, enum cm_at at)
{
	struct rnic_cm *cm;

	cm = ats[at].side == PASSIVE || ats[at].side == SIDR_PASSIVE ? passive(r, at)
								     : active(r, at);
	ck_assert_msg(rnic_cm_state(cm) == cm_at_state(at), "%s where %s was to be",
		      rnic_cm_state_name(rnic_cm_state(cm)), cm_at_name(at));
	cm_rig_forget(r);
	return cm;
}
