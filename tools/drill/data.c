/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Patterns of bytes, different at each offset and between memory and peer. */
#include "config.h"

#include "data.h"

#include <stdio.h>
#include <string.h>

#include "args.h"

static uint8_t pattern(uint64_t k)
{
	return (uint8_t)(k * 7 + (k >> 8) * 13 + (k >> 16) * 31 + 1);
}

static bool repeats(const char *spec, const char *name, uint64_t *number)
{
	size_t n = strlen(name);

	*number = 0;
	if (strncmp(spec, name, n) != 0)
		return false;
	return spec[n] == '\0' || (spec[n] == ':' && num_parse(spec + n + 1, number));
}

static bool endless(const char *spec, uint8_t *buf, size_t len)
{
	uint64_t v;

	if (repeats(spec, "mr", &v)) {
		for (size_t i = 0; i < len; i++)
			buf[i] = pattern(v + i);
	} else if (repeats(spec, "peer", &v)) {
		for (size_t i = 0; i < len; i++)
			buf[i] = (uint8_t)~pattern(v + i);
	} else if (repeats(spec, "fill", &v)) {
		memset(buf, (int)(v & 0xff), len);
	} else if (!strcmp(spec, "zero")) {
		memset(buf, 0, len);
	} else {
		return false;
	}
	return true;
}

static long hex(const char *s, uint8_t *buf, size_t room)
{
	size_t n = strlen(s);

	if (n % 2 || n / 2 > room)
		return -1;
	for (size_t i = 0; i < n / 2; i++) {
		unsigned int byte;
		char two[3] = {s[2 * i], s[2 * i + 1], '\0'};

		if (strspn(two, "0123456789abcdefABCDEF") != 2 || sscanf(two, "%x", &byte) != 1)
			return -1;
		buf[i] = (uint8_t)byte;
	}
	return (long)(n / 2);
}

static long own_length(const char *spec, uint8_t *buf, size_t room)
{
	size_t n = strlen(spec);
	uint64_t v;

	if (n >= 2 && spec[0] == '"' && spec[n - 1] == '"' && n - 2 <= room) {
		memcpy(buf, spec + 1, n - 2);
		return (long)(n - 2);
	}
	if (!strncmp(spec, "hex:", 4))
		return hex(spec + 4, buf, room);
	if (!strncmp(spec, "u64:", 4) && num_parse(spec + 4, &v) && room >= sizeof(v)) {
		memcpy(buf, &v, sizeof(v));
		return sizeof(v);
	}
	return -1;
}

long data_fill(const char *spec, uint8_t *buf, size_t len, size_t room)
{
	long n;

	if (len > room)
		return -1;
	if (endless(spec, buf, len))
		return (long)len;
	n = own_length(spec, buf, room);
	return len == 0 || n == (long)len ? n : -1;
}
