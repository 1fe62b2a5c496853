/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs a script line by line. */
#include "config.h"

#include "run.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

#define MS 1000000ull
#define REAL_PATIENCE (2000 * MS)

int run_fail(struct run *r, const char *fmt, ...)
{
	size_t len;
	va_list ap;

	if (r->failure[0])
		return -1;
	len = (size_t)snprintf(r->failure, sizeof(r->failure), "%s:%u: ", r->file, r->line);
	if (len >= sizeof(r->failure))
		return -1;
	va_start(ap, fmt);
	vsnprintf(r->failure + len, sizeof(r->failure) - len, fmt, ap);
	va_end(ap);
	return -1;
}

void symbol_set(struct run *r, const char *name, uint64_t value)
{
	struct symbol *s = r->symbol;

	while (s < r->symbol + r->n_symbols && strcmp(s->name, name) != 0)
		s++;
	if (s == r->symbol + RUN_SYMBOLS) {
		run_fail(r, "more than %d symbols", RUN_SYMBOLS);
		return;
	}
	if (s == r->symbol + r->n_symbols)
		r->n_symbols++;
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->value = value;
}

bool symbol_get(const struct run *r, const char *name, uint64_t *value)
{
	for (unsigned int i = 0; i < r->n_symbols; i++) {
		if (!strcmp(r->symbol[i].name, name)) {
			*value = r->symbol[i].value;
			return true;
		}
	}
	return false;
}

struct conn *conn_find(struct run *r, const char *name)
{
	for (unsigned int i = 0; i < r->n_conns; i++)
		if (!name || !strcmp(r->conn[i].name, name))
			return &r->conn[i];
	run_fail(r, "there is no QP %s", name ? name : "yet");
	return NULL;
}

int run_exec(struct run *r, const char *request, struct args *reply)
{
	int ret;

	if (r->verbose)
		printf("    %s\n", request);
	ret = r->side->exec(r->side, request, reply);
	if (ret < 0)
		return run_fail(r, "%s", reply->error[0] ? reply->error : "the agent is gone");
	return ret;
}

int run_exec_errno(struct run *r, struct args *a, const char *request, struct args *reply,
		   bool *done)
{
	const char *expected = args_str(a, "errno", NULL);
	int want = expected ? errno_value(expected) : 0;
	int ret;

	*done = false;
	args_parse(reply, "");
	if (!args_done(a))
		return run_fail(r, "%s", a->error);
	if (want < 0)
		return run_fail(r, "there is no errno %s", expected);
	args_free(reply);
	ret = run_exec(r, request, reply);
	if (ret < 0)
		return -1;
	*done = ret == 0;
	if (ret == want)
		return 0;
	if (ret == 0)
		return run_fail(r, "expected: %s\n  got:      success", expected);
	return run_fail(r, "expected: %s\n  got:      %s", expected ? expected : "success",
			errno_word(ret));
}

uint64_t run_patience(const struct run *r, uint64_t within)
{
	return r->side->real_time ? within + REAL_PATIENCE : within;
}

void run_settle(struct run *r)
{
	if (r->injected)
		r->side->settle(r->side);
	r->injected = false;
}

static const struct {
	const char *name;
	run_verb *verb;
} verbs[] = {
	{"pd", verb_pd},
	{"cq", verb_cq},
	{"mr", verb_mr},
	{"mw", verb_mw},
	{"srq", verb_srq},
	{"ah", verb_ah},
	{"qp", verb_qp},
	{"modify", verb_modify},
	{"query", verb_query},
	{"modify_srq", verb_modify_srq},
	{"query_srq", verb_query_srq},
	{"destroy", verb_destroy},
	{"attach", verb_attach},
	{"detach", verb_detach},
	{"join", verb_join},
	{"post", verb_post},
	{"wc", verb_wc},
	{"event", verb_event},
	{"arm", verb_arm},
	{"notify", verb_notify},
	{"no", verb_no},
	{"log", verb_log},
	{"cm", verb_cm},
	{"mem", verb_mem},
	{"poke", verb_poke},
	{"memory", verb_memory},
	{"fault", verb_fault},
	{"silence", verb_silence},
	{"skip", verb_skip},
	{"<", packet_inject},
	{"<<", packet_burst},
	{">", packet_expect},
};

