/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Every message in every state of a connection, as a table: what is answered, what the owner is
 * told, and the state after. What is not in the table changes nothing and is not answered. Then
 * the same with every message coming from another address, or naming another ID, and with what
 * the owner asks.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "cm_reach.h"
#include "rnic_fixture.h"

#define NOTHING (-1)

struct rule {
	enum cm_at at;
	enum cm_type heard;
	int said, told; /* enum cm_type, enum rnic_cm_event_type, or NOTHING */
	enum rnic_cm_state after;
};

static const struct rule rules[] = {
	/* An end that has not asked yet has no peer. */
	{AT_IDLE, CM_REP, CM_REJ, NOTHING, RNIC_CM_IDLE},
	{AT_IDLE, CM_DREQ, CM_DREP, NOTHING, RNIC_CM_IDLE},
	{AT_IDLE, CM_LAP, CM_APR, NOTHING, RNIC_CM_IDLE},
	{AT_REQ_SENT, CM_REP, NOTHING, RNIC_CM_EV_REP, RNIC_CM_REP_RCVD},
	{AT_REQ_SENT, CM_REJ, NOTHING, RNIC_CM_EV_REJ, RNIC_CM_IDLE},
	{AT_REQ_RCVD, CM_REQ, CM_MRA, NOTHING, RNIC_CM_REQ_RCVD},
	{AT_REQ_RCVD, CM_REJ, NOTHING, RNIC_CM_EV_REJ, RNIC_CM_TIMEWAIT},
	{AT_REP_SENT, CM_REQ, CM_REP, NOTHING, RNIC_CM_REP_SENT},
	{AT_REP_SENT, CM_RTU, NOTHING, RNIC_CM_EV_ESTABLISHED, RNIC_CM_ESTABLISHED},
	{AT_REP_SENT, CM_REJ, NOTHING, RNIC_CM_EV_REJ, RNIC_CM_TIMEWAIT},
	{AT_REP_SENT, CM_DREQ, NOTHING, RNIC_CM_EV_DREQ, RNIC_CM_DREQ_RCVD},
	{AT_REP_RCVD, CM_REP, CM_MRA, NOTHING, RNIC_CM_REP_RCVD},
	{AT_REP_RCVD, CM_REJ, NOTHING, RNIC_CM_EV_REJ, RNIC_CM_TIMEWAIT},
	{AT_ESTABLISHED_PASSIVE, CM_REJ, NOTHING, RNIC_CM_EV_REJ, RNIC_CM_TIMEWAIT},
	{AT_ESTABLISHED_PASSIVE, CM_DREQ, NOTHING, RNIC_CM_EV_DREQ, RNIC_CM_DREQ_RCVD},
	{AT_ESTABLISHED_PASSIVE, CM_LAP, CM_APR, NOTHING, RNIC_CM_ESTABLISHED},
	{AT_ESTABLISHED_ACTIVE, CM_REP, CM_RTU, NOTHING, RNIC_CM_ESTABLISHED},
	{AT_ESTABLISHED_ACTIVE, CM_REJ, NOTHING, RNIC_CM_EV_REJ, RNIC_CM_TIMEWAIT},
	{AT_ESTABLISHED_ACTIVE, CM_DREQ, NOTHING, RNIC_CM_EV_DREQ, RNIC_CM_DREQ_RCVD},
	{AT_ESTABLISHED_ACTIVE, CM_LAP, CM_APR, NOTHING, RNIC_CM_ESTABLISHED},
	{AT_DREQ_SENT, CM_DREQ, CM_DREP, RNIC_CM_EV_DISCONNECTED, RNIC_CM_TIMEWAIT},
	{AT_DREQ_SENT, CM_DREP, NOTHING, RNIC_CM_EV_DISCONNECTED, RNIC_CM_TIMEWAIT},
	{AT_DREQ_SENT, CM_REJ, NOTHING, RNIC_CM_EV_DISCONNECTED, RNIC_CM_TIMEWAIT},
	{AT_DREQ_RCVD, CM_DREQ, CM_DREP, NOTHING, RNIC_CM_DREQ_RCVD},
	{AT_TIMEWAIT_REJECTED, CM_REQ, CM_REJ, NOTHING, RNIC_CM_TIMEWAIT},
	{AT_TIMEWAIT_REJECTED, CM_DREQ, CM_DREP, NOTHING, RNIC_CM_TIMEWAIT},
	{AT_TIMEWAIT_REFUSED, CM_DREQ, CM_DREP, NOTHING, RNIC_CM_TIMEWAIT},
	{AT_TIMEWAIT_DREP, CM_DREQ, CM_DREP, NOTHING, RNIC_CM_TIMEWAIT},
	{AT_TIMEWAIT_REP_REFUSED, CM_DREQ, CM_DREP, NOTHING, RNIC_CM_TIMEWAIT},
	{AT_TIMEWAIT_GIVEN_UP, CM_REP, CM_REJ, NOTHING, RNIC_CM_TIMEWAIT},
	{AT_TIMEWAIT_GIVEN_UP, CM_DREQ, CM_DREP, NOTHING, RNIC_CM_TIMEWAIT},
	{AT_SIDR_REQ_SENT, CM_SIDR_REP, NOTHING, RNIC_CM_EV_SIDR_REP, RNIC_CM_IDLE},
	{AT_TIMEWAIT_SIDR, CM_SIDR_REQ, CM_SIDR_REP, NOTHING, RNIC_CM_TIMEWAIT},
	{AT_TIMEWAIT_SIDR, CM_DREQ, CM_DREP, NOTHING, RNIC_CM_TIMEWAIT},
};

