/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rules that tests/preload/face.c runs. */
#ifndef TESTS_FACE_H
#define TESTS_FACE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rule {
	const char *name;
	void (*check)(void);
};

#define RULE(name)                                                                                 \
	{                                                                                          \
#name, name                                                                        \
	}

/* Each ends with an entry without name. */
extern const struct rule rules[];
extern const struct rule tree_rules[];

#define DEVICE "/dev/infiniband/uverbs0"
#define RXE0 "/sys/class/infiniband/rxe0"

int device_open(void);
/* A command of the fake daemon; what it answers. */
uint64_t ask(int fd, uint32_t op, uint64_t value);

static inline void require_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s does not hold (errno %s)\n", file, line, what, strerror(errno));
	_Exit(1);
}

#define REQUIRE(x) ((x) ? (void)0 : require_failed(__FILE__, __LINE__, #x))

#endif
