/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rate, queue, marks and drops of a bottleneck: see queue.h. */
#include "config.h"

#include "net/queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S 1000000000ull
#define RATE_MAX 400000000000ull
#define RATE_MIN 8000ull /* 1 kB/s */
#define BYTES_MAX (1ull << 32)

void net_queue_init(struct net_queue *q, const struct net_queue_config *cfg)
{
	*q = (struct net_queue){.cfg = *cfg, .random = cfg->seed};
}

uint64_t net_queue_length(const struct net_queue *q, uint64_t now)
{
	uint64_t wait = q->free_at > now ? q->free_at - now : 0;

	/* Seconds and the rest apart: the product may be long. */
	return (wait / S * q->cfg.rate + wait % S * (q->cfg.rate / 1000) / (S / 1000)) / 8;
}

/* splitmix64, in [0, 1) */
static double random_next(struct net_queue *q)
{
	uint64_t z = q->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) / (double)(UINT64_C(1) << 53);
}

static bool marks(struct net_queue *q, uint64_t length)
{
	const struct net_queue_config *c = &q->cfg;

	if (!c->red_max || length <= c->red_min)
		return false;
	if (length >= c->red_max)
		return true;
	return random_next(q) <
	       c->red_p * (double)(length - c->red_min) / (double)(c->red_max - c->red_min);
}

static void line_takes(struct net_queue *q, uint64_t now, uint32_t bytes)
{
	uint64_t time = (uint64_t)bytes * 8 * S + q->fraction;

	if (q->free_at < now) {
		q->free_at = now;
		time -= q->fraction;
	}
	q->free_at += time / q->cfg.rate;
	q->fraction = time % q->cfg.rate;
}

enum net_queue_verdict net_queue_put(struct net_queue *q, uint64_t now, uint32_t bytes, bool ect,
				     uint64_t *leaves)
{
	uint64_t length = net_queue_length(q, now);
	bool mark;

	if (length + bytes > q->cfg.limit) {
		q->dropped++;
		return NET_QUEUE_DROP;
	}
	mark = ect && marks(q, length);
	line_takes(q, now, bytes);
	*leaves = q->free_at;
	q->passed++;
	q->marked += mark;
	q->bytes += bytes;
	return mark ? NET_QUEUE_MARK : NET_QUEUE_PASS;
}

/* ---- words ---- */

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit rate_units[] = {
	{"gbit", 1000000000}, {"mbit", 1000000}, {"kbit", 1000}, {"bit", 1}, {NULL, 0}};
static const struct unit byte_units[] = {{"m", 1 << 20}, {"k", 1 << 10}, {"", 1}, {NULL, 0}};

/* A number and its unit, up to `end`. */
static bool number_parse(const char *text, size_t len, const struct unit *units, uint64_t max,
			 uint64_t *out)
{
	char *end;
	double n;

	if (*text < '0' || *text > '9')
		return false;
	n = strtod(text, &end);
	if (end > text + len)
		return false;
	for (; units->name; units++) {
		size_t rest = (size_t)(text + len - end);

		if (rest != strlen(units->name) || strncmp(end, units->name, rest) != 0)
			continue;
		n *= (double)units->factor;
		*out = (uint64_t)n;
		return n >= 0 && n <= (double)max;
	}
	return false;
}

/* min,max,p */
static bool red_parse(struct net_queue_config *cfg, const char *text)
{
	const char *comma = strchr(text, ','), *second = comma ? strchr(comma + 1, ',') : NULL;
	char *end;

	if (!second)
		return false;
	if (!number_parse(text, (size_t)(comma - text), byte_units, BYTES_MAX, &cfg->red_min) ||
	    !number_parse(comma + 1, (size_t)(second - comma - 1), byte_units, BYTES_MAX,
			  &cfg->red_max))
		return false;
	cfg->red_p = strtod(second + 1, &end);
	return end != second + 1 && !*end && cfg->red_p >= 0 && cfg->red_p <= 1 &&
	       cfg->red_max > cfg->red_min;
}

int net_queue_set(struct net_queue_config *cfg, const char *name, const char *value, char *err,
		  size_t err_size)
{
	const char *wrong = NULL;

	if (!strcmp(name, "rate")) {
		if (!number_parse(value, strlen(value), rate_units, RATE_MAX, &cfg->rate) ||
		    cfg->rate < RATE_MIN)
			wrong = "rate is 8kbit to 400gbit";
	} else if (!strcmp(name, "queue")) {
		if (!number_parse(value, strlen(value), byte_units, BYTES_MAX, &cfg->limit))
			wrong = "queue is a number of bytes, k or m behind it";
	} else if (!strcmp(name, "red")) {
		if (!red_parse(cfg, value))
			wrong = "red is min,max,p: two numbers of bytes, the second higher, and a "
				"chance from 0 to 1";
	} else {
		return -ENOENT;
	}
	if (!wrong)
		return 0;
	snprintf(err, err_size, "%s, not '%.60s'", wrong, value);
	return -EINVAL;
}

int net_queue_check(const struct net_queue_config *cfg, char *err, size_t err_size)
{
	const char *wrong = NULL;

	if (!cfg->rate)
		wrong = "a bottleneck needs rate=";
	else if (!cfg->limit)
		wrong = "a bottleneck needs queue=";
	if (!wrong)
		return 0;
	snprintf(err, err_size, "%s", wrong);
	return -EINVAL;
}
