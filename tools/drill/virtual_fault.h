/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fault rules between the virtual side's device and the script, as a port of rnicd has them. */
#ifndef DRILL_VIRTUAL_FAULT_H
#define DRILL_VIRTUAL_FAULT_H

#include "virtual.h"

struct v_faults;

/* NULL: no memory. */
struct v_faults *v_faults_new(void);
void v_faults_free(struct v_faults *f);
/* A packet from the script to the device, or from QP qpn of the device to the script. */
void v_fault_in(struct virtual_side *v, const struct side_packet *pkt);
void v_fault_out(struct virtual_side *v, uint32_t qpn, const struct side_packet *pkt);
/* When the next late packet is due; UINT64_MAX: none waits. */
uint64_t v_fault_due(const struct virtual_side *v);
/* Let those pass that are due by now; false: there were none. */
bool v_fault_release(struct virtual_side *v);

v_verb v_fault;

#endif
