/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the simulator's world and its host functions share. */
#ifndef TESTS_SIM_HOST_H
#define TESTS_SIM_HOST_H

#include "world.h"

extern const struct rnic_ops sim_ops; /* their host is a struct sim_node */

/* One packet onto the link. */
void sim_send(struct sim_node *from, const struct rnic_tx *tx, const uint8_t *data, uint32_t len);
/* rnic_mem_resume for it, some time later. */
void sim_resume_later(struct rnic_mem *m);

#endif
