import Database from 'better-sqlite3';
import { afterEach, describe, expect, test } from 'vitest';
import { EnvelopeIndex } from '../apple/mail/envelope-index.ts';
import { ChatDatabase } from '../apple/messages/chat-database.ts';
import type { NotArrival } from '../apple/occurrence.ts';
import type { StoreReader } from '../apple/reader.ts';
import { deafWatcher } from '../apple/watch.ts';
import { CatchUp } from '../events/catch-up.ts';
import type { Filter } from '../events/sender-filter.ts';
import { Tail } from '../events/tail.ts';
import { TailState } from '../events/tail-state.ts';
import { MailStore } from './mail-store.ts';
import { MessagesStore, type GroupEvent } from './messages-store.ts';
import { mailIndex, replaceStore } from './store-surgery.ts';
import { tempFolder, type TempFolder } from './temp.ts';
import { VirtualClock } from './virtual-clock.ts';

type Expected = 'rings' | NotArrival;

/** A store, a tail on it, and a clock in the test's hand. */
class Stage {
  readonly clock = new VirtualClock();
  readonly judged = new Map<number, Expected[]>();
  readonly senders = new Set<string>();
  readonly #db = new Database(':memory:');
  readonly #reader: StoreReader;
  #state!: TailState;
  #tail!: Tail;

  constructor(reader: StoreReader) {
    this.#reader = reader;
    this.up();
  }

