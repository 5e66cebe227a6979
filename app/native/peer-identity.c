/*
 * peer-identity: what the kernel says of the process behind an accepted socket. Credentials are asked at once;
 * a chain of processes is read on a worker thread, since checking a signature may take a while.
 *
 *   credentials(fd)               { pid, uid, gid, auditToken }; the token is a Buffer on macOS, else null
 *   startTime(pid)                text, or null where there is no such process
 *   ancestors(pid, max[, token])  Promise of [the process itself, its parent, ...], at most `max` in all
 */
#define _GNU_SOURCE
#include <node_api.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/un.h>
#endif

#include "file-attribute.h"
#include "process-facts.h"

#define MAX_ANCESTORS 32

static napi_value fail(napi_env env, const char *sentence) {
    napi_throw_error(env, NULL, sentence);
    return NULL;
}

static void set(napi_env env, napi_value object, const char *name, napi_value value) { napi_set_named_property(env, object, name, value); }

static void set_number(napi_env env, napi_value object, const char *name, double number) {
    napi_value value;
    napi_create_double(env, number, &value);
    set(env, object, name, value);
}

static napi_value text_or_null(napi_env env, const char *text) {
    napi_value value;
    if (text) napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
    else napi_get_null(env, &value);
    return value;
}

static napi_value credentials(napi_env env, napi_callback_info info) {
    size_t count = 1;
    napi_value args[1], result, token;
    int32_t fd;
    napi_get_cb_info(env, info, &count, args, NULL, NULL);
    if (count < 1 || napi_get_value_int32(env, args[0], &fd) != napi_ok) return fail(env, "credentials takes a descriptor");
    napi_get_null(env, &token);
#ifdef __APPLE__
    pid_t pid = 0;
    socklen_t size = sizeof pid;
    uid_t uid;
    gid_t gid;
    unsigned char bytes[AUDIT_TOKEN_BYTES];
    socklen_t token_size = sizeof bytes;
    if (getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, &pid, &size) != 0 || pid <= 0 || getpeereid(fd, &uid, &gid) != 0) {
        return fail(env, "The descriptor is no connected unix socket");
    }
    if (getsockopt(fd, SOL_LOCAL, LOCAL_PEERTOKEN, bytes, &token_size) == 0 && token_size == sizeof bytes) {
        napi_create_buffer_copy(env, sizeof bytes, bytes, NULL, &token);
    }
#else
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0) {
        return fail(env, "The descriptor is no connected unix socket");
    }
    pid_t pid = peer.pid;
    uid_t uid = peer.uid;
    gid_t gid = peer.gid;
#endif
    napi_create_object(env, &result);
    set_number(env, result, "pid", (double)pid);
    set_number(env, result, "uid", (double)uid);
    set_number(env, result, "gid", (double)gid);
    set(env, result, "auditToken", token);
    return result;
}

static napi_value start_time(napi_env env, napi_callback_info info) {
    size_t count = 1;
    napi_value args[1];
    int32_t pid;
    char start[START_BYTES];
    pid_t parent;
    napi_get_cb_info(env, info, &count, args, NULL, NULL);
    if (count < 1 || napi_get_value_int32(env, args[0], &pid) != napi_ok) return fail(env, "startTime takes a process id");
    return text_or_null(env, pid > 0 && process_start(pid, start, &parent) ? start : NULL);
}

static napi_value runs(napi_env env, napi_callback_info info) {
    size_t count = 1, length = 0;
    napi_value args[1], result;
    char end[512];
    napi_get_cb_info(env, info, &count, args, NULL, NULL);
    if (count < 1 || napi_get_value_string_utf8(env, args[0], end, sizeof end, &length) != napi_ok || length == 0) {
        return fail(env, "runs takes the end of an executable's path");
    }
    napi_get_boolean(env, process_runs(end), &result);
    return result;
}

struct chain {
    napi_async_work work;
    napi_deferred deferred;
    pid_t pid;
    int max, count;
    bool has_token;
    unsigned char token[AUDIT_TOKEN_BYTES];
    struct process_facts facts[MAX_ANCESTORS];
};

