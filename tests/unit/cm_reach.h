/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One end of a connection, led to each of its states by messages alone. */
#ifndef TESTS_UNIT_CM_REACH_H
#define TESTS_UNIT_CM_REACH_H

#include "cm_rig.h"

enum cm_at {
	AT_IDLE,
	AT_REQ_SENT,
	AT_REQ_RCVD,
	AT_REP_SENT,
	AT_REP_RCVD,
	AT_ESTABLISHED_PASSIVE,
	AT_ESTABLISHED_ACTIVE,
	AT_DREQ_SENT,
	AT_DREQ_RCVD,
	AT_TIMEWAIT_REJECTED,	 /* this side has rejected a REQ */
	AT_TIMEWAIT_REFUSED,	 /* the peer took its REQ back */
	AT_TIMEWAIT_DREP,	 /* this side has sent a DREP */
	AT_TIMEWAIT_REP_REFUSED, /* the peer took its REP back */
	AT_TIMEWAIT_GIVEN_UP,	 /* nobody answered the REQ */
	AT_SIDR_REQ_SENT,
	AT_SIDR_REQ_RCVD,
	AT_TIMEWAIT_SIDR, /* a SIDR_REP has been sent */
	AT_COUNT,
};

#define REACH_TIMEOUT 10 /* 4.2 ms */
#define REACH_TIMEOUT_NS (4096ull << REACH_TIMEOUT)
#define REACH_RETRIES 3
#define REACH_SERVICE 0x0106000000001234ull
#define REACH_PEER_TID 0x5555666600000001ull
#define REACH_PEER_GUID 0x0200000bfffe000bull

const char *cm_at_name(enum cm_at at);
enum rnic_cm_state cm_at_state(enum cm_at at);
/* Has a message of this type made it? */
bool cm_at_made_by(enum cm_at at, enum cm_type request);

/* An end that is there; what has been said and told on the way is forgotten. */
struct rnic_cm *cm_reach(struct cm_rig *r, enum cm_at at);
/* A message of the peer to it, as the peer would send it. cm may be NULL for requests. */
struct cm_msg cm_reach_msg(const struct cm_rig *r, const struct rnic_cm *cm, enum cm_type type);
/* What the owner says of its own in each message. */
struct cm_msg cm_reach_own(void);
struct rnic_av cm_reach_av(const struct cm_rig *r);

#endif
