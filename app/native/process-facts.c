#define _GNU_SOURCE
#include "process-facts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __APPLE__
#include <CoreFoundation/CoreFoundation.h>
#include <Security/Security.h>
#include <libproc.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#else
#include <dirent.h>
#endif

void process_free(struct process_facts *f) {
    free(f->path);
    free(f->argv);
    free(f->cwd);
    free(f->team);
    free(f->signing_id);
    memset(f, 0, sizeof *f);
}

static bool ends_with(const char *path, size_t length, const char *end) {
    size_t tail = strlen(end);
    return tail > 0 && length >= tail && memcmp(path + length - tail, end, tail) == 0;
}

#ifdef __APPLE__

bool process_start(pid_t pid, char start[START_BYTES], pid_t *parent) {
    struct proc_bsdinfo info;
    if (proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof info) != (int)sizeof info) return false;
    if (info.pbi_status == 5 /* SZOMB */) return false;
    *parent = (pid_t)info.pbi_ppid;
    snprintf(start, START_BYTES, "%llu.%06llu", (unsigned long long)info.pbi_start_tvsec, (unsigned long long)info.pbi_start_tvusec);
    return true;
}

static void read_arguments(struct process_facts *f) {
    int name[3] = {CTL_KERN, KERN_PROCARGS2, f->pid};
    size_t size = 0;
    if (sysctl(name, 3, NULL, &size, NULL, 0) != 0 || size < sizeof(int)) return;
    char *bytes = malloc(size);
    if (!bytes) return;
    int count;
    if (sysctl(name, 3, bytes, &size, NULL, 0) == 0 && size >= sizeof count) {
        memcpy(&count, bytes, sizeof count);
        /* Behind the count: the executable's path, zeros, then the arguments, each with its zero. */
        size_t at = sizeof count;
        while (at < size && bytes[at]) at++;
        while (at < size && !bytes[at]) at++;
        size_t from = at;
        for (int i = 0; i < count && at < size; i++) at += strnlen(bytes + at, size - at) + 1;
        if (at > size) at = size;
        f->argv = malloc(at - from + 1);
        if (f->argv) {
            f->argv_length = at - from;
            memcpy(f->argv, bytes + from, f->argv_length);
        }
    }
    free(bytes);
}

static char *copy_text(CFTypeRef value) {
    if (!value || CFGetTypeID(value) != CFStringGetTypeID()) return NULL;
    char text[512];
    return CFStringGetCString((CFStringRef)value, text, sizeof text, kCFStringEncodingUTF8) ? strdup(text) : NULL;
}

/* Checking a signature reads the whole executable once: kept per file. */
struct signature {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
    bool valid;
    char team[64], signing_id[256];
};

#define MAX_SIGNATURES 64
static struct signature signatures[MAX_SIGNATURES];
static size_t signature_count, signature_next;
static pthread_mutex_t signature_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_file(const struct signature *s, const struct stat *file) {
    return s->device == file->st_dev && s->inode == file->st_ino && s->size == file->st_size &&
           s->changed.tv_sec == file->st_ctimespec.tv_sec && s->changed.tv_nsec == file->st_ctimespec.tv_nsec;
}

static bool signature_known(const struct stat *file, struct process_facts *f) {
    bool found = false;
    pthread_mutex_lock(&signature_lock);
    for (size_t i = 0; i < signature_count && !found; i++) {
        const struct signature *s = &signatures[i];
        if (!is_file(s, file)) continue;
        found = true;
        f->valid = s->valid;
        if (s->team[0]) f->team = strdup(s->team);
        if (s->signing_id[0]) f->signing_id = strdup(s->signing_id);
    }
    pthread_mutex_unlock(&signature_lock);
    return found;
}

static void signature_keep(const struct stat *file, const struct process_facts *f) {
    pthread_mutex_lock(&signature_lock);
    struct signature *s = &signatures[signature_next];
    signature_next = (signature_next + 1) % MAX_SIGNATURES;
    if (signature_count < MAX_SIGNATURES) signature_count++;
    *s = (struct signature){.device = file->st_dev, .inode = file->st_ino, .size = file->st_size, .changed = file->st_ctimespec, .valid = f->valid};
    if (f->team) snprintf(s->team, sizeof s->team, "%s", f->team);
    if (f->signing_id) snprintf(s->signing_id, sizeof s->signing_id, "%s", f->signing_id);
    pthread_mutex_unlock(&signature_lock);
}

