/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Splits a line into words and reads numbers and times from them. */
#include "config.h"

#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX 1e18 /* ns */

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* From the beginning of a word to behind it, quotes kept together; NULL: a quote is open. */
static char *word_end(char *p)
{
	while (*p && !isspace((unsigned char)*p) && *p != '#') {
		if (*p == '"') {
			p = strchr(p + 1, '"');
			if (!p)
				return NULL;
		}
		p++;
	}
	return p;
}

static void word_add(struct args *a, char *word)
{
	struct arg *arg = &a->arg[a->n];
	char *eq = strchr(word, '=');

	if (a->n == ARGS_MAX) {
		args_wrong(a, "more than %d words", ARGS_MAX);
		return;
	}
	a->n++;
	arg->key = word;
	arg->val = NULL;
	arg->used = false;
	if (eq && *word != '"') {
		*eq = '\0';
		arg->val = eq + 1;
	}
}

void args_parse(struct args *a, const char *line)
{
	char *p;

	a->n = 0;
	a->error[0] = '\0';
	p = a->text = must(strdup(line));
	while (isspace((unsigned char)*p))
		p++;
	while (*p && *p != '#') {
		char *end = word_end(p), was;

		if (!end) {
			args_wrong(a, "a quote is not closed");
			return;
		}
		was = *end;
		*end = '\0';
		word_add(a, p);
		if (!was || was == '#')
			return;
		p = end + 1;
		while (isspace((unsigned char)*p))
			p++;
	}
}

void args_free(struct args *a)
{
	free(a->text);
	a->text = NULL;
	a->n = 0;
}

void args_wrong(struct args *a, const char *fmt, ...)
{
	va_list ap;

	if (a->error[0])
		return;
	va_start(ap, fmt);
	vsnprintf(a->error, sizeof(a->error), fmt, ap);
	va_end(ap);
}

static struct arg *find(struct args *a, const char *key)
{
	for (unsigned int i = 0; i < a->n; i++)
		if (a->arg[i].val && !strcmp(a->arg[i].key, key))
			return &a->arg[i];
	return NULL;
}

bool args_has(struct args *a, const char *key)
{
	return find(a, key) != NULL;
}

const char *args_str(struct args *a, const char *key, const char *absent)
{
	struct arg *arg = find(a, key);

	if (!arg)
		return absent;
	arg->used = true;
	return arg->val;
}

void args_quoted(struct args *a, const char *key, char *buf, size_t size)
{
	const char *text = args_str(a, key, "");

	text += *text == '"';
	snprintf(buf, size, "%.*s", (int)strcspn(text, "\""), text);
}

uint64_t args_num(struct args *a, const char *key, uint64_t absent)
{
	const char *s = args_str(a, key, NULL);
	uint64_t v = absent;

	if (s && !num_parse(s, &v))
		args_wrong(a, "%s=%s: no number", key, s);
	return v;
}

uint64_t args_time(struct args *a, const char *key, uint64_t absent)
{
	const char *s = args_str(a, key, NULL);
	uint64_t v = absent;

	if (s && !time_parse(s, &v))
		args_wrong(a, "%s=%s: no time (10ms, 640us, ...)", key, s);
	return v;
}

bool args_flag(struct args *a, const char *word)
{
	for (unsigned int i = 0; i < a->n; i++) {
		if (!a->arg[i].val && !strcmp(a->arg[i].key, word)) {
			a->arg[i].used = true;
			return true;
		}
	}
	return false;
}

const char *args_word(struct args *a)
{
	for (unsigned int i = 0; i < a->n; i++) {
		if (!a->arg[i].val && !a->arg[i].used) {
			a->arg[i].used = true;
			return a->arg[i].key;
		}
	}
	return NULL;
}

bool args_done(struct args *a)
{
	for (unsigned int i = 0; i < a->n; i++)
		if (!a->arg[i].used)
			args_wrong(a, "\"%s\" is not understood here", a->arg[i].key);
	return !a->error[0];
}

bool num_parse(const char *text, uint64_t *value)
{
	uint64_t sum = 0;
	bool minus = false;

	do {
		char *end;
		uint64_t v;

		if (*text == '-' || *text == '+')
			minus = *text++ == '-';
		if (!isdigit((unsigned char)*text))
			return false;
		errno = 0;
		v = strtoull(text, &end, 0);
		if (errno)
			return false;
		sum = minus ? sum - v : sum + v;
		text = end;
	} while (*text == '-' || *text == '+');
	*value = sum;
	return *text == '\0';
}

bool time_parse(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double v = strtod(text, &end);

	if (end == text || !(v >= 0))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(end, units[i].name) && v * units[i].ns <= TIME_MAX) {
			*ns = (uint64_t)(v * units[i].ns + 0.5);
			return true;
		}
	}
	*ns = 0;
	return v == 0 && *end == '\0';
}

void text_begin(struct text *t)
{
	t->room = 256;
	t->len = 0;
	t->buf = must(malloc(t->room));
	t->buf[0] = '\0';
}

static void text_room(struct text *t, size_t more)
{
	while (t->len + more >= t->room) {
		t->room *= 2;
		t->buf = must(realloc(t->buf, t->room));
	}
}

void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	text_room(t, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(t->buf + t->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->len += (size_t)n;
}

void text_hex(struct text *t, const uint8_t *data, size_t len)
{
	text_room(t, 2 * len + 1);
	for (size_t i = 0; i < len; i++)
		snprintf(t->buf + t->len + 2 * i, 3, "%02x", data[i]);
	t->len += 2 * len;
	t->buf[t->len] = '\0';
}

void text_end(struct text *t)
{
	free(t->buf);
	t->buf = NULL;
}