static void read_chain(napi_env env, void *data) {
    (void)env;
    struct chain *c = data;
    pid_t pid = c->pid;
    while (c->count < c->max && pid > 0) {
        struct process_facts *f = &c->facts[c->count];
        if (!process_read(pid, c->count == 0 && c->has_token ? c->token : NULL, f)) return;
        if (c->count > 0) {
            /* Only while the child still names it was it the parent; later the number may be another's. */
            const struct process_facts *child = f - 1;
            char start[START_BYTES];
            pid_t parent;
            if (!process_start(child->pid, start, &parent) || parent != pid || strcmp(start, child->start) != 0) {
                process_free(f);
                return;
            }
        }
        c->count++;
        pid = f->parent;
    }
}

static napi_value words(napi_env env, const struct process_facts *f) {
    napi_value list, word;
    napi_create_array(env, &list);
    uint32_t n = 0;
    for (size_t at = 0; f->argv && at < f->argv_length;) {
        size_t length = strnlen(f->argv + at, f->argv_length - at);
        napi_create_string_utf8(env, f->argv + at, length, &word);
        napi_set_element(env, list, n++, word);
        at += length + 1;
    }
    return list;
}

static void chain_done(napi_env env, napi_status status, void *data) {
    struct chain *c = data;
    napi_value list, object, valid;
    napi_create_array(env, &list);
    for (int i = 0; i < c->count; i++) {
        struct process_facts *f = &c->facts[i];
        if (status == napi_ok) {
            napi_create_object(env, &object);
            set_number(env, object, "pid", f->pid);
            set_number(env, object, "ppid", f->parent);
            set(env, object, "startTime", text_or_null(env, f->start));
            set(env, object, "path", text_or_null(env, f->path ? f->path : ""));
            set(env, object, "argv", words(env, f));
            set(env, object, "cwd", text_or_null(env, f->cwd));
            set(env, object, "team", text_or_null(env, f->valid ? f->team : NULL));
            set(env, object, "signingId", text_or_null(env, f->valid ? f->signing_id : NULL));
            napi_get_boolean(env, f->valid, &valid);
            set(env, object, "valid", valid);
            napi_set_element(env, list, (uint32_t)i, object);
        }
        process_free(f);
    }
    napi_resolve_deferred(env, c->deferred, list);
    napi_delete_async_work(env, c->work);
    free(c);
}

static napi_value ancestors(napi_env env, napi_callback_info info) {
    size_t count = 3;
    napi_value args[3], promise, name;
    int32_t pid, max;
    napi_get_cb_info(env, info, &count, args, NULL, NULL);
    if (count < 2 || napi_get_value_int32(env, args[0], &pid) != napi_ok || napi_get_value_int32(env, args[1], &max) != napi_ok || max < 1) {
        return fail(env, "ancestors takes a process id and a number of at least 1");
    }
    struct chain *c = calloc(1, sizeof *c);
    if (!c) return fail(env, "No memory");
    c->pid = pid;
    c->max = max > MAX_ANCESTORS ? MAX_ANCESTORS : max;
    bool is_buffer = false;
    void *bytes;
    size_t length;
    if (count > 2 && napi_is_buffer(env, args[2], &is_buffer) == napi_ok && is_buffer &&
        napi_get_buffer_info(env, args[2], &bytes, &length) == napi_ok && length == sizeof c->token) {
        memcpy(c->token, bytes, length);
        c->has_token = true;
    }
    napi_create_string_utf8(env, "belfry peer identity", NAPI_AUTO_LENGTH, &name);
    if (napi_create_promise(env, &c->deferred, &promise) != napi_ok ||
        napi_create_async_work(env, NULL, name, read_chain, chain_done, c, &c->work) != napi_ok) {
        free(c);
        return fail(env, "No worker thread can be had");
    }
    if (napi_queue_async_work(env, c->work) != napi_ok) {
        napi_delete_async_work(env, c->work);
        free(c);
        return fail(env, "No worker thread can be had");
    }
    return promise;
}

NAPI_MODULE_INIT() {
    static const struct {
        const char *name;
        napi_callback call;
    } calls[] = {{"credentials", credentials}, {"startTime", start_time}, {"ancestors", ancestors}, {"runs", runs}, {"setFileAttribute", set_file_attribute}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        napi_value function;
        napi_create_function(env, calls[i].name, NAPI_AUTO_LENGTH, calls[i].call, NULL, &function);
        set(env, exports, calls[i].name, function);
    }
    return exports;
}
