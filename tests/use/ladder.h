/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Brings a queue pair to a state, with attributes that every transition is content with. */
#ifndef USE_LADDER_H
#define USE_LADDER_H

#include "rig.h"

const char *ladder_type_name(enum ibv_qp_type type);
/* The attributes for going there. The peer is nobody, and sends are given up soon. */
struct ibv_qp_attr ladder_attr(const struct rig *r, enum ibv_qp_state to);
/* What going there needs, IBV_QP_STATE included. */
int ladder_mask(enum ibv_qp_type type, enum ibv_qp_state to);
enum ibv_qp_state ladder_state(struct ibv_qp *qp);
/* By RESET, from wherever it is. Not to SQE. */
void ladder_to(struct rig *r, struct ibv_qp *qp, enum ibv_qp_state state);
/* Lets a send of a QP in RTS fail here, and waits until it has; the state that it leads to. */
enum ibv_qp_state ladder_fail(struct rig *r, struct ibv_qp *qp);

#endif