  up(): void {
    this.#state = new TailState(this.#db, this.#reader.kind);
    this.#tail = new Tail({
      reader: this.#reader, state: this.#state, watcher: deafWatcher(), clock: this.clock,
      listener: {
        judged: (occurrence, reason) => {
          this.judged.set(occurrence.row.rowid, [...(this.judged.get(occurrence.row.rowid) ?? []), reason ?? 'rings']);
          this.senders.add(occurrence.sender);
        },
        settled: () => undefined,
        committed: () => undefined,
        gap: () => this.judged.clear(),
        trouble: () => undefined,
      },
    });
    this.#tail.start();
  }
  /** The engine stops. */
  down(): void {
    this.#tail.stop();
  }
  look(): void {
    this.#tail.check();
  }
  /** Long enough for every wait of an incomplete row. */
  settle(): void {
    this.look();
    this.clock.advance(1500);
  }

  /** What a client with an old cursor would be told of. */
  caughtUp(): Set<number> {
    const type = this.#reader.kind === 'mail' ? 'mail.received' : 'messages.received';
    const filter: Filter = {
      type, senders: { addresses: this.senders, domains: new Set(), parents: new Set() }, mailboxes: null, chats: null, subject: null,
      addressedToMe: null, ownAddresses: new Set(), hasAttachment: null, senderCount: 1, entries: [],
    };
    const catchUp = new CatchUp(this.#reader, this.#state, this.#tail);
    const found = new Set<number>();
    for (let after = this.#tail.baseline; after < this.#tail.position;) {
      const page = catchUp.page({ filter, after, upTo: this.#tail.position, limit: 200, notBefore: null, subjects: true, backfill: false, now: this.clock.now() });
      for (const occurrence of page.occurrences) found.add(occurrence.row.rowid);
      after = page.through;
    }
    return found;
  }

  close(): void {
    this.down();
    this.#db.close();
  }
}

interface MailStage {
  readonly stage: Stage;
  readonly clock: VirtualClock;
  readonly mail: MailStore;
  readonly imap: string;
  readonly gmail: string;
  readonly ews: string;
  readonly local: string;
  /** A mail that arrived before the engine ever ran. */
  readonly old: number;
}
interface MessagesStage {
  readonly stage: Stage;
  readonly clock: VirtualClock;
  readonly messages: MessagesStore;
}
interface Row<S> {
  readonly name: string;
  /** Document and section. */
  readonly source: string;
  /** Gives the rows whose verdict is expected. */
  readonly run: (stage: S) => number | readonly number[];
  readonly expected: Expected;
  /** The row changes after its verdict, or another row stands for it: catch-up is not compared. */
  readonly changes?: true;
  /** The row that rang is gone: for a reader from before it, this copy stands for it in catch-up. */
  readonly standsIn?: true;
  readonly ownHandles?: readonly string[];
}

const HOUR = 3_600_000;
const MAIL = 'data-formats/envelope-index 6';
const ROLES = 'data-formats/envelope-index 5';
const ARCH = 'architecture 4';
const KINDS = 'data-formats/chat-db 7';
const LIFE = 'data-formats/chat-db 4';
const FILTERS = 'data-formats/chat-db 10';

const mailRows: readonly Row<MailStage>[] = [
  { name: 'a mail in the inbox', source: MAIL, expected: 'rings', run: ({ mail }) => mail.arrive() },
  { name: 'a mail that a server rule files in a folder', source: ROLES, expected: 'rings', run: ({ mail }) => mail.arrive({ mailbox: 'Projects/Öffentlich' }) },
  { name: 'a mail that a server rule archives', source: ARCH, expected: 'rings', run: ({ mail }) => mail.arrive({ mailbox: 'Archive' }) },
  { name: 'a mail in an Exchange inbox', source: ROLES, expected: 'rings', run: ({ mail, ews }) => mail.arrive({ account: ews }) },
  { name: 'a read mail', source: MAIL, expected: 'rings', run: ({ mail }) => mail.arrive({ flags: { read: true } }) },
  { name: 'several mails in one transaction', source: MAIL, expected: 'rings', run: ({ mail }) => mail.arriveMany([{}, {}, {}]) },
  { name: 'sent', source: MAIL, expected: 'sent', run: ({ mail }) => mail.send() },
  { name: 'sent with Exchange', source: ROLES, expected: 'sent', run: ({ mail, ews }) => mail.send({ account: ews }) },
  { name: 'sent with Gmail: a label', source: MAIL, expected: 'sent', run: ({ mail, gmail }) => mail.send({ account: gmail }) },
  {
    name: "the server's copy of a sent mail", source: MAIL, expected: 'sent',
    run: ({ mail, stage }) => { const first = mail.send(); stage.look(); return mail.replaceByServerCopy(first); },
  },
  { name: 'a draft', source: MAIL, expected: 'draft', run: ({ mail }) => mail.draft() },
  { name: 'a Gmail draft', source: ROLES, expected: 'draft', run: ({ mail, gmail }) => mail.draft({ account: gmail }) },
  {
    name: 'autosaves of a draft', source: MAIL, expected: 'draft', changes: true,
    run: ({ mail, stage }) => {
      const rows = [mail.draft()];
      for (let n = 0; n < 6; n += 1) { stage.look(); rows.push(mail.autosave(rows.at(-1)!)); }
      return rows;
    },
  },
  { name: 'the outbox', source: MAIL, expected: 'outbox', run: ({ mail, local }) => mail.arrive({ account: local, mailbox: 'Outbox' }) },
  { name: 'send later', source: MAIL, expected: 'outbox', run: ({ mail }) => mail.sendLater() },
  { name: 'the junk mailbox', source: MAIL, expected: 'junk', run: ({ mail }) => mail.arrive({ mailbox: 'Junk' }) },
  { name: "Exchange's junk", source: ROLES, expected: 'junk', run: ({ mail, ews }) => mail.arrive({ account: ews, mailbox: 'Junk Email' }) },
  { name: "Gmail's spam", source: ROLES, expected: 'junk', run: ({ mail, gmail }) => mail.arrive({ account: gmail, mailbox: '[Gmail]/Spam' }) },
  { name: 'the junk flag in the inbox', source: MAIL, expected: 'junk', run: ({ mail }) => mail.arrive({ flags: { junk: true } }) },
  { name: 'the trash', source: MAIL, expected: 'trash', run: ({ mail }) => mail.arrive({ mailbox: 'Deleted Messages' }) },
  { name: "Gmail's trash", source: ROLES, expected: 'trash', run: ({ mail, gmail }) => mail.arrive({ account: gmail, mailbox: '[Gmail]/Trash' }) },
  { name: 'the deleted flag', source: ARCH, expected: 'deleted', run: ({ mail }) => mail.arrive({ flags: { deleted: true } }) },
  { name: 'moved', source: MAIL, expected: 'moved', standsIn: true, run: ({ mail, stage }) => { const first = mail.arrive(); stage.look(); return mail.move(first, 'Projects'); } },
  {
    name: 'moved and moved back', source: MAIL, expected: 'moved', changes: true,
    run: ({ mail, stage }) => { const first = mail.arrive(); stage.look(); const second = mail.move(first, 'Projects'); stage.look(); return [second, mail.move(second, 'INBOX')]; },
  },
  { name: 'moved by a rule before the first look: the copy is the first row seen', source: ARCH, expected: 'rings', run: ({ mail }) => mail.move(mail.arrive(), 'Projects') },
  {
    name: 'moved, without a Message-ID', source: ARCH, expected: 'moved', standsIn: true,
    run: ({ mail, stage }) => { const first = mail.arrive({ messageId: '' }); stage.look(); return mail.move(first, 'Projects'); },
  },
  { name: 'without a Message-ID', source: 'data-formats/envelope-index 3', expected: 'rings', run: ({ mail }) => mail.arriveMany([{ messageId: '' }, { messageId: '' }]) },
  { name: 'a mail from before the first start moves', source: 'rulings 5', expected: 'moved', run: ({ mail, old }) => mail.move(old, 'Projects') },
  {
    name: 'a move after a restart', source: ARCH, expected: 'moved', standsIn: true,
    run: ({ mail, stage }) => { const first = mail.arrive(); stage.settle(); stage.down(); stage.up(); return mail.move(first, 'Projects'); },
  },
  {
    name: 'a move while the engine was down', source: ARCH, expected: 'moved', standsIn: true,
    run: ({ mail, stage }) => { const first = mail.arrive(); stage.settle(); stage.down(); const copy = mail.move(first, 'Projects'); stage.up(); return copy; },
  },
  { name: 'filed as junk', source: MAIL, expected: 'junk', run: ({ mail, stage }) => { const first = mail.arrive(); stage.look(); return mail.fileAsJunk(first); } },
  { name: 'deleted by hand', source: MAIL, expected: 'trash', run: ({ mail, stage }) => { const first = mail.arrive(); stage.look(); return mail.trash(first); } },
  {
    name: 'junk back to the inbox', source: 'rulings 5', expected: 'moved',
    run: ({ mail, stage }) => { const junk = mail.arrive({ mailbox: 'Junk' }); stage.look(); return mail.move(junk, 'INBOX'); },
  },
  {
    name: 'back from the trash', source: 'rulings 5', expected: 'moved',
    run: ({ mail, stage }) => { const trash = mail.arrive({ mailbox: 'Deleted Messages' }); stage.look(); return mail.move(trash, 'INBOX'); },
  },
  {
    name: 'a mailbox is rebuilt', source: MAIL, expected: 'moved', changes: true,
    run: ({ mail, imap, stage }) => { mail.arriveMany([{}, {}, {}]); stage.look(); return mail.rebuildMailbox(imap, 'INBOX'); },
  },
  { name: 'synced late', source: MAIL, expected: 'backfill', run: ({ mail }) => mail.resyncLate() },
  { name: 'an account with 5,000 old mails', source: ARCH, expected: 'backfill', run: ({ mail }) => mail.addAccountWithOldMails(5000).rowids },
  {
    name: 'a new mail amid the first sync of an account', source: ARCH, expected: 'rings',
    run: ({ mail, stage, clock }) => {
      const { account } = mail.addAccountWithOldMails(50);
      stage.look();
      return mail.arrive({ account, dateReceived: clock.seconds(-60_000) });
    },
  },
  {
    name: "the weekend's mail on Monday, newest first", source: ARCH, expected: 'rings',
    run: ({ mail, stage, clock }) => {
      mail.arrive({ dateReceived: clock.seconds() });
      stage.settle();
      clock.sleep(60 * HOUR);
      return mail.arriveMany([1, 10, 20, 30, 40, 55].map((hours) => ({ dateReceived: clock.seconds(-hours * HOUR) })));
    },
  },
  {
    name: "the weekend's mail over several looks", source: ARCH, expected: 'rings',
    run: ({ mail, stage, clock }) => {
      mail.arrive({ dateReceived: clock.seconds() });
      stage.settle();
      clock.sleep(60 * HOUR);
      return [0, 10, 30, 50].map((hours) => { const row = mail.arrive({ dateReceived: clock.seconds(-hours * HOUR) }); stage.look(); return row; });
    },
  },
  {
    name: 'more than an hour older than the newest of its mailbox', source: ARCH, expected: 'backfill',
    run: ({ mail, stage, clock }) => {
      const friday = clock.seconds();
      mail.arrive({ dateReceived: friday });
      stage.settle();
      clock.sleep(24 * HOUR);
      return mail.arrive({ dateReceived: friday - 3601 });
    },
  },
  {
    name: 'exactly an hour older than the newest of its mailbox', source: ARCH, expected: 'rings',
    run: ({ mail, stage, clock }) => {
      const friday = clock.seconds();
      mail.arrive({ dateReceived: friday });
      stage.settle();
      clock.sleep(24 * HOUR);
      return mail.arrive({ dateReceived: friday - 3600 });
    },
  },
  {
    name: 'a day late in a quiet mailbox, though another mailbox is newer', source: ARCH, expected: 'rings',
    run: ({ mail, stage, clock }) => {
      const start = clock.seconds();
      mail.arrive({ mailbox: 'Projects', dateReceived: start });
      stage.settle();
      clock.sleep(48 * HOUR);
      mail.arrive({ dateReceived: clock.seconds() });
      stage.settle();
      clock.sleep(HOUR);
      return mail.arrive({ mailbox: 'Projects', dateReceived: start + 24 * 3600 });
    },
  },
  { name: 'dated in the future', source: ARCH, expected: 'rings', run: ({ mail, clock }) => mail.arrive({ dateReceived: clock.seconds(30 * 24 * HOUR) }) },
  {
    name: 'after a mail dated in the future', source: ARCH, expected: 'rings',
    run: ({ mail, stage, clock }) => {
      mail.arrive({ dateReceived: clock.seconds(30 * 24 * HOUR) });
      stage.settle();
      clock.sleep(2 * HOUR);
      return mail.arrive({ dateReceived: clock.seconds() });
    },
  },
  {
    name: 'after a mail dated in the future that was there at the first start', source: ARCH, expected: 'rings',
    run: ({ mail, stage, clock, gmail }) => {
      mail.arrive({ account: gmail, dateReceived: clock.seconds(30 * 24 * HOUR) });
      stage.settle();
      stage.down();
      stage.up();
      clock.sleep(2 * HOUR);
      return mail.arrive({ account: gmail, dateReceived: clock.seconds() });
    },
  },
  { name: 'Gmail, in the inbox', source: `${ROLES} Gmail`, expected: 'rings', run: ({ mail, gmail }) => mail.arrive({ account: gmail }) },
  { name: 'Gmail, under a label of the owner', source: `${ROLES} Gmail`, expected: 'rings', run: ({ mail, gmail }) => mail.arrive({ account: gmail, mailbox: 'Projects' }) },
  { name: 'Gmail, without labels to the end', source: ARCH, expected: 'rings', run: ({ mail, gmail, stage }) => { const row = mail.arriveWithoutLabels({ account: gmail }); stage.settle(); return row; } },
  {
    name: 'Gmail, the inbox label later', source: ARCH, expected: 'rings',
    run: ({ mail, gmail, stage, clock }) => { const row = mail.arriveWithoutLabels({ account: gmail }); stage.look(); clock.advance(100); mail.labelLater(row); return row; },
  },
  {
    name: 'Gmail, the Sent label later', source: ARCH, expected: 'sent',
    run: ({ mail, gmail, stage, clock }) => { const row = mail.arriveWithoutLabels({ account: gmail }); stage.look(); clock.advance(300); mail.labelLater(row, ['[Gmail]/Sent Mail']); return row; },
  },
  {
    name: 'Gmail, archived: a label goes', source: `${ROLES} Gmail`, expected: 'rings',
    run: ({ mail, gmail, stage }) => { const row = mail.arrive({ account: gmail, labels: ['Projects'] }); stage.look(); mail.removeLabel(row, 'INBOX'); return row; },
  },
  { name: 'one mail in two accounts', source: MAIL, expected: 'rings', changes: true, run: ({ mail, imap, gmail }) => mail.arriveInTwoAccounts({}, [imap, gmail]) },
  { name: 'the mailbox row never comes', source: ARCH, expected: 'rings', run: ({ mail }) => mail.arriveBeforeMailboxRow().rowid },
  {
    name: 'the mailbox row comes later', source: ARCH, expected: 'rings',
    run: ({ mail, stage, clock }) => { const { rowid, mailbox } = mail.arriveBeforeMailboxRow(); stage.look(); clock.advance(150); mail.mailboxLater(mailbox); return rowid; },
  },
  {
    name: 'the mailbox row comes later and is spam', source: ARCH, expected: 'junk',
    run: ({ mail, ews, stage, clock }) => { const { rowid, mailbox } = mail.arriveBeforeMailboxRow({ account: ews }); stage.look(); clock.advance(150); mail.mailboxLater(mailbox, 'Spam', ews); return rowid; },
  },
  { name: 'attachments', source: MAIL, expected: 'rings', run: ({ mail }) => mail.arrive({ attachments: ['a.pdf'] }) },
  { name: 'attachments later', source: MAIL, expected: 'rings', run: ({ mail, stage }) => { const row = mail.arrive(); stage.look(); mail.addAttachmentsLater(row); return row; } },
  { name: 'the summary later', source: 'rulings 6', expected: 'rings', run: ({ mail, stage }) => { const row = mail.arrive({ summary: null }); stage.look(); mail.fillSummaryLater(row); return row; } },
  { name: 'read and flagged later', source: MAIL, expected: 'rings', run: ({ mail, stage }) => { const row = mail.arrive(); stage.look(); mail.setFlags(row, { read: true, flagged: true, color: 3 }); return row; } },
  { name: 'a NULL sender', source: 'apple/occurrence NotArrival', expected: 'no-sender', run: ({ mail }) => mail.arrive({ from: null }) },
  { name: 'undated', source: 'rulings 7', expected: 'rings', run: ({ mail }) => mail.arrive({ dateReceived: null, dateSent: null }) },
  { name: 'came while the engine was down', source: ARCH, expected: 'rings', run: ({ mail, stage }) => { stage.settle(); stage.down(); const row = mail.arrive(); stage.up(); return row; } },
  { name: 'drafted while the engine was down', source: ARCH, expected: 'draft', run: ({ mail, stage }) => { stage.settle(); stage.down(); const row = mail.draft(); stage.up(); return row; } },
  {
    name: 'after another store took the place', source: 'data-formats/envelope-index 2', expected: 'rings',
    run: ({ mail, stage, clock, imap }) => {
      mail.close();
      replaceStore(mail.path, mailIndex({}, (next) => { next.addAccount({ id: imap, description: 'New', email: 'me@example.org', kind: 'imap' }); next.arriveMany([{}, {}]); }));
      mail.reopen();
      clock.advance(250);
      expect(stage.judged.size).toBe(0);
      return mail.arrive({ account: imap });
    },
  },
];

const tapbacks: readonly Row<MessagesStage>[] = [2000, 2001, 2002, 2003, 2004, 2005, 2006, 2007].map((type) => ({
  name: `tapback ${type}`, source: KINDS, expected: 'tapback',
  run: ({ messages }) => messages.tapback(messages.arrive(), { type, ...(type === 2006 && { emoji: '🎉' }) }),
}));
const groupEvents: readonly Row<MessagesStage>[] = (
  ['added', 'removed', 'renamed', 'name-removed', 'left', 'photo', 'photo-removed', 'background', 'location', 'audio-kept', 'facetime'] satisfies GroupEvent[]
).map((kind) => ({ name: `group: ${kind}`, source: KINDS, expected: 'group-notice', run: ({ messages }) => messages.groupEvent(kind) }));

const messageRows: readonly Row<MessagesStage>[] = [
  { name: 'an iMessage', source: KINDS, expected: 'rings', run: ({ messages }) => messages.arrive() },
  { name: 'an SMS', source: 'data-formats/chat-db 6', expected: 'rings', run: ({ messages }) => messages.arrive({ service: 'SMS' }) },
  { name: 'RCS', source: 'data-formats/chat-db 6', expected: 'rings', run: ({ messages }) => messages.arrive({ service: 'RCS' }) },
  { name: 'from an address', source: 'data-formats/chat-db 6', expected: 'rings', run: ({ messages }) => messages.arrive({ from: 'ada@example.org' }) },
  { name: 'from a short code', source: 'data-formats/chat-db 6', expected: 'rings', run: ({ messages }) => messages.arrive({ from: '39781', service: 'SMS' }) },
  { name: 'in a group', source: 'data-formats/chat-db 6', expected: 'rings', run: ({ messages }) => messages.arrive({ chat: { group: true, members: ['+15550100', '+15550101'] } }) },
  { name: 'a reply in a thread', source: KINDS, expected: 'rings', run: ({ messages }) => messages.arrive({ threadOriginator: messages.guid(messages.arrive()) }) },
  { name: 'app balloon 2', source: KINDS, expected: 'rings', run: ({ messages }) => messages.arrive({ set: { associated_message_type: 2 } }) },
  { name: 'app balloon 3', source: KINDS, expected: 'rings', run: ({ messages }) => messages.arrive({ set: { associated_message_type: 3 } }) },
  { name: 'sent', source: ARCH, expected: 'sent', run: ({ messages }) => messages.sent() },
  { name: 'the echo of a sent message, corrected', source: LIFE, expected: 'sent', run: ({ messages }) => messages.sentEcho() },
  ...tapbacks,
  {
    name: 'a tapback is removed', source: KINDS, expected: 'tapback', changes: true,
    run: ({ messages, stage }) => { const tapback = messages.tapback(messages.arrive()); stage.look(); return messages.removeTapback(tapback); },
  },
  { name: 'a tapback on a balloon', source: KINDS, expected: 'tapback', run: ({ messages }) => messages.tapback(messages.arrive(), { style: 'balloon' }) },
  { name: 'a sticker', source: 'rulings 6', expected: 'sticker', run: ({ messages }) => messages.sticker(messages.arrive()) },
  { name: 'a poll vote', source: KINDS, expected: 'poll', run: ({ messages }) => messages.pollVote(messages.arrive()) },
  ...groupEvents,
  { name: 'a system message', source: KINDS, expected: 'system', run: ({ messages }) => messages.arrive({ set: { is_system_message: 1 } }) },
  { name: 'a service message', source: KINDS, expected: 'system', run: ({ messages }) => messages.arrive({ set: { is_service_message: 1 } }) },
  { name: 'an empty row', source: KINDS, expected: 'system', run: ({ messages }) => messages.arrive({ text: null, set: { is_empty: 1 } }) },
  { name: 'send later, pending', source: KINDS, expected: 'scheduled', run: ({ messages }) => messages.scheduled() },
  { name: 'unsent before we looked', source: 'data-formats/chat-db 8', expected: 'unsent', run: ({ messages }) => { const row = messages.arrive(); messages.unsend(row); return row; } },
  { name: 'unsent after it rang', source: 'data-formats/chat-db 8', expected: 'rings', changes: true, run: ({ messages, stage }) => { const row = messages.arrive(); stage.look(); messages.unsend(row); return row; } },
  { name: 'edited after it rang', source: 'data-formats/chat-db 8', expected: 'rings', run: ({ messages, stage }) => { const row = messages.arrive(); stage.look(); messages.edit(row); return row; } },
  { name: 'edited before we looked: the message is new all the same', source: 'data-formats/chat-db 8', expected: 'rings', run: ({ messages }) => { const row = messages.arrive(); messages.edit(row); return row; } },
  { name: 'a link: its text', source: ARCH, expected: 'rings', run: ({ messages }) => messages.linkTwin().text },
  { name: 'a link: its balloon', source: ARCH, expected: 'twin', run: ({ messages }) => messages.linkTwin().balloon },
  {
    name: 'a balloon alone', source: ARCH, expected: 'rings',
    run: ({ messages }) => messages.arrive({ text: 'https://example.org/page', set: { balloon_bundle_id: 'com.apple.messages.URLBalloonProvider' } }),
  },
  { name: 'a note to self, own handles not named', source: ARCH, expected: 'rings', run: ({ messages }) => messages.selfChatTwin().received },
  { name: 'a note to self, own handles named', source: ARCH, expected: 'twin', ownHandles: ['me@example.org'], run: ({ messages }) => messages.selfChatTwin().received },
  { name: 'a note to self: the sent row', source: ARCH, expected: 'sent', run: ({ messages }) => messages.selfChatTwin().sent },
  { name: 'a one-time code, never in a chat', source: LIFE, expected: 'rings', run: ({ messages, stage }) => { const row = messages.oneTimeCode(); stage.settle(); return row; } },
  {
    name: 'the join later', source: ARCH, expected: 'rings',
    run: ({ messages, stage, clock }) => { const row = messages.arriveRowFirst(); stage.look(); clock.advance(120); messages.joinLater(row); return row; },
  },
  {
    name: 'the join later, to a spam chat', source: ARCH, expected: 'spam',
    run: ({ messages, stage, clock }) => {
      const message = { from: '+15550666', chat: { filtered: 2 } };
      const row = messages.arriveRowFirst(message);
      stage.look();
      clock.advance(120);
      messages.joinLater(row, message);
      return row;
    },
  },
  {
    name: 'the join after the first wait', source: ARCH, expected: 'rings',
    run: ({ messages, stage, clock }) => { const row = messages.arriveRowFirst(); stage.look(); clock.advance(600); messages.joinLater(row); return row; },
  },
  { name: 'not finished to the end of the wait', source: 'rulings 6', expected: 'rings', run: ({ messages, stage }) => { const row = messages.notFinished(); stage.settle(); messages.finish(row); return row; } },
  {
    name: 'finished within the wait', source: 'rulings 6', expected: 'rings',
    run: ({ messages, stage, clock }) => { const row = messages.notFinished(); stage.look(); clock.advance(100); messages.finish(row); return row; },
  },
  {
    name: 'attachment rows later', source: ARCH, expected: 'rings',
    run: ({ messages, stage, clock }) => { const row = messages.arriveBeforeAttachments(); stage.look(); clock.advance(100); messages.attachLater(row); return row; },
  },
  { name: 'attachment rows never', source: ARCH, expected: 'rings', run: ({ messages }) => messages.arriveBeforeAttachments() },
  {
    name: 'attachment rows before the join', source: LIFE, expected: 'rings',
    run: ({ messages, stage, clock }) => { const row = messages.arriveAttachmentsFirst(); stage.look(); clock.advance(100); messages.joinLater(row); return row; },
  },
  { name: 'a spam chat', source: 'rulings 6', expected: 'spam', run: ({ messages }) => messages.spamChat() },
  { name: 'a spam message', source: FILTERS, expected: 'spam', run: ({ messages }) => messages.arrive({ set: { is_spam: 1 } }) },
  { name: 'a blackholed chat', source: 'rulings 6', expected: 'spam', run: ({ messages }) => messages.blackholed() },
  { name: 'an unknown sender', source: FILTERS, expected: 'rings', run: ({ messages }) => messages.spamChat({}, 1) },
  { name: 'a transaction notice', source: FILTERS, expected: 'rings', run: ({ messages }) => messages.spamChat({}, 4) },
  { name: 'a re-landed copy within 5 s', source: 'rulings 6', expected: 'twin', run: ({ messages, stage }) => { const row = messages.arrive(); stage.look(); return messages.relanded(row); } },
  { name: 'a re-landed copy, hours old', source: 'rulings 6', expected: 'backfill', run: ({ messages, stage }) => { const row = messages.arrive(); stage.look(); return messages.relanded(row, -3 * HOUR); } },
  { name: 'the same words 6 s later', source: 'rulings 6', expected: 'rings', run: ({ messages, clock }) => [messages.arrive({ text: 'ok', date: clock.now() }), messages.arrive({ text: 'ok', date: clock.now() + 6000 })] },
  {
    name: 'the same words from two people in a group', source: 'rulings 6', expected: 'rings',
    run: ({ messages, clock }) => ['+15550100', '+15550101'].map((from) => messages.arrive({ from, text: 'ok', date: clock.now(), chat: { group: true, identifier: 'chat1', members: ['+15550100', '+15550101'] } })),
  },
  { name: 'iCloud brings old messages', source: LIFE, expected: 'backfill', run: ({ messages }) => messages.icloudBackfill(100) },
  {
    name: 'messages of a weekend asleep', source: LIFE, expected: 'rings',
    run: ({ messages, stage, clock }) => {
      messages.arrive({ date: clock.now() });
      stage.settle();
      clock.sleep(60 * HOUR);
      return [2, 20, 50, 10].map((hours) => messages.arrive({ date: clock.now() - hours * HOUR }));
    },
  },
  { name: 'without a handle', source: 'data-formats/chat-db 6', expected: 'no-sender', run: ({ messages }) => messages.arrive({ set: { handle_id: 0 } }) },
  { name: 'undated', source: 'rulings 7', expected: 'rings', run: ({ messages }) => messages.arrive({ date: null }) },
  { name: 'deleted before we looked', source: 'data-formats/chat-db 9', expected: 'deleted', run: ({ messages }) => { const row = messages.arrive(); messages.recoverableDelete(row); return row; } },
  { name: 'read on another device', source: LIFE, expected: 'rings', run: ({ messages, stage }) => { const row = messages.arrive(); stage.look(); messages.markRead(row); return row; } },
];

let folder: TempFolder;
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).toReversed()) close();
  folder.remove();
});

