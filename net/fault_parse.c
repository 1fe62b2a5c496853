/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A rule from its line. Each word is known by what stands before its "=", and may be given once;
 * what the words mean together is looked at when all have been read.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "bth/psn.h"
#include "net/fault_priv.h"

#define QPN_MAX 0xffffffu
#define REORDER_WAIT_NS 10000000 /* where not said otherwise */

enum { WORD_LEN_MAX = 96, COUNT_MAX = 1000, COPIES_MAX = 16 };

struct parse {
	struct fault_rule *r;
	uint64_t now;
	const char *text; /* of the whole rule */
	char *err;
	size_t err_size;
	bool seed_given, icrc_given, queue_given;
};

__attribute__((format(printf, 2, 3))) static bool wrong(struct parse *p, const char *fmt, ...)
{
	size_t len = strlen("fault: ");
	va_list ap;
	int n;

	snprintf(p->err, p->err_size, "fault: ");
	if (len >= p->err_size)
		return false;
	va_start(ap, fmt);
	n = vsnprintf(p->err + len, p->err_size - len, fmt, ap);
	va_end(ap);
	len += n > 0 ? (size_t)n : 0;
	if (len < p->err_size)
		snprintf(p->err + len, p->err_size - len, " in \"%s\"", p->text);
	/* It is going to be a line of a log. */
	for (char *c = p->err; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	return false;
}

static bool number_word(struct parse *p, const char *name, const char *value, uint64_t least,
			uint64_t max, uint64_t *number)
{
	if (fault_word_number(value, max, number) && *number >= least)
		return true;
	if (max == UINT64_MAX)
		return wrong(p, "%s is a number from %llu on, not '%s'", name,
			     (unsigned long long)least, value);
	return wrong(p, "%s is %llu to %llu, not '%s'", name, (unsigned long long)least,
		     (unsigned long long)max, value);
}

static bool time_word(struct parse *p, const char *name, const char *value, uint64_t *ns)
{
	return fault_word_time(value, ns) ||
	       wrong(p, "%s is a time such as 500us, 1.5ms or 2s, not '%s'", name, value);
}

/* ---- which packets ---- */

static bool qpn_word(struct parse *p, const char *name, const char *value, uint32_t *qpn)
{
	uint64_t number;

	if (!number_word(p, name, value, 0, QPN_MAX, &number))
		return false;
	*qpn = (uint32_t)number;
	return true;
}

static bool take_qp(struct parse *p, const char *value)
{
	return qpn_word(p, "qp", value, &p->r->match.qpn);
}

static bool take_dqpn(struct parse *p, const char *value)
{
	return qpn_word(p, "dqpn", value, &p->r->match.dqpn);
}

static bool take_opcode(struct parse *p, const char *value)
{
	char list[WORD_LEN_MAX], *save, *name;

	memset(p->r->match.opcodes, 0, sizeof(p->r->match.opcodes));
	snprintf(list, sizeof(list), "%s", value);
	if (!*value || value[strlen(value) - 1] == ',' || *value == ',' || strstr(value, ",,"))
		return wrong(p, "opcode wants a name, such as rc-read-response");
	for (name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save))
		if (!fault_word_opcode(name, p->r->match.opcodes))
			return wrong(p, "unknown opcode '%s'", name);
	return true;
}

static bool take_psn(struct parse *p, const char *value)
{
	uint64_t first, last;

	if (!fault_word_range(value, BTH_PSN_MASK, &first, &last))
		return wrong(p, "psn is 0 to 0xffffff, or FIRST-LAST, not '%s'", value);
	p->r->match.psn_first = (uint32_t)first;
	p->r->match.psn_span = (uint32_t)(last - first) & BTH_PSN_MASK;
	return true;
}

static bool take_from(struct parse *p, const char *value)
{
	uint64_t ns;

	if (!time_word(p, "from", value, &ns))
		return false;
	p->r->match.from = p->now + ns;
	return true;
}

static bool take_until(struct parse *p, const char *value)
{
	uint64_t ns;

	if (!time_word(p, "until", value, &ns))
		return false;
	p->r->match.until = p->now + ns;
	return true;
}

/* ---- when ---- */

static bool when_set(struct parse *p, enum fault_when when)
{
	if (p->r->when != FAULT_ALWAYS)
		return wrong(p, "p, nth and every exclude each other");
	p->r->when = when;
	return true;
}

