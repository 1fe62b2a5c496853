/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * QPs. A script names what matters to it; each step to RTS takes the attributes that the state
 * table requires of it from this table, unless the line says "only".
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "run.h"

#define PEER_QPN 0x100
#define QKEY 0x11111111
#define RQ_PSN 1000
#define SQ_PSN 2000

enum { RC = 1 << 2, UC = 1 << 3, UD = 1 << 4 | 1 << 1 };
enum { INIT = 1, RTR = 2, RTS = 3 };

static const struct attr {
	const char *key;
	uint32_t types; /* that a step gives it by itself */
	uint32_t step;	/* to this state; 0: only where named */
	uint64_t value;
} attrs[] = {
	{"pkey_index", RC | UC | UD, INIT, 0},
	{"port", RC | UC | UD, INIT, 1},
	{"access", RC | UC, INIT, 15},
	{"qkey", UD, INIT, QKEY},
	{"path_mtu", RC | UC, RTR, 3},
	{"dest_qpn", RC | UC, RTR, 0}, /* the peer's */
	{"rq_psn", RC | UC, RTR, RQ_PSN},
	{"max_dest_rd_atomic", RC, RTR, 16},
	{"min_rnr_timer", RC, RTR, 12},
	{"timeout", RC, RTS, 18},
	{"retry_cnt", RC, RTS, 7},
	{"rnr_retry", RC, RTS, 7},
	{"sq_psn", RC | UC | UD, RTS, SQ_PSN},
	{"max_rd_atomic", RC, RTS, 16},
	{"cur_state", 0, 0, 0},
	{"en_sqd_async_notify", 0, 0, 0},
	{"alt_timeout", 0, 0, 0},
	{"path_mig_state", 0, 0, 0},
	{"rate_limit", 0, 0, 0},
};
#define ATTRS (sizeof(attrs) / sizeof(attrs[0]))

static const char *const av_keys[] = {"sgid_index", "tclass",  "hops", "flow",
				      "sl",	    "av_port", "grh"};
#define AV_KEYS (sizeof(av_keys) / sizeof(av_keys[0]))

struct qp_attrs { /* of a conn: what the qp line gave */
	bool given[ATTRS], av_given[AV_KEYS];
	uint64_t value[ATTRS], av_value[AV_KEYS];
	char dgid[48];
};

static void attrs_read(struct run *r, struct args *a, struct qp_attrs *q)
{
	const char *dgid = args_str(a, "dgid", NULL);

	for (size_t i = 0; i < ATTRS; i++) {
		const char *s = args_str(a, attrs[i].key, NULL);

		if (!s)
			continue;
		q->given[i] = true;
		if (name_known(attrs[i].key) ? !name_value(attrs[i].key, s, &q->value[i])
					     : !num_parse(s, &q->value[i]))
			args_wrong(a, "%s=%s is not known", attrs[i].key, s);
	}
	for (size_t i = 0; i < AV_KEYS; i++) {
		q->av_given[i] |= args_has(a, av_keys[i]);
		q->av_value[i] = args_num(a, av_keys[i], q->av_value[i]);
	}
	if (!dgid)
		return;
	if (!strcmp(dgid, "peer"))
		dgid = r->side->peer;
	else if (!strcmp(dgid, "other"))
		dgid = r->side->other;
	snprintf(q->dgid, sizeof(q->dgid), "%s", dgid);
}

static void av_write(const struct run *r, const struct qp_attrs *q, struct text *t)
{
	text_add(t, " av dgid=%s", q->dgid[0] ? q->dgid : r->side->peer);
	if (!q->av_given[0])
		text_add(t, " sgid_index=%" PRIu64, r->side->gid_index);
	for (size_t i = 0; i < AV_KEYS; i++)
		if (q->av_given[i])
			text_add(t, " %s=%" PRIu64, av_keys[i], q->av_value[i]);
}

static uint64_t attr_value(const struct conn *c, size_t i)
{
	if (c->attrs->given[i])
		return c->attrs->value[i];
	return strcmp(attrs[i].key, "dest_qpn") == 0 ? c->peer_qpn : attrs[i].value;
}