function mailStage(): MailStage {
  folder = tempFolder();
  const mail = MailStore.create(folder.at('Mail', 'V10'), { synchronous: 'OFF' });
  closing.push(() => mail.close());
  const account = (description: string, kind: 'imap' | 'gmail' | 'ews' | 'local') => mail.addAccount({ description, email: `${kind}@example.org`, kind });
  const [imap, gmail, ews, local] = [account('iCloud', 'imap'), account('Google', 'gmail'), account('Work', 'ews'), account('On My Mac', 'local')];
  const old = mail.arrive();
  const stage = new Stage(new EnvelopeIndex({ mailDir: mail.mailDir, accountsDb: folder.at('Accounts', 'Accounts4.sqlite') }));
  closing.push(() => stage.close());
  return { stage, clock: stage.clock, mail, imap, gmail, ews, local, old };
}

function messagesStage(ownHandles: readonly string[] = []): MessagesStage {
  folder = tempFolder();
  const messages = MessagesStore.create(folder.at('chat.db'), { synchronous: 'OFF' });
  closing.push(() => messages.close());
  messages.arrive({ from: '+15550999' });
  const stage = new Stage(new ChatDatabase({ path: messages.path, region: 'US', ownHandles }));
  closing.push(() => stage.close());
  return { stage, clock: stage.clock, messages };
}

/** One verdict for each row, and the same story from catch-up. */
function verify<S extends { readonly stage: Stage }>(row: Row<S>, at: S): void {
  const rowids = [row.run(at)].flat();
  at.stage.settle();
  const verdicts = new Map(rowids.map((rowid) => [rowid, at.stage.judged.get(rowid)]));
  expect(verdicts).toEqual(new Map(rowids.map((rowid) => [rowid, [row.expected]])));
  if (row.changes) return;
  const told = at.stage.caughtUp();
  expect(rowids.filter((rowid) => told.has(rowid))).toEqual(row.expected === 'rings' || row.standsIn ? rowids : []);
}

describe('mail: arrival or not', () => {
  test.each(mailRows)('$name ($source): $expected', (row) => verify(row, mailStage()));
});
describe('messages: arrival or not', () => {
  test.each(messageRows)('$name ($source): $expected', (row) => verify(row, messagesStage(row.ownHandles)));
});
