/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fault rules: which packets meet with what accident. Pure: time is an argument, randomness comes
 * from seeds, so that the same rules and the same packets give the same accidents, in the daemon
 * and in the simulator. What a verdict asks for (dropping, doubling, waiting) is the caller's to
 * do.
 *
 * A rule is a line of words: DIRECTION MATCH... WHEN... ACTION, in any order after the direction.
 *   DIRECTION  ingress (rx), egress (tx), both
 *   MATCH      qp=N dqpn=N opcode=NAME,... psn=N psn=FIRST-LAST
 *   WHEN       nth=N | every=N | p=PROBABILITY; from=TIME until=TIME count=N seed=N
 *   ACTION     drop | duplicate[=N] | delay=TIME | delay=MIN-MAX | delay=MEAN~DEVIATION |
 *              reorder[=N[,TIME]] | corrupt=FIELD[:VALUE] | corrupt=bits[:N] (icrc=right|wrong) |
 *              mark=ce | nak=CODE | rnr=TIMER |
 *              rate=RATE queue=BYTES [red=MIN,MAX,P]
 */
#ifndef NET_FAULT_H
#define NET_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_dir { FAULT_RX = 1, FAULT_TX = 2 };

enum {
	FAULT_RULES_MAX = 64,
	FAULT_TEXT_MAX = 256,  /* bytes of a rule's line, the end included */
	FAULT_ERROR_MAX = 512, /* so much room no error's line needs */
	FAULT_FIRED_MAX = 8,   /* rules that a verdict names */
	FAULT_EDITS_MAX = 32,
};

struct fault_rules; /* an ordered set of rules with their own random state and counts */

struct fault_packet {
	enum fault_dir dir;
	uint64_t now; /* ns */
	uint32_t qpn; /* the device's own QP, if it is known; ingress: not looked at */
	const uint8_t *bth;
	uint32_t len; /* without ICRC */
	bool ect;     /* ECN-capable: a bottleneck may mark it */
	bool ipv6;
};

/* A byte of the packet that changes; len .. len + 3 are the ICRC. */
struct fault_edit {
	uint32_t at;
	uint8_t flip;	 /* the bits that are turned over */
	bool after_icrc; /* the ICRC is that of the byte as it was */
};

/* What is to be done with a packet. What several rules want adds up; dropping goes before all. */
struct fault_verdict {
	bool drop;
	bool ce;		/* mark it Congestion Experienced */
	uint32_t copies;	/* to be sent or delivered right behind it */
	uint64_t delay;		/* ns */
	uint32_t overtake;	/* wait until so many later ones of its direction and destination QP
				 * have passed, */
	uint64_t overtake_wait; /* but no longer than this, ns */
	uint32_t n_edits;
	uint32_t n_fired; /* 0: it only waits in the queue of a bottleneck */
	struct {
		uint32_t rule;	 /* its number */
		uint32_t action; /* private to fault_act.c */
		uint64_t match;	 /* this packet is the so-manieth that the rule looked at */
	} fired[FAULT_FIRED_MAX];
	struct fault_edit edits[FAULT_EDITS_MAX];
};

struct fault_rules *fault_rules_create(void);
void fault_rules_destroy(struct fault_rules *rules);
bool fault_rules_empty(const struct fault_rules *rules);
/* May a packet of this direction meet with a rule? */
bool fault_rules_concern(const struct fault_rules *rules, enum fault_dir dir);

/* Rules that are added from now on without a seed of their own draw from this one. */
void fault_rules_seed(struct fault_rules *rules, uint64_t seed);

/*
 * 0 or -EINVAL with a line in err ("fault: ...") that says what is wrong. Returns in *id the rule's
 * number (1..). Times of from= and until= count from now.
 */
int fault_rules_add(struct fault_rules *rules, uint64_t now, const char *text, uint32_t *id,
		    char *err, size_t err_size);
int fault_rules_del(struct fault_rules *rules, uint32_t id);
void fault_rules_clear(struct fault_rules *rules);

/* Does any rule fire on this packet? If so *v says what that means, else it is not touched.
 * Deterministic in rules, packets and times. */
bool fault_decide(struct fault_rules *rules, const struct fault_packet *p, struct fault_verdict *v);

/* Change the bytes, either those that the ICRC shall cover or those that change behind its back.
 * The packet has room for the ICRC at its end. */
void fault_edit(const struct fault_verdict *v, uint8_t *bth, bool after_icrc);
/* Would the receiver find the ICRC wrong? */
bool fault_breaks_icrc(const struct fault_verdict *v);

/* "dropped by rule 2", "delayed 5.000 ms by rule 1, marked CE by rule 3"; like snprintf. */
int fault_verdict_print(const struct fault_verdict *v, char *buf, size_t size);

/* One of those that fired: "rule 2 drop, match 17"; like snprintf. */
int fault_fired_print(const struct fault_verdict *v, uint32_t index, char *buf, size_t size);

struct fault_info {
	uint32_t id;
	unsigned dirs; /* of enum fault_dir */
	const char *text, *action;
	uint64_t seen, fired; /* packets that matched, and those of them that it fired on */
};

/* The rules one by one. -ENOENT at the end. */
int fault_rules_info(const struct fault_rules *rules, uint32_t index, struct fault_info *info);
/* The same as a line of text. */
int fault_rules_print(const struct fault_rules *rules, uint32_t index, char *buf, size_t size);

#endif
