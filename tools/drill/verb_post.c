/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* post send|write|read|... and post recv. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "run.h"

#define DEFAULT_LEN 64
#define ATOMIC_LEN 8
#define REMOTE_ADDR 0x7000
#define REMOTE_KEY 0x1234

/* One SGE by addr=, len=, lkey=, or the list sge=ADDR:LEN:LKEY,... with sums in it. */
static void sges_write(struct run *r, struct args *a, uint64_t len, struct text *t)
{
	const char *p = args_str(a, "sge", NULL);
	uint64_t addr = 0, lkey = 0, v;

	symbol_get(r, "va", &addr);
	symbol_get(r, "lkey", &lkey);
	if (!p) {
		addr = args_num(a, "addr", addr);
		len = args_num(a, "len", len);
		lkey = args_num(a, "lkey", lkey);
		text_add(t, " sge=%" PRIu64 ":%" PRIu64 ":%" PRIu64, addr, len, lkey);
		return;
	}
	text_add(t, " sge=");
	if (!strcmp(p, "none"))
		return;
	while (*p) {
		size_t n = strcspn(p, ":,");
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)n, p);
		if (!num_parse(word, &v))
			args_wrong(a, "sge: \"%s\" is no number", word);
		text_add(t, "%" PRIu64, v);
		p += n;
		if (*p)
			text_add(t, "%c", *p++);
	}
}

/* The key of this name, numbers or words; its own name in the request may be another. */
static void pass(struct args *a, struct text *t, const char *key, const char *as, uint64_t absent)
{
	const char *s = args_str(a, key, NULL);
	uint64_t v = absent;

	if (s && (name_known(key) ? !name_value(key, s, &v) : !num_parse(s, &v)))
		args_wrong(a, "%s=%s is not known", key, s);
	text_add(t, " %s=%" PRIu64, as, v);
}

/* mw: the window that a bind gives another key, or NULL. */
static int post(struct run *r, struct args *a, struct text *t, const char *mw)
{
	uint64_t wr = args_num(a, "wr", r->next_wr);
	struct args reply;
	bool done;
	int ret;

	text_add(t, " wr=%" PRIu64, wr);
	ret = run_exec_errno(r, a, t->buf, &reply, &done);
	if (done)
		r->next_wr = wr + 1;
	if (done && mw && args_has(&reply, "rkey")) {
		char key[2 * RUN_NAME];

		snprintf(key, sizeof(key), "%.31s.rkey", mw);
		symbol_set(r, key, args_num(&reply, "rkey", 0));
	}
	args_free(&reply);
	return ret;
}

static int post_recv(struct run *r, struct args *a, struct text *t)
{
	const char *srq = args_str(a, "srq", NULL);
	struct conn *c = srq ? NULL : conn_find(r, args_str(a, "qp", NULL));

	if (srq)
		text_add(t, "post_recv srq=%s", srq);
	else if (c)
		text_add(t, "post_recv qp=%s", c->name);
	else
		return -1;
	sges_write(r, a, 4096, t);
	return post(r, a, t, NULL);
}

static void ud_write(struct args *a, const struct conn *c, struct text *t)
{
	text_add(t, " ah=%s", args_str(a, "ah", "ah"));
	pass(a, t, "dqpn", "remote_qpn", c->peer_qpn);
	pass(a, t, "qkey", "remote_qkey", c->qkey);
}

static int post_send(struct run *r, struct args *a, const char *op_name, struct text *t)
{
	struct conn *c = conn_find(r, args_str(a, "qp", NULL));
	uint64_t op, len = DEFAULT_LEN;
	const char *mw = NULL;
	bool atomic;

	if (!c)
		return -1;
	if (!name_value("op", op_name, &op))
		return run_fail(r, "there is no operation \"%s\"", op_name);
	atomic = !strcmp(op_name, "cmp_swap") || !strcmp(op_name, "fetch_add") ||
		 !strcmp(op_name, "atomic_write");
	text_add(t, "post_send qp=%s op=%" PRIu64, c->name, op);
	pass(a, t, "flags", "flags", 2);
	pass(a, t, "imm", "imm", 0);
	pass(a, t, "raddr", "raddr", REMOTE_ADDR);
	pass(a, t, "rkey", "rkey", REMOTE_KEY);
	pass(a, t, "compare", "compare", 0);
	if (args_has(a, "add"))
		pass(a, t, "add", "swap_add", 0);
	else
		pass(a, t, "swap", "swap_add", 0);
	pass(a, t, "inv_key", "inv_key", 0);
	if (c->type == 4 || c->type == 1)
		ud_write(a, c, t);
	if (!strcmp(op_name, "bind_mw")) {
		mw = args_str(a, "mw", "mw");
		text_add(t, " mw=%s mr=%s", mw, args_str(a, "mr", "mr"));
		pass(a, t, "access", "access", 14);
	}
	sges_write(r, a, atomic ? ATOMIC_LEN : len, t);
	return post(r, a, t, mw);
}

int verb_post(struct run *r, struct args *a)
{
	const char *op = args_word(a);
	struct text t;
	int ret;

	if (!op)
		return run_fail(r, "post what?");
	text_begin(&t);
	ret = strcmp(op, "recv") == 0 ? post_recv(r, a, &t) : post_send(r, a, op, &t);
	text_end(&t);
	return ret;
}
