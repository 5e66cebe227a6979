/* MCP over stdio: the client's lines to the engine and back, across restarts of the engine. */
#ifndef BELFRY_RELAY_H
#define BELFRY_RELAY_H

#include <stdbool.h>

struct relay_options {
    const char *socket_path;
    const char *label; /* or NULL */
    bool channel;
};

/* Returns the exit code: 0 after the client's end, 69 where no engine could be had at the start. */
int relay(const struct relay_options *options);

#endif
