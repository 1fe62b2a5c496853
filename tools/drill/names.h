/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The words that stand for numbers: states, completion statuses, access flags, ... */
#ifndef DRILL_NAMES_H
#define DRILL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Keys that take words have a table: "state", "status", "opcode", "access", ...
 * The value may be a number, a word, or several words with commas. False: neither. */
bool name_value(const char *key, const char *text, uint64_t *value);
/* Does the key take words at all? */
bool name_known(const char *key);
/* The word of a value, or NULL. */
const char *name_of(const char *key, uint64_t value);

/* Is the word one of those with commas between them? NULL has none. */
bool name_listed(const char *list, const char *word);

/* "EINVAL" and back. */
int errno_value(const char *name);
const char *errno_word(int err);

#endif