static bool take_p(struct parse *p, const char *value)
{
	char *end;
	double chance = strtod(value, &end);

	if (!isdigit((unsigned char)*value) || strpbrk(value, "xX") || *end != '\0' ||
	    !(chance >= 0 && chance <= 1))
		return wrong(p, "p is a number from 0 to 1, not '%s'", value);
	p->r->chance = chance;
	return when_set(p, FAULT_PROBABILITY);
}

static bool take_nth(struct parse *p, const char *value)
{
	return number_word(p, "nth", value, 1, UINT64_MAX, &p->r->n) && when_set(p, FAULT_NTH);
}

static bool take_every(struct parse *p, const char *value)
{
	return number_word(p, "every", value, 1, UINT64_MAX, &p->r->n) && when_set(p, FAULT_EVERY);
}

static bool take_count(struct parse *p, const char *value)
{
	return number_word(p, "count", value, 1, UINT64_MAX, &p->r->limit);
}

static bool take_seed(struct parse *p, const char *value)
{
	p->seed_given = true;
	return number_word(p, "seed", value, 0, UINT64_MAX, &p->r->random);
}

/* ---- what ---- */

static bool action_set(struct parse *p, enum fault_action action)
{
	if (p->r->action != FAULT_NO_ACTION)
		return wrong(p, "%s and %s: a rule has one action", fault_action_name(p->r->action),
			     fault_action_name(action));
	p->r->action = action;
	return true;
}

static bool take_drop(struct parse *p, const char *value)
{
	if (value)
		return wrong(p, "drop takes no value");
	return action_set(p, FAULT_DROP);
}

static bool take_duplicate(struct parse *p, const char *value)
{
	uint64_t copies = 1;

	if (value && !number_word(p, "duplicate", value, 1, COPIES_MAX, &copies))
		return false;
	p->r->count = (uint32_t)copies;
	return action_set(p, FAULT_DUPLICATE);
}

static bool take_delay(struct parse *p, const char *value)
{
	char first[WORD_LEN_MAX];
	size_t len = strcspn(value, "-~");

	snprintf(first, sizeof(first), "%.*s", (int)len, value);
	if (!time_word(p, "delay", first, &p->r->delay))
		return false;
	if (value[len] == '-') {
		if (!time_word(p, "delay", value + len + 1, &p->r->delay_to))
			return false;
		if (p->r->delay_to < p->r->delay)
			return wrong(p, "delay is MIN-MAX, not '%s'", value);
	} else if (value[len] == '~') {
		if (!time_word(p, "delay", value + len + 1, &p->r->deviation))
			return false;
	}
	return action_set(p, FAULT_DELAY);
}

static bool take_reorder(struct parse *p, const char *value)
{
	char first[WORD_LEN_MAX] = "1";
	const char *comma = value ? strchr(value, ',') : NULL;
	uint64_t count;

	if (value)
		snprintf(first, sizeof(first), "%.*s",
			 comma ? (int)(comma - value) : (int)strlen(value), value);
	if (!number_word(p, "reorder", first, 1, COUNT_MAX, &count))
		return false;
	p->r->count = (uint32_t)count;
	p->r->delay = REORDER_WAIT_NS;
	if (comma && !time_word(p, "reorder", comma + 1, &p->r->delay))
		return false;
	return action_set(p, FAULT_REORDER);
}

static bool take_corrupt_bits(struct parse *p, const char *value)
{
	uint64_t count = 1;

	if (value && !number_word(p, "corrupt=bits", value, 1, FAULT_EDITS_MAX, &count))
		return false;
	p->r->count = (uint32_t)count;
	return action_set(p, FAULT_CORRUPT_BITS);
}

static bool take_corrupt(struct parse *p, const char *value)
{
	const char *colon = strchr(value, ':');
	struct fault_rule *r = p->r;
	char name[WORD_LEN_MAX];

	snprintf(name, sizeof(name), "%.*s", colon ? (int)(colon - value) : (int)strlen(value),
		 value);
	if (strcmp(name, "bits") == 0)
		return take_corrupt_bits(p, colon ? colon + 1 : NULL);
	r->field = fault_field_find(name);
	if (!r->field)
		return wrong(p, "unknown field '%s'", name);
	r->has_value = colon;
	if (colon && (!fault_word_number(colon + 1, UINT64_MAX, &r->value) ||
		      !fault_field_takes(r->field, r->value)))
		return wrong(p, "%s cannot be '%s'", name, colon + 1);
	return action_set(p, FAULT_CORRUPT_FIELD);
}

