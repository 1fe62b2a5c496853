/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Encoding and decoding of communication management messages, by one table of fields a type.
 * A field is a run of bits of the MAD's data, counted from the first byte's most significant one,
 * and a place in struct cm_msg: a number in host order, or bytes (IBA vol. 1, 12.6).
 */
#include "config.h"

#include "bth/cm.h"

#include <string.h>

#define FIELD_BYTES 255 /* width of a field that is copied as it is */

struct field {
	uint16_t byte; /* where it begins */
	uint8_t bit;   /* and how many bits after */
	uint8_t width; /* bits, or FIELD_BYTES */
	uint16_t at;   /* in struct cm_msg */
	uint8_t size;
};

#define MEMBER(m) offsetof(struct cm_msg, m), sizeof(((struct cm_msg *)0)->m)
#define NUM(byte, bit, width, m)                                                                   \
	{                                                                                          \
		byte, bit, width, MEMBER(m)                                                        \
	}
#define RAW(byte, m)                                                                               \
	{                                                                                          \
		byte, 0, FIELD_BYTES, MEMBER(m)                                                    \
	}
#define IDS NUM(0, 0, 32, local_id), NUM(4, 0, 32, remote_id)
/* A path as a REQ has it. */
#define PATH(byte, p)                                                                              \
	NUM(byte, 0, 16, p.local_lid), NUM(byte + 2, 0, 16, p.remote_lid),                         \
		RAW(byte + 4, p.local_gid), RAW(byte + 20, p.remote_gid),                          \
		NUM(byte + 36, 0, 20, p.flow_label), NUM(byte + 39, 2, 6, p.packet_rate),          \
		NUM(byte + 40, 0, 8, p.traffic_class), NUM(byte + 41, 0, 8, p.hop_limit),          \
		NUM(byte + 42, 0, 4, p.sl), NUM(byte + 42, 4, 1, p.subnet_local),                  \
		NUM(byte + 43, 0, 5, p.ack_timeout)

static const struct field req_fields[] = {
	NUM(0, 0, 32, local_id),
	RAW(5, vendor),
	NUM(8, 0, 64, service_id),
	NUM(16, 0, 64, ca_guid),
	NUM(28, 0, 32, qkey),
	NUM(32, 0, 24, qpn),
	NUM(35, 0, 8, responder_resources),
	NUM(36, 0, 24, eecn),
	NUM(39, 0, 8, initiator_depth),
	NUM(40, 0, 24, remote_eecn),
	NUM(43, 0, 5, remote_timeout),
	NUM(43, 5, 2, transport),
	NUM(43, 7, 1, flow_control),
	NUM(44, 0, 24, starting_psn),
	NUM(47, 0, 5, local_timeout),
	NUM(47, 5, 3, retry_count),
	NUM(48, 0, 16, pkey),
	NUM(50, 0, 4, path_mtu),
	NUM(50, 4, 1, rdc_exists),
	NUM(50, 5, 3, rnr_retry_count),
	NUM(51, 0, 4, max_cm_retries),
	NUM(51, 4, 1, srq),
	NUM(51, 5, 3, extended_transport),
	PATH(52, primary),
	PATH(96, alternate),
	NUM(139, 5, 1, sap_supported),
};

static const struct field mra_fields[] = {
	IDS,
	NUM(8, 0, 2, which),
	NUM(9, 0, 5, service_timeout),
};

static const struct field rej_fields[] = {
	IDS, NUM(8, 0, 2, which), NUM(9, 0, 7, ari_length), NUM(10, 0, 16, reason), RAW(12, ari),
};

static const struct field rep_fields[] = {
	IDS,
	NUM(8, 0, 32, qkey),
	NUM(12, 0, 24, qpn),
	NUM(15, 0, 8, vendor[0]),
	NUM(16, 0, 24, eecn),
	NUM(19, 0, 8, vendor[1]),
	NUM(20, 0, 24, starting_psn),
	NUM(23, 0, 8, vendor[2]),
	NUM(24, 0, 8, responder_resources),
	NUM(25, 0, 8, initiator_depth),
	NUM(26, 0, 5, target_ack_delay),
	NUM(26, 5, 2, failover_accepted),
	NUM(26, 7, 1, flow_control),
	NUM(27, 0, 3, rnr_retry_count),
	NUM(27, 3, 1, srq),
	NUM(28, 0, 64, ca_guid),
};