static struct cm_rig rig;
static struct rnic_cm *cm;

static struct rule rule_of(enum cm_at at, enum cm_type type)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].at == at && rules[i].heard == type)
			return rules[i];
	return (struct rule){at, type, NOTHING, NOTHING, cm_at_state(at)};
}

static bool is_request(enum cm_type type)
{
	return type == CM_REQ || type == CM_SIDR_REQ;
}

static void begin(enum cm_at at)
{
	cm_rig_begin(&rig);
	cm = cm_reach(&rig, at);
}

static void end(void)
{
	rnic_cm_destroy(cm, rig.now);
	cm_rig_end(&rig);
}

static void state_is(enum rnic_cm_state state, enum cm_at at, const char *what)
{
	ck_assert_msg(rnic_cm_state(cm) == state, "%s in %s: %s after, not %s", what,
		      cm_at_name(at), rnic_cm_state_name(rnic_cm_state(cm)),
		      rnic_cm_state_name(state));
}

static void follows(const struct rule *rule)
{
	const char *name = cm_type_name(rule->heard);

	ck_assert_msg(rig.n_sent == (rule->said != NOTHING), "%s in %s: %u answers, first %s", name,
		      cm_at_name(rule->at), rig.n_sent, cm_type_name(rig.sent[0].type));
	if (rule->said != NOTHING)
		cm_rig_said(&rig, (enum cm_type)rule->said);
	ck_assert_msg(rig.n_told == (rule->told != NOTHING), "%s in %s: %u events", name,
		      cm_at_name(rule->at), rig.n_told);
	if (rule->told != NOTHING)
		ck_assert_ptr_eq(cm_rig_told(&rig, (enum rnic_cm_event_type)rule->told)->cm, cm);
	state_is(rule->after, rule->at, name);
}

START_TEST(each_message_in_each_state_does_what_the_table_says)
{
	for (int t = CM_TYPE_FIRST; t <= CM_TYPE_LAST; t++) {
		struct rule rule = rule_of((enum cm_at)_i, (enum cm_type)t);
		struct cm_msg msg;

		if (is_request(rule.heard) && !cm_at_made_by(rule.at, rule.heard))
			continue; /* it would begin something new */
		begin(rule.at);
		msg = cm_reach_msg(&rig, cm, rule.heard);
		cm_rig_hear(&rig, &msg);
		follows(&rule);
		end();
	}
}
END_TEST

/* Answered, if at all, as a message for no end. */
static void nothing_happens(enum cm_at at, enum cm_type type)
{
	int said = type == CM_REP    ? CM_REJ
		   : type == CM_DREQ ? CM_DREP
		   : type == CM_LAP  ? CM_APR
				     : NOTHING;
	struct rule rule = {at, type, said, NOTHING, cm_at_state(at)};

	follows(&rule);
}

START_TEST(message_from_a_foreign_address_does_nothing)
{
	for (int t = CM_TYPE_FIRST; t <= CM_TYPE_LAST; t++) {
		uint8_t foreign[16];
		struct cm_msg msg;

		if (is_request((enum cm_type)t))
			continue;
		begin((enum cm_at)_i);
		memcpy(foreign, rig.peer, 16);
		foreign[15] ^= 4;
		msg = cm_reach_msg(&rig, cm, (enum cm_type)t);
		cm_rig_hear_from(&rig, foreign, &msg);
		nothing_happens((enum cm_at)_i, (enum cm_type)t);
		end();
	}
}
END_TEST

