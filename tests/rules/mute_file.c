/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A FUSE file system of one file, whose READs are answered only after SIGUSR1.
 *
 *     mute_file FOLDER [all]  mounts there, prints "mounted", and "waits" for each READ that is
 *                             not answered yet; SIGTERM ends it. all: nor is anything else that
 *                             is asked of an open file
 *
 * It speaks the kernel's protocol by itself, so that no library decides when to answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_SIZE (1u << 20)
#define FILE_INO 2
#define WAITING_MAX 64
#define BUFFER (256 * 1024)

struct waiting {
	uint64_t unique;
	uint32_t size; /* 0: no READ */
};

static int fuse;
static bool talks, all;
static struct waiting waiting[WAITING_MAX];
static unsigned int n_waiting;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

static void answer(uint64_t unique, int error, const void *data, size_t len)
{
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + len), .error = -error, .unique = unique};
	struct iovec iov[2] = {{&head, sizeof(head)}, {(void *)data, len}};

	if (writev(fuse, iov, len ? 2 : 1) < 0 && errno != ENOENT)
		perror("answer");
}

static struct fuse_attr attr_of(uint64_t ino)
{
	return (struct fuse_attr){
		.ino = ino,
		.size = ino == FILE_INO ? FILE_SIZE : 0,
		.mode = ino == FILE_INO ? S_IFREG | 0666 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void answer_data(const struct waiting *w)
{
	uint8_t *data = malloc(w->size + 1);

	memset(data, 'A', w->size);
	answer(w->unique, 0, data, w->size); /* too short for STATFS: that is EIO */
	free(data);
}

static void late_asked(uint64_t unique, uint32_t size)
{
	struct waiting w = {unique, size};

	if (talks) {
		answer_data(&w);
	} else if (n_waiting < WAITING_MAX) {
		waiting[n_waiting++] = w;
		say("waits");
	}
}

static void init_asked(uint64_t unique, const struct fuse_init_in *in)
{
	struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
				    .minor = FUSE_KERNEL_MINOR_VERSION,
				    .max_readahead = in->max_readahead,
				    .max_write = 65536,
				    .max_background = 12};

	answer(unique, 0, &out, sizeof(out));
}

static void asked(const struct fuse_in_header *in, const void *arg)
{
	struct fuse_entry_out entry = {.nodeid = FILE_INO, .attr = attr_of(FILE_INO)};
	struct fuse_attr_out attr = {.attr_valid = 60, .attr = attr_of(in->nodeid)};
	struct fuse_open_out opened = {.fh = 1};
	struct fuse_write_out written = {0};

	switch (in->opcode) {
	case FUSE_INIT:
		init_asked(in->unique, arg);
		return;
	case FUSE_LOOKUP:
		answer(in->unique, 0, &entry, sizeof(entry));
		return;
	case FUSE_STATFS:
		if (all)
			late_asked(in->unique, 0);
		else
			answer(in->unique, ENOSYS, NULL, 0);
		return;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		answer(in->unique, 0, &attr, sizeof(attr));
		return;
	case FUSE_OPEN:
		answer(in->unique, 0, &opened, sizeof(opened));
		return;
	case FUSE_READ:
		late_asked(in->unique, ((const struct fuse_read_in *)arg)->size);
		return;
	case FUSE_WRITE:
		written.size = ((const struct fuse_write_in *)arg)->size;
		answer(in->unique, 0, &written, sizeof(written));
		return;
	case FUSE_FLUSH:
		if (all)
			late_asked(in->unique, 0);
		else
			answer(in->unique, 0, NULL, 0);
		return;
	case FUSE_RELEASE:
	case FUSE_FSYNC:
		answer(in->unique, 0, NULL, 0);
		return;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		answer(in->unique, ENOSYS, NULL, 0);
	}
}

static void mount_at(const char *folder)
{
	char options[128];

	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		die("/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fuse);
	if (mount("mute", folder, "fuse", MS_NOSUID | MS_NODEV, options))
		die("mount");
	say("mounted");
}

static bool signalled(int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info) || info.ssi_signo != SIGUSR1)
		return false;
	talks = true;
	while (n_waiting)
		answer_data(&waiting[--n_waiting]);
	return true;
}

int main(int argc, char **argv)
{
	_Alignas(8) static uint8_t buf[BUFFER];
	struct pollfd p[2] = {{.events = POLLIN}, {.events = POLLIN}};
	sigset_t set;

	if (argc != 2 && argc != 3)
		return 2;
	all = argc == 3;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	mount_at(argv[1]);
	p[0].fd = fuse;
	p[1].fd = signalfd(-1, &set, SFD_CLOEXEC);
	while (poll(p, 2, -1) >= 0) {
		ssize_t n;

		if (p[1].revents && !signalled(p[1].fd))
			break;
		if (!p[0].revents)
			continue;
		n = read(fuse, buf, sizeof(buf));
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			asked((const struct fuse_in_header *)(const void *)buf,
			      buf + sizeof(struct fuse_in_header));
		else if (n < 0 && errno == ENODEV)
			break;
	}
	/* Closing the descriptor ends the connection: whoever still waits gets EIO. */
	umount2(argv[1], MNT_DETACH);
	return 0;
}
