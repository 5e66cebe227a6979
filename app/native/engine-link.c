#define _GNU_SOURCE
#include "engine-link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef __APPLE__
#include <CoreFoundation/CoreFoundation.h>
#include <Security/Security.h>
#include <mach-o/dyld.h>
#include <mach/message.h>
#include <signal.h>
#include <spawn.h>
#endif

#include "json-text.h"

/* A build without our team has its own folder, so that it never meets an installed app's engine. */
#ifdef BELFRY_TEAM
#define MAC_FOLDER "Belfry"
#else
#define MAC_FOLDER "Belfry Development"
#endif

bool link_default_socket(char *path, size_t size) {
    const char *home = getenv("HOME");
    if (!home || !*home) {
        const struct passwd *user = getpwuid(getuid());
        home = user ? user->pw_dir : NULL;
    }
    int length;
#ifdef __APPLE__
    if (!home || !*home) return false;
    length = snprintf(path, size, "%s/Library/Application Support/" MAC_FOLDER "/run/engine.sock", home);
#else
    const char *data = getenv("XDG_DATA_HOME");
    if (data && *data) {
        length = snprintf(path, size, "%s/belfry/run/engine.sock", data);
    } else {
        if (!home || !*home) return false;
        length = snprintf(path, size, "%s/.local/share/belfry/run/engine.sock", home);
    }
#endif
    return length > 0 && (size_t)length < size;
}

#ifdef __APPLE__
#ifdef BELFRY_TEAM
/* The engine on the other end must carry our team, or a program that squats the socket gets the client's words. */
static bool carries_our_team(int fd) {
    audit_token_t token;
    socklen_t size = sizeof token;
    if (getsockopt(fd, SOL_LOCAL, LOCAL_PEERTOKEN, &token, &size) != 0 || size != sizeof token) return false;
    CFDataRef data = CFDataCreate(NULL, (const UInt8 *)&token, sizeof token);
    if (!data) return false;
    const void *keys[] = {kSecGuestAttributeAudit};
    const void *values[] = {data};
    CFDictionaryRef attributes = CFDictionaryCreate(NULL, keys, values, 1, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
    SecCodeRef code = NULL;
    SecRequirementRef requirement = NULL;
    bool ours = attributes &&
                SecCodeCopyGuestWithAttributes(NULL, attributes, kSecCSDefaultFlags, &code) == errSecSuccess &&
                SecRequirementCreateWithString(CFSTR("anchor apple generic and certificate leaf[subject.OU] = \"" BELFRY_TEAM "\""), kSecCSDefaultFlags, &requirement) == errSecSuccess &&
                SecCodeCheckValidity(code, kSecCSDefaultFlags, requirement) == errSecSuccess;
    if (requirement) CFRelease(requirement);
    if (code) CFRelease(code);
    if (attributes) CFRelease(attributes);
    CFRelease(data);
    return ours;
}
#else
/* An unsigned development build has no team to ask for: the same user is all that can be checked. */
static bool carries_our_team(int fd) {
    static bool noted;
    (void)fd;
    if (!noted) fputs("belfry-mcp: development build, the engine's signature is not checked.\n", stderr);
    noted = true;
    return true;
}
#endif

static bool is_ours(int fd) {
    uid_t uid;
    gid_t gid;
    return getpeereid(fd, &uid, &gid) == 0 && uid == getuid() && carries_our_team(fd);
}
#else
static bool is_ours(int fd) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}
#endif

static int refuse(int fd, char *sentence, size_t size, const char *why) {
    if (fd >= 0) close(fd);
    snprintf(sentence, size, "%s", why);
    return -1;
}

