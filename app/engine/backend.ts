import { dirname } from 'node:path';
import { MailFiles } from '../apple/mail/mail-files.ts';
import type { MailArchive, MessagesArchive } from '../apple/reader.ts';
import type { AttachmentCache } from '../delivery/attachment-cache.ts';
import type { DeliveryMode } from '../events/catalogue.ts';
import { eventTypeOf, type EventType } from '../events/occurrence.ts';
import type { Filter } from '../events/sender-filter.ts';
import type { Principal } from '../events/verdict.ts';
import { SealedCursors } from '../mcp/sealed-cursor.ts';
import type { Searching } from '../mcp/searching.ts';
import type { Backend, Reading, WritingRoom } from '../mcp/session.ts';
import { namesFor } from './client-names.ts';
import type { Engine } from './engine.ts';
import { describeFault } from './log.ts';
import { fetchText } from './mail-fetch.ts';
import { coverageOf, searchMail } from './mail-search.ts';
import { searchMessages } from './message-search.ts';
import { chatAsItIs } from './writing.ts';

const TYPES: readonly EventType[] = ['mail.received', 'messages.received'];

/** What is read only when a client asks for it. */
export interface Archives {
  readonly mail: MailArchive & { readonly path: string };
  readonly messages: MessagesArchive;
  readonly attachments: AttachmentCache;
}

/** The engine as the protocol sees it. */
export function backendOf(engine: Engine, archives: Archives): Backend {
  const { policy } = engine;
  return {
    types: TYPES,
    anyOn: () => policy.anyOn(),
    eventOn: (type) => policy.eventOn(type),
    hub: (type) => engine.hub(type),
    names: (type, principal) => namesFor(engine, type, principal),
    gate: (principal, type) => policy.gate(principal, type),
    allows: (occurrence, principal) => policy.allows(occurrence, principal),
    takeRing: (principal, eventId) => policy.takeRing(principal, eventId),
    nextFreeAt: (principal) => policy.nextFreeAt(principal),
    get subjects() { return policy.subjects; },
    get paused() { return policy.pausedUntil !== null; },
    get webhooksOn() { return policy.webhooksOn; },
    webhooks: engine.webhooks,
    watches: engine.watches,
    inbox: engine.inbox,
    channels: engine.channels,
    policy,
    clock: engine.clock,
    reading: readingOf(engine, archives),
    writing: writingOf(engine),
    requests: (principal, type, entries) => policy.asks(principal, type, entries),
    watched: (principal, type, entries, isNew) => {
      policy.asks(principal, type, entries);
      if (isNew) engine.activity.record({ kind: 'subscribed', type, client: principal.id });
    },
    pulled: (principal) => engine.pulls.pulled(principal.id),
    asks: (principal, type, filter, mode) => asked(engine, principal, type, filter, mode),
    delivered: (occurrence, principal) => {
      engine.pulls.delivered(principal.id, occurrence.type);
      engine.delivered(occurrence, principal, 'poll');
    },
    now: () => engine.clock.now(),
    fault: (where, error) => engine.options.log(`${where}: ${describeFault(error)}`),
  };
}

function readingOf(engine: Engine, { mail, messages, attachments }: Archives): Reading {
  const { policy } = engine;
  let files: { readonly folder: string; readonly files: MailFiles } | null = null;
  return {
    reach: (principal, store) => policy.reach(principal, store),
    mayRead: (row, principal) => policy.mayRead(row, principal),
    mayReadFrom: (sender, chat, principal) => policy.mayReadFrom(sender, chat, principal),
    hides: (mailbox) => policy.hides(mailbox),
    get hidesCodes() { return policy.settings.hideCodes; },
    get mail() { return engine.readable('mail') === null ? null : mail; },
    get messages() { return engine.readable('messages') === null ? null : messages; },
    /** Of the folder that the index lies in: an upgrade of Mail moves both. */
    get mailFiles() {
      const folder = dirname(dirname(mail.path));
      if (files?.folder !== folder) files = { folder, files: new MailFiles(folder) };
      return files.files;
    },
    attachments,
    cursors: new SealedCursors(),
    fetchText: (row) => fetchText(engine, row),
    noted: (principal, store, tool, count, rowid) => engine.activity.record({
      kind: 'read', type: eventTypeOf[store], client: principal.id, reason: tool, count, ...(rowid !== undefined && { rowid }),
    }),
    wants: (principal, stores, search) => policy.wantsToRead(principal, stores, search),
    search: searchingOf(engine, mail, messages),
  };
}

function searchingOf(engine: Engine, mail: MailArchive, messages: MessagesArchive): Searching {
  const { policy, search } = engine;
  return {
    maySearch: (principal) => policy.maySearch(principal),
    mail: (principal, question) => searchMail(search, mail, policy, principal, question),
    messages: (principal, question, signal) => searchMessages(messages, policy, engine.clock, principal, question, signal),
    get state() { return { ...search.state(), ...coverageOf(search) }; },
  };
}

function writingOf(engine: Engine): WritingRoom {
  const { policy } = engine;
  return {
    may: (principal) => policy.writes(principal) !== null,
    mayAnswer: (row, principal) => policy.mayAnswer(row, principal),
    mayWriteTo: (members, chat, principal) => policy.mayWriteTo(members, chat, principal),
    chat: (guid, service) => chatAsItIs(engine, guid, service),
    outgoing: engine.outgoing,
    wants: (principal) => policy.wantsToWrite(principal),
  };
}

function asked(engine: Engine, principal: Principal, type: EventType, filter: Filter, mode: DeliveryMode): void {
  engine.policy.asks(principal, type, filter.entries);
  // Recorded once it is granted.
  if (mode === 'webhook') return;
  if (mode === 'push') {
    engine.activity.record({ kind: 'subscribed', type, client: principal.id });
    return;
  }
  engine.pulls.polled(principal.id, type, filter.senderCount);
  engine.changes.stirred();
}
