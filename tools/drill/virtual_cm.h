/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The core's communication management as a program knows it, by rdma_cm: ports to listen at, IDs
 * with names, a queue of events. What rnicd does between the two is done here in the same way.
 */
#ifndef DRILL_VIRTUAL_CM_H
#define DRILL_VIRTUAL_CM_H

#include "virtual.h"

/* Once for a device. False: no memory. */
bool v_cm_begin(struct virtual_side *v);
/* Before the device goes. */
void v_cm_end(struct virtual_side *v);

v_verb v_cm_listen, v_cm_connect, v_cm_accept, v_cm_establish, v_cm_reject;
v_verb v_cm_disconnect, v_cm_notify, v_cm_destroy, v_cm_event;

#endif