int link_connect(const char *socket_path, bool nonblocking, char *sentence, size_t size) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(socket_path);
    if (length > MAX_SOCKET_PATH || length >= sizeof address.sun_path) return refuse(-1, sentence, size, "The socket path is too long.");
    memcpy(address.sun_path, socket_path, length + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) return refuse(-1, sentence, size, "No socket can be made: too many files are open.");
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (nonblocking) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
#ifdef SO_NOSIGPIPE
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    if (!nonblocking) {
        /* Linux also bounds connect() by this, which a full queue would block for ever. */
        struct timeval limit = {.tv_sec = 10};
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        switch (errno) {
            case EACCES:
            case EPERM: return refuse(fd, sentence, size, "Belfry's socket cannot be opened: it belongs to another user, or a sandbox forbids it.");
            case EAGAIN: return refuse(fd, sentence, size, "Belfry is too busy to answer. Try again in a moment.");
            default: return refuse(fd, sentence, size, NOT_RUNNING);
        }
    }
    if (!is_ours(fd)) return refuse(fd, sentence, size, "The program behind the socket is not this user's Belfry, so nothing was sent to it.");
    return fd;
}

static const char first_words[] = "{\"protocol\":1,\"version\":\"" BELFRY_VERSION "\",\"mode\":";

void link_hello_mcp(const char *label, bool channel, struct buffer *out) {
    buffer_text(out, first_words);
    buffer_text(out, "\"mcp\",\"label\":");
    if (label) json_add_string(out, label, strlen(label));
    else buffer_text(out, "null");
    buffer_text(out, channel ? ",\"channel\":true}\n" : ",\"channel\":false}\n");
}

void link_hello_command(int argc, char **argv, struct buffer *out) {
    buffer_text(out, first_words);
    buffer_text(out, "\"command\",\"argv\":[");
    for (int i = 0; i < argc; i++) {
        if (i) buffer_text(out, ",");
        json_add_string(out, argv[i], strlen(argv[i]));
    }
    buffer_text(out, "]}\n");
}

bool link_welcome(const char *line, size_t length, char *sentence, size_t size) {
    if (length > 0 && line[length - 1] == '\r') length--;
    if (length == 2 && memcmp(line, "ok", 2) == 0) return true;
    if (length > 2 && memcmp(line, "ok ", 3) == 0) return true;
    if (length > 6 && memcmp(line, "error ", 6) == 0) {
        snprintf(sentence, size, "%.*s", (int)(length - 6), line + 6);
        /* It goes to a terminal. */
        for (char *at = sentence; *at; at++) {
            if ((unsigned char)*at < 0x20 || *at == 0x7f) *at = ' ';
        }
    } else {
        snprintf(sentence, size, "What answered on the socket is no Belfry engine that this helper knows. Update Belfry and try again.");
    }
    return false;
}

void link_open_app(void) {
#ifdef __APPLE__
    char own[PATH_MAX], path[PATH_MAX];
    uint32_t size = sizeof own;
    static const char inside[] = ".app/Contents/MacOS/";
    /* By the path of this very bundle: by its id, LaunchServices may choose another copy. */
    if (_NSGetExecutablePath(own, &size) != 0 || !realpath(own, path)) return;
    char *name = strrchr(path, '/');
    if (!name) return;
    name[1] = '\0';
    size_t length = strlen(path), tail = sizeof inside - 1;
    if (length <= tail || strcmp(path + length - tail, inside) != 0) return;
    path[length - tail + 4] = '\0';
    char *argv[] = {"/usr/bin/open", "-g", "-a", path, "--args", "--background", NULL};
    /* An opened app inherits the environment: the client's must not steer it (ELECTRON_RUN_AS_NODE, DYLD_*). */
    char home[PATH_MAX + 8] = "", user[128] = "", logname[128] = "";
    const struct passwd *me = getpwuid(getuid());
    if (!me) return;
    snprintf(home, sizeof home, "HOME=%s", me->pw_dir);
    snprintf(user, sizeof user, "USER=%s", me->pw_name);
    snprintf(logname, sizeof logname, "LOGNAME=%s", me->pw_name);
    char *env[] = {"PATH=/usr/bin:/bin:/usr/sbin:/sbin", home, user, logname, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGCHLD);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    /* Its words must not reach the client, and it must not hold the client's pipes. */
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_CLOEXEC_DEFAULT);
    pid_t pid;
    /* Nobody waits for it; so that it leaves no zombie. */
    signal(SIGCHLD, SIG_IGN);
    posix_spawn(&pid, "/usr/bin/open", &files, &attributes, argv, env);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
#endif
}
