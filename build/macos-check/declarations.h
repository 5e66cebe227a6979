/*
 * What the helper and the peer addon use of macOS, declared from its documented binary interface: enough to compile
 * and link them for a Mac where Apple's headers are not. A check only. It shows that the macOS branches are whole,
 * well-typed C against these declarations and ask for no symbol beyond the lists beside this file. It does not show
 * that these declarations are Apple's: that is for Apple's clang on a Mac.
 */
#ifndef BELFRY_MACOS_DECLARATIONS_H
#define BELFRY_MACOS_DECLARATIONS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* sys/types */
typedef long ssize_t;
typedef int32_t pid_t, dev_t;
typedef uint32_t uid_t, gid_t, socklen_t, id_t;
typedef uint16_t mode_t, nlink_t;
typedef uint64_t ino_t;
typedef int64_t off_t, blkcnt_t;
typedef int32_t blksize_t;
typedef long time_t;
typedef int32_t suseconds_t;

/* limits, inttypes */
#ifndef PATH_MAX
#define PATH_MAX 1024
#endif
#define PRIu64 "llu"
#define PRIx64 "llx"
#define PRIX64 "llX"
#define PRId64 "lld"

/* errno */
int *__error(void);
#define errno (*__error())
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EACCES 13
#define EINPROGRESS 36
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define ECONNREFUSED 61
#define EPIPE 32

/* stdio */
typedef struct __sFILE FILE;
extern FILE *__stdinp, *__stdoutp, *__stderrp;
#define stdin __stdinp
#define stdout __stdoutp
#define stderr __stderrp
int fprintf(FILE *, const char *, ...) __attribute__((format(printf, 2, 3)));
int snprintf(char *, size_t, const char *, ...) __attribute__((format(printf, 3, 4)));
int fputs(const char *, FILE *);
int fflush(FILE *);

/* stdlib, string */
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
_Noreturn void abort(void);
_Noreturn void exit(int);
char *getenv(const char *);
char *realpath(const char *, char *);
double strtod(const char *, char **);
void arc4random_buf(void *, size_t);
void *memchr(const void *, int, size_t);
int memcmp(const void *, const void *, size_t);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
void *memmem(const void *, size_t, const void *, size_t);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
size_t strlen(const char *);
size_t strnlen(const char *, size_t);
char *strdup(const char *);
char *strrchr(const char *, int);
char *strchr(const char *, int);

/* unistd, fcntl, poll, time */
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
int close(int);
int isatty(int);
pid_t getpid(void);
uid_t getuid(void);
int getpeereid(int, uid_t *, gid_t *);
int getentropy(void *, size_t);
#define O_RDONLY 0
#define O_WRONLY 1
#define O_NONBLOCK 4
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define FD_CLOEXEC 1
int fcntl(int, int, ...);
int open(const char *, int, ...);
struct pollfd {
    int fd;
    short events, revents;
};
#define POLLIN 1
#define POLLOUT 4
#define POLLERR 8
#define POLLHUP 16
#define POLLNVAL 32
int poll(struct pollfd *, unsigned, int);
struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
struct timeval {
    time_t tv_sec;
    suseconds_t tv_usec;
};
typedef int clockid_t;
#define CLOCK_MONOTONIC 6
int clock_gettime(clockid_t, struct timespec *);

/* pwd */
struct passwd {
    char *pw_name, *pw_passwd;
    uid_t pw_uid;
    gid_t pw_gid;
    time_t pw_change;
    char *pw_class, *pw_gecos, *pw_dir, *pw_shell;
    time_t pw_expire;
};
struct passwd *getpwuid(uid_t);

/* sys/socket, sys/un */
typedef uint8_t sa_family_t;
struct sockaddr {
    uint8_t sa_len;
    sa_family_t sa_family;
    char sa_data[14];
};
struct sockaddr_un {
    unsigned char sun_len;
    sa_family_t sun_family;
    char sun_path[104];
};
#define AF_UNIX 1
#define SOCK_STREAM 1
#define SHUT_WR 1
#define SOL_SOCKET 0xffff
#define SO_SNDTIMEO 0x1005
#define SO_NOSIGPIPE 0x1022
#define SO_ERROR 0x1007
#define SOL_LOCAL 0
#define LOCAL_PEERPID 2
#define LOCAL_PEERTOKEN 6
int socket(int, int, int);
int connect(int, const struct sockaddr *, socklen_t);
int getsockopt(int, int, int, void *, socklen_t *);
int setsockopt(int, int, int, const void *, socklen_t);
int shutdown(int, int);

/* signal, spawn */
typedef uint32_t sigset_t;
#define SIGPIPE 13
#define SIGCHLD 20
#define SIG_IGN ((void (*)(int))1)
void (*signal(int, void (*)(int)))(int);
int sigemptyset(sigset_t *);
int sigaddset(sigset_t *, int);
typedef void *posix_spawnattr_t, *posix_spawn_file_actions_t;
#define POSIX_SPAWN_SETSIGDEF 4
#define POSIX_SPAWN_CLOEXEC_DEFAULT 0x4000
int posix_spawn(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]);
int posix_spawnattr_init(posix_spawnattr_t *);
int posix_spawnattr_destroy(posix_spawnattr_t *);
int posix_spawnattr_setsigdefault(posix_spawnattr_t *, const sigset_t *);
int posix_spawnattr_setflags(posix_spawnattr_t *, short);
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *);
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *);
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *, int, const char *, int, mode_t);

/* sys/xattr */
int fsetxattr(int, const char *, const void *, size_t, uint32_t, int);

