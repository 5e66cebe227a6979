import Database from 'better-sqlite3';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { engineOf } from '../engine/host.ts';
import type { Engine } from '../engine/engine.ts';
import type { Hub } from '../events/hub.ts';
import { namesOf } from '../events/names.ts';
import { parseArguments, type Filter } from '../events/sender-filter.ts';
import { buildBulkMail, type BulkResult } from '../testing/bulk-mail-store.ts';
import { tempFolder, type TempFolder } from '../testing/temp.ts';
import { openSettings } from '../testing/world.ts';
import { median, timed, worst } from './samples.ts';
import type { Figure } from './table.ts';

const PAGE = 50;
const DAY = 86_400_000;
const WARM_RUNS = 200;

interface Ground {
  readonly hub: Hub;
  readonly bulk: BulkResult;
  /** What the engine makes of a client's arguments. */
  filter(args: object): Filter;
}

/** A million mails and the calls that the engine makes for a client: engine time, in this process. */
export async function store(): Promise<Figure[]> {
  using folder = tempFolder('bench');
  const bulk = buildBulkMail(folder.at('Mail', 'V10'), fileURLToPath(new URL('../../.cache/bulk', import.meta.url)), { accountsDb: folder.at('Accounts', 'Accounts4.sqlite') });
  const engine = await openEngine(folder);
  try {
    const hub = engine.hub('mail.received');
    const ground: Ground = { hub, bulk, filter: (args) => parseArguments('mail.received', args, namesOf(hub.reader, null)) };
    return [...sparse(ground, `${bulk.mailDir}/MailData/Envelope Index`), dense(ground), quietDomain(ground), longList(ground), oldCursor(ground), backtest(ground), resume(ground), ...lists(engine, bulk)];
  } finally {
    await engine.stop();
  }
}

async function openEngine(folder: TempFolder): Promise<Engine> {
  const dataDir = folder.at('data');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(`${dataDir}/settings.json`, JSON.stringify(openSettings));
  const engine = engineOf(
    {
      dataDir, mailDir: folder.at('Mail', 'V10'), messagesDb: folder.at('Messages', 'chat.db'), accountsDb: folder.at('Accounts', 'Accounts4.sqlite'),
      addressBookDir: folder.at('AddressBook'), trustLocalClients: true,
    },
    'serve', () => undefined, (sentence) => { throw new Error(sentence); },
  );
  await engine.start();
  return engine;
}

/** The first page from the start of the store, at first and then warm. */
function firstPage({ hub, bulk }: Ground, filter: Filter) {
  const page = () => hub.page(filter, 0, bulk.lastRowid, null, PAGE);
  const [first] = timed(1, page);
  return { first: first!, warm: timed(WARM_RUNS, page), rows: page().occurrences.length };
}

/** All matches, page after page, as a client polls. */
function allPages({ hub, bulk }: Ground, filter: Filter): { found: number; polls: number } {
  let [found, polls, position] = [0, 0, 0];
  do {
    const page = hub.page(filter, position, bulk.lastRowid, null, PAGE);
    found += page.occurrences.length;
    polls += 1;
    position = page.through;
  } while (position < bulk.lastRowid);
  return { found, polls };
}

function sparse(ground: Ground, index: string): Figure[] {
  const { bulk } = ground;
  const filter = ground.filter({ from: bulk.spread });
  const { first, warm, rows } = firstPage(ground, filter);
  const { found, polls } = allPages(ground, filter);
  const all = timed(20, () => allPages(ground, filter));
  const scan = scanning(index, new Set(bulk.spread));
  const [scanFirst, scanAll] = [timed(3, () => scan(PAGE)), timed(1, () => scan(Infinity))];
  const calls = { first: scan(PAGE).calls, all: scan(Infinity).calls };
  if (rows !== PAGE || scan(Infinity).found !== found) throw new Error(`Both ways must find the same: ${found}`);
  return [
    {
      figure: '1,000,000 mails, a filter that matches 500: first page',
      measured: [{ what: 'warm', value: median(warm), unit: 'ms', atMost: 2 }, { what: 'first call', value: first, unit: 'ms' }],
      against: `1,000 rows a call: ${median(scanFirst).toFixed(0)} ms, ${calls.first} calls; ${(median(scanFirst) / median(warm)).toFixed(0)} times longer`,
      samples: { warm, scanFirst },
    },
    {
      figure: 'the same, all of them',
      measured: [{ what: 'found', value: found, unit: '', atLeast: bulk.spreadRows }, { what: 'all', value: median(all), unit: 'ms', atMost: 20 }, { what: 'polls', value: polls, unit: '', atMost: 11 }],
      against: `1,000 rows a call: ${median(scanAll).toFixed(0)} ms, ${calls.all} calls; ${(median(scanAll) / median(all)).toFixed(0)} times longer`,
      samples: { all, scanAll },
    },
  ];
}

/** The usual way: rows above the last one, a thousand a call, judged outside of SQL. */
function scanning(index: string, senders: ReadonlySet<string>): (wanted: number) => { found: number; calls: number } {
  const db = new Database(index, { readonly: true });
  const statement = db.prepare(`SELECT m.ROWID, a.address, s.subject, m.date_received, m.mailbox, m.flags FROM messages m LEFT JOIN addresses a ON a.ROWID = m.sender
    LEFT JOIN subjects s ON s.ROWID = m.subject WHERE m.ROWID > ? ORDER BY m.ROWID LIMIT 1000`).raw();
  return (wanted) => {
    let [found, calls, last] = [0, 0, 0];
    for (;;) {
      const rows = statement.all(last) as [number, string][];
      calls += 1;
      for (const [, address] of rows) if (senders.has(address)) found += 1;
      if (rows.length < 1000 || found >= wanted) return { found, calls };
      last = rows.at(-1)![0];
    }
  };
}

