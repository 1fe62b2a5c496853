/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Values in fault rules: numbers, ranges, times, names of opcodes. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bth/opcode.h"
#include "net/fault_priv.h"

enum { NAME_MAX_LEN = 64, NUMBER_MAX_LEN = 24, HOUR_S = 3600 };

bool fault_word_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno == 0 && *end == '\0' && *value <= max;
}

bool fault_word_range(const char *text, uint64_t max, uint64_t *first, uint64_t *last)
{
	const char *dash = strchr(text, '-');
	char begin[NUMBER_MAX_LEN];

	if (!dash) {
		*last = 0;
		if (!fault_word_number(text, max, first))
			return false;
		*last = *first;
		return true;
	}
	if ((size_t)(dash - text) >= sizeof(begin))
		return false;
	memcpy(begin, text, (size_t)(dash - text));
	begin[dash - text] = '\0';
	return fault_word_number(begin, max, first) && fault_word_number(dash + 1, max, last);
}

bool fault_word_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double value;

	/* What strtod takes beyond digits (signs, blanks, "inf", hexadecimals) is no time. */
	if (!isdigit((unsigned char)*text) || text[strspn(text, "0123456789.")] == 'x')
		return false;
	value = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].name) == 0 && value * units[i].ns <= HOUR_S * 1e9) {
			*ns = (uint64_t)(value * units[i].ns + 0.5);
			return true;
		}
	return false;
}

/* "RC READ Response First" as "rc-read-response-first". */
static void opcode_name(uint8_t opcode, char name[NAME_MAX_LEN])
{
	const char *from = bth_opcode_info(opcode)->name;
	size_t i = 0;

	for (; from && from[i] && i < NAME_MAX_LEN - 1; i++)
		name[i] = from[i] == ' ' ? '-' : (char)tolower((unsigned char)from[i]);
	name[i] = '\0';
}

/* Is word the whole of name, or its first words? */
static bool name_begins(const char *name, const char *word, bool whole)
{
	size_t len = strlen(word);

	if (strncasecmp(name, word, len) != 0)
		return false;
	return name[len] == '\0' || (!whole && name[len] == '-');
}

static bool opcodes_named(const char *word, bool whole, uint8_t opcodes[256 / 8])
{
	char name[NAME_MAX_LEN];
	bool found = false;

	for (unsigned i = 0; i < 256; i++) {
		const char *operation;

		opcode_name((uint8_t)i, name);
		operation = strchr(name, '-');
		if (!name_begins(name, word, whole) &&
		    !(operation && name_begins(operation + 1, word, whole)))
			continue;
		opcodes[i / 8] |= (uint8_t)(1 << i % 8);
		found = true;
	}
	return found;
}

bool fault_word_opcode(const char *name, uint8_t opcodes[256 / 8])
{
	uint64_t value;

	if (!*name)
		return false;
	if (fault_word_number(name, 255, &value)) {
		opcodes[value / 8] |= (uint8_t)(1 << value % 8);
		return true;
	}
	if (strcasecmp(name, "ack") == 0)
		name = "acknowledge";
	return opcodes_named(name, true, opcodes) || opcodes_named(name, false, opcodes);
}
