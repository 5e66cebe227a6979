/*
 * peer-identity: what the kernel says of the process behind an accepted socket. Credentials are asked at once;
 * a process is described on a worker thread, since checking a signature may take a while.
 */
#define _GNU_SOURCE
#include <node_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __APPLE__
#include <CoreFoundation/CoreFoundation.h>
#include <Security/Security.h>
#include <libproc.h>
#include <sys/sysctl.h>
#include <sys/un.h>
#endif

static napi_value fail(napi_env env, const char *sentence) {
    napi_throw_error(env, NULL, sentence);
    return NULL;
}

static void set_number(napi_env env, napi_value object, const char *name, double number) {
    napi_value value;
    napi_create_double(env, number, &value);
    napi_set_named_property(env, object, name, value);
}

/* credentials(fd) -> { pid, uid }: of the process that connected, as the kernel kept them. */
static napi_value credentials(napi_env env, napi_callback_info info) {
    size_t count = 1;
    napi_value args[1], result;
    int32_t fd;
    napi_get_cb_info(env, info, &count, args, NULL, NULL);
    if (count < 1 || napi_get_value_int32(env, args[0], &fd) != napi_ok) return fail(env, "credentials takes a descriptor");
    long pid = -1, uid = -1;
#ifdef __APPLE__
    pid_t peer = 0;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, &peer, &size) == 0) pid = peer;
    uid_t user;
    gid_t group;
    if (getpeereid(fd, &user, &group) == 0) uid = (long)user;
#else
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
        pid = peer.pid;
        uid = (long)peer.uid;
    }
#endif
    if (pid < 0 || uid < 0) return fail(env, "The descriptor is no connected unix socket");
    napi_create_object(env, &result);
    set_number(env, result, "pid", (double)pid);
    set_number(env, result, "uid", (double)uid);
    return result;
}

#ifdef __APPLE__
static void set_text(napi_env env, napi_value object, const char *name, const char *text, size_t length) {
    napi_value value;
    if (text) napi_create_string_utf8(env, text, length, &value);
    else napi_get_null(env, &value);
    napi_set_named_property(env, object, name, value);
}

struct description {
    napi_async_work work;
    napi_deferred deferred;
    pid_t pid;
    int found;
    pid_t parent;
    char start[64], path[PROC_PIDPATHINFO_MAXSIZE], team[64], signing_id[256];
    char *arguments; /* as KERN_PROCARGS2 gives them: separated by zeros */
    size_t arguments_length;
    int valid;
};

static int start_of(pid_t pid, pid_t *parent, char *start, size_t size) {
    struct proc_bsdinfo info;
    if (proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof info) != sizeof info) return 0;
    *parent = (pid_t)info.pbi_ppid;
    snprintf(start, size, "%llu.%06llu", info.pbi_start_tvsec, info.pbi_start_tvusec);
    return 1;
}

static void copy_cf(CFTypeRef value, char *out, size_t size) {
    if (value && CFGetTypeID(value) == CFStringGetTypeID()) CFStringGetCString((CFStringRef)value, out, (CFIndex)size, kCFStringEncodingUTF8);
}

