/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages of communication management (IBA vol. 1, chapter 12) in host order. */
#ifndef BTH_CM_H
#define BTH_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bth/mad.h"

/* The MAD's attribute ID. */
enum cm_type {
	CM_REQ = 0x10,
	CM_MRA,
	CM_REJ,
	CM_REP,
	CM_RTU,
	CM_DREQ,
	CM_DREP,
	CM_SIDR_REQ,
	CM_SIDR_REP,
	CM_LAP,
	CM_APR,
};

#define CM_TYPE_FIRST CM_REQ
#define CM_TYPE_LAST CM_APR

#define CM_REQ_PRIVATE 92
#define CM_MRA_PRIVATE 222
#define CM_REJ_PRIVATE 148
#define CM_REP_PRIVATE 196
#define CM_RTU_PRIVATE 224
#define CM_DREQ_PRIVATE 220
#define CM_DREP_PRIVATE 224
#define CM_SIDR_REQ_PRIVATE 216
#define CM_SIDR_REP_PRIVATE 136
#define CM_LAP_PRIVATE 168
#define CM_APR_PRIVATE 148
#define CM_PRIVATE_MAX 224
#define CM_ARI_LEN 72 /* additional information of a REJ, an APR or a SIDR_REP */

/* One path of a REQ or LAP; LIDs are of no use to RoCE. */
struct cm_path {
	uint16_t local_lid, remote_lid;
	uint8_t local_gid[16], remote_gid[16];
	uint32_t flow_label;
	uint8_t packet_rate;
	uint8_t traffic_class, hop_limit, sl;
	uint8_t subnet_local;
	uint8_t ack_timeout; /* 4.096 us * 2^n, as all times here */
};

/* Fields that a type does not have are 0 after decoding, and ignored by encoding. */
struct cm_msg {
	enum cm_type type;
	uint64_t tid;
	uint32_t attr_mod; /* enhanced connection establishment: options, as the vendor has them */

	uint32_t local_id, remote_id; /* of the sender, of the receiver; SIDR: local_id is the
				       * request ID */
	uint64_t service_id;
	uint64_t ca_guid;
	uint32_t qkey, qpn, eecn;
	uint32_t starting_psn; /* where the receiver of this message begins to send */
	uint8_t responder_resources, initiator_depth;
	uint16_t pkey;

	/* REQ, REP, SIDR_REP */
	uint8_t vendor[3]; /* whose options these are, network order */

	/* REQ */
	uint32_t remote_eecn;
	uint8_t remote_timeout; /* the other side is to answer within */
	uint8_t local_timeout;	/* this side will answer within */
	uint8_t transport;	/* 0 RC, 1 UC, 2 RD, 3 extended */
	uint8_t flow_control;
	uint8_t retry_count, rnr_retry_count;
	uint8_t path_mtu;
	uint8_t rdc_exists;
	uint8_t max_cm_retries;
	uint8_t srq;
	uint8_t extended_transport;
	uint8_t sap_supported;
	struct cm_path primary, alternate; /* LAP: alternate */

	/* MRA, REJ */
	uint8_t which; /* the message that is meant: 0 REQ, 1 REP, 2 LAP or other */
	uint8_t service_timeout;
	uint16_t reason;

	/* REP */
	uint8_t target_ack_delay;
	uint8_t failover_accepted;

	uint8_t status;	    /* SIDR_REP, APR */
	uint8_t ari_length; /* bytes of ari that count */
	uint8_t ari[CM_ARI_LEN];

	uint8_t private_data[CM_PRIVATE_MAX]; /* bytes above cm_private_len() are 0 */
};

/* Bytes of private data that messages of this type carry, always all of them. */
uint32_t cm_private_len(enum cm_type type);
/* "REQ"; "?" for what is none. */
const char *cm_type_name(unsigned type);

/* msg->vendor as a number. */
uint32_t cm_vendor_get(const struct cm_msg *msg);
void cm_vendor_set(struct cm_msg *msg, uint32_t vendor);

/* False if it is not a CM message that IBA knows. */
bool cm_decode(const struct mad *mad, struct cm_msg *msg);
/* Writes a whole MAD of MAD_LEN bytes; reserved fields become 0. */
void cm_encode(const struct cm_msg *msg, uint8_t *buf);

#endif
