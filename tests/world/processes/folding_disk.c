/* A case-insensitive disk, like those of macOS and Windows: preloaded into a process, it resolves each name below some
   folders to the existing entry, ignoring case (folding_disk.py). An entry keeps the spelling that it was created with.
   Only ASCII letters are folded. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How to resolve a name: to the existing entry's spelling, or, to create or rename, to the spelling given. */
enum { FOUND, GIVEN };

static int is_below_a_root(const char *path) {
    for (const char *root = getenv("FOLDING_DISK"); root && *root;) {
        size_t size = strcspn(root, ":");
        if (!strncmp(path, root, size) && (path[size] == '/' || !path[size])) return (int)size;
        root += size + (root[size] == ':');
    }
    return -1;
}

static long is_there(int folder, const char *name, struct stat *into) {
    return !syscall(SYS_newfstatat, folder, name, into, AT_SYMLINK_NOFOLLOW);
}

/* Replaces the last part of `path` by the spelling of the existing entry, if there is one. */
static int spell(int folder, char *path, char *part) {
    struct stat unused;
    if (is_there(folder, path, &unused)) return 1;
    char parent[PATH_MAX] = ".";
    if (part > path) snprintf(parent, sizeof parent, "%.*s", (int)(part - path), path);
    int fd = (int)syscall(SYS_openat, folder, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *(*by_fd)(int) = (DIR * (*)(int)) dlsym(RTLD_NEXT, "fdopendir");
    DIR *all = fd < 0 ? NULL : by_fd(fd);
    int found = 0;
    for (struct dirent *one; all && !found && (one = readdir(all));)
        if (!strcasecmp(one->d_name, part)) memcpy(part, one->d_name, strlen(part)), found = 1;
    if (all) closedir(all);
    else if (fd >= 0) close(fd);
    return found;
}

static const char *folded(int folder, const char *name, int how, char *into) {
    char where[PATH_MAX], link[40];
    int kept = errno, start = 0;
    if (!getenv("FOLDING_DISK") || !*name || strlen(name) >= PATH_MAX - 1) return name;
    if (name[0] != '/') {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t size = folder == AT_FDCWD ? (getcwd(where, sizeof where) ? (ssize_t)strlen(where) : 0) : readlink(link, where, sizeof where - 1);
        where[size < 0 ? 0 : size] = 0;
        if (is_below_a_root(where) < 0) { errno = kept; return name; }
    } else if ((start = is_below_a_root(name)) < 0) return name;
    strcpy(into, name);
    for (char *part = into + start; *part;) {
        while (*part == '/') part++;
        char *end = strchrnul(part, '/'), next = *end;
        if (end == part || (how == GIVEN && !end[strspn(end, "/")])) break;
        *end = 0;
        int found = spell(folder, into, part);
        *end = next;
        if (!found) break;
        part = end;
    }
    errno = kept;
    return into;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define NAME(folder, name) char seen[PATH_MAX]; name = folded(folder, name, FOUND, seen)
static mode_t mode_of(int flags, va_list more) { return flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0; }
#define MODE va_list more; va_start(more, flags); mode_t mode = mode_of(flags, more); va_end(more)

int open(const char *name, int flags, ...) { MODE; NAME(AT_FDCWD, name); REAL(open); return real(name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE; NAME(AT_FDCWD, name); REAL(open64); return real(name, flags, mode); }
int openat(int folder, const char *name, int flags, ...) { MODE; NAME(folder, name); REAL(openat); return real(folder, name, flags, mode); }
int openat64(int folder, const char *name, int flags, ...) { MODE; NAME(folder, name); REAL(openat64); return real(folder, name, flags, mode); }
FILE *fopen(const char *name, const char *how) { NAME(AT_FDCWD, name); REAL(fopen); return real(name, how); }
FILE *fopen64(const char *name, const char *how) { NAME(AT_FDCWD, name); REAL(fopen64); return real(name, how); }
DIR *opendir(const char *name) { NAME(AT_FDCWD, name); REAL(opendir); return real(name); }
int stat(const char *name, struct stat *into) { NAME(AT_FDCWD, name); REAL(stat); return real(name, into); }
int stat64(const char *name, struct stat64 *into) { NAME(AT_FDCWD, name); REAL(stat64); return real(name, into); }
int lstat(const char *name, struct stat *into) { NAME(AT_FDCWD, name); REAL(lstat); return real(name, into); }
int lstat64(const char *name, struct stat64 *into) { NAME(AT_FDCWD, name); REAL(lstat64); return real(name, into); }
int fstatat(int folder, const char *name, struct stat *into, int flags) { NAME(folder, name); REAL(fstatat); return real(folder, name, into, flags); }
int fstatat64(int folder, const char *name, struct stat64 *into, int flags) { NAME(folder, name); REAL(fstatat64); return real(folder, name, into, flags); }
int statx(int folder, const char *name, int flags, unsigned mask, struct statx *into) { NAME(folder, name); REAL(statx); return real(folder, name, flags, mask, into); }
int access(const char *name, int mode) { NAME(AT_FDCWD, name); REAL(access); return real(name, mode); }
int faccessat(int folder, const char *name, int mode, int flags) { NAME(folder, name); REAL(faccessat); return real(folder, name, mode, flags); }
ssize_t readlink(const char *name, char *into, size_t size) { NAME(AT_FDCWD, name); REAL(readlink); return real(name, into, size); }
ssize_t readlinkat(int folder, const char *name, char *into, size_t size) { NAME(folder, name); REAL(readlinkat); return real(folder, name, into, size); }
int chdir(const char *name) { NAME(AT_FDCWD, name); REAL(chdir); return real(name); }
int mkdir(const char *name, mode_t mode) { NAME(AT_FDCWD, name); REAL(mkdir); return real(name, mode); }
int mkdirat(int folder, const char *name, mode_t mode) { NAME(folder, name); REAL(mkdirat); return real(folder, name, mode); }
int unlink(const char *name) { NAME(AT_FDCWD, name); REAL(unlink); return real(name); }
int unlinkat(int folder, const char *name, int flags) { NAME(folder, name); REAL(unlinkat); return real(folder, name, flags); }
int rmdir(const char *name) { NAME(AT_FDCWD, name); REAL(rmdir); return real(name); }
int chmod(const char *name, mode_t mode) { NAME(AT_FDCWD, name); REAL(chmod); return real(name, mode); }
int fchmodat(int folder, const char *name, mode_t mode, int flags) { NAME(folder, name); REAL(fchmodat); return real(folder, name, mode, flags); }
int utimensat(int folder, const char *name, const struct timespec times[2], int flags) { if (!name) { REAL(utimensat); return real(folder, name, times, flags); } NAME(folder, name); REAL(utimensat); return real(folder, name, times, flags); }
int truncate(const char *name, off_t size) { NAME(AT_FDCWD, name); REAL(truncate); return real(name, size); }
int truncate64(const char *name, off64_t size) { NAME(AT_FDCWD, name); REAL(truncate64); return real(name, size); }
int symlink(const char *to, const char *name) { NAME(AT_FDCWD, name); REAL(symlink); return real(to, name); }
int symlinkat(const char *to, int folder, const char *name) { NAME(folder, name); REAL(symlinkat); return real(to, folder, name); }

#define TWO(from, old, to, new) char seen_old[PATH_MAX], seen_new[PATH_MAX]; \
    old = folded(from, old, FOUND, seen_old), new = folded(to, new, FOUND, seen_new)
int link(const char *old, const char *new) { TWO(AT_FDCWD, old, AT_FDCWD, new); REAL(link); return real(old, new); }
int linkat(int from, const char *old, int to, const char *new, int flags) { TWO(from, old, to, new); REAL(linkat); return real(from, old, to, new, flags); }

/* Renaming an entry to another spelling of its name changes the spelling; a replaced entry keeps its spelling. */
static int move(int from, const char *old, int to, const char *new, unsigned flags) {
    char seen_old[PATH_MAX], seen_new[PATH_MAX], as_given[PATH_MAX];
    struct stat one, two;
    const char *given = folded(to, new, GIVEN, as_given), *there = folded(to, new, FOUND, seen_new);
    old = folded(from, old, FOUND, seen_old);
    int is_same = strcmp(given, there) && is_there(from, old, &one) && is_there(to, there, &two)
        && one.st_ino == two.st_ino && one.st_nlink == 1;
    return (int)syscall(SYS_renameat2, from, old, to, is_same ? given : there, flags);
}
int rename(const char *old, const char *new) { return move(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int from, const char *old, int to, const char *new) { return move(from, old, to, new, 0); }
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) { return move(from, old, to, new, flags); }
