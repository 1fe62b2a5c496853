/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which changes of state a QP may make, and with which attributes. */
#ifndef RNIC_QP_TABLE_H
#define RNIC_QP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rnic/types.h"

/* Masks of enum rnic_qp_attr_mask; RNIC_QP_STATE is always taken and in neither. */
struct qp_rule {
	bool legal;
	uint32_t required, optional;
};

/* What modify goes by, for those who teach or draw it. */
struct qp_rule qp_table_rule(enum rnic_qp_type type, enum rnic_qp_state from,
			     enum rnic_qp_state to);

enum qp_modify_verdict {
	QP_MODIFY_OK,
	QP_MODIFY_ILLEGAL, /* no such transition */
	QP_MODIFY_LACKS,   /* *bits: required attributes that are not in the mask */
	QP_MODIFY_EXCESS,  /* *bits: attributes that this transition does not take */
};

enum qp_modify_verdict qp_table_check(enum rnic_qp_type type, enum rnic_qp_state from,
				      enum rnic_qp_state to, uint32_t mask, uint32_t *bits);

/* Where a send that fails leads a QP from RTS or SQD. */
enum rnic_qp_state qp_table_send_error(enum rnic_qp_type type);

/* The fewest legal transitions that lead there: the states to go through, `to` the last one, into
 * way (RNIC_QPS_COUNT), and their number; 0 if no modify leads there, or from is to. */
uint32_t qp_table_way(enum rnic_qp_state from, enum rnic_qp_state to, enum rnic_qp_state *way);

/* What programs call the attribute of that bit, 0 to 31: "IBV_QP_PORT"; NULL for none. */
const char *qp_attr_name(uint32_t bit);
/* Those of a mask, "IBV_QP_PORT, IBV_QP_QKEY", cut to size. */
void qp_attr_names(uint32_t mask, char *buf, size_t size);

#endif
