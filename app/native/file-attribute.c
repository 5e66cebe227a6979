/*
 * An extended attribute of an open file. Node has no way to set one, and a program that could is not started: this is
 * how a copy that came from outside gets macOS's quarantine mark.
 */
#include "file-attribute.h"

#include <stdbool.h>
#include <string.h>
#include <sys/types.h>
#include <sys/xattr.h>

#define NAME_BYTES 128
#define VALUE_BYTES 256

/* False where it is no text or too long: a cut value would be another one. */
static bool text(napi_env env, napi_value value, char *into, size_t size) {
    size_t length = 0;
    return napi_get_value_string_utf8(env, value, NULL, 0, &length) == napi_ok && length > 0 && length < size &&
           napi_get_value_string_utf8(env, value, into, size, &length) == napi_ok && strlen(into) == length;
}

napi_value set_file_attribute(napi_env env, napi_callback_info info) {
    size_t count = 3;
    napi_value args[3], result;
    int32_t fd;
    char name[NAME_BYTES], value[VALUE_BYTES];
    napi_get_cb_info(env, info, &count, args, NULL, NULL);
    if (count < 3 || napi_get_value_int32(env, args[0], &fd) != napi_ok || !text(env, args[1], name, sizeof name) || !text(env, args[2], value, sizeof value)) {
        napi_throw_error(env, NULL, "setFileAttribute takes a descriptor, a name and a value");
        return NULL;
    }
#ifdef __APPLE__
    int failed = fsetxattr(fd, name, value, strlen(value), 0, 0);
#else
    int failed = fsetxattr(fd, name, value, strlen(value), 0);
#endif
    napi_get_boolean(env, failed == 0, &result);
    return result;
}
