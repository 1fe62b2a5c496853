/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the files behind net/fault.h share. */
#ifndef NET_FAULT_PRIV_H
#define NET_FAULT_PRIV_H

#include "net/fault.h"
#include "net/queue.h"

#define FAULT_ANY UINT32_MAX

enum fault_when { FAULT_ALWAYS, FAULT_PROBABILITY, FAULT_NTH, FAULT_EVERY };

/* Their names are in fault_act.c. */
enum fault_action {
	FAULT_NO_ACTION,
	FAULT_DROP,
	FAULT_DUPLICATE,
	FAULT_DELAY,
	FAULT_REORDER,
	FAULT_CORRUPT_FIELD,
	FAULT_CORRUPT_BITS,
	FAULT_MARK_CE,
	FAULT_NAK, /* RNR NAKs, too */
	FAULT_BOTTLENECK,
};

struct fault_field; /* of a packet: fault_field.c */

/* Which packets a rule matches. */
struct fault_match {
	uint32_t qpn, dqpn;		 /* FAULT_ANY */
	uint32_t psn_first, psn_span;	 /* so many behind the first; FAULT_ANY: all */
	uint64_t from, until;		 /* ns, of the clock */
	const struct fault_field *field; /* that there must be; or NULL */
	bool ack;			 /* ACKs only, no NAKs */
	unsigned dirs;			 /* of enum fault_dir */
	uint8_t opcodes[256 / 8];	 /* bits */
};

struct fault_rule {
	uint32_t id;
	struct fault_match match;

	/* When. */
	enum fault_when when;
	uint64_t n;	/* FAULT_NTH, FAULT_EVERY */
	double chance;	/* FAULT_PROBABILITY */
	uint64_t limit; /* firings; UINT64_MAX: none */
	uint32_t of;	/* its class's place (fault.c) */
	uint64_t base;	/* how many packets that had seen when the rule came */
	uint64_t next;	/* on which of them it fires next; UINT64_MAX: never again */

	/* Action. */
	enum fault_action action;
	uint32_t count;		  /* copies, bits to flip, packets that overtake */
	uint64_t delay, delay_to; /* ns; delay_to: the maximum, if it is more */
	uint64_t deviation;	  /* of a normal distribution, whose mean is delay */
	const struct fault_field *field;
	bool has_value, icrc_right;
	uint64_t value;	  /* for the field */
	uint8_t syndrome; /* in place of an ACK's */
	struct net_queue queue;

	uint64_t random;
	uint64_t seen, fired; /* seen: up to its last firing */
	char text[FAULT_TEXT_MAX];
};

/* fault_parse.c: false with a line in err. Times count from now. */
bool fault_parse(struct fault_rule *r, uint64_t now, const char *text, char *err, size_t err_size);

/* fault_word.c: values of words. All refuse signs, blanks and what is left over. */
bool fault_word_number(const char *text, uint64_t max, uint64_t *value);
/* "FIRST-LAST" or "N" */
bool fault_word_range(const char *text, uint64_t max, uint64_t *first, uint64_t *last);
/* "10us", "1.5ms", "2s", "100ns"; at most an hour. */
bool fault_word_time(const char *text, uint64_t *ns);
/* Sets the bits of the opcodes that the name means; false: there are none. */
bool fault_word_opcode(const char *name, uint8_t opcodes[256 / 8]);

/* fault_field.c */
const struct fault_field *fault_field_find(const char *name);
/* Take from the set the opcodes whose packets do not have the field; false: none is left. */
bool fault_field_limit(const struct fault_field *f, uint8_t opcodes[256 / 8]);
bool fault_field_takes(const struct fault_field *f, uint64_t value);
bool fault_field_is_icrc(const struct fault_field *f);
/* Is there a byte of it in this packet? */
bool fault_field_there(const struct fault_field *f, const struct fault_packet *p);
/* Where it is, in bytes, and which bits of them it is. At most 8 bytes; of a payload one at random,
 * chosen by `random`. */
uint32_t fault_field_bits(const struct fault_field *f, const struct fault_packet *p,
			  uint64_t random, uint32_t *bytes, uint64_t *mask);

/* fault_act.c: what the rule does to the packet, into the verdict. False: it has only let it
 * wait behind others, which does not count. */
bool fault_act(struct fault_rule *r, const struct fault_packet *p, struct fault_verdict *v);
const char *fault_action_name(enum fault_action action);

/* fault.c: splitmix64; any seed is a good one, 0 included. */
uint64_t fault_random(uint64_t *state);

#endif
