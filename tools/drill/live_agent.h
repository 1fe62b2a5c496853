/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The connection with rnic-drill-agent. */
#ifndef DRILL_LIVE_AGENT_H
#define DRILL_LIVE_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "args.h"

struct live_agent;

/* NULL after a line on stderr. */
struct live_agent *live_agent_start(const char *device);
struct live_agent *live_agent_connect(const char *host_port);
/* Become the agent; returns only if that fails. */
int live_agent_exec(const char *port, const char *device);
void live_agent_end(struct live_agent *agent);

/* Reads the greeting: the device's address (48 bytes) and its index. */
bool live_agent_hello(struct live_agent *agent, char *gid, uint64_t *gid_index);
/* As side->exec. */
int live_agent_ask(struct live_agent *agent, const char *request, struct args *reply);

/* The program beside this one, as in the build folder; else where it is installed. */
void live_program_path(const char *name, const char *installed, char *path, size_t size);

#endif
