#define _GNU_SOURCE
#include "engine-link.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef __APPLE__
#include <CoreFoundation/CoreFoundation.h>
#include <Security/Security.h>
#include <libproc.h>
#include <mach-o/dyld.h>
#include <spawn.h>
extern char **environ;
#endif

#ifdef __APPLE__
/* The engine on the other end must carry our team, or a program that squats the socket gets the client's words. */
static bool is_ours(int fd) {
#ifdef BELFRY_TEAM
    audit_token_t token;
    socklen_t size = sizeof token;
    if (getsockopt(fd, SOL_LOCAL, LOCAL_PEERTOKEN, &token, &size) != 0) return false;
    CFDataRef data = CFDataCreate(NULL, (const UInt8 *)&token, sizeof token);
    const void *keys[] = {kSecGuestAttributeAudit};
    const void *values[] = {data};
    CFDictionaryRef attributes = CFDictionaryCreate(NULL, keys, values, 1, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
    SecCodeRef code = NULL;
    SecRequirementRef requirement = NULL;
    bool ours = SecCodeCopyGuestWithAttributes(NULL, attributes, kSecCSDefaultFlags, &code) == errSecSuccess &&
                SecRequirementCreateWithString(CFSTR("anchor apple generic and certificate leaf[subject.OU] = \"" BELFRY_TEAM "\""), kSecCSDefaultFlags, &requirement) == errSecSuccess &&
                SecCodeCheckValidity(code, kSecCSDefaultFlags, requirement) == errSecSuccess;
    if (requirement) CFRelease(requirement);
    if (code) CFRelease(code);
    CFRelease(attributes);
    CFRelease(data);
    return ours;
#else
    /* An unsigned development build has no team to ask for: the same user is all that can be checked. */
    uid_t uid;
    gid_t gid;
    return getpeereid(fd, &uid, &gid) == 0 && uid == getuid();
#endif
}
#else
static bool is_ours(int fd) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}
#endif

int link_connect(const struct link *link, char *sentence, size_t size) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, link->socket_path, strlen(link->socket_path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) {
        snprintf(sentence, size, "no socket can be made");
        return -1;
    }
#ifdef SO_NOSIGPIPE
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        snprintf(sentence, size, errno == EACCES || errno == EPERM ? "The engine belongs to another user." : "Belfry is not running. Open Belfry and try again.");
        close(fd);
        return -1;
    }
    if (!is_ours(fd)) {
        snprintf(sentence, size, "The program behind the socket is not Belfry, so nothing was sent to it.");
        close(fd);
        return -1;
    }
    return fd;
}

/* As a JSON string. What is not UTF-8 becomes '?': an argument may hold any bytes, JSON may not. */
static void add_json_string(struct buffer *out, const char *text) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *s = (const unsigned char *)text;
    buffer_text(out, "\"");
    while (*s) {
        size_t more = *s < 0x80 ? 0 : *s >= 0xc2 && *s <= 0xdf ? 1 : *s >= 0xe0 && *s <= 0xef ? 2 : *s >= 0xf0 && *s <= 0xf4 ? 3 : 9;
        bool good = more != 9;
        for (size_t i = 1; good && i <= more; i++) good = (s[i] & 0xc0) == 0x80;
        if (good && more == 2) good = !(s[0] == 0xe0 && s[1] < 0xa0) && !(s[0] == 0xed && s[1] > 0x9f);
        if (good && more == 3) good = !(s[0] == 0xf0 && s[1] < 0x90) && !(s[0] == 0xf4 && s[1] > 0x8f);
        if (!good) {
            buffer_text(out, "?");
            s++;
        } else if (*s == '"' || *s == '\\') {
            char escaped[2] = {'\\', (char)*s++};
            buffer_add(out, escaped, 2);
        } else if (*s < 0x20) {
            char escaped[6] = {'\\', 'u', '0', '0', digits[*s >> 4], digits[*s & 15]};
            buffer_add(out, escaped, 6);
            s++;
        } else {
            buffer_add(out, (const char *)s, more + 1);
            s += more + 1;
        }
    }
    buffer_text(out, "\"");
}

void link_hello_mcp(const struct link *link, struct buffer *out) {
    buffer_text(out, "{\"protocol\":1,\"version\":\"" BELFRY_VERSION "\",\"mode\":\"mcp\",\"label\":");
    if (link->label) add_json_string(out, link->label);
    else buffer_text(out, "null");
    buffer_text(out, link->channel ? ",\"channel\":true}\n" : ",\"channel\":false}\n");
}

void link_hello_command(int argc, char **argv, struct buffer *out) {
    buffer_text(out, "{\"protocol\":1,\"version\":\"" BELFRY_VERSION "\",\"mode\":\"command\",\"argv\":[");
    for (int i = 0; i < argc; i++) {
        if (i) buffer_text(out, ",");
        add_json_string(out, argv[i]);
    }
    buffer_text(out, "]}\n");
}

void link_open_app(void) {
#ifdef __APPLE__
    char path[4096];
    uint32_t size = sizeof path;
    if (_NSGetExecutablePath(path, &size) != 0) return;
    /* .../Belfry.app/Contents/MacOS/belfry-mcp */
    char *inside = strstr(path, ".app/Contents/MacOS/");
    if (!inside) return;
    inside[4] = '\0';
    char *argv[] = {"/usr/bin/open", "-g", "-a", path, "--args", "--background", NULL};
    pid_t pid;
    posix_spawn(&pid, "/usr/bin/open", NULL, NULL, argv, environ);
#endif
}