/* What later lines rely on, once the device has accepted it. */
static void conn_learn(struct conn *c, const char *key, uint64_t value)
{
	if (!strcmp(key, "rq_psn")) {
		c->rq_psn = (uint32_t)value;
		c->next_psn = 0;
	} else if (!strcmp(key, "sq_psn")) {
		c->sq_psn = (uint32_t)value;
	} else if (!strcmp(key, "qkey")) {
		c->qkey = (uint32_t)value;
	} else if (!strcmp(key, "path_mtu")) {
		c->mtu = 128u << (value & 7);
	}
}

/* Is this attribute given by the step itself? */
static bool is_default(const struct conn *c, const struct attr *attr, uint32_t to)
{
	bool step = to >= INIT && to <= RTS && c->state == to - 1;

	return step && attr->step == to && (attr->types & 1u << c->type);
}

/* How a modify differs from the usual step. */
struct step {
	uint32_t to;
	bool has_state, only, av;
	const char *without;
	bool named[ATTRS];
};

static void step_write(const struct run *r, const struct conn *c, const struct step *s,
		       struct text *t)
{
	bool connected = (1u << c->type) & (RC | UC);

	text_add(t, "modify qp=%s", c->name);
	if (s->has_state)
		text_add(t, " state=%u", s->to);
	for (size_t i = 0; i < ATTRS; i++) {
		bool wanted = s->named[i] ||
			      (s->has_state && !s->only && is_default(c, &attrs[i], s->to));

		if (wanted && !name_listed(s->without, attrs[i].key))
			text_add(t, " %s=%" PRIu64, attrs[i].key, attr_value(c, i));
	}
	if (!name_listed(s->without, "av") &&
	    (s->av || (s->to == RTR && c->state == INIT && connected && !s->only)))
		av_write(r, c->attrs, t);
}

static void step_done(struct conn *c, const struct step *s)
{
	for (size_t i = 0; i < ATTRS; i++)
		if (s->named[i] || (s->has_state && is_default(c, &attrs[i], s->to)))
			conn_learn(c, attrs[i].key, attr_value(c, i));
	if (s->has_state)
		c->state = s->to;
}

static int step_run(struct run *r, struct args *a, struct conn *c, const struct step *s)
{
	struct args reply;
	struct text t;
	bool done;
	int ret;

	text_begin(&t);
	step_write(r, c, s, &t);
	ret = run_exec_errno(r, a, t.buf, &reply, &done);
	if (done)
		step_done(c, s);
	args_free(&reply);
	text_end(&t);
	return ret;
}

static int qp_create(struct run *r, struct args *a, struct conn *c)
{
	static const char *const numbers[] = {"send_wr",  "recv_wr", "send_sge",
					      "recv_sge", "inline",  "sig_all"};
	static const char *const names[] = {"pd", "srq", "send_cq", "recv_cq"};
	struct args reply;
	struct text t;
	char key[2 * RUN_NAME];
	bool done;
	int ret;

	text_begin(&t);
	text_add(&t, "qp name=%s type=%u", c->name, c->type);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (args_has(a, numbers[i]))
			text_add(&t, " %s=%" PRIu64, numbers[i], args_num(a, numbers[i], 0));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (args_has(a, names[i]))
			text_add(&t, " %s=%s", names[i], args_str(a, names[i], NULL));
	ret = run_exec_errno(r, a, t.buf, &reply, &done);
	if (done) {
		c->qpn = (uint32_t)args_num(&reply, "qpn", 0);
		snprintf(key, sizeof(key), "%s.qpn", c->name);
		symbol_set(r, key, c->qpn);
		if (r->n_conns == 0)
			symbol_set(r, "qpn", c->qpn);
		r->n_conns++;
	}
	args_free(&reply);
	text_end(&t);
	return ret == 0 && done ? 1 : ret;
}

static bool is_type(const char *word, uint64_t *type)
{
	return name_value("type", word, type) && *type >= 1 && *type <= 4;
}

