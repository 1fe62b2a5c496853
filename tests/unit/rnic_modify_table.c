/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Every type of QP, every pair of states, every attribute that is missing or too much: modify's
 * verdict is that of tests/use/transitions.txt, which was not made from qp_table.c.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rnic/qp_priv.h"
#include "rnic/qp_table.h"
#include "rnic_fixture.h"
#include "transitions.h"

static struct transition page[TRANSITION_TYPES][TRANSITION_STATES][TRANSITION_STATES];

/* One question to the device: a QP of that type, in that state. */
struct ask {
	struct fixture f;
	struct fixture_qp q;
	uint32_t type, from, to; /* of the page */
};

static const char *where(const struct ask *a)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s %s to %s", transition_type_names[a->type],
		 transition_state_names[a->from], transition_state_names[a->to]);
	return text;
}

static struct rnic_qp_attr attrs(const struct ask *a, uint32_t to)
{
	struct rnic_qp_attr attr = fixture_attr((enum rnic_qp_state)to);

	attr.cur_state = rnic_qp_state(a->q.qp);
	attr.rate_limit = 1;
	attr.alt_port_num = 1;
	attr.alt_av = attr.av;
	return attr;
}

static void step(struct ask *a, uint32_t to)
{
	uint32_t from = rnic_qp_state(a->q.qp);
	struct rnic_qp_attr attr = attrs(a, to);

	ck_assert_msg(
		!rnic_qp_modify(a->q.qp, &attr, page[a->type][from][to].need | RNIC_QP_STATE, 0),
		"%s: %s", where(a), a->f.log);
}

static void ask_begin(struct ask *a)
{
	static const uint32_t ways[TRANSITION_STATES][4] = {
		[RNIC_QPS_INIT] = {RNIC_QPS_INIT},
		[RNIC_QPS_RTR] = {RNIC_QPS_INIT, RNIC_QPS_RTR},
		[RNIC_QPS_RTS] = {RNIC_QPS_INIT, RNIC_QPS_RTR, RNIC_QPS_RTS},
		[RNIC_QPS_SQD] = {RNIC_QPS_INIT, RNIC_QPS_RTR, RNIC_QPS_RTS, RNIC_QPS_SQD},
		[RNIC_QPS_SQE] = {RNIC_QPS_INIT, RNIC_QPS_RTR, RNIC_QPS_RTS},
		[RNIC_QPS_ERR] = {RNIC_QPS_INIT, RNIC_QPS_ERR},
	};

	fixture_begin(&a->f);
	fixture_qp_begin(&a->f, &a->q, (enum rnic_qp_type)(a->type + 1));
	for (int i = 0; i < 4 && ways[a->from][i]; i++)
		step(a, ways[a->from][i]);
	if (a->from == RNIC_QPS_SQE) /* where only a failing send leads */
		a->q.qp->attr.state = RNIC_QPS_SQE;
	ck_assert_int_eq(rnic_qp_state(a->q.qp), a->from);
	a->f.n_logs = 0;
}

static void ask_end(struct ask *a)
{
	fixture_qp_end(&a->q);
	fixture_end(&a->f);
}

/* The QP takes these attributes, and is where it was asked to go. */
static void taken(struct ask *a, uint32_t mask)
{
	struct rnic_qp_attr attr = attrs(a, a->to);

	ck_assert_msg(!rnic_qp_modify(a->q.qp, &attr, mask, 0), "%s, 0x%x: %s", where(a), mask,
		      a->f.log);
	ck_assert_uint_eq(a->f.n_logs, 0);
	ck_assert_int_eq(rnic_qp_state(a->q.qp), a->to);
}

/* It refuses, changes nothing, and says this. */
static void refused(struct ask *a, uint32_t mask, const char *words)
{
	struct rnic_qp_attr attr = attrs(a, a->to), before, after;
	int ret;

	rnic_qp_query(a->q.qp, &before);
	ret = rnic_qp_modify(a->q.qp, &attr, mask, 0);
	ck_assert_msg(ret == -EINVAL, "%s, 0x%x: %d", where(a), mask, ret);
	ck_assert_msg(a->f.n_logs == 1 && strstr(a->f.log, words), "%s, 0x%x: not \"%s\": %s",
		      where(a), mask, words, a->f.log);
	a->f.n_logs = 0;
	rnic_qp_query(a->q.qp, &after);
	ck_assert_mem_eq(&before, &after, sizeof(after));
}

typedef void (*ask_fn)(struct ask *a, const struct transition *rule);

static uint32_t for_all(ask_fn fn)
{
	static struct ask a;
	uint32_t n = 0;

	transitions_read(TRANSITIONS, page);
	for (a.type = 0; a.type < TRANSITION_TYPES; a.type++)
		for (a.from = 0; a.from < TRANSITION_STATES; a.from++)
			for (a.to = 0; a.to < TRANSITION_STATES; a.to++, n++)
				fn(&a, &page[a.type][a.from][a.to]);
	return n;
}

