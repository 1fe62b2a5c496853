/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* rdma_cm by the kernel's own commands, which say what a script wants and nothing else. */
#ifndef DRILL_AGENT_CM_H
#define DRILL_AGENT_CM_H

#include "agent.h"

agent_verb agent_cm_listen, agent_cm_connect, agent_cm_accept, agent_cm_establish;
agent_verb agent_cm_reject, agent_cm_disconnect, agent_cm_notify, agent_cm_destroy;
agent_verb agent_cm_event;
/* All IDs go, and with them what they were told. */
void agent_cm_reset(struct agent *ag);

#endif
