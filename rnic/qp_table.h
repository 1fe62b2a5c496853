/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which changes of state a QP may make, and with which attributes. */
#ifndef RNIC_QP_TABLE_H
#define RNIC_QP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rnic/types.h"

enum qp_modify_verdict {
	QP_MODIFY_OK,
	QP_MODIFY_ILLEGAL, /* no such transition */
	QP_MODIFY_LACKS,   /* *bits: required attributes that are not in the mask */
	QP_MODIFY_EXCESS,  /* *bits: attributes that this transition does not take */
};

enum qp_modify_verdict qp_table_check(enum rnic_qp_type type, enum rnic_qp_state from,
				      enum rnic_qp_state to, uint32_t mask, uint32_t *bits);

/* The names of a mask's attributes, "path_mtu, dest_qpn", cut to size. */
void qp_attr_names(uint32_t mask, char *buf, size_t size);

#endif