START_TEST(message_for_an_unknown_id_does_nothing)
{
	for (int t = CM_TYPE_FIRST; t <= CM_TYPE_LAST; t++) {
		struct cm_msg msg;

		if (is_request((enum cm_type)t))
			continue;
		begin((enum cm_at)_i);
		msg = cm_reach_msg(&rig, cm, (enum cm_type)t);
		msg.remote_id ^= 0x100;
		if (t == CM_SIDR_REP)
			msg.local_id ^= 0x100;
		cm_rig_hear(&rig, &msg);
		nothing_happens((enum cm_at)_i, (enum cm_type)t);
		end();
	}
}
END_TEST

START_TEST(message_with_another_id_of_the_peer_does_nothing)
{
	static const enum cm_at known[] = {
		AT_REQ_RCVD,	       AT_REP_SENT,  AT_REP_RCVD,  AT_ESTABLISHED_PASSIVE,
		AT_ESTABLISHED_ACTIVE, AT_DREQ_SENT, AT_DREQ_RCVD, AT_TIMEWAIT_DREP};

	for (int t = CM_TYPE_FIRST; t <= CM_TYPE_LAST; t++) {
		struct cm_msg msg;

		if (is_request((enum cm_type)t) || t == CM_SIDR_REP)
			continue;
		begin(known[_i]);
		msg = cm_reach_msg(&rig, cm, (enum cm_type)t);
		msg.local_id ^= 0x100;
		cm_rig_hear(&rig, &msg);
		nothing_happens(known[_i], (enum cm_type)t);
		end();
	}
}
END_TEST

/* ---- what the owner asks ---- */

enum ask { ASK_REQ, ASK_REP, ASK_RTU, ASK_REJ, ASK_DREQ, ASK_DREP, ASK_SIDR_REQ, ASK_SIDR_REP };

static const struct {
	enum cm_at at;
	enum ask ask;
	enum cm_type said;
	enum rnic_cm_state after;
} allowed[] = {
	{AT_IDLE, ASK_REQ, CM_REQ, RNIC_CM_REQ_SENT},
	{AT_IDLE, ASK_SIDR_REQ, CM_SIDR_REQ, RNIC_CM_SIDR_REQ_SENT},
	{AT_REQ_SENT, ASK_REJ, CM_REJ, RNIC_CM_TIMEWAIT},
	{AT_REQ_RCVD, ASK_REP, CM_REP, RNIC_CM_REP_SENT},
	{AT_REQ_RCVD, ASK_REJ, CM_REJ, RNIC_CM_TIMEWAIT},
	{AT_REP_SENT, ASK_REJ, CM_REJ, RNIC_CM_TIMEWAIT},
	{AT_REP_SENT, ASK_DREQ, CM_DREQ, RNIC_CM_DREQ_SENT},
	{AT_REP_RCVD, ASK_RTU, CM_RTU, RNIC_CM_ESTABLISHED},
	{AT_REP_RCVD, ASK_REJ, CM_REJ, RNIC_CM_TIMEWAIT},
	{AT_ESTABLISHED_PASSIVE, ASK_DREQ, CM_DREQ, RNIC_CM_DREQ_SENT},
	{AT_ESTABLISHED_ACTIVE, ASK_DREQ, CM_DREQ, RNIC_CM_DREQ_SENT},
	{AT_DREQ_RCVD, ASK_DREP, CM_DREP, RNIC_CM_TIMEWAIT},
	{AT_SIDR_REQ_RCVD, ASK_SIDR_REP, CM_SIDR_REP, RNIC_CM_TIMEWAIT},
};

static int ask(enum ask what)
{
	struct cm_msg own = cm_reach_own();
	struct rnic_av av = cm_reach_av(&rig);

	switch (what) {
	case ASK_REQ:
		return rnic_cm_req(cm, rig.now, &av, &own);
	case ASK_REP:
		return rnic_cm_rep(cm, rig.now, &own);
	case ASK_RTU:
		return rnic_cm_rtu(cm, rig.now, &own);
	case ASK_REJ:
		return rnic_cm_rej(cm, rig.now, &own);
	case ASK_DREQ:
		return rnic_cm_dreq(cm, rig.now, &own);
	case ASK_DREP:
		return rnic_cm_drep(cm, rig.now, &own);
	case ASK_SIDR_REQ:
		return rnic_cm_sidr_req(cm, rig.now, &av, &own);
	case ASK_SIDR_REP:
		return rnic_cm_sidr_rep(cm, rig.now, &own);
	}
	return 0;
}

