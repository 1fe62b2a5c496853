/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a capture needs of who asks for it. The file is opened here, so that the daemon writes only
 * where the user may; the filter is compiled here, since that may look up names and take its time.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/ask.h"
#include "tools/capturing.h"

#define FILTER_MAX 2048
#define SNAPLEN 262144

static int words_join(char *const *words, int n, char *text)
{
	size_t len = 0;

	text[0] = '\0';
	for (int i = 0; i < n; i++) {
		int w = snprintf(text + len, FILTER_MAX - len, "%s%s", i ? " " : "", words[i]);

		if (w < 0 || (size_t)w >= FILTER_MAX - len) {
			fprintf(stderr, "rnicctl: the filter is too long\n");
			return -E2BIG;
		}
		len += (size_t)w;
	}
	return 0;
}

/* A descriptor that has the program, or -errno. */
static int program_pass(const struct bpf_program *program)
{
	size_t size = program->bf_len * sizeof(*program->bf_insns);
	int fd = memfd_create("filter", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, program->bf_insns, size) != (ssize_t)size) {
		close(fd);
		fd = -1;
		errno = ENOMEM;
	}
	if (fd < 0)
		fprintf(stderr, "rnicctl: the filter: %s\n", strerror(errno));
	return fd < 0 ? -errno : fd;
}

static int filter_compile(const char *text)
{
	pcap_t *pcap = pcap_open_dead(DLT_LINUX_SLL2, SNAPLEN);
	struct bpf_program program;
	int fd = -ENOMEM;

	if (!pcap)
		return fd;
	if (pcap_compile(pcap, &program, text, 1, PCAP_NETMASK_UNKNOWN)) {
		fprintf(stderr, "rnicctl: filter \"%s\": %s\n", text, pcap_geterr(pcap));
		fd = -EINVAL;
	} else {
		fd = program_pass(&program);
		pcap_freecode(&program);
	}
	pcap_close(pcap);
	return fd;
}

static bool is_pcap(const char *file)
{
	const char *end = strrchr(file, '.');

	return end && !strcmp(end, ".pcap");
}

/* For the daemon's list of captures. */
static const char *file_name(const char *file, char *path)
{
	if (!strcmp(file, "-"))
		return "standard output";
	return realpath(file, path) ? path : file;
}

static int file_open(const char *file)
{
	int fd;

	if (!strcmp(file, "-")) {
		if (!isatty(STDOUT_FILENO))
			return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		fprintf(stderr, "rnicctl: a capture is not for a terminal: try "
				"rnicctl capture start - | tshark -r -\n");
		return -EINVAL;
	}
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		fprintf(stderr, "rnicctl: %s: %s\n", file, strerror(errno));
	return fd < 0 ? -errno : fd;
}

int capturing_start(const struct ask *ask, const char *file, const char *device,
		    char *const *filter, int n_filter)
{
	char text[FILTER_MAX], path[PATH_MAX];
	struct ask with = *ask;
	int fds[2] = {-1, -1};
	int rc = words_join(filter, n_filter, text);

	if (!rc && *text)
		rc = fds[1] = filter_compile(text);
	if (rc >= 0)
		rc = fds[0] = file_open(file);
	if (rc >= 0) {
		char *words[] = {
			"capture",
			"start",
			(char *)file_name(file, path),
			is_pcap(file) ? "pcap" : "pcapng",
			text,
			(char *)(device ? device : ""),
		};

		with.fds = fds;
		with.n_fds = *text ? 2 : 1;
		/* Standard output has the packets. */
		rc = ask_daemon(&with, words, 6, stderr);
	}
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return rc;
}

int capturing_stop(const struct ask *ask, const char *which)
{
	char *words[] = {"capture", "stop", (char *)which};
	struct ask with = *ask;
	char line[1024];
	int ends[2], rc;
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	with.fds = &ends[1];
	with.n_fds = 1;
	rc = ask_daemon(&with, words, which ? 3 : 2, stdout);
	close(ends[1]);
	while (!rc && (n = recv(ends[0], line, sizeof(line), 0)) > 0)
		printf("%.*s\n", (int)n, line);
	close(ends[0]);
	return rc;
}