static void read_signature(struct description *d) {
    CFNumberRef number = CFNumberCreate(NULL, kCFNumberIntType, &d->pid);
    const void *keys[] = {kSecGuestAttributePid}, *values[] = {number};
    CFDictionaryRef attributes = CFDictionaryCreate(NULL, keys, values, 1, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
    SecCodeRef code = NULL;
    CFDictionaryRef signing = NULL;
    if (SecCodeCopyGuestWithAttributes(NULL, attributes, kSecCSDefaultFlags, &code) == errSecSuccess) {
        d->valid = SecCodeCheckValidity(code, kSecCSDefaultFlags, NULL) == errSecSuccess;
        if (SecCodeCopySigningInformation((SecStaticCodeRef)code, kSecCSSigningInformation, &signing) == errSecSuccess) {
            copy_cf(CFDictionaryGetValue(signing, kSecCodeInfoTeamIdentifier), d->team, sizeof d->team);
            copy_cf(CFDictionaryGetValue(signing, kSecCodeInfoIdentifier), d->signing_id, sizeof d->signing_id);
        }
    }
    if (signing) CFRelease(signing);
    if (code) CFRelease(code);
    CFRelease(attributes);
    CFRelease(number);
}

static void read_arguments(struct description *d) {
    int name[3] = {CTL_KERN, KERN_PROCARGS2, d->pid};
    size_t size = 0;
    if (sysctl(name, 3, NULL, &size, NULL, 0) != 0 || size < sizeof(int)) return;
    char *bytes = malloc(size);
    if (!bytes) return;
    if (sysctl(name, 3, bytes, &size, NULL, 0) == 0) {
        int count;
        memcpy(&count, bytes, sizeof count);
        /* Behind the count: the executable's path, zeros, then the arguments, each with its zero. */
        size_t at = sizeof count;
        while (at < size && bytes[at]) at++;
        while (at < size && !bytes[at]) at++;
        size_t from = at;
        for (int i = 0; i < count && at < size; i++) at += strnlen(bytes + at, size - at) + 1;
        if (at > size) at = size;
        d->arguments_length = at - from;
        d->arguments = malloc(d->arguments_length + 1);
        if (d->arguments) memcpy(d->arguments, bytes + from, d->arguments_length);
    }
    free(bytes);
}

static void describe_work(napi_env env, void *data) {
    (void)env;
    struct description *d = data;
    char again[64];
    pid_t parent;
    if (!start_of(d->pid, &d->parent, d->start, sizeof d->start)) return;
    if (proc_pidpath(d->pid, d->path, sizeof d->path) <= 0) d->path[0] = '\0';
    read_arguments(d);
    read_signature(d);
    /* The number may belong to another process by now. */
    d->found = start_of(d->pid, &parent, again, sizeof again) && strcmp(again, d->start) == 0;
}

static void describe_done(napi_env env, napi_status status, void *data) {
    (void)status;
    struct description *d = data;
    napi_value result;
    if (!d->found) {
        napi_get_null(env, &result);
    } else {
        napi_create_object(env, &result);
        set_number(env, result, "pid", d->pid);
        set_number(env, result, "parent", d->parent);
        set_text(env, result, "startTime", d->start, NAPI_AUTO_LENGTH);
        set_text(env, result, "path", d->path, NAPI_AUTO_LENGTH);
        set_text(env, result, "arguments", d->arguments ? d->arguments : "", d->arguments ? d->arguments_length : 0);
        set_text(env, result, "team", d->valid && d->team[0] ? d->team : NULL, NAPI_AUTO_LENGTH);
        set_text(env, result, "signingId", d->valid && d->signing_id[0] ? d->signing_id : NULL, NAPI_AUTO_LENGTH);
    }
    napi_resolve_deferred(env, d->deferred, result);
    napi_delete_async_work(env, d->work);
    free(d->arguments);
    free(d);
}

/* describe(pid) -> Promise of { pid, parent, startTime, path, arguments, team, signingId } or null. */
static napi_value describe(napi_env env, napi_callback_info info) {
    size_t count = 1;
    napi_value args[1], promise, name;
    int32_t pid;
    napi_get_cb_info(env, info, &count, args, NULL, NULL);
    if (count < 1 || napi_get_value_int32(env, args[0], &pid) != napi_ok) return fail(env, "describe takes a process id");
    struct description *d = calloc(1, sizeof *d);
    if (!d) return fail(env, "No memory");
    d->pid = pid;
    napi_create_promise(env, &d->deferred, &promise);
    napi_create_string_utf8(env, "peer-identity", NAPI_AUTO_LENGTH, &name);
    napi_create_async_work(env, NULL, name, describe_work, describe_done, d, &d->work);
    napi_queue_async_work(env, d->work);
    return promise;
}
#endif

NAPI_MODULE_INIT() {
    napi_value function;
    napi_create_function(env, "credentials", NAPI_AUTO_LENGTH, credentials, NULL, &function);
    napi_set_named_property(env, exports, "credentials", function);
#ifdef __APPLE__
    napi_create_function(env, "describe", NAPI_AUTO_LENGTH, describe, NULL, &function);
    napi_set_named_property(env, exports, "describe", function);
#endif
    return exports;
}
