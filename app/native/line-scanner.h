/*
 * Finds id, method and two params of one JSON-RPC line in one pass: no tree, no allocation, no recursion. It is
 * as strict as JSON.parse, except that below MAX_KINDS levels brackets are counted and no longer told apart.
 */
#ifndef BELFRY_LINE_SCANNER_H
#define BELFRY_LINE_SCANNER_H

#include <stdbool.h>
#include <stddef.h>

/* Raw JSON text of a value inside the line: strings keep their quotes. length 0: absent. */
struct span {
    size_t start, length;
};

enum line_kind {
    LINE_UNKNOWN,      /* no JSON object, or none of the three below: passed on, never answered for */
    LINE_REQUEST,      /* a method and an id of any type */
    LINE_NOTIFICATION, /* a method without an id */
    LINE_RESPONSE      /* an id with `result` or `error` */
};

struct scanned_line {
    enum line_kind kind;
    /* Of duplicate members the last one wins, as in JSON.parse. Filled as far as a cut line goes. */
    struct span id, method;
    struct span request_id; /* params.requestId */
    struct span uri;        /* params.uri */
    bool has_result, has_error;
};

/* `line` is without its newline. True where it is one whole JSON object. */
bool scan_line(const char *line, size_t length, struct scanned_line *out);

#endif