static bool take_icrc(struct parse *p, const char *value)
{
	p->icrc_given = true;
	p->r->icrc_right = strcmp(value, "right") == 0;
	return p->r->icrc_right || strcmp(value, "wrong") == 0 ||
	       wrong(p, "icrc is right or wrong, not '%s'", value);
}

static bool take_mark(struct parse *p, const char *value)
{
	if (strcmp(value, "ce") != 0)
		return wrong(p, "mark is ce, not '%s'", value);
	return action_set(p, FAULT_MARK_CE);
}

static bool take_nak(struct parse *p, const char *value)
{
	static const struct {
		const char *name;
		enum aeth_nak code;
	} codes[] = {
		{"sequence", AETH_NAK_PSN_SEQUENCE}, {"invalid", AETH_NAK_INVALID_REQUEST},
		{"access", AETH_NAK_REMOTE_ACCESS},  {"operational", AETH_NAK_REMOTE_OPERATIONAL},
		{"rd", AETH_NAK_INVALID_RD_REQUEST},
	};
	uint64_t code = UINT64_MAX;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strcmp(value, codes[i].name) == 0)
			code = codes[i].code;
	if (code == UINT64_MAX && !fault_word_number(value, 31, &code))
		return wrong(p,
			     "unknown NAK '%s': sequence, invalid, access, operational or a "
			     "code up to 31 is wanted",
			     value);
	p->r->syndrome = aeth_syndrome(AETH_NAK, (uint8_t)code);
	return action_set(p, FAULT_NAK);
}

static bool take_rnr(struct parse *p, const char *value)
{
	uint64_t timer;

	if (!number_word(p, "rnr", value, 0, 31, &timer))
		return false;
	p->r->syndrome = aeth_syndrome(AETH_RNR_NAK, (uint8_t)timer);
	return action_set(p, FAULT_NAK);
}

static bool queue_word(struct parse *p, const char *name, const char *value)
{
	char err[FAULT_ERROR_MAX];

	p->queue_given = true;
	return net_queue_set(&p->r->queue.cfg, name, value, err, sizeof(err)) == 0 ||
	       wrong(p, "%s", err);
}

static bool take_rate(struct parse *p, const char *value)
{
	return queue_word(p, "rate", value) && action_set(p, FAULT_BOTTLENECK);
}

static bool take_queue(struct parse *p, const char *value)
{
	return queue_word(p, "queue", value);
}

static bool take_red(struct parse *p, const char *value)
{
	return queue_word(p, "red", value);
}

/* A new word's place. */
enum { VALUE_NONE = 1, VALUE_MAY = 2 };

static const struct word {
	const char *name;
	unsigned value; /* 0: there must be one */
	bool (*take)(struct parse *p, const char *value);
} words[] = {
	{"qp", 0, take_qp},
	{"dqpn", 0, take_dqpn},
	{"opcode", 0, take_opcode},
	{"psn", 0, take_psn},
	{"from", 0, take_from},
	{"until", 0, take_until},
	{"p", 0, take_p},
	{"nth", 0, take_nth},
	{"every", 0, take_every},
	{"count", 0, take_count},
	{"seed", 0, take_seed},
	{"drop", VALUE_NONE, take_drop},
	{"duplicate", VALUE_MAY, take_duplicate},
	{"delay", 0, take_delay},
	{"reorder", VALUE_MAY, take_reorder},
	{"corrupt", 0, take_corrupt},
	{"icrc", 0, take_icrc},
	{"mark", 0, take_mark},
	{"nak", 0, take_nak},
	{"rnr", 0, take_rnr},
	{"rate", 0, take_rate},
	{"queue", 0, take_queue},
	{"red", 0, take_red},
};

static bool word_take(struct parse *p, char *word, uint64_t *given)
{
	char *value = strchr(word, '=');

	if (strlen(word) >= WORD_LEN_MAX)
		return wrong(p, "too long a word");
	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i].name) != 0)
			continue;
		if (*given & UINT64_C(1) << i)
			return wrong(p, "%s is given twice", word);
		*given |= UINT64_C(1) << i;
		if (!value && !words[i].value)
			return wrong(p, "%s wants a value: %s=...", word, word);
		return words[i].take(p, value);
	}
	return wrong(p, "unknown word '%s'", word);
}

