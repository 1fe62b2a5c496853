/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A device whose communication management has the test for its peer and for its owner: it hears
 * what the test says, and what it says and tells is written down. Time is the test's.
 */
#ifndef TESTS_UNIT_CM_RIG_H
#define TESTS_UNIT_CM_RIG_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include "rnic/cm.h"

#define CM_RIG_MAX 64
#define CM_RIG_GUID 0x0200000afffe000aull
#define CM_RIG_PEER_ID 0x77665544u
#define CM_RIG_QPN 0x11u      /* of the device's end */
#define CM_RIG_PEER_QPN 0x22u /* of the test's */

struct cm_rig_told {
	enum rnic_cm_event_type type;
	struct rnic_cm *cm;
	struct cm_msg msg; /* type 0: a timeout */
};

struct cm_rig {
	struct rnic_device *dev;
	uint64_t now, timer;
	uint8_t own[16], peer[16];
	struct cm_msg sent[CM_RIG_MAX];
	uint64_t sent_at[CM_RIG_MAX];
	uint32_t n_sent, n_said;
	struct cm_rig_told told[CM_RIG_MAX];
	uint32_t n_told, n_known;
	uint16_t refuse;       /* how the next REQ or SIDR_REQ is refused; 0: taken */
	struct rnic_cm *asked; /* the end that the last one made */
	struct cm_msg request;
	uint32_t n_requests;
};

/* GIDs of IPv4 addresses 10.77.0.3 (own) and 10.77.0.2 (peer); the test may write others before. */
void cm_rig_begin(struct cm_rig *r);
void cm_rig_begin_at(struct cm_rig *r, const uint8_t own[16], const uint8_t peer[16]);
/* Nothing may be left once time has gone by. */
void cm_rig_end(struct cm_rig *r);

void cm_rig_hear(struct cm_rig *r, const struct cm_msg *msg);
void cm_rig_hear_from(struct cm_rig *r, const uint8_t gid[16], const struct cm_msg *msg);
/* A MAD, or what claims to be one. */
void cm_rig_hear_bytes(struct cm_rig *r, const void *mad, uint32_t len, uint32_t qkey);

/* Let time go by until then. */
void cm_rig_until(struct cm_rig *r, uint64_t time);

/* The next message that it sent is of this type; it is returned. */
const struct cm_msg *cm_rig_said(struct cm_rig *r, enum cm_type type);
void cm_rig_silent(const struct cm_rig *r);
/* The next event that it told is this one. */
const struct cm_rig_told *cm_rig_told(struct cm_rig *r, enum rnic_cm_event_type type);
void cm_rig_untold(const struct cm_rig *r);
void cm_rig_forget(struct cm_rig *r); /* whatever it has said and told so far */
/* Ends that the device still has. */
uint32_t cm_rig_ends(const struct cm_rig *r);

#endif