static int line_exec(struct run *r, struct args *a)
{
	const char *word = args_word(a);
	uint64_t ns;

	if (word && *word == '+') {
		if (!time_parse(word + 1, &ns))
			return run_fail(r, "%s is no time", word);
		r->side->wait(r->side, r->side->now(r->side) + ns);
		word = args_word(a);
		if (!word)
			return 0;
	}
	for (size_t i = 0; word && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verbs[i].name, word) != 0)
			continue;
		if (*word != '<' && *word != '>')
			run_settle(r);
		return verbs[i].verb(r, a);
	}
	return run_fail(r, "\"%s\" is no verb", word ? word : "");
}

static size_t symbol_len(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_' ||
	       (p[n] == '.' && isalpha((unsigned char)p[n + 1])))
		n++;
	return n;
}

/* Puts the values of $symbols in, outside of quotes and comments. */
static int line_expand(struct run *r, const char *line)
{
	bool quoted = false;
	size_t out = 0;

	for (const char *p = line; *p; p++) {
		char name[RUN_NAME] = "";
		uint64_t value;
		size_t n;

		if (*p == '"')
			quoted = !quoted;
		if (*p == '#' && !quoted)
			break;
		if (out + 32 >= sizeof(r->text))
			return run_fail(r, "the line is too long");
		if (*p != '$' || quoted) {
			r->text[out++] = *p;
			continue;
		}
		n = symbol_len(p + 1);
		if (n >= sizeof(name))
			return run_fail(r, "the name of a symbol is too long");
		memcpy(name, p + 1, n);
		if (!symbol_get(r, name, &value))
			return run_fail(r, "there is no $%s", name);
		out += (size_t)snprintf(r->text + out, sizeof(r->text) - out, "%" PRIu64, value);
		p += n;
	}
	r->text[out] = '\0';
	return 0;
}

static int line_run(struct run *r, const char *line)
{
	struct args a;
	int ret = line_expand(r, line);

	if (ret < 0)
		return ret;
	r->source = line;
	if (r->verbose)
		printf("%12.3f us  %s:%u: %s\n", (double)r->side->now(r->side) / 1000, r->file,
		       r->line, line);
	args_parse(&a, r->text);
	if (a.error[0])
		ret = run_fail(r, "%s", a.error);
	else if (a.n)
		ret = line_exec(r, &a);
	if (ret == 0 && !args_done(&a))
		ret = run_fail(r, "%s", a.error);
	args_free(&a);
	r->line_time = r->side->now(r->side);
	return ret == 0 && !r->failure[0] ? 0 : -1;
}

/* Nothing may be left over: no packet, completion or event that the script does not mention. */
static int nothing_left(struct run *r)
{
	static const char *const lines[] = {"no packet", "no wc", "no event", "no cm"};
	int ret = 0;

	r->injected = true;
	for (size_t i = 0; ret == 0 && i < sizeof(lines) / sizeof(lines[0]); i++)
		ret = line_run(r, lines[i]);
	return ret;
}

static void lines_run(struct run *r, FILE *f)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int ret = prelude(r);

	while (ret == 0 && (len = getline(&line, &room, f)) >= 0) {
		r->line++;
		if (strlen(line) != (size_t)len) {
			ret = run_fail(r, "a zero byte");
			break;
		}
		line[strcspn(line, "\n")] = '\0';
		ret = line_run(r, line);
	}
	if (ret == 0)
		nothing_left(r);
	free(line);
}

bool run_file(struct run *r, struct side *side, const char *file, bool verbose)
{
	struct args reply;
	FILE *f;

	memset(r, 0, sizeof(*r));
	r->file = file;
	r->side = side;
	r->verbose = verbose;
	r->source = "";
	f = fopen(file, "re");
	if (!f) {
		run_fail(r, "%s", strerror(errno));
		return false;
	}
	if (run_exec(r, "reset", &reply) > 0)
		run_fail(r, "the device cannot be reset");
	args_free(&reply);
	if (!r->failure[0])
		lines_run(r, f);
	fclose(f);
	conns_forget(r);
	return !r->failure[0];
}