START_TEST(owner_may_say_what_its_state_has_and_nothing_else)
{
	for (int a = ASK_REQ; a <= ASK_SIDR_REP; a++) {
		int said = NOTHING, rc;
		enum rnic_cm_state after = cm_at_state((enum cm_at)_i);

		for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
			if (allowed[i].at == (enum cm_at)_i && allowed[i].ask == (enum ask)a) {
				said = (int)allowed[i].said;
				after = allowed[i].after;
			}
		begin((enum cm_at)_i);
		rc = ask((enum ask)a);
		ck_assert_msg(rc == (said == NOTHING ? -EINVAL : 0), "asked %d in %s: %d", a,
			      cm_at_name((enum cm_at)_i), rc);
		if (said != NOTHING)
			cm_rig_said(&rig, (enum cm_type)said);
		cm_rig_silent(&rig);
		cm_rig_untold(&rig);
		state_is(after, (enum cm_at)_i, "what the owner asked");
		end();
	}
}
END_TEST

START_TEST(traffic_establishes_only_what_waits_for_its_rtu)
{
	enum cm_at at = (enum cm_at)_i;
	bool waits = at == AT_REP_SENT;

	begin(at);
	ck_assert_int_eq(rnic_cm_notify(cm, rig.now), waits ? 0
						      : cm_at_state(at) == RNIC_CM_ESTABLISHED
							      ? -EISCONN
							      : -EINVAL);
	if (waits)
		cm_rig_told(&rig, RNIC_CM_EV_ESTABLISHED);
	cm_rig_untold(&rig);
	cm_rig_silent(&rig);
	state_is(waits ? RNIC_CM_ESTABLISHED : cm_at_state(at), at, "traffic");
	end();
}
END_TEST

/* What the peer is told of an end that its owner forgets; the owner is told nothing more. */
START_TEST(forgotten_end_tells_its_peer_and_goes)
{
	static const int said[AT_COUNT] = {
		[AT_IDLE] = NOTHING,
		[AT_REQ_SENT] = CM_REJ,
		[AT_REQ_RCVD] = CM_REJ,
		[AT_REP_SENT] = CM_DREQ,
		[AT_REP_RCVD] = CM_REJ,
		[AT_ESTABLISHED_PASSIVE] = CM_DREQ,
		[AT_ESTABLISHED_ACTIVE] = CM_DREQ,
		[AT_DREQ_SENT] = NOTHING,
		[AT_DREQ_RCVD] = CM_DREP,
		[AT_TIMEWAIT_REJECTED] = NOTHING,
		[AT_TIMEWAIT_REFUSED] = NOTHING,
		[AT_TIMEWAIT_DREP] = NOTHING,
		[AT_TIMEWAIT_REP_REFUSED] = NOTHING,
		[AT_TIMEWAIT_GIVEN_UP] = NOTHING,
		[AT_SIDR_REQ_SENT] = NOTHING,
		[AT_SIDR_REQ_RCVD] = CM_SIDR_REP,
		[AT_TIMEWAIT_SIDR] = NOTHING,
	};

	begin((enum cm_at)_i);
	rnic_cm_destroy(cm, rig.now);
	if (said[_i] != NOTHING)
		cm_rig_said(&rig, (enum cm_type)said[_i]);
	cm_rig_silent(&rig);
	cm_rig_end(&rig);
	cm_rig_untold(&rig);
}
END_TEST

int main(void)
{
	const struct fixture_loop loops[] = {
		{each_message_in_each_state_does_what_the_table_says, 0, AT_COUNT},
		{message_from_a_foreign_address_does_nothing, 0, AT_COUNT},
		{message_for_an_unknown_id_does_nothing, 0, AT_COUNT},
		{message_with_another_id_of_the_peer_does_nothing, 0, 8},
		{owner_may_say_what_its_state_has_and_nothing_else, 0, AT_COUNT},
		{traffic_establishes_only_what_waits_for_its_rtu, 0, AT_COUNT},
		{forgotten_end_tells_its_peer_and_goes, 0, AT_COUNT},
		{0},
	};

	return fixture_run_loops("rnic_cm_states", NULL, NULL, 0, loops);
}
