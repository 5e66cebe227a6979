/* How to reach the engine and what to say first. */
#ifndef BELFRY_ENGINE_LINK_H
#define BELFRY_ENGINE_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "buffer.h"

struct link {
    const char *socket_path;
    const char *label;   /* or NULL */
    bool channel;
};

/* A connected socket whose other end is ours to trust, or -1 with a sentence. */
int link_connect(const struct link *link, char *sentence, size_t size);
/* First lines, both ending in a newline (architecture: versions, mode, label, argv). */
void link_hello_mcp(const struct link *link, struct buffer *out);
void link_hello_command(int argc, char **argv, struct buffer *out);
/* On macOS: opens the app that this helper lies in, in the background. Elsewhere: nothing. */
void link_open_app(void);

int relay(const struct link *link);
int run_command(const struct link *link, int argc, char **argv);

#endif
