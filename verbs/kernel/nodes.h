/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The kinds of character devices that a device has: their names, numbers and classes. */
#ifndef KERNEL_NODES_H
#define KERNEL_NODES_H

#include <stdbool.h>
#include <stdint.h>

#define NODES_MAJOR 231u
#define NODES_MAX 64u /* of a kind: minors are shared out so */

struct node_kind {
	const char *type;   /* "uverbs", of which uverbsN */
	const char *folder; /* in /sys/class */
	unsigned int minor; /* of number 0 */
	unsigned int mode;
	uint32_t abi;
	bool per_port;
};

#define NODE_KINDS 3
extern const struct node_kind node_kinds[NODE_KINDS];

/* NULL if there is none of that type. */
const struct node_kind *node_kind_named(const char *type);

#endif
