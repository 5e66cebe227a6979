#include "line-scanner.h"

#include <string.h>

static size_t skip_space(const char *s, size_t n, size_t i) {
    while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || s[i] == '\n')) i++;
    return i;
}

/* From an opening quote to behind the closing one; n + 1 where the string never ends. */
static size_t skip_string(const char *s, size_t n, size_t i) {
    for (i++; i < n; i++) {
        if (s[i] == '\\') i++;
        else if (s[i] == '"') return i + 1;
    }
    return n + 1;
}

static int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Unescapes a quoted string into `out` (ASCII only: other characters become '?', which no name of ours has). */
static void unescape(const char *s, size_t start, size_t end, char *out, size_t size) {
    size_t used = 0;
    for (size_t i = start + 1; i + 1 < end && used + 1 < size; i++) {
        char c = s[i];
        if (c == '\\' && i + 2 < end) {
            c = s[++i];
            if (c == 'u' && i + 4 < end) {
                int value = 0;
                for (int k = 1; k <= 4; k++) {
                    int digit = hex(s[i + (size_t)k]);
                    value = digit < 0 ? 0x10000 : value * 16 + digit;
                }
                i += 4;
                c = value > 0 && value < 0x80 ? (char)value : '?';
            } else if (c == 'b') c = '\b';
            else if (c == 'f') c = '\f';
            else if (c == 'n') c = '\n';
            else if (c == 'r') c = '\r';
            else if (c == 't') c = '\t';
        }
        out[used++] = c;
    }
    out[used] = '\0';
}

/* From the first character of a value to behind it; n + 1 where it never ends. Depth is counted, not walked. */
static size_t skip_value(const char *s, size_t n, size_t i) {
    if (i >= n) return n + 1;
    if (s[i] == '"') return skip_string(s, n, i);
    if (s[i] != '{' && s[i] != '[') {
        size_t from = i;
        while (i < n && s[i] != ',' && s[i] != '}' && s[i] != ']' && s[i] != ' ' && s[i] != '\t' && s[i] != '\r' && s[i] != '\n') i++;
        return i > from ? i : n + 1;
    }
    size_t depth = 0;
    while (i < n) {
        char c = s[i];
        if (c == '"') {
            i = skip_string(s, n, i);
            if (i > n) return n + 1;
            continue;
        }
        if (c == '{' || c == '[') depth++;
        if ((c == '}' || c == ']') && --depth == 0) return i + 1;
        i++;
    }
    return n + 1;
}

typedef void (*member)(const char *s, const char *key, size_t start, size_t end, size_t n, struct scanned_line *out);

/* Calls `visit` for each member of the object that opens at `i`. False where it is not well formed. */
static bool each_member(const char *s, size_t n, size_t i, member visit, struct scanned_line *out, size_t *after) {
    i = skip_space(s, n, i + 1);
    if (i < n && s[i] == '}') {
        *after = i + 1;
        return true;
    }
    for (;;) {
        i = skip_space(s, n, i);
        if (i >= n || s[i] != '"') return false;
        size_t key_end = skip_string(s, n, i);
        if (key_end > n) return false;
        char key[16];
        /* A longer key cannot be one that we look for. */
        unescape(s, i, key_end, key, sizeof key);
        i = skip_space(s, n, key_end);
        if (i >= n || s[i] != ':') return false;
        i = skip_space(s, n, i + 1);
        size_t end = skip_value(s, n, i);
        if (end > n) return false;
        visit(s, key, i, end, n, out);
        i = skip_space(s, n, end);
        if (i >= n) return false;
        if (s[i] == '}') {
            *after = i + 1;
            return true;
        }
        if (s[i] != ',') return false;
        i++;
    }
}

static void param(const char *s, const char *key, size_t start, size_t end, size_t n, struct scanned_line *out) {
    (void)s;
    (void)n;
    struct span found = {start, end - start};
    if (strcmp(key, "requestId") == 0) out->request_id = found;
    else if (strcmp(key, "uri") == 0) out->uri = found;
}

static void top(const char *s, const char *key, size_t start, size_t end, size_t n, struct scanned_line *out) {
    if (strcmp(key, "id") == 0) {
        out->id = (struct span){start, end - start};
    } else if (strcmp(key, "method") == 0) {
        out->has_method = s[start] == '"';
        if (out->has_method) unescape(s, start, end, out->method, sizeof out->method);
    } else if (strcmp(key, "result") == 0 || strcmp(key, "error") == 0) {
        out->has_result = true;
    } else if (strcmp(key, "params") == 0) {
        out->request_id.length = 0;
        out->uri.length = 0;
        size_t after;
        if (s[start] == '{') each_member(s, n, start, param, out, &after);
    }
}

void scan_line(const char *line, size_t length, struct scanned_line *out) {
    memset(out, 0, sizeof *out);
    size_t i = skip_space(line, length, 0);
    if (i >= length || line[i] != '{') return;
    size_t after = 0;
    if (!each_member(line, length, i, top, out, &after)) {
        memset(out, 0, sizeof *out);
        return;
    }
    out->is_object = skip_space(line, length, after) == length;
    if (!out->is_object) memset(out, 0, sizeof *out);
}
