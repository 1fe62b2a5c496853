/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The QP state table, as Linux's core has it (ib_modify_qp_is_ok); unlike the specification it
 * knows no way from RESET to ERR. GSI is what the kernel calls so, the QP of number 1.
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

struct row {
	bool legal;
	uint32_t required[TYPES];
	uint32_t optional[TYPES];
};

#define BARE                                                                                       \
	{                                                                                          \
		.legal = true                                                                      \
	}

static const struct row rows[RNIC_QPS_COUNT][RNIC_QPS_COUNT] = {
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
					.optional = {PKEY | QKEY, ALT | ACCESS | PKEY, ALT | ACCESS | PKEY, PKEY | QKEY},
				},
		},
	[RNIC_QPS_RTR] =
		{
			[RNIC_QPS_RESET] = BARE,
			[RNIC_QPS_ERR] = BARE,
			[RNIC_QPS_RTS] =
				{
					.legal = true,
					.required =
						{SQ_PSN, TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | RD,
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

struct qp_rule qp_table_rule(enum rnic_qp_type type, enum rnic_qp_state from, enum rnic_qp_state to)
{
	const struct row *row = &rows[from][to];

	return (struct qp_rule){row->legal, row->required[type - 1], row->optional[type - 1]};
}

enum qp_modify_verdict qp_table_check(enum rnic_qp_type type, enum rnic_qp_state from,
				      enum rnic_qp_state to, uint32_t mask, uint32_t *bits)
{
	struct qp_rule rule = qp_table_rule(type, from, to);

	*bits = 0;
	if (!rule.legal)
		return QP_MODIFY_ILLEGAL;
	*bits = rule.required & ~mask;
	if (*bits)
		return QP_MODIFY_LACKS;
	*bits = mask & ~(rule.required | rule.optional | RNIC_QP_STATE);
	return *bits ? QP_MODIFY_EXCESS : QP_MODIFY_OK;
}

enum rnic_qp_state qp_table_send_error(enum rnic_qp_type type)
{
	return type == RNIC_QPT_RC ? RNIC_QPS_ERR : RNIC_QPS_SQE;
}

uint32_t qp_table_way(enum rnic_qp_state from, enum rnic_qp_state to, enum rnic_qp_state *way)
{
	enum rnic_qp_state came_from[RNIC_QPS_COUNT], queue[RNIC_QPS_COUNT];
	uint32_t head = 0, tail = 0, n = 0;
	bool seen[RNIC_QPS_COUNT] = {false};

	seen[from] = true;
	queue[tail++] = from;
	while (head < tail && !seen[to]) {
		enum rnic_qp_state s = queue[head++];

		for (int next = 0; next < RNIC_QPS_COUNT; next++) {
			if (!rows[s][next].legal || seen[next])
				continue;
			seen[next] = true;
			came_from[next] = s;
			queue[tail++] = (enum rnic_qp_state)next;
		}
	}
	if (!seen[to] || from == to)
		return 0;
	for (enum rnic_qp_state s = to; s != from; s = came_from[s])
		n++;
	for (enum rnic_qp_state s = to, i = n; s != from; s = came_from[s])
		way[--i] = s;
	return n;
}

const char *qp_attr_name(uint32_t bit)
{
	static const char *const names[] = {
		"IBV_QP_STATE",
		"IBV_QP_CUR_STATE",
		"IBV_QP_EN_SQD_ASYNC_NOTIFY",
		"IBV_QP_ACCESS_FLAGS",
		"IBV_QP_PKEY_INDEX",
		"IBV_QP_PORT",
		"IBV_QP_QKEY",
		"IBV_QP_AV",
		"IBV_QP_PATH_MTU",
		"IBV_QP_TIMEOUT",
		"IBV_QP_RETRY_CNT",
		"IBV_QP_RNR_RETRY",
		"IBV_QP_RQ_PSN",
		"IBV_QP_MAX_QP_RD_ATOMIC",
		"IBV_QP_ALT_PATH",
		"IBV_QP_MIN_RNR_TIMER",
		"IBV_QP_SQ_PSN",
		"IBV_QP_MAX_DEST_RD_ATOMIC",
		"IBV_QP_PATH_MIG_STATE",
		"IBV_QP_CAP",
		"IBV_QP_DEST_QPN",
		NULL,
		NULL,
		NULL,
		NULL,
		"IBV_QP_RATE_LIMIT",
	};

	return bit < sizeof(names) / sizeof(names[0]) ? names[bit] : NULL;
}

void qp_attr_names(uint32_t mask, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < 32 && len < size; i++) {
		const char *name = qp_attr_name(i);
		int n;

		if (!(mask & 1u << i))
			continue;
		n = snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
			     name ? name : "an unknown bit");
		len += n > 0 ? (size_t)n : 0;
	}
}
