import { quoted, readFlags } from './arguments.ts';

/** Flags of `belfry serve` (architecture 3); null where a flag was not given. */
export interface ServeFlags {
  readonly dataDir: string | null;
  readonly mailDir: string | null;
  readonly messagesDb: string | null;
  readonly accountsDb: string | null;
  readonly addressBookDir: string | null;
  /** Two capital letters. */
  readonly region: string | null;
  /** 0: any free port. */
  readonly uiPort: number | null;
  readonly httpPort: number | null;
  readonly trustLocalClients: boolean;
  readonly plainIndex: boolean;
  /** File of certificates (PEM): webhooks may go to receivers on this machine that show one of theirs. */
  readonly localWebhooks: string | null;
}

export type ParsedServe = { readonly ok: true; readonly flags: ServeFlags } | { readonly ok: false; readonly message: string };

/** @param argv after `serve`. A refusal is exit 3 (ruling 15). */
export function parseServe(argv: readonly string[]): ParsedServe {
  const flags = readFlags(argv, {
    '--data-dir': 'value', '--mail-dir': 'value', '--messages-db': 'value', '--accounts-db': 'value', '--address-book-dir': 'value',
    '--region': 'value', '--ui': 'value', '--http': 'value', '--trust-local-clients': 'flag', '--plain-index': 'flag', '--local-webhooks': 'value',
  });
  if (typeof flags === 'string') return refuse(flags);
  if (flags.rest.length > 0) return refuse(`"serve" takes options only, not ${quoted(flags.rest[0]!)}.`);
  for (const name of ['--data-dir', '--mail-dir', '--messages-db', '--accounts-db', '--address-book-dir', '--local-webhooks']) {
    if (flags.value(name)?.includes('\0')) return refuse(`${name} is no path: it holds a zero byte.`);
  }
  const region = flags.value('--region');
  if (region !== null && !/^[a-z]{2}$/i.test(region)) return refuse('--region takes a country code of two letters, such as NL.');
  const uiPort = portOf(flags.value('--ui'));
  if (uiPort === undefined) return refuse('--ui takes a port: a whole number from 0 to 65535.');
  const httpPort = portOf(flags.value('--http'));
  if (httpPort === undefined) return refuse('--http takes a port: a whole number from 0 to 65535.');
  return {
    ok: true,
    flags: {
      dataDir: flags.value('--data-dir'),
      mailDir: flags.value('--mail-dir'),
      messagesDb: flags.value('--messages-db'),
      accountsDb: flags.value('--accounts-db'),
      addressBookDir: flags.value('--address-book-dir'),
      region: region?.toUpperCase() ?? null,
      uiPort,
      httpPort,
      trustLocalClients: flags.has('--trust-local-clients'),
      plainIndex: flags.has('--plain-index'),
      localWebhooks: flags.value('--local-webhooks'),
    },
  };
}

const refuse = (message: string): ParsedServe => ({ ok: false, message });

/** Undefined: not a port. */
function portOf(text: string | null): number | null | undefined {
  if (text === null) return null;
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}
