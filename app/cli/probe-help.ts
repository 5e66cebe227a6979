export const PROBE_HELP = `Usage: belfry probe ACTION [options]

  list
`;
