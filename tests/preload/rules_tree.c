/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tree of folders and attributes that a program sees under librnic.so. */
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/preload/face.h"
#include "tests/preload/fake_daemon.h"

static void paths_read_as_sysfs(void)
{
	char buf[PATH_MAX], *name;
	FILE *f;
	int fd;

	f = fopen(RXE0 "/node_type", "r");
	REQUIRE(f && fgets(buf, sizeof(buf), f) && !strcmp(buf, "1: CA\n"));
	fclose(f);
	fd = open(RXE0 "/node_type", O_RDONLY);
	REQUIRE(fd >= 0 && read(fd, buf, 3) == 3 && close(fd) == 0);
	REQUIRE(access(RXE0 "/node_type", R_OK) == 0);
	REQUIRE(open(RXE0 "/absent", O_RDONLY) < 0 && errno == ENOENT);
	REQUIRE(open(RXE0 "/forbidden", O_RDONLY) < 0 && errno == EACCES);
	REQUIRE(readlink(RXE0, buf, sizeof(buf)) == 37);
	REQUIRE(realpath(RXE0, buf) && !strcmp(buf, "/sys/devices/virtual/infiniband/rxe0"));
	name = canonicalize_file_name(RXE0 "/node_type");
	REQUIRE(name && !strcmp(name, "/sys/devices/virtual/infiniband/rxe0/node_type"));
	free(name);
}

static void folders_list_the_tree(void)
{
	struct dirent **list, *e;
	DIR *d = opendir("/sys/class/infiniband/");
	glob_t g = {0};
	int n = 0;

	REQUIRE(d);
	while ((e = readdir(d)))
		n += !strcmp(e->d_name, "rxe0");
	REQUIRE(n == 1);
	closedir(d);
	REQUIRE(scandir("/sys/class/infiniband", &list, NULL, alphasort) == 3);
	REQUIRE(glob("/sys/class/infiniband/*/node_t*", 0, NULL, &g) == 0 && g.gl_pathc == 1);
	REQUIRE(!strcmp(g.gl_pathv[0], RXE0 "/node_type"));
	globfree(&g);
}

static void relative_paths_stay_in_the_tree(void)
{
	char buf[PATH_MAX];
	struct stat st;
	int fd;

	REQUIRE(chdir("/dev/infiniband") == 0);
	REQUIRE(getcwd(buf, sizeof(buf)) && !strcmp(buf, "/dev/infiniband"));
	REQUIRE(stat("uverbs0", &st) == 0 && S_ISCHR(st.st_mode));
	fd = open("uverbs0", O_RDWR);
	REQUIRE(fd >= 0 && ask(fd, FAKE_ECHO, 5) == 5);
	REQUIRE(system("test -c uverbs0") == 0); /* children inherit the folder */
	REQUIRE(chdir("/") == 0 && getcwd(buf, sizeof(buf)) && !strcmp(buf, "/"));
	REQUIRE(stat("uverbs0", &st) < 0);
	fd = open("/dev/infiniband", O_RDONLY | O_DIRECTORY);
	REQUIRE(fd >= 0 && fstatat(fd, "uverbs0", &st, 0) == 0 && S_ISCHR(st.st_mode));
	REQUIRE(fchdir(fd) == 0 && stat("uverbs0", &st) == 0 && S_ISCHR(st.st_mode));
	fd = openat(fd, "uverbs0", O_RDWR);
	REQUIRE(fd >= 0 && ask(fd, FAKE_ECHO, 6) == 6);
}