static void verdict(struct ask *a, const struct transition *rule)
{
	char words[80];

	snprintf(words, sizeof(words), "QP %d: %s to %s is not a legal transition",
		 a->type ? 17 : 1, transition_state_names[a->from], transition_state_names[a->to]);
	ask_begin(a);
	if (rule->legal)
		taken(a, rule->need | RNIC_QP_STATE);
	else
		refused(a, rule->need | RNIC_QP_STATE, words);
	ask_end(a);
}

START_TEST(every_transition_is_legal_or_not_as_the_page_says)
{
	ck_assert_uint_eq(for_all(verdict), 4 * 7 * 7);
}
END_TEST

static void say_attr(char words[80], const struct ask *a, const char *verb, uint32_t bit)
{
	const char *name = bit < TRANSITION_BITS ? transition_attr_names[bit] : NULL;

	snprintf(words, 80, "%s to %s %s %s%s:", transition_state_names[a->from],
		 transition_state_names[a->to], verb, name ? "IBV_QP_" : "",
		 name ? name : "an unknown bit");
}

static void each_missing(struct ask *a, const struct transition *rule)
{
	char words[80];

	if (!rule->need)
		return;
	ask_begin(a);
	for (uint32_t bit = 0; bit < 32; bit++) {
		if (!(rule->need & 1u << bit))
			continue;
		say_attr(words, a, "needs", bit);
		refused(a, (rule->need & ~(1u << bit)) | RNIC_QP_STATE, words);
		refused(a, (rule->need & ~(1u << bit)) | rule->may | RNIC_QP_STATE, words);
	}
	taken(a, rule->need | RNIC_QP_STATE);
	ask_end(a);
}

START_TEST(every_single_missing_attribute_is_refused_by_its_name)
{
	for_all(each_missing);
}
END_TEST

static void each_forbidden(struct ask *a, const struct transition *rule)
{
	char words[80];

	if (!rule->legal)
		return;
	ask_begin(a);
	for (uint32_t bit = 1; bit < 32; bit++) {
		if ((rule->need | rule->may) & 1u << bit)
			continue;
		say_attr(words, a, "does not take", bit);
		refused(a, rule->need | 1u << bit | RNIC_QP_STATE, words);
	}
	taken(a, rule->need | RNIC_QP_STATE);
	ask_end(a);
}

START_TEST(every_single_forbidden_attribute_is_refused_by_its_name)
{
	for_all(each_forbidden);
}
END_TEST

static void each_optional(struct ask *a, const struct transition *rule)
{
	for (uint32_t bit = 1; bit < 32; bit++) {
		if (!(rule->may & 1u << bit))
			continue;
		ask_begin(a);
		if (bit == 14)
			refused(a, rule->need | 1u << bit | RNIC_QP_STATE, "no alternate path");
		else
			taken(a, rule->need | 1u << bit | RNIC_QP_STATE);
		ask_end(a);
	}
}

START_TEST(every_single_optional_attribute_is_taken_but_the_alternate_path)
{
	for_all(each_optional);
}
END_TEST

/* Without IBV_QP_STATE the transition is the one from a state to itself. */
static void stays(struct ask *a, const struct transition *rule)
{
	uint32_t mask = rule->may & ~(uint32_t)RNIC_QP_ALT_PATH;

	if (a->from != a->to || !rule->legal)
		return;
	ask_begin(a);
	taken(a, mask);
	refused(a, mask | RNIC_QP_DEST_QPN, "does not take IBV_QP_DEST_QPN");
	ask_end(a);
}

START_TEST(attributes_without_a_state_are_those_of_staying)
{
	for_all(stays);
}
END_TEST

static void says_the_way(struct ask *a, const struct transition *rule)
{
	enum rnic_qp_state way[RNIC_QPS_COUNT];
	uint32_t n;

	if (rule->legal || a->from == a->to)
		return;
	n = qp_table_way((enum rnic_qp_state)a->from, (enum rnic_qp_state)a->to, way);
	if (a->to == RNIC_QPS_SQE) {
		ck_assert_uint_eq(n, 0);
		return;
	}
	ck_assert_uint_ge(n, 2);
	ck_assert_uint_eq(way[n - 1], a->to);
	for (uint32_t i = 0, from = a->from; i < n; from = way[i++])
		ck_assert_msg(page[a->type][from][way[i]].legal, "%s: step %u", where(a), i);
}

START_TEST(the_way_that_a_refusal_names_is_legal_step_by_step)
{
	for_all(says_the_way);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		every_transition_is_legal_or_not_as_the_page_says,
		every_single_missing_attribute_is_refused_by_its_name,
		every_single_forbidden_attribute_is_refused_by_its_name,
		every_single_optional_attribute_is_taken_but_the_alternate_path,
		attributes_without_a_state_are_those_of_staying,
		the_way_that_a_refusal_names_is_legal_step_by_step,
	};

	return fixture_run("rnic_modify_table", tests, sizeof(tests) / sizeof(tests[0]));
}
