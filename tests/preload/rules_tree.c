/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tree of folders and attributes that a program sees under librnic.so. */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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

const struct rule tree_rules[] = {
	RULE(paths_read_as_sysfs),
	RULE(folders_list_the_tree),
	RULE(relative_paths_stay_in_the_tree),
	RULE(device_is_a_character_device),
	{NULL, NULL},
};
