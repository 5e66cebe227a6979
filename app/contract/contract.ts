import { z } from 'zod';
import { plainSettings } from './plain-settings.ts';
import { call, type CallerOf, type HandlersOf } from './schema.ts';
import { deadLetters, searchState } from './search.ts';
import {
  access, activityRow, backtest, chatRow, clientRow, diagnosticRow, entryCheck, eventRow, excludedPlaces, liveRow, mailboxRow, outcome, params, pausedUntil,
  senderRow, slices, status, suggestion, testHop, tokenRow, waitingRow, watchRow, webhookRow,
} from './values.ts';

/**
 * Every call and notification between the engine and a UI or command line, as one value. Handlers, callers and
 * the checks at the port are derived from it, so the two sides cannot differ.
 */
export const contract = {
  calls: {
    app: {
      snapshot: call(params.none, slices),
      /** Requests of clients that wait for an answer; open streams are none. The app is not replaced meanwhile. */
      busy: call(params.none, z.object({ answering: z.int().min(0) })),
    },
    events: {
      list: call(params.none, z.array(eventRow)),
      set: call(params.setEvent, outcome),
      /** Names, schemas and examples: the field list on screen (ui.md, rule 2). */
      catalogue: call(params.none, z.array(z.record(z.string(), z.unknown()))),
      /** Mailboxes found in Mail's index, for the owner's narrowing. */
      mailboxes: call(params.none, z.array(mailboxRow)),
      setMailboxes: call(params.mailboxes, outcome),
    },
    access: {
      /** Reads 16 bytes of each store now (ui.md, Full Disk Access). */
      probe: call(params.none, access),
    },
    senders: {
      list: call(params.none, z.array(senderRow)),
      /** Reads a paste without changing anything. */
      check: call(params.paste, z.array(entryCheck)),
      add: call(params.addSenders, outcome),
      set: call(params.setSender, outcome),
      remove: call(params.removeSenders, outcome),
      undo: call(params.none, outcome),
      /** From Contacts, Mail's VIPs and recent arrivals; an empty text gives the recent ones. Reads the stores, so only when asked. */
      suggest: call(params.suggest, z.array(suggestion)),
      /** Arrivals of the last 30 days that a rule would have let through. Reads the stores, so only when asked. */
      backtest: call(params.backtest, z.array(backtest)),
    },
    chats: {
      /** Group chats and named chats whose name contains the text, newest first. */
      find: call(params.findChats, z.array(chatRow)),
      add: call(params.chats, outcome),
      remove: call(params.chats, outcome),
    },
    clients: {
      list: call(params.none, z.array(clientRow)),
      waiting: call(params.none, z.array(waitingRow)),
      answer: call(params.answer, outcome),
      allow: call(params.allowClient, outcome),
      deny: call(params.client, outcome),
      revoke: call(params.client, outcome),
      /** One event marked as a test; null: can't tell. */
      test: call(params.client, z.array(testHop)),
    },
    tokens: {
      list: call(params.none, z.array(tokenRow)),
      /** The outcome's `token` is the only time that the secret is told. */
      create: call(params.createToken, outcome),
      /** A token or a sign-in, with the client that shows it. */
      revoke: call(params.client, outcome),
    },
    excluded: {
      /** Accounts and mailboxes that no client hears of or reads, by name. */
      list: call(params.none, z.array(z.string())),
      places: call(params.none, excludedPlaces),
      add: call(params.places, outcome),
      remove: call(params.places, outcome),
    },
    watches: {
      list: call(params.none, z.array(watchRow)),
      add: call(params.addWatch, outcome),
      stop: call(params.watch, outcome),
      /** Items of a watch as files too, in a folder that belongs to the owner alone. */
      setInbox: call(params.setInbox, outcome),
    },
    search: {
      /** How far the full-text index of mail is. */
      status: call(params.none, searchState),
      /** Which mails could not be read whole. */
      deadLetters: call(params.none, z.array(deadLetters)),
      /** Throws the index away and makes it anew. */
      rebuild: call(params.none, outcome),
    },
    hosts: {
      /** Hosts that webhooks may go to. The first one switches webhooks on, the last one that goes switches them off. */
      list: call(params.none, z.array(z.string())),
      add: call(params.hosts, outcome),
      remove: call(params.hosts, outcome),
    },
    webhooks: {
      list: call(params.none, z.array(webhookRow)),
      stop: call(params.webhook, outcome),
    },
    live: {
      subscribe: call(params.live, z.object({ rows: z.array(liveRow) })),
      unsubscribe: call(params.none, z.null()),
    },
    activity: {
      recent: call(params.activity, z.array(activityRow)),
      /** All that is kept, as JSON lines: the same data as on screen. */
      export: call(params.none, z.string()),
    },
    settings: {
      get: call(params.none, plainSettings),
      set: call(params.setSetting, outcome),
      /** Rules, events and plain settings as JSON; no clients and no seal. */
      export: call(params.none, z.string()),
      import: call(params.importSettings, outcome),
      /** All senders, chats and clients go. */
      reset: call(params.none, outcome),
      answerSeal: call(params.seal, outcome),
    },
    pause: {
      get: call(params.none, pausedUntil),
      start: call(params.pause, outcome),
      resume: call(params.none, outcome),
    },
    status: {
      get: call(params.none, status),
    },
    diagnostics: {
      run: call(params.none, z.array(diagnosticRow)),
    },
  },
  notifications: {
    changed: slices.partial(),
    /** New rows, and known ones whose status changed. */
    live: z.object({ rows: z.array(liveRow) }),
    activity: z.object({ rows: z.array(activityRow) }),
  },
};

export type Handlers = HandlersOf<typeof contract>;
export type Caller = CallerOf<typeof contract>;
