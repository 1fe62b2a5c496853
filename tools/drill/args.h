/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Words of a line, "word" or "key=value": a script's line, a request to a side, or its reply.
 * The first thing wrong with them is kept in error, so that many can be read before one check.
 */
#ifndef DRILL_ARGS_H
#define DRILL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARGS_MAX 64

struct arg {
	char *key;
	char *val; /* NULL: a bare word */
	bool used;
};

struct args {
	char *text;
	struct arg arg[ARGS_MAX];
	unsigned int n;
	char error[160]; /* "": none yet */
};

/* Always to be followed by args_free. A comment begins with #, "..." keeps blanks together. */
void args_parse(struct args *a, const char *line);
void args_free(struct args *a);

/* Each of these marks what it returns as used. */
bool args_has(struct args *a, const char *key);
const char *args_str(struct args *a, const char *key, const char *absent);
/* What is between the quotes, cut off where buf ends; "" if it is not there. */
void args_quoted(struct args *a, const char *key, char *buf, size_t size);
/* A sum or difference of numbers, 0x and 0 as in C. */
uint64_t args_num(struct args *a, const char *key, uint64_t absent);
/* A time in ns: a number with ns, us, ms or s. */
uint64_t args_time(struct args *a, const char *key, uint64_t absent);
/* Is this bare word there? */
bool args_flag(struct args *a, const char *word);
/* The next bare word, NULL: none left. */
const char *args_word(struct args *a);

void args_wrong(struct args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* False with an error, which an unused word is too. */
bool args_done(struct args *a);

/* The same for a text of one's own; false: it is none. */
bool num_parse(const char *text, uint64_t *value);
bool time_parse(const char *text, uint64_t *ns);

/* A line that is being written. */
struct text {
	char *buf;
	size_t len, room;
};

void text_begin(struct text *t);
void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_hex(struct text *t, const uint8_t *data, size_t len);
void text_end(struct text *t);

#endif
