/* What the kernel says of a process. Safe to call from any thread. */
#ifndef BELFRY_PROCESS_FACTS_H
#define BELFRY_PROCESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define START_BYTES 48

struct process_facts {
    pid_t pid, parent;
    char start[START_BYTES]; /* differs when the number is given to another process */
    char *path;              /* of the executable, or NULL */
    char *argv;              /* words, each with a zero behind it, or NULL */
    size_t argv_length;
    char *cwd;               /* or NULL */
    bool valid;              /* a signature that holds; the two below are NULL without one */
    char *team, *signing_id;
};

/* The audit token of macOS: a process that cannot be mistaken for a later one with its number. */
#define AUDIT_TOKEN_BYTES 32

/* Start time and parent. False where there is no such process (a zombie is none). */
bool process_start(pid_t pid, char start[START_BYTES], pid_t *parent);

/*
 * All facts; false where the process ended or its number changed hands meanwhile.
 * `token` is the process's audit token, or NULL. Nothing is to be freed after false.
 */
bool process_read(pid_t pid, const unsigned char *token, struct process_facts *out);

/* Whether a process runs whose executable's path ends so. False also where none may be looked at. */
bool process_runs(const char *path_end);

void process_free(struct process_facts *facts);

#endif
