/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads files of fault rules, line by line. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/fault_file.h"
#include "net/fault_priv.h"

static const char blanks[] = " \t\r\n";

static bool is_direction(const char *word, size_t len)
{
	static const char *const words[] = {"ingress", "egress", "both", "rx", "tx"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == len && strncmp(words[i], word, len) == 0)
			return true;
	return false;
}

/* The line without what surrounds it. */
static char *trimmed(char *text)
{
	size_t len = strcspn(text, "#");

	while (len > 0 && strchr(blanks, text[len - 1]))
		len--;
	text[len] = '\0';
	return text + strspn(text, blanks);
}

static int line_read(char *text, struct fault_line *line, fault_line_fn *each, void *ctx, char *err,
		     size_t err_size)
{
	size_t first = strcspn(text, blanks);
	char *rest = text + first + strspn(text + first, blanks);

	if (first == 4 && strncmp(text, "seed", 4) == 0) {
		line->seeded = fault_word_number(rest, UINT64_MAX, &line->seed);
		if (!line->seeded)
			snprintf(err, err_size, "fault: seed is a number, not '%s'", rest);
		return line->seeded ? 0 : -EINVAL;
	}
	line->device = NULL;
	line->rule = text;
	if (!is_direction(text, first) && *rest) {
		text[first] = '\0';
		line->device = text;
		line->rule = rest;
	}
	return each(ctx, line, err, err_size);
}

/* "line 3: " before what is there. */
static void number_line(char *err, size_t err_size, unsigned number)
{
	char *said = strdup(err);

	if (said)
		snprintf(err, err_size, "line %u: %s", number, said);
	free(said);
}

int fault_file_read(FILE *from, fault_line_fn *each, void *ctx, char *err, size_t err_size)
{
	struct fault_line line = {0};
	char *text = NULL;
	size_t room = 0;
	ssize_t len;
	int rc = 0;

	while (!rc && (len = getline(&text, &room, from)) >= 0) {
		char *begin;

		line.number++;
		*err = '\0';
		if (strlen(text) != (size_t)len) {
			snprintf(err, err_size, "fault: a NUL byte");
			rc = -EINVAL;
		} else if (*(begin = trimmed(text))) {
			rc = line_read(begin, &line, each, ctx, err, err_size);
		}
	}
	if (rc)
		number_line(err, err_size, line.number);
	free(text);
	return rc;
}