static unsigned parse_dirs(const char *word)
{
	if (strcmp(word, "ingress") == 0 || strcmp(word, "rx") == 0)
		return FAULT_RX;
	if (strcmp(word, "egress") == 0 || strcmp(word, "tx") == 0)
		return FAULT_TX;
	if (strcmp(word, "both") == 0)
		return FAULT_RX | FAULT_TX;
	return 0;
}

static bool draws(const struct fault_rule *r)
{
	return r->when == FAULT_PROBABILITY || r->deviation || r->delay_to > r->delay ||
	       r->action == FAULT_CORRUPT_BITS || r->queue.cfg.red_max ||
	       (r->action == FAULT_CORRUPT_FIELD && !r->has_value);
}

/* Only ACKs can become NAKs, only packets with a field be damaged there. */
static bool opcodes_limit(struct parse *p)
{
	struct fault_rule *r = p->r;
	uint8_t ack = BTH_OPCODE(BTH_RC, BTH_ACKNOWLEDGE), bit = (uint8_t)(1 << ack % 8);

	if (r->action == FAULT_CORRUPT_FIELD)
		r->match.field = r->field;
	if (r->action == FAULT_NAK) {
		bool there = r->match.opcodes[ack / 8] & bit;

		memset(r->match.opcodes, 0, sizeof(r->match.opcodes));
		r->match.opcodes[ack / 8] = bit;
		r->match.ack = true;
		return there || wrong(p, "only an acknowledge becomes a NAK");
	}
	if (r->action == FAULT_CORRUPT_FIELD && !fault_field_limit(r->field, r->match.opcodes))
		return wrong(p, "no packet of that opcode has the field");
	return true;
}

/* Do the words of a bottleneck go together? Then it begins empty. */
static bool queue_check(struct parse *p)
{
	struct net_queue_config cfg = p->r->queue.cfg;
	char err[FAULT_ERROR_MAX];

	if (!p->queue_given)
		return true;
	if (p->r->action == FAULT_BOTTLENECK && net_queue_check(&cfg, err, sizeof(err)) < 0)
		return wrong(p, "%s", err);
	if (p->r->action != FAULT_BOTTLENECK)
		return wrong(p, "queue and red go with rate");
	cfg.seed = p->r->random;
	net_queue_init(&p->r->queue, &cfg);
	return true;
}

/* Do the words go together? */
static bool rule_check(struct parse *p, uint64_t given)
{
	struct fault_rule *r = p->r;
	bool corrupts = r->action == FAULT_CORRUPT_BITS || r->action == FAULT_CORRUPT_FIELD;
	uint64_t bare = UINT64_MAX;

	if (r->action == FAULT_NO_ACTION)
		return wrong(p, "no action: drop, duplicate, delay, reorder, corrupt, mark, nak, "
				"rnr or rate is wanted");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].take == take_drop || words[i].take == take_seed)
			bare &= ~(UINT64_C(1) << i);
	if (r->action == FAULT_DROP && !(given & bare))
		return wrong(p, "say what to drop: p=1 is all");
	if (p->seed_given && !draws(r))
		return wrong(p, "seed is for p and what else is random");
	if (p->icrc_given && !corrupts)
		return wrong(p, "icrc is for corrupt");
	if (r->field && r->icrc_right && fault_field_is_icrc(r->field))
		return wrong(p, "an ICRC cannot be corrupt and right");
	if (r->match.until <= r->match.from)
		return wrong(p, "from is before until");
	return queue_check(p) && opcodes_limit(p);
}

bool fault_parse(struct fault_rule *r, uint64_t now, const char *text, char *err, size_t err_size)
{
	struct parse p = {.r = r, .now = now, .text = text, .err = err, .err_size = err_size};
	char copy[FAULT_TEXT_MAX], *save, *word;
	uint64_t given = 0;

	if (strlen(text) >= sizeof(copy)) {
		p.text = "...";
		return wrong(&p, "too long a rule (%zu characters)", strlen(text));
	}
	strcpy(copy, text);
	strcpy(r->text, text);
	r->match.qpn = r->match.dqpn = r->match.psn_span = FAULT_ANY;
	r->limit = r->match.until = UINT64_MAX;
	memset(r->match.opcodes, 0xff, sizeof(r->match.opcodes));
	word = strtok_r(copy, " \t", &save);
	r->match.dirs = word ? parse_dirs(word) : 0;
	if (!r->match.dirs)
		return wrong(&p, "a rule begins with ingress (rx), egress (tx) or both");
	while ((word = strtok_r(NULL, " \t", &save)))
		if (!word_take(&p, word, &given))
			return false;
	return rule_check(&p, given);
}
