/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The kinds of character devices, as Linux numbers them. */
#include "config.h"

#include <string.h>

#include "verbs/kernel/nodes.h"

const struct node_kind node_kinds[NODE_KINDS] = {
	{.type = "uverbs",
	 .folder = "infiniband_verbs",
	 .minor = 192,
	 .mode = 0666,
	 .abi = 2 /* rxe's */},
	{.type = "umad",
	 .folder = "infiniband_mad",
	 .minor = 0,
	 .mode = 0600,
	 .abi = 5,
	 .per_port = true},
	{.type = "issm",
	 .folder = "infiniband_mad",
	 .minor = 64,
	 .mode = 0600,
	 .abi = 5,
	 .per_port = true},
};

const struct node_kind *node_kind_named(const char *type)
{
	for (int i = 0; i < NODE_KINDS; i++)
		if (!strcmp(node_kinds[i].type, type))
			return &node_kinds[i];
	return NULL;
}
