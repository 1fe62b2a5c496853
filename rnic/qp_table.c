/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The QP state table: IBA vol. 1, 11.2.4.2 (modify queue pair) and figure of 10.3.1, with what
 * Linux's core permits where the two differ: no way from RESET to ERR.
 */
#include "config.h"

#include <stdio.h>

#include "rnic/qp.h"
#include "rnic/qp_table.h"

enum {
	CUR = RNIC_QP_CUR_STATE,
	NOTIFY = RNIC_QP_EN_SQD_ASYNC_NOTIFY,
	ACCESS = RNIC_QP_ACCESS_FLAGS,
	PKEY = RNIC_QP_PKEY_INDEX,
	PORT = RNIC_QP_PORT,
	QKEY = RNIC_QP_QKEY,
	AV = RNIC_QP_AV,
	MTU = RNIC_QP_PATH_MTU,
	TIMEOUT = RNIC_QP_TIMEOUT,
	RETRY = RNIC_QP_RETRY_CNT,
	RNR_RETRY = RNIC_QP_RNR_RETRY,
	RQ_PSN = RNIC_QP_RQ_PSN,
	RD = RNIC_QP_MAX_QP_RD_ATOMIC,
	ALT = RNIC_QP_ALT_PATH,
	RNR_TIMER = RNIC_QP_MIN_RNR_TIMER,
	SQ_PSN = RNIC_QP_SQ_PSN,
	DEST_RD = RNIC_QP_MAX_DEST_RD_ATOMIC,
	MIG = RNIC_QP_PATH_MIG_STATE,
	DEST = RNIC_QP_DEST_QPN,
};

#define TYPES 4 /* GSI, RC, UC, UD: enum rnic_qp_type less one */

struct rule {
	bool legal;
	uint32_t required[TYPES];
	uint32_t optional[TYPES];
};

#define BARE                                                                                       \
	{                                                                                          \
		.legal = true                                                                      \
	}

static const struct rule rules[RNIC_QPS_COUNT][RNIC_QPS_COUNT] = {
	[RNIC_QPS_RESET] =
		{
			[RNIC_QPS_RESET] = BARE,
			[RNIC_QPS_INIT] =
				{
					.legal = true,
					.required = {PKEY | QKEY, PKEY | PORT | ACCESS,
						     PKEY | PORT | ACCESS, PKEY | PORT | QKEY},
				},
		},
	[RNIC_QPS_INIT] =
		{
			[RNIC_QPS_RESET] = BARE,
			[RNIC_QPS_ERR] = BARE,
			[RNIC_QPS_INIT] =
				{
					.legal = true,
					.optional = {PKEY | QKEY, PKEY | PORT | ACCESS,
						     PKEY | PORT | ACCESS, PKEY | PORT | QKEY},
				},
			[RNIC_QPS_RTR] =
				{
					.legal = true,
					.required = {0,
						     AV | MTU | DEST | RQ_PSN | DEST_RD | RNR_TIMER,
						     AV | MTU | DEST | RQ_PSN, 0},
					.optional =
						{PKEY | QKEY, ALT | ACCESS | PKEY,
						 ALT | ACCESS | PKEY, PKEY | QKEY},
				},
		},
	[RNIC_QPS_RTR] =
		{
			[RNIC_QPS_RESET] = BARE,
			[RNIC_QPS_ERR] = BARE,
			[RNIC_QPS_RTS] =
				{
					.legal = true,
					.required = {SQ_PSN,
						     TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | RD,
						     SQ_PSN, SQ_PSN},
					.optional = {CUR | QKEY,
						     CUR | ALT | ACCESS | RNR_TIMER | MIG,
						     CUR | ALT | ACCESS | MIG, CUR | QKEY},
				},
		},
	[RNIC_QPS_RTS] =
		{
			[RNIC_QPS_RESET] = BARE,
			[RNIC_QPS_ERR] = BARE,
			[RNIC_QPS_RTS] =
				{
					.legal = true,
					.optional = {CUR | QKEY,
						     CUR | ALT | ACCESS | RNR_TIMER | MIG,
						     CUR | ALT | ACCESS | MIG, CUR | QKEY},
				},
			[RNIC_QPS_SQD] =
				{
					.legal = true,
					.optional = {NOTIFY, NOTIFY, NOTIFY, NOTIFY},
				},
		},
	[RNIC_QPS_SQD] =
		{
			[RNIC_QPS_RESET] = BARE,
			[RNIC_QPS_ERR] = BARE,
			[RNIC_QPS_RTS] =
				{
					.legal = true,
					.optional = {CUR | QKEY,
						     CUR | ALT | ACCESS | RNR_TIMER | MIG,
						     CUR | ALT | ACCESS | MIG, CUR | QKEY},
				},
			[RNIC_QPS_SQD] =
				{
					.legal = true,
					.optional =
						{PKEY | QKEY,
						 PORT |
							 AV | TIMEOUT | RETRY | RNR_RETRY | RD |
							 DEST_RD | ALT | ACCESS | PKEY | RNR_TIMER |
							 MIG,
						 AV | ALT | ACCESS | PKEY | MIG, PKEY | QKEY},
				},
		},
	[RNIC_QPS_SQE] =
		{
			[RNIC_QPS_RESET] = BARE,
			[RNIC_QPS_ERR] = BARE,
			[RNIC_QPS_RTS] =
				{
					.legal = true,
					.optional = {CUR | QKEY, 0, CUR | ACCESS, CUR | QKEY},
				},
		},
	[RNIC_QPS_ERR] =
		{
			[RNIC_QPS_RESET] = BARE,
			[RNIC_QPS_ERR] = BARE,
		},
};

enum qp_modify_verdict qp_table_check(enum rnic_qp_type type, enum rnic_qp_state from,
				      enum rnic_qp_state to, uint32_t mask, uint32_t *bits)
{
	const struct rule *rule = &rules[from][to];
	uint32_t required = rule->required[type - 1];
	uint32_t known = required | rule->optional[type - 1] | RNIC_QP_STATE;

	*bits = 0;
	if (!rule->legal)
		return QP_MODIFY_ILLEGAL;
	*bits = required & ~mask;
	if (*bits)
		return QP_MODIFY_LACKS;
	*bits = mask & ~known;
	return *bits ? QP_MODIFY_EXCESS : QP_MODIFY_OK;
}

void qp_attr_names(uint32_t mask, char *buf, size_t size)
{
	static const char *const names[] = {
		"state",
		"cur_state",
		"en_sqd_async_notify",
		"access_flags",
		"pkey_index",
		"port",
		"qkey",
		"av",
		"path_mtu",
		"timeout",
		"retry_cnt",
		"rnr_retry",
		"rq_psn",
		"max_rd_atomic",
		"alt_path",
		"min_rnr_timer",
		"sq_psn",
		"max_dest_rd_atomic",
		"path_mig_state",
		"cap",
		"dest_qpn",
		NULL,
		NULL,
		NULL,
		NULL,
		"rate_limit",
	};
	size_t len = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < 32; i++) {
		const char *name = i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
		int n;

		if (!(mask & 1u << i))
			continue;
		n = snprintf(buf + len, size - len, "%s%s", len ? ", " : "", name ? name : "?");
		if (n < 0 || (size_t)n >= size - len)
			return;
		len += (size_t)n;
	}
}