static const struct field ids_fields[] = {IDS};

static const struct field dreq_fields[] = {IDS, NUM(8, 0, 24, qpn)};

static const struct field lap_fields[] = {
	IDS,
	NUM(12, 0, 24, qpn),
	NUM(15, 0, 5, remote_timeout),
	NUM(20, 0, 16, alternate.local_lid),
	NUM(22, 0, 16, alternate.remote_lid),
	RAW(24, alternate.local_gid),
	RAW(40, alternate.remote_gid),
	NUM(56, 0, 20, alternate.flow_label),
	NUM(59, 0, 8, alternate.traffic_class),
	NUM(60, 0, 8, alternate.hop_limit),
	NUM(61, 2, 6, alternate.packet_rate),
	NUM(62, 0, 4, alternate.sl),
	NUM(62, 4, 1, alternate.subnet_local),
	NUM(63, 0, 5, alternate.ack_timeout),
};

static const struct field apr_fields[] = {
	IDS,
	NUM(8, 0, 8, ari_length),
	NUM(9, 0, 8, status),
	RAW(12, ari),
};

static const struct field sidr_req_fields[] = {
	NUM(0, 0, 32, local_id),
	NUM(4, 0, 16, pkey),
	NUM(8, 0, 64, service_id),
};

static const struct field sidr_rep_fields[] = {
	NUM(0, 0, 32, local_id),  NUM(4, 0, 8, status),
	NUM(5, 0, 8, ari_length), NUM(6, 0, 8, vendor[0]),
	NUM(7, 0, 8, vendor[1]),  NUM(8, 0, 24, qpn),
	NUM(11, 0, 8, vendor[2]), NUM(12, 0, 64, service_id),
	NUM(20, 0, 32, qkey),	  RAW(24, ari),
};

#define FIELDS(f) f, sizeof(f) / sizeof(f[0])

static const struct {
	const char *name;
	const struct field *fields;
	uint32_t fields_n;
	uint32_t private_at; /* to the end of the MAD, or its private_len */
	uint32_t private_len;
} types[] = {
	[CM_REQ - CM_TYPE_FIRST] = {"REQ", FIELDS(req_fields), 140, CM_REQ_PRIVATE},
	[CM_MRA - CM_TYPE_FIRST] = {"MRA", FIELDS(mra_fields), 10, CM_MRA_PRIVATE},
	[CM_REJ - CM_TYPE_FIRST] = {"REJ", FIELDS(rej_fields), 84, CM_REJ_PRIVATE},
	[CM_REP - CM_TYPE_FIRST] = {"REP", FIELDS(rep_fields), 36, CM_REP_PRIVATE},
	[CM_RTU - CM_TYPE_FIRST] = {"RTU", FIELDS(ids_fields), 8, CM_RTU_PRIVATE},
	[CM_DREQ - CM_TYPE_FIRST] = {"DREQ", FIELDS(dreq_fields), 12, CM_DREQ_PRIVATE},
	[CM_DREP - CM_TYPE_FIRST] = {"DREP", FIELDS(ids_fields), 8, CM_DREP_PRIVATE},
	[CM_SIDR_REQ -
		CM_TYPE_FIRST] = {"SIDR_REQ", FIELDS(sidr_req_fields), 16, CM_SIDR_REQ_PRIVATE},
	[CM_SIDR_REP -
		CM_TYPE_FIRST] = {"SIDR_REP", FIELDS(sidr_rep_fields), 96, CM_SIDR_REP_PRIVATE},
	[CM_LAP - CM_TYPE_FIRST] = {"LAP", FIELDS(lap_fields), 64, CM_LAP_PRIVATE},
	[CM_APR - CM_TYPE_FIRST] = {"APR", FIELDS(apr_fields), 84, CM_APR_PRIVATE},
};

static bool type_known(unsigned type)
{
	return type >= CM_TYPE_FIRST && type <= CM_TYPE_LAST;
}

const char *cm_type_name(unsigned type)
{
	return type_known(type) ? types[type - CM_TYPE_FIRST].name : "?";
}

uint32_t cm_private_len(enum cm_type type)
{
	return types[type - CM_TYPE_FIRST].private_len;
}

