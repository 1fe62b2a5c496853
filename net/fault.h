/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fault injection, first rules: drop by probability (seeded) and drop the Nth packet. */
#ifndef NET_FAULT_H
#define NET_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_dir { FAULT_RX = 1, FAULT_TX = 2 };

struct fault_rules; /* an ordered set of rules with their own random state and counts */

struct fault_rules *fault_rules_create(void);
void fault_rules_destroy(struct fault_rules *rules);
bool fault_rules_empty(const struct fault_rules *rules);

/*
 * Grammar: DIR "drop" ("p=" PROBABILITY ["seed=" N] | "nth=" N | "every=" N), DIR = rx | tx | both.
 * 0 or -EINVAL with a line in err that says what is wrong. Returns in *id the rule's number (1..).
 */
int fault_rules_add(struct fault_rules *rules, const char *text, uint32_t *id, char *err,
		    size_t err_size);
int fault_rules_del(struct fault_rules *rules, uint32_t id);

/* Is this packet (BTH first, without ICRC) lost here? Deterministic in rules and call order. */
bool fault_rules_drop(struct fault_rules *rules, enum fault_dir dir, const uint8_t *bth,
		      size_t len);

/* Text of the rules one by one, with how often each fired. -ENOENT at the end. */
int fault_rules_print(const struct fault_rules *rules, uint32_t index, char *buf, size_t size);

#endif
