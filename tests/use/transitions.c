/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the page transitions.txt. */
#include "transitions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const transition_type_names[TRANSITION_TYPES] = {"GSI", "RC", "UC", "UD"};
const char *const transition_state_names[TRANSITION_STATES] = {"RESET", "INIT", "RTR", "RTS",
							       "SQD",	"SQE",	"ERR"};
const char *const transition_attr_names[TRANSITION_BITS] = {
	[0] = "STATE",
	[1] = "CUR_STATE",
	[2] = "EN_SQD_ASYNC_NOTIFY",
	[3] = "ACCESS_FLAGS",
	[4] = "PKEY_INDEX",
	[5] = "PORT",
	[6] = "QKEY",
	[7] = "AV",
	[8] = "PATH_MTU",
	[9] = "TIMEOUT",
	[10] = "RETRY_CNT",
	[11] = "RNR_RETRY",
	[12] = "RQ_PSN",
	[13] = "MAX_QP_RD_ATOMIC",
	[14] = "ALT_PATH",
	[15] = "MIN_RNR_TIMER",
	[16] = "SQ_PSN",
	[17] = "MAX_DEST_RD_ATOMIC",
	[18] = "PATH_MIG_STATE",
	[19] = "CAP",
	[20] = "DEST_QPN",
	[25] = "RATE_LIMIT",
};

static void broken(const char *what, const char *word)
{
	fprintf(stderr, "transitions: %s \"%s\"\n", what, word);
	exit(1);
}

static uint32_t name_find(const char *const names[], uint32_t n, const char *word)
{
	for (uint32_t i = 0; i < n; i++)
		if (names[i] && !strcmp(names[i], word))
			return i;
	broken("unknown word", word);
	return 0;
}

/* A bit for each word between commas; none for "-". */
static uint32_t words_mask(const char *const names[], uint32_t n, char *words)
{
	uint32_t mask = 0;
	char *save, *word;

	if (!strcmp(words, "-"))
		return 0;
	for (word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save))
		mask |= 1u << name_find(names, n, word);
	return mask;
}

static void line_read(const char *line,
		      struct transition t[TRANSITION_TYPES][TRANSITION_STATES][TRANSITION_STATES])
{
	char from[8], to[8], types[32], need[200], may[300];
	uint32_t f, o, mask;
	struct transition rule;

	if (sscanf(line, "%7s %7s %31s need %199s may %299s", from, to, types, need, may) != 5)
		broken("no rule", line);
	f = name_find(transition_state_names, TRANSITION_STATES, from);
	o = name_find(transition_state_names, TRANSITION_STATES, to);
	mask = words_mask(transition_type_names, TRANSITION_TYPES, types);
	rule.legal = true;
	rule.need = words_mask(transition_attr_names, TRANSITION_BITS, need);
	rule.may = words_mask(transition_attr_names, TRANSITION_BITS, may);
	for (uint32_t i = 0; i < TRANSITION_TYPES; i++) {
		if (!(mask & 1u << i))
			continue;
		if (t[i][f][o].legal)
			broken("said twice", line);
		t[i][f][o] = rule;
	}
}

void transitions_read(const char *path,
		      struct transition t[TRANSITION_TYPES][TRANSITION_STATES][TRANSITION_STATES])
{
	FILE *page = fopen(path, "r");
	char line[600];

	if (!page)
		broken("cannot be opened", path);
	memset(t, 0, sizeof(t[0]) * TRANSITION_TYPES);
	while (fgets(line, sizeof(line), page))
		if (line[0] != '#' && line[0] != '\n')
			line_read(line, t);
	fclose(page);
}
