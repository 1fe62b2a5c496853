/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fault rules. Each packet is shown to every rule of its direction, also when an earlier one has
 * already dropped it, so that what one rule does never depends on the others.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/fault.h"

enum { RULES_MAX = 64, TEXT_MAX = 96 };
enum rule_kind { RULE_PROBABILITY, RULE_NTH, RULE_EVERY };

struct rule {
	uint32_t id;
	unsigned dirs; /* of enum fault_dir */
	enum rule_kind kind;
	uint64_t n;	    /* RULE_NTH, RULE_EVERY */
	uint64_t threshold; /* RULE_PROBABILITY, of 2^53 */
	uint64_t random;
	uint64_t seen, fired;
	char text[TEXT_MAX];
};

struct fault_rules {
	struct rule rules[RULES_MAX];
	uint32_t count;
	uint32_t last_id;
};

struct fault_rules *fault_rules_create(void)
{
	return calloc(1, sizeof(struct fault_rules));
}

void fault_rules_destroy(struct fault_rules *rules)
{
	free(rules);
}

bool fault_rules_empty(const struct fault_rules *rules)
{
	return rules->count == 0;
}

/* splitmix64: any seed is a good one, 0 included. */
static uint64_t rule_random(struct rule *r)
{
	uint64_t z = r->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static bool parse_u64(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno == 0 && *end == '\0';
}

/* 0 to 1. */
static bool parse_probability(const char *text, uint64_t *threshold)
{
	char *end;
	double p = strtod(text, &end);

	if (end == text || *end != '\0' || !(p >= 0 && p <= 1))
		return false;
	*threshold = (uint64_t)(p * (double)(UINT64_C(1) << 53));
	return true;
}

static unsigned parse_dirs(const char *word)
{
	if (strcmp(word, "rx") == 0)
		return FAULT_RX;
	if (strcmp(word, "tx") == 0)
		return FAULT_TX;
	if (strcmp(word, "both") == 0)
		return FAULT_RX | FAULT_TX;
	return 0;
}

/* NULL, or what is wrong with the word. */
static const char *rule_set_when(struct rule *r, const char *word)
{
	if (strncmp(word, "p=", 2) == 0) {
		r->kind = RULE_PROBABILITY;
		return parse_probability(word + 2, &r->threshold) ? NULL
								  : "p is a number from 0 to 1";
	}
	if (strncmp(word, "nth=", 4) == 0) {
		r->kind = RULE_NTH;
		return parse_u64(word + 4, &r->n) && r->n > 0 ? NULL : "nth counts from 1";
	}
	if (strncmp(word, "every=", 6) == 0) {
		r->kind = RULE_EVERY;
		return parse_u64(word + 6, &r->n) && r->n > 0 ? NULL : "every is 1 or more";
	}
	return "when to drop is p=, nth= or every=";
}

static const char *rule_parse(struct rule *r, char *text)
{
	char *save;
	const char *word = strtok_r(text, " \t", &save);
	const char *wrong;

	r->dirs = word ? parse_dirs(word) : 0;
	if (!r->dirs)
		return "a rule begins with rx, tx or both";
	word = strtok_r(NULL, " \t", &save);
	if (!word || strcmp(word, "drop") != 0)
		return "the action is drop";
	word = strtok_r(NULL, " \t", &save);
	wrong = rule_set_when(r, word ? word : "");
	if (wrong)
		return wrong;
	word = strtok_r(NULL, " \t", &save);
	if (word && r->kind == RULE_PROBABILITY && strncmp(word, "seed=", 5) == 0) {
		if (!parse_u64(word + 5, &r->random))
			return "seed is a number";
		word = strtok_r(NULL, " \t", &save);
	}
	return word ? "unexpected word at the end" : NULL;
}

int fault_rules_add(struct fault_rules *rules, const char *text, uint32_t *id, char *err,
		    size_t err_size)
{
	struct rule r = {.id = rules->last_id + 1};
	char words[TEXT_MAX];
	const char *wrong = NULL;

	if (rules->count == RULES_MAX)
		wrong = "too many rules";
	else if (strlen(text) >= TEXT_MAX)
		wrong = "the rule is too long";
	if (!wrong) {
		strcpy(words, text);
		strcpy(r.text, text);
		r.random = r.id;
		wrong = rule_parse(&r, words);
	}
	if (wrong) {
		snprintf(err, err_size, "fault rule \"%s\": %s", text, wrong);
		return -EINVAL;
	}
	rules->rules[rules->count++] = r;
	*id = rules->last_id = r.id;
	return 0;
}

int fault_rules_del(struct fault_rules *rules, uint32_t id)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		if (rules->rules[i].id != id)
			continue;
		rules->count--;
		memmove(&rules->rules[i], &rules->rules[i + 1],
			(rules->count - i) * sizeof(rules->rules[0]));
		return 0;
	}
	return -ENOENT;
}

static bool rule_fires(struct rule *r)
{
	r->seen++;
	switch (r->kind) {
	case RULE_PROBABILITY:
		return rule_random(r) >> 11 < r->threshold;
	case RULE_NTH:
		return r->seen == r->n;
	case RULE_EVERY:
		return r->seen % r->n == 0;
	}
	return false;
}

bool fault_rules_drop(struct fault_rules *rules, enum fault_dir dir, const uint8_t *bth, size_t len)
{
	bool drop = false;

	(void)bth; /* no rule looks inside yet */
	(void)len;
	for (uint32_t i = 0; i < rules->count; i++) {
		struct rule *r = &rules->rules[i];

		if ((r->dirs & (unsigned)dir) && rule_fires(r)) {
			r->fired++;
			drop = true;
		}
	}
	return drop;
}

int fault_rules_print(const struct fault_rules *rules, uint32_t index, char *buf, size_t size)
{
	const struct rule *r;

	if (index >= rules->count)
		return -ENOENT;
	r = &rules->rules[index];
	snprintf(buf, size, "%" PRIu32 ": %s (seen %" PRIu64 ", fired %" PRIu64 ")", r->id, r->text,
		 r->seen, r->fired);
	return 0;
}
