/* Finds id, method and two params of one JSON-RPC line without building a tree: no allocation, no recursion. */
#ifndef BELFRY_LINE_SCANNER_H
#define BELFRY_LINE_SCANNER_H

#include <stdbool.h>
#include <stddef.h>

/* Raw JSON text of a value inside the line: strings keep their quotes. length 0: absent. */
struct span {
    size_t start;
    size_t length;
};

struct scanned_line {
    bool is_object;        /* one JSON object, as far as the scanner checks */
    bool has_method;
    bool has_result;       /* `result` or `error` at the top */
    char method[64];       /* unescaped; cut */
    struct span id;        /* last one wins, as in JSON.parse */
    struct span request_id; /* params.requestId */
    struct span uri;        /* params.uri */
};

void scan_line(const char *line, size_t length, struct scanned_line *out);

#endif