static void read_signature(struct process_facts *f, const unsigned char *token) {
    struct stat file;
    bool has_file = f->path && stat(f->path, &file) == 0;
    /* A peer, of whom much depends, is asked for itself each time. */
    if (!token && has_file && signature_known(&file, f)) return;
    CFTypeRef value = token ? (CFTypeRef)CFDataCreate(NULL, token, AUDIT_TOKEN_BYTES) : (CFTypeRef)CFNumberCreate(NULL, kCFNumberIntType, &f->pid);
    if (!value) return;
    const void *keys[] = {token ? kSecGuestAttributeAudit : kSecGuestAttributePid};
    const void *values[] = {value};
    CFDictionaryRef attributes = CFDictionaryCreate(NULL, keys, values, 1, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
    SecCodeRef code = NULL;
    CFDictionaryRef signing = NULL;
    if (attributes && SecCodeCopyGuestWithAttributes(NULL, attributes, kSecCSDefaultFlags, &code) == errSecSuccess &&
        SecCodeCheckValidity(code, kSecCSDefaultFlags, NULL) == errSecSuccess) {
        f->valid = true;
        if (SecCodeCopySigningInformation((SecStaticCodeRef)code, kSecCSSigningInformation, &signing) == errSecSuccess && signing) {
            f->team = copy_text(CFDictionaryGetValue(signing, kSecCodeInfoTeamIdentifier));
            f->signing_id = copy_text(CFDictionaryGetValue(signing, kSecCodeInfoIdentifier));
        }
    }
    if (signing) CFRelease(signing);
    if (code) CFRelease(code);
    if (attributes) CFRelease(attributes);
    CFRelease(value);
    if (has_file) signature_keep(&file, f);
}

static void read_rest(struct process_facts *f, const unsigned char *token) {
    char path[PROC_PIDPATHINFO_MAXSIZE];
    if (proc_pidpath(f->pid, path, sizeof path) > 0) f->path = strdup(path);
    struct proc_vnodepathinfo places;
    if (proc_pidinfo(f->pid, PROC_PIDVNODEPATHINFO, 0, &places, sizeof places) == (int)sizeof places) f->cwd = strdup(places.pvi_cdir.vip_path);
    read_arguments(f);
    read_signature(f, token);
}

static int all_processes(pid_t **pids) {
    int room = proc_listallpids(NULL, 0);
    if (room <= 0) return 0;
    room += 64; /* some may start meanwhile */
    *pids = malloc((size_t)room * sizeof **pids);
    return *pids ? proc_listallpids(*pids, room * (int)sizeof **pids) : 0;
}

bool process_runs(const char *path_end) {
    pid_t *pids = NULL;
    int count = all_processes(&pids);
    bool runs = false;
    char path[PROC_PIDPATHINFO_MAXSIZE];
    for (int i = 0; i < count && !runs; i++) {
        int length = pids[i] > 0 ? proc_pidpath(pids[i], path, sizeof path) : 0;
        runs = length > 0 && ends_with(path, (size_t)length, path_end);
    }
    free(pids);
    return runs;
}

#else

/* A whole file of /proc, which says no size; at most 1 MiB of it. */
static char *read_file(const char *path, size_t *length) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    size_t size = 4096, used = 0;
    char *bytes = malloc(size);
    while (bytes) {
        ssize_t got = read(fd, bytes + used, size - used - 1);
        if (got <= 0) break;
        used += (size_t)got;
        if (used + 1 < size) continue;
        if (size >= 1024 * 1024) break;
        size *= 2;
        char *more = realloc(bytes, size);
        if (!more) break;
        bytes = more;
    }
    close(fd);
    if (bytes) bytes[used] = '\0';
    *length = used;
    return bytes;
}

/* Fields 3, 4 and 22 of /proc/<pid>/stat; the name before them may hold spaces and brackets. */
bool process_start(pid_t pid, char start[START_BYTES], pid_t *parent) {
    char path[64];
    size_t length;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    char *text = read_file(path, &length);
    if (!text) return false;
    char state = 'X';
    int ppid = 0;
    unsigned long long ticks = 0;
    const char *behind = strrchr(text, ')');
    int found = behind ? sscanf(behind + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state, &ppid, &ticks) : 0;
    free(text);
    if (found != 3 || state == 'Z' || state == 'X') return false;
    *parent = (pid_t)ppid;
    snprintf(start, START_BYTES, "%llu", ticks);
    return true;
}

static char *read_link(pid_t pid, const char *name) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/%s", (int)pid, name);
    ssize_t length = readlink(link, path, sizeof path);
    return length > 0 && (size_t)length < sizeof path ? strndup(path, (size_t)length) : NULL;
}

static void read_rest(struct process_facts *f, const unsigned char *token) {
    (void)token;
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/cmdline", (int)f->pid);
    f->path = read_link(f->pid, "exe");
    f->cwd = read_link(f->pid, "cwd");
    f->argv = read_file(name, &f->argv_length);
}

bool process_runs(const char *path_end) {
    DIR *folder = opendir("/proc");
    if (!folder) return false;
    bool runs = false;
    struct dirent *entry;
    while (!runs && (entry = readdir(folder))) {
        int pid = atoi(entry->d_name);
        char *path = pid > 0 ? read_link((pid_t)pid, "exe") : NULL;
        runs = path && ends_with(path, strlen(path), path_end);
        free(path);
    }
    closedir(folder);
    return runs;
}

#endif

bool process_read(pid_t pid, const unsigned char *token, struct process_facts *f) {
    memset(f, 0, sizeof *f);
    f->pid = pid;
    char again[START_BYTES];
    pid_t parent;
    if (!process_start(pid, f->start, &f->parent)) return false;
    read_rest(f, token);
    if (process_start(pid, again, &parent) && strcmp(again, f->start) == 0 && parent == f->parent) return true;
    process_free(f);
    return false;
}