function dense(ground: Ground): Figure {
  const { first, warm } = firstPage(ground, ground.filter({ domains: [ground.bulk.wideDomain] }));
  return {
    figure: `a filter that matches ${ground.bulk.wideRows}: first page`,
    measured: [{ what: 'warm', value: median(warm), unit: 'ms', atMost: 2 }, { what: 'first call', value: first, unit: 'ms' }],
    samples: { warm },
  };
}

function quietDomain(ground: Ground): Figure {
  const { bulk } = ground;
  const { first, warm } = firstPage(ground, ground.filter({ domains: [bulk.quietDomain] }));
  return {
    figure: 'a domain of 5,000 addresses of which 10 wrote, among 200,000 addresses: first page',
    measured: [{ what: 'warm', value: median(warm), unit: 'ms', atMost: 5 }, { what: 'first call', value: first, unit: 'ms', atMost: 30 }],
    samples: { warm },
  };
}

/** More than one client may name, as rules of an owner might: the set goes in as it is. */
function longList(ground: Ground): Figure {
  const { bulk } = ground;
  const filter: Filter = { ...ground.filter({ from: ['x@example.org'] }), senders: { addresses: new Set(bulk.list), domains: new Set(), parents: new Set() } };
  const { first, warm } = firstPage(ground, filter);
  return {
    figure: `a filter of ${bulk.list.length} addresses: first page`,
    measured: [{ what: 'warm', value: median(warm), unit: 'ms', atMost: 15 }, { what: 'first call', value: first, unit: 'ms' }],
    samples: { warm },
  };
}

/** A cursor of years ago that wants only the last day: where to start, whether something was skipped, and the page. */
function oldCursor(ground: Ground): Figure {
  const { hub, bulk } = ground;
  const filter = ground.filter({ from: bulk.spread });
  const cursor = hub.tail.cursorAt(1000);
  let truncated = false;
  const poll = () => {
    const start = hub.startFrom(cursor, 30 * DAY, filter);
    ({ truncated } = start);
    hub.page(filter, start.position, bulk.lastRowid, start.notBefore, PAGE);
  };
  const [first] = timed(1, poll);
  const warm = timed(WARM_RUNS, poll);
  if (!truncated) throw new Error('A skipped match must be told');
  return {
    figure: '`maxAgeMs` of 30 days on a cursor eight years old',
    measured: [{ what: 'median', value: median(warm), unit: 'ms', atMost: 5 }, { what: 'worst', value: worst(warm), unit: 'ms' }, { what: 'first call', value: first!, unit: 'ms' }],
    samples: { warm },
  };
}

function backtest(ground: Ground): Figure {
  const { hub, bulk } = ground;
  const filter = ground.filter({ domains: [bulk.wideDomain] });
  const count = () => hub.backtest(filter, Date.now() - 30 * DAY, 5);
  const [first] = timed(1, count);
  const warm = timed(20, count);
  return {
    figure: `backtest of 30 days, ${count().count} matches`,
    measured: [{ what: 'median', value: median(warm), unit: 'ms', atMost: 20 }, { what: 'first call', value: first!, unit: 'ms' }],
    samples: { warm },
  };
}

function resume(ground: Ground): Figure {
  const { hub, bulk } = ground;
  const filter = ground.filter({ from: bulk.spread });
  const cursor = hub.tail.cursorAt(bulk.lastRowid - 1);
  const ms = timed(1000, () => {
    hub.ready();
    const start = hub.startFrom(cursor, null, filter);
    hub.page(filter, start.position, hub.tail.watermark, start.notBefore, PAGE);
  });
  return { figure: 'resume one row behind on 1,000,000', measured: [{ what: 'median', value: median(ms), unit: 'ms', atMost: 0.3 }, { what: 'worst', value: worst(ms), unit: 'ms' }], samples: { ms } };
}

/** What \`mail_list\` reads of the store; the inbox has half a million mails, the label some fifty. */
function lists({ archives: { mail } }: Engine, bulk: BulkResult): Figure[] {
  const db = new Database(`${bulk.mailDir}/MailData/Envelope Index`);
  const label = db.prepare("SELECT ROWID FROM mailboxes WHERE url LIKE '%/%5BGmail%5D/Starred'").pluck().get() as number;
  db.prepare('INSERT INTO labels (message_id, mailbox_id) SELECT ROWID, ? FROM messages WHERE mailbox = 7 AND ROWID % 10007 = 0').run(label);
  db.prepare('UPDATE messages SET flagged = 1 WHERE mailbox = 1 AND ROWID % 10007 = 0').run();
  db.close();
  const inbox = mail.mailboxes().find(({ accountId, path }) => accountId === bulk.imap && path === 'INBOX')!.id;
  const list = (mailbox: number, flagged: boolean) => {
    const { rows } = mail.list({ mailboxes: [mailbox], unread: false, flagged, since: null, limit: PAGE, after: null, may: () => true });
    mail.marks(rows.map(({ row }) => row.rowid));
    return rows.length;
  };
  return ([['the inbox', inbox, false, 2], ['a rare label of Gmail', label, false, 10], ['the inbox with a flag, which 37 have,', inbox, true, 10]] as const).map(([name, mailbox, flagged, atMost]) => {
    const found = list(mailbox, flagged);
    const ms = timed(WARM_RUNS, () => list(mailbox, flagged));
    return {
      figure: `50 mails of ${name} in 1,000,000, newest first, with their marks`,
      measured: [{ what: 'found', value: found, unit: '', atLeast: 20 }, { what: 'median', value: median(ms), unit: 'ms', atMost }, { what: 'worst', value: worst(ms), unit: 'ms' }],
      samples: { ms },
    };
  });
}
