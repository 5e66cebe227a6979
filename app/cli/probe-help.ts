export const PROBE_HELP = `Usage: belfry probe ACTION [TARGET] [options]

  list                                     events of the server: names, ways of delivery, arguments, what they carry
  poll    --event NAME [--args JSON] [--cursor C] [--max N] [--max-age MS]
  wait    --event NAME [--args JSON] [--cursor C] [--max-age MS] [--count N] [--until FIELD=VALUE] [--fail-on-gap]
                                           sleeps until an event comes that fits
  watch   --uri URI [--count N] [--until FIELD=VALUE]
                                           sleeps until a resource changes, and reads it again
  call    --tool NAME [--args JSON]        one call of a tool
  channel [--count N]                      listens as a client that knows channels, by the older handshake
  lab     [--stdio | --port N] [--path P] [--delay-ms N] [--initial-status S] [--updated-status S] [--steps N] [--list-changed]
                                           a made-up server for people who write clients
  --login | --logout  --url URL            gets a token, or forgets it
  --skill                                  a page for agents: how to sleep until something arrives

TARGET   none: Belfry, of --data-dir DIR or --socket PATH
         --command PROGRAM [-- WORD...]    a server on its stdio, started without a shell
         --url URL                         a Streamable HTTP server

  --timeout-ms N   for all of it (default 15000, with --login 300000)     --era auto|modern|legacy
  --json           one object on stdout, the same members on failure      --skip-list     take the name without looking for it
  --login          log in by device code where no token is kept           --include-text  show words of messages too

Variables, which a flag wins over: MCP_PROBE_URL, MCP_PROBE_EVENT, MCP_PROBE_ARGS, MCP_PROBE_URI, MCP_PROBE_TIMEOUT_MS,
MCP_PROBE_SKIP_LIST=true; MCP_PROBE_AUTH_TOKEN (a bearer token), MCP_PROBE_CLIENT_ID, MCP_PROBE_TOKEN_STORE_PATH;
MCP_PROBE_LAB_PORT, _PATH, _DELAY_MS, _INITIAL_STATUS, _UPDATED_STATUS, _STEPS, _LIST_CHANGED=true.

Exit codes: 0 it came, 1 nothing came in time or the tool failed, 2 not permitted, switched off, waiting for the owner or
for a login, 3 wrong use or no connection, 4 the stream ended, 5 a gap (with --fail-on-gap). error-code has the name.
`;