/* qp [NAME] [rc|uc|ud] [state=...] [attributes of creation and of the way there] */
int verb_qp(struct run *r, struct args *a)
{
	struct conn *c = &r->conn[r->n_conns];
	const char *name = "qp", *word;
	uint64_t type = 2, to;
	struct args empty;
	int ret = 0;

	if (r->n_conns == RUN_QPS)
		return run_fail(r, "more than %d QPs", RUN_QPS);
	while ((word = args_word(a)))
		if (!is_type(word, &type))
			name = word;
	if (!name_value("state", args_str(a, "state", "rts"), &to) || to > 6)
		return run_fail(r, "this state is not known");
	if (strlen(name) >= RUN_NAME)
		return run_fail(r, "the name is too long");
	for (unsigned int i = 0; i < r->n_conns; i++)
		if (!strcmp(r->conn[i].name, name))
			return run_fail(r, "there is a QP %s already", name);
	free(c->attrs);
	*c = (struct conn){.type = (uint32_t)type,
			   .peer_qpn = PEER_QPN + r->n_conns,
			   .rq_psn = RQ_PSN,
			   .sq_psn = SQ_PSN,
			   .qkey = QKEY,
			   .mtu = 1024,
			   .attrs = calloc(1, sizeof(struct qp_attrs))};
	if (!c->attrs)
		abort();
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->peer_qpn = (uint32_t)args_num(a, "dest_qpn", c->peer_qpn);
	attrs_read(r, a, c->attrs);
	ret = qp_create(r, a, c);
	args_parse(&empty, "");
	for (uint32_t s = INIT; ret == 1 && s <= RTS && s <= to; s++) {
		struct step step = {.to = s, .has_state = true};

		if (step_run(r, &empty, c, &step) < 0)
			ret = -1;
	}
	if (ret == 1 && to > RTS) {
		struct step step = {.to = (uint32_t)to, .has_state = true};

		ret = step_run(r, &empty, c, &step);
	}
	args_free(&empty);
	return ret == 1 ? 0 : ret;
}

/* modify [NAME] [STATE] [only] [without=KEY,...] [KEY=VALUE...] [errno=NAME] */
int verb_modify(struct run *r, struct args *a)
{
	struct step step = {.only = args_flag(a, "only"), .av = args_flag(a, "av")};
	const char *name = NULL, *word;
	struct qp_attrs before;
	struct conn *c;
	uint64_t v;
	int ret;

	step.without = args_str(a, "without", NULL);
	while ((word = args_word(a))) {
		if (name_value("state", word, &v)) {
			step.has_state = true;
			step.to = (uint32_t)v;
		} else {
			name = word;
		}
	}
	if (args_has(a, "state")) {
		step.has_state = true;
		step.to = (uint32_t)args_num(a, "state", 0);
	}
	c = conn_find(r, name);
	if (!c)
		return -1;
	if (!step.has_state)
		step.to = c->state;
	for (size_t i = 0; i < ATTRS; i++)
		step.named[i] = args_has(a, attrs[i].key);
	for (size_t i = 0; i < AV_KEYS; i++)
		step.av |= args_has(a, av_keys[i]);
	step.av |= args_has(a, "dgid");
	before = *c->attrs;
	attrs_read(r, a, c->attrs);
	ret = step_run(r, a, c, &step);
	/* What one line names is not the next one's. */
	*c->attrs = before;
	return ret;
}

int verb_query(struct run *r, struct args *a)
{
	const char *name = args_word(a);
	struct conn *c = conn_find(r, name);
	struct args reply;
	char line[80];
	int ret;

	if (!c)
		return -1;
	snprintf(line, sizeof(line), "query qp=%s", c->name);
	ret = run_exec(r, line, &reply);
	if (ret > 0)
		ret = run_fail(r, "query: %s", errno_word(ret));
	else if (ret == 0)
		ret = reply_match(r, a, &reply, "QP");
	args_free(&reply);
	return ret;
}

void conns_forget(struct run *r)
{
	for (unsigned int i = 0; i < RUN_QPS; i++) {
		free(r->conn[i].attrs);
		r->conn[i].attrs = NULL;
	}
	r->n_conns = 0;
}
