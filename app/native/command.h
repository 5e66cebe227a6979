/* `belfry-mcp COMMAND ...`: a command line that the engine runs. */
#ifndef BELFRY_COMMAND_H
#define BELFRY_COMMAND_H

/* The command's exit code, or 3 with a sentence on stderr where no engine answers. */
int run_command(const char *socket_path, int argc, char **argv);

#endif