uint32_t cm_vendor_get(const struct cm_msg *msg)
{
	return (uint32_t)msg->vendor[0] << 16 | (uint32_t)msg->vendor[1] << 8 | msg->vendor[2];
}

void cm_vendor_set(struct cm_msg *msg, uint32_t vendor)
{
	msg->vendor[0] = (uint8_t)(vendor >> 16);
	msg->vendor[1] = (uint8_t)(vendor >> 8);
	msg->vendor[2] = (uint8_t)vendor;
}

static uint64_t bits_get(const uint8_t *data, const struct field *f)
{
	uint64_t v = 0;

	for (unsigned i = 0, bit = f->bit; i < f->width; i++, bit++)
		v = v << 1 | (data[f->byte + bit / 8] >> (7 - bit % 8) & 1);
	return v;
}

static void bits_put(uint8_t *data, const struct field *f, uint64_t v)
{
	for (unsigned i = 0, bit = f->bit; i < f->width; i++, bit++)
		if (v >> (f->width - 1 - i) & 1)
			data[f->byte + bit / 8] |= (uint8_t)(0x80 >> bit % 8);
}

static void member_set(struct cm_msg *msg, const struct field *f, uint64_t v)
{
	uint8_t *at = (uint8_t *)msg + f->at;
	uint8_t v8 = (uint8_t)v;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	memcpy(at,
	       f->size == 1   ? (void *)&v8
	       : f->size == 2 ? (void *)&v16
	       : f->size == 4 ? (void *)&v32
			      : (void *)&v,
	       f->size);
}

static uint64_t member_get(const struct cm_msg *msg, const struct field *f)
{
	const uint8_t *at = (const uint8_t *)msg + f->at;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (f->size) {
	case 1:
		return *at;
	case 2:
		memcpy(&v16, at, sizeof(v16));
		return v16;
	case 4:
		memcpy(&v32, at, sizeof(v32));
		return v32;
	default:
		memcpy(&v64, at, sizeof(v64));
		return v64;
	}
}

bool cm_decode(const struct mad *mad, struct cm_msg *msg)
{
	const struct field *f;

	if (mad->base_version != MAD_BASE_VERSION || mad->mgmt_class != MAD_CLASS_CM ||
	    mad->class_version != MAD_CLASS_VERSION_CM || mad->method != MAD_METHOD_SEND ||
	    !type_known(mad->attr_id))
		return false;
	memset(msg, 0, sizeof(*msg));
	msg->type = (enum cm_type)mad->attr_id;
	msg->tid = mad->tid;
	msg->attr_mod = mad->attr_mod;
	f = types[msg->type - CM_TYPE_FIRST].fields;
	for (uint32_t n = types[msg->type - CM_TYPE_FIRST].fields_n; n; n--, f++) {
		if (f->width == FIELD_BYTES)
			memcpy((uint8_t *)msg + f->at, mad->data + f->byte, f->size);
		else
			member_set(msg, f, bits_get(mad->data, f));
	}
	memcpy(msg->private_data, mad->data + types[msg->type - CM_TYPE_FIRST].private_at,
	       cm_private_len(msg->type));
	return true;
}

void cm_encode(const struct cm_msg *msg, uint8_t *buf)
{
	const struct mad mad = {
		.base_version = MAD_BASE_VERSION,
		.mgmt_class = MAD_CLASS_CM,
		.class_version = MAD_CLASS_VERSION_CM,
		.method = MAD_METHOD_SEND,
		.tid = msg->tid,
		.attr_id = (uint16_t)msg->type,
		.attr_mod = msg->attr_mod,
	};
	const struct field *f = types[msg->type - CM_TYPE_FIRST].fields;
	uint8_t *data = buf + MAD_HEADER_LEN;

	mad_encode(&mad, buf);
	memset(data, 0, MAD_DATA_LEN);
	for (uint32_t n = types[msg->type - CM_TYPE_FIRST].fields_n; n; n--, f++) {
		if (f->width == FIELD_BYTES)
			memcpy(data + f->byte, (const uint8_t *)msg + f->at, f->size);
		else
			bits_put(data, f, member_get(msg, f));
	}
	memcpy(data + types[msg->type - CM_TYPE_FIRST].private_at, msg->private_data,
	       cm_private_len(msg->type));
}
