/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fault rules of a live device, by rnicctl. */
#ifndef DRILL_LIVE_FAULT_H
#define DRILL_LIVE_FAULT_H

#include "args.h"

/* "fault VERB DEVICE [RULE]"; 0, or -1 with reply->error. rule may be NULL. */
int live_fault(const char *verb, const char *device, const char *rule, struct args *reply);

#endif