/* sys/stat: the form with 64-bit inode numbers, whose symbol has a suffix on x86_64 */
struct stat {
    dev_t st_dev;
    mode_t st_mode;
    nlink_t st_nlink;
    ino_t st_ino;
    uid_t st_uid;
    gid_t st_gid;
    dev_t st_rdev;
    struct timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
    off_t st_size;
    blkcnt_t st_blocks;
    blksize_t st_blksize;
    uint32_t st_flags, st_gen;
    int32_t st_lspare;
    int64_t st_qspare[2];
};
#ifdef __x86_64__
int stat(const char *, struct stat *) __asm("_stat$INODE64");
#else
int stat(const char *, struct stat *);
#endif

/* sys/sysctl, libproc */
#define CTL_KERN 1
#define KERN_PROCARGS2 49
int sysctl(int *, unsigned, void *, size_t *, void *, size_t);
#define MAXCOMLEN 16
struct proc_bsdinfo {
    uint32_t pbi_flags, pbi_status, pbi_xstatus, pbi_pid, pbi_ppid;
    uid_t pbi_uid;
    gid_t pbi_gid;
    uid_t pbi_ruid;
    gid_t pbi_rgid;
    uid_t pbi_svuid;
    gid_t pbi_svgid;
    uint32_t rfu_1;
    char pbi_comm[MAXCOMLEN], pbi_name[2 * MAXCOMLEN];
    uint32_t pbi_nfiles, pbi_pgid, pbi_pjobc, e_tdev, e_tpgid;
    int32_t pbi_nice;
    uint64_t pbi_start_tvsec, pbi_start_tvusec;
};
#define PROC_PIDTBSDINFO 3
#define PROC_PIDVNODEPATHINFO 9
#define PROC_PIDPATHINFO_MAXSIZE 4096
struct vinfo_stat {
    uint32_t vst_dev;
    uint16_t vst_mode, vst_nlink;
    uint64_t vst_ino;
    uid_t vst_uid;
    gid_t vst_gid;
    int64_t vst_times[8];
    off_t vst_size;
    int64_t vst_blocks;
    int32_t vst_blksize;
    uint32_t vst_flags, vst_gen, vst_rdev;
    int64_t vst_qspare[2];
};
struct vnode_info_path {
    struct {
        struct vinfo_stat vi_stat;
        int vi_type, vi_pad;
        int32_t vi_fsid[2];
    } vip_vi;
    char vip_path[PATH_MAX];
};
struct proc_vnodepathinfo {
    struct vnode_info_path pvi_cdir, pvi_rdir;
};
int proc_pidinfo(int, int, uint64_t, void *, int);
int proc_listallpids(void *, int);
int proc_pidpath(int, void *, uint32_t);

/* pthread */
typedef struct {
    long sig;
    char opaque[56];
} pthread_mutex_t;
#define PTHREAD_MUTEX_INITIALIZER {0x32AAABA7, {0}}
int pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_unlock(pthread_mutex_t *);

/* mach */
typedef struct {
    unsigned val[8];
} audit_token_t;
int _NSGetExecutablePath(char *, uint32_t *);

/* CoreFoundation */
typedef const void *CFTypeRef;
typedef const struct __CFString *CFStringRef;
typedef const struct __CFData *CFDataRef;
typedef const struct __CFNumber *CFNumberRef;
typedef const struct __CFDictionary *CFDictionaryRef;
typedef const struct __CFAllocator *CFAllocatorRef;
typedef unsigned long CFTypeID;
typedef long CFIndex;
typedef uint8_t UInt8;
typedef unsigned char Boolean;
typedef uint32_t CFStringEncoding;
#define kCFStringEncodingUTF8 0x08000100u
#define kCFNumberIntType 9
typedef struct {
    CFIndex version;
    const void *calls[5];
} CFDictionaryKeyCallBacks;
typedef struct {
    CFIndex version;
    const void *calls[4];
} CFDictionaryValueCallBacks;
extern const CFDictionaryKeyCallBacks kCFTypeDictionaryKeyCallBacks;
extern const CFDictionaryValueCallBacks kCFTypeDictionaryValueCallBacks;
void CFRelease(CFTypeRef);
CFTypeID CFGetTypeID(CFTypeRef);
CFTypeID CFStringGetTypeID(void);
Boolean CFStringGetCString(CFStringRef, char *, CFIndex, CFStringEncoding);
CFDataRef CFDataCreate(CFAllocatorRef, const UInt8 *, CFIndex);
CFNumberRef CFNumberCreate(CFAllocatorRef, CFIndex, const void *);
CFDictionaryRef CFDictionaryCreate(CFAllocatorRef, const void **, const void **, CFIndex, const CFDictionaryKeyCallBacks *, const CFDictionaryValueCallBacks *);
const void *CFDictionaryGetValue(CFDictionaryRef, const void *);
#define CFSTR(text) ((CFStringRef)__builtin___CFStringMakeConstantString("" text ""))

/* Security */
typedef int32_t OSStatus;
#define errSecSuccess 0
typedef struct __SecCode *SecCodeRef;
typedef const struct __SecCode *SecStaticCodeRef;
typedef struct __SecRequirement *SecRequirementRef;
typedef uint32_t SecCSFlags;
#define kSecCSDefaultFlags 0u
#define kSecCSSigningInformation 2u
extern const CFStringRef kSecGuestAttributeAudit, kSecGuestAttributePid, kSecCodeInfoTeamIdentifier, kSecCodeInfoIdentifier;
OSStatus SecCodeCopyGuestWithAttributes(SecCodeRef, CFDictionaryRef, SecCSFlags, SecCodeRef *);
OSStatus SecCodeCheckValidity(SecCodeRef, SecCSFlags, SecRequirementRef);
OSStatus SecCodeCopySigningInformation(SecStaticCodeRef, SecCSFlags, CFDictionaryRef *);
OSStatus SecRequirementCreateWithString(CFStringRef, SecCSFlags, SecRequirementRef *);

#endif
