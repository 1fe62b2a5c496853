/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Numbers to objects: a growing array with a free list that gives numbers back late. */
#ifndef RNIC_TABLE_H
#define RNIC_TABLE_H

#include <stdint.h>

struct rnic_table {
	void **slot;
	uint32_t room;	/* slots allocated */
	uint32_t limit; /* numbers lie in first .. limit-1 */
	uint32_t first;
	uint32_t next; /* where the search begins: a freed number is not reused at once */
	uint32_t used;
};

void table_init(struct rnic_table *t, uint32_t first, uint32_t limit);
void table_free(struct rnic_table *t);
/* The number given, or -ENOMEM (no memory, or all numbers in use). */
int64_t table_add(struct rnic_table *t, void *object);
void table_remove(struct rnic_table *t, uint32_t number);
/* NULL for numbers that nothing has. */
void *table_get(const struct rnic_table *t, uint32_t number);
/* The first object with a number >= *number, which is set to it; NULL at the end. */
void *table_next(const struct rnic_table *t, uint32_t *number);

#endif
