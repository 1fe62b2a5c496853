/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The QP state machine as Graphviz text, drawn from the table that modify goes by. */
#ifndef TOOLS_QPDOT_H
#define TOOLS_QPDOT_H

#include <stdbool.h>
#include <stdio.h>

#include "rnic/types.h"

struct rnic_qp;

/* "RC", or "?". */
const char *qpdot_type_name(enum rnic_qp_type type);
/* False if there is no such type. */
bool qpdot_type_find(const char *name, enum rnic_qp_type *type);

/* What a QP of that type may do. */
void qpdot_draw_type(FILE *to, enum rnic_qp_type type);
/* The same, with where this QP is and the way it took. */
void qpdot_draw_qp(FILE *to, const char *device, const struct rnic_qp *qp);

#endif
