/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parameters of congestion control from words. */
#include "config.h"

#include "tools/cc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rnic/cc.h"
#include "tools/adapter.h"
#include "tools/daemon.h"

enum { WORD_MAX = 80, ERROR_MAX = 200 };

/* A word without "=" is a mode. */
static int word_set(struct cc_params *p, const char *word, size_t len, char *err)
{
	char name[WORD_MAX];
	char *equals;

	if (len >= sizeof(name)) {
		snprintf(err, ERROR_MAX, "%.20s... is too long", word);
		return -EINVAL;
	}
	memcpy(name, word, len);
	name[len] = '\0';
	equals = strchr(name, '=');
	if (!equals)
		return cc_params_set(p, "mode", name, err, ERROR_MAX);
	*equals = '\0';
	return cc_params_set(p, name, equals + 1, err, ERROR_MAX);
}

int cc_option(struct cc_params *p, const char *text)
{
	char err[ERROR_MAX];

	for (const char *word = text;; word++) {
		size_t len = strcspn(word, ",");

		if (word_set(p, word, len, err)) {
			daemon_logf("--cc %s: %s", text, err);
			return -EINVAL;
		}
		word += len;
		if (!*word)
			return 0;
	}
}

int cc_set(struct daemon *d, int argc, char **argv, struct admin_reply *reply)
{
	struct adapter *a = d->adapters;
	struct cc_params p;
	char err[ERROR_MAX];

	if (argc < 2) {
		admin_printf(reply, "cc set DEVICE NAME=VALUE...; rnicctl cc show lists the names");
		return -EINVAL;
	}
	while (a && strcmp(a->kdev.name, argv[0]))
		a = a->next;
	if (!a) {
		admin_printf(reply, "no device is called %s", argv[0]);
		return -ENODEV;
	}
	p = *rnic_cc_get(a->rnic);
	for (int i = 1; i < argc; i++)
		if (word_set(&p, argv[i], strlen(argv[i]), err)) {
			admin_printf(reply, "%s", err);
			return -EINVAL;
		}
	rnic_cc_set(a->rnic, &p);
	return 0;
}
