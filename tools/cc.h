/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Congestion control as users set it: rnicd --cc, and rnicctl cc set. */
#ifndef TOOLS_CC_H
#define TOOLS_CC_H

#include "rnic/cc_params.h"
#include "verbs/kernel/kernel.h"

struct daemon;

/* "dcqcn", "window" or "none", or NAME=VALUE; several with commas between them. 0, or -EINVAL with
 * a line logged. */
int cc_option(struct cc_params *p, const char *text);

/* cc set DEVICE NAME=VALUE...: all of them or, if one is wrong, none. */
int cc_set(struct daemon *d, int argc, char **argv, struct admin_reply *reply);

#endif