static void device_is_a_character_device(void)
{
	dev_t rdev = makedev(FAKE_RDEV_MAJOR, FAKE_RDEV_MINOR);
	struct statx stx;
	struct stat st;
	int fd = device_open();

	REQUIRE(stat(DEVICE, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == rdev);
	REQUIRE(lstat(DEVICE, &st) == 0 && S_ISCHR(st.st_mode) && (st.st_mode & 0777) == 0666);
	REQUIRE(fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == rdev);
	REQUIRE(statx(AT_FDCWD, DEVICE, 0, STATX_MODE, &stx) == 0 && S_ISCHR(stx.stx_mode));
	REQUIRE(statx(fd, "", AT_EMPTY_PATH, STATX_MODE, &stx) == 0 && S_ISCHR(stx.stx_mode));
	REQUIRE(stx.stx_rdev_major == FAKE_RDEV_MAJOR && stx.stx_rdev_minor == FAKE_RDEV_MINOR);
	REQUIRE(access(DEVICE, R_OK | W_OK) == 0);
	REQUIRE(access(DEVICE, X_OK) < 0 && errno == EACCES);
	REQUIRE(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	close(fd);
	fd = open(DEVICE, O_RDWR);
	REQUIRE(fcntl(fd, F_GETFD) == 0);
}

static int open_by_number(int dirfd, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {.flags = flags, .resolve = resolve};

	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
}

static void openat2_by_its_number_opens_the_device(void)
{
	const uint64_t inside = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
	int fd = open_by_number(AT_FDCWD, DEVICE, O_RDWR | O_CLOEXEC, 0), dev;
	struct open_how wrong = {.flags = O_RDWR, .resolve = 1ull << 40};
	struct stat st;

	if (fd < 0 && errno == ENOSYS)
		return;
	REQUIRE(fd >= 0 && ask(fd, FAKE_ECHO, 7) == 7 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	REQUIRE(fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && close(fd) == 0);
	dev = open_by_number(AT_FDCWD, "/dev/infiniband", O_RDONLY | O_DIRECTORY, 0);
	REQUIRE(dev >= 0);
	fd = open_by_number(dev, "uverbs0", O_RDWR, inside);
	REQUIRE(fd >= 0 && ask(fd, FAKE_ECHO, 8) == 8 && close(fd) == 0);
	REQUIRE(open_by_number(dev, "../infiniband/uverbs0", O_RDWR, inside) < 0 && errno == EXDEV);
	REQUIRE(open_by_number(dev, "absent", O_RDWR, 0) < 0 && errno == ENOENT);
	REQUIRE(syscall(SYS_openat2, dev, "uverbs0", &wrong, sizeof(wrong)) < 0 && errno == EINVAL);
	REQUIRE(syscall(SYS_openat2, dev, "uverbs0", &wrong, 8) < 0 && errno == EINVAL);
	REQUIRE(syscall(SYS_openat2, dev, "uverbs0", NULL, sizeof(wrong)) < 0 && errno == EFAULT);
	fd = open_by_number(AT_FDCWD, "/dev/null", O_WRONLY, 0);
	REQUIRE(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0 && close(dev) == 0);
}

/* All six arguments come through, and errors as the C library tells them. */
static void calls_by_number_reach_the_kernel(void)
{
	uint8_t *p = (uint8_t *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/exe", O_RDONLY), status;
	uint8_t own[4096], *file;
	pid_t pid;

	REQUIRE(p != MAP_FAILED && !p[4095] && fd >= 0);
	REQUIRE(pread(fd, own, sizeof(own), 4096) == sizeof(own));
	file = (uint8_t *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096);
	REQUIRE(file != MAP_FAILED && !memcmp(file, own, sizeof(own)));
	REQUIRE(syscall(SYS_close, -1) == -1 && errno == EBADF);
	REQUIRE(syscall(SYS_getpid) == getpid());
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (!pid)
		_exit(3);
	REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
	REQUIRE(!munmap(p, 4096) && !munmap(file, 4096) && !close(fd));
}

/* How often the folder has the name; -1: there is no such folder. */
static int entries(DIR *d, const char *name)
{
	struct dirent *e;
	int n = 0;

	if (!d)
		return -1;
	while ((e = readdir(d)))
		n += !strcmp(e->d_name, name);
	return n;
}

static int is_infiniband(const struct dirent *e)
{
	return !strcmp(e->d_name, "infiniband");
}

static void folders_above_list_the_tree_too(void)
{
	static const char *const above[] = {"/sys/class", "/dev", "/sys/devices/virtual"};
	struct dirent **list;
	struct stat st;

	for (int i = 0; i < 3; i++) {
		DIR *d = opendir(above[i]);
		int fd = open(above[i], O_RDONLY), same;

		if (!d)
			continue; /* not in this container */
		REQUIRE(entries(d, "infiniband") == 1 && entries(d, "infiniband") == 0);
		rewinddir(d);
		REQUIRE(entries(d, "infiniband") == 1);
		REQUIRE(fstatat(dirfd(d), "infiniband", &st, 0) == 0 && S_ISDIR(st.st_mode));
		same = dirfd(d);
		REQUIRE(closedir(d) == 0);
		REQUIRE(entries(opendir("/"), "infiniband") == 0 && !close(same));
		REQUIRE(entries(fdopendir(fd), "infiniband") == 1);
		REQUIRE(scandir(above[i], &list, is_infiniband, alphasort) == 1);
		REQUIRE(!strcmp(list[0]->d_name, "infiniband"));
		REQUIRE(chdir(above[i]) == 0 && stat("infiniband", &st) == 0);
		REQUIRE(scandir(".", &list, is_infiniband, NULL) == 1);
		REQUIRE(system("test -d infiniband") == 0 && chdir("/") == 0);
	}
}

static void patterns_match_the_tree_from_above(void)
{
	glob_t g = {0};

	REQUIRE(glob("/dev/inf*/uv*", 0, NULL, &g) == 0 && g.gl_pathc == 1);
	REQUIRE(!strcmp(g.gl_pathv[0], DEVICE));
	globfree(&g);
	REQUIRE(glob("/dev/infiniband/u*", GLOB_NOSORT, NULL, &g) == 0 && g.gl_pathc == 1);
	globfree(&g);
	REQUIRE(chdir("/dev") == 0 && glob("infini*", GLOB_MARK, NULL, &g) == 0);
	REQUIRE(g.gl_pathc == 1 && !strcmp(g.gl_pathv[0], "infiniband/"));
	globfree(&g);
}

static char seen[20][64];
static int n_seen;

static int see(const char *path, const struct stat *st, int type, struct FTW *at)
{
	struct stat named;

	REQUIRE(n_seen < 20 && type != FTW_NS);
	REQUIRE(at->base == 0 || path[at->base - 1] == '/');
	/* FTW_CHDIR: the last part of the name is enough. */
	REQUIRE(at->level == 0 || fstatat(AT_FDCWD, path + at->base, &named,
					  type == FTW_SL ? AT_SYMLINK_NOFOLLOW : 0) == 0);
	REQUIRE(at->level == 0 || named.st_ino == st->st_ino);
	snprintf(seen[n_seen++], sizeof(seen[0]), "%d%d %s", type, at->level, path);
	return 0;
}

static int see_plain(const char *path, const struct stat *st, int type)
{
	REQUIRE(S_ISDIR(st->st_mode) == (type == FTW_D));
	snprintf(seen[n_seen++], sizeof(seen[0]), "%d %s", type, path);
	return 0;
}

static int stop_at_device(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)type;
	(void)at;
	return strcmp(path, DEVICE) ? 0 : S_ISCHR(st->st_mode) ? 77 : -1;
}

static int skip(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	n_seen++;
	return strcmp(path, "/sys/class/infiniband") ? FTW_CONTINUE : FTW_SKIP_SUBTREE;
}

static bool was_seen(const char *what)
{
	for (int i = 0; i < n_seen; i++)
		if (!strcmp(seen[i], what))
			return true;
	return false;
}

static void walks_come_through_the_tree(void)
{
	char cwd[PATH_MAX];

	REQUIRE(nftw("/sys/class/infiniband/", see, 5, FTW_PHYS | FTW_CHDIR) == 0 && n_seen == 2);
	REQUIRE(was_seen("10 /sys/class/infiniband") && was_seen("41 " RXE0));
	REQUIRE(getcwd(cwd, sizeof(cwd)) && !strstr(cwd, "infiniband"));
	n_seen = 0;
	REQUIRE(chdir("/sys/class/infiniband") == 0);
	REQUIRE(nftw(".", see, 5, FTW_DEPTH | FTW_CHDIR) == 0 && was_seen("02 ./rxe0/node_type"));
	REQUIRE(was_seen("51 ./rxe0") && was_seen("50 .") && chdir("/") == 0);
	n_seen = 0;
	REQUIRE(ftw(RXE0, see_plain, 5) == 0 && was_seen("1 " RXE0));
	REQUIRE(was_seen("0 " RXE0 "/node_type"));
	REQUIRE(nftw("/dev", stop_at_device, 5, FTW_PHYS) == 77);
	n_seen = 0;
	REQUIRE(nftw("/sys/class/infiniband", skip, 5, FTW_ACTIONRETVAL) == 0 && n_seen == 1);
	REQUIRE(nftw("/sys/class/infiniband/absent", see, 5, 0) == -1 && errno == ENOENT);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* "INFO/LEVEL NAME PATH" of each entry, as for was_seen(). */
static void fts_see(char *const *paths, int options)
{
	FTS *fts = fts_open(paths, options, by_name);
	struct stat st;
	FTSENT *e;

	REQUIRE(fts);
	for (n_seen = 0; (e = fts_read(fts)); n_seen++) {
		REQUIRE(n_seen < 20);
		snprintf(seen[n_seen], sizeof(seen[0]), "%d/%d %s %s", e->fts_info, e->fts_level,
			 e->fts_name, e->fts_path);
		REQUIRE(lstat(e->fts_accpath, &st) == 0);
		REQUIRE(e->fts_info == FTS_SL || stat(e->fts_accpath, &st) == 0);
		REQUIRE(st.st_ino == e->fts_statp->st_ino && st.st_mode == e->fts_statp->st_mode);
	}
	REQUIRE(errno == 0 && fts_close(fts) == 0);
}

static void fts_comes_through_the_tree(void)
{
	char *class[] = {(char *)"/sys/class/infiniband/", NULL}, *here[] = {(char *)".", NULL};
	char *dev[] = {(char *)"/dev/infiniband", (char *)"/dev/infiniband/absent", NULL};
	FTSENT *e, *child;
	FTS *fts;

	fts_see(class, FTS_PHYSICAL | FTS_NOCHDIR);
	REQUIRE(n_seen == 3 && was_seen("12/1 rxe0 /sys/class/infiniband/rxe0"));
	fts_see(class, FTS_LOGICAL);
	REQUIRE(was_seen("1/1 rxe0 " RXE0) && was_seen("8/2 node_type " RXE0 "/node_type"));
	REQUIRE(was_seen("6/1 rxe0 " RXE0) && !strncmp(seen[n_seen - 1], "6/0 ", 4));
	REQUIRE(chdir("/sys/class/infiniband") == 0);
	fts_see(here, FTS_PHYSICAL);
	REQUIRE(n_seen == 3 && was_seen("1/0 . .") && was_seen("12/1 rxe0 ./rxe0"));
	REQUIRE(chdir("/") == 0);
	fts = fts_open(dev, FTS_PHYSICAL, NULL);
	REQUIRE(fts);
	e = fts_children(fts, 0);
	REQUIRE(e && !strcmp(e->fts_name, dev[0]) && e->fts_link && !e->fts_link->fts_link);
	REQUIRE(fts_read(fts) == e && e->fts_info == FTS_D && !strcmp(e->fts_name, "infiniband"));
	child = fts_children(fts, FTS_NAMEONLY);
	REQUIRE(child && !strcmp(child->fts_name, "uverbs0") && !child->fts_link);
	REQUIRE(fts_read(fts) == child && child->fts_info == FTS_DEFAULT);
	REQUIRE(S_ISCHR(child->fts_statp->st_mode) && fts_read(fts) == e && e->fts_info == FTS_DP);
	e = fts_read(fts);
	REQUIRE(e && e->fts_info == FTS_NS && e->fts_errno == ENOENT && !fts_read(fts));
	REQUIRE(fts_close(fts) == 0);
}

static void fts_does_what_it_is_told(void)
{
	char *class[] = {(char *)"/sys/class/infiniband", NULL};
	FTS *fts = fts_open(class, FTS_PHYSICAL | FTS_SEEDOT, by_name);
	FTSENT *e;

	REQUIRE(fts && (e = fts_read(fts)) && e->fts_info == FTS_D);
	REQUIRE((e = fts_read(fts)) && e->fts_info == FTS_DOT && !strcmp(e->fts_name, "."));
	REQUIRE((e = fts_read(fts)) && e->fts_info == FTS_DOT && !strcmp(e->fts_name, ".."));
	REQUIRE((e = fts_read(fts)) && e->fts_info == FTS_SL);
	REQUIRE(fts_set(fts, e, FTS_FOLLOW) == 0 && fts_read(fts) == e && e->fts_info == FTS_D);
	REQUIRE(fts_set(fts, e, FTS_AGAIN) == 0 && fts_read(fts) == e && e->fts_info == FTS_SL);
	REQUIRE(fts_set(fts, e, FTS_FOLLOW) == 0 && fts_read(fts) == e && e->fts_info == FTS_D);
	REQUIRE(fts_set(fts, e, FTS_SKIP) == 0 && fts_read(fts) == e && e->fts_info == FTS_DP);
	REQUIRE((e = fts_read(fts)) && e->fts_level == 0 && e->fts_info == FTS_DP);
	REQUIRE(!fts_read(fts) && fts_close(fts) == 0);
	fts = fts_open(class, FTS_PHYSICAL, NULL);
	REQUIRE(fts && fts_read(fts) && (e = fts_children(fts, 0)));
	REQUIRE(!strcmp(e->fts_name, "rxe0") && fts_set(fts, e, FTS_SKIP) == 0);
	REQUIRE((e = fts_read(fts)) && e->fts_level == 0 && e->fts_info == FTS_DP);
	REQUIRE(!fts_children(fts, 0) && fts_close(fts) == 0); /* in the middle */
	REQUIRE(!fts_open(class, 0x10000, NULL) && errno == EINVAL);
}

static void fts_elsewhere_is_the_c_librarys(void)
{
	char *proc[] = {(char *)"/proc/self/task", NULL};
	FTS *fts = fts_open(proc, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;

	REQUIRE(fts && (e = fts_read(fts)) && e->fts_info == FTS_D);
	REQUIRE((e = fts_children(fts, 0)) && atoi(e->fts_name) == getpid());
	REQUIRE(fts_read(fts) == e && fts_close(fts) == 0);
}

const struct rule tree_rules[] = {
	RULE(paths_read_as_sysfs),
	RULE(folders_list_the_tree),
	RULE(relative_paths_stay_in_the_tree),
	RULE(device_is_a_character_device),
	RULE(openat2_by_its_number_opens_the_device),
	RULE(calls_by_number_reach_the_kernel),
	RULE(folders_above_list_the_tree_too),
	RULE(patterns_match_the_tree_from_above),
	RULE(walks_come_through_the_tree),
	RULE(fts_comes_through_the_tree),
	RULE(fts_does_what_it_is_told),
	RULE(fts_elsewhere_is_the_c_librarys),
	{NULL, NULL},
};
