import type { Writer } from '../writer-client.ts';

/** One thing that happens in the demo's stores, and whether it should ring. */
export interface Scene {
  readonly what: string;
  readonly rings: boolean;
  readonly why: string;
  /** Resolves with the time of the commit, monotonic ns. */
  write(writer: Writer, account: string, step: number): Promise<bigint>;
}

const ada = { address: 'ada@example.com', name: 'Ada Lovelace' };

const mail = (what: string, value: Parameters<Writer['mail']['arrive']>[0], rings = true, why = ''): Scene => ({
  what, rings, why,
  write: async (writer, _account, step) => (await writer.mail.arrive({ ...value, subject: `${value?.subject ?? 'Note'} ${step + 1}` })).committedAt,
});

/** The demo's day: what rings, and what a watcher of rows alone would have rung for by mistake. */
export const scenes: readonly Scene[] = [
  mail('a mail from an allowed address', { from: ada, subject: 'Quarterly plan' }),
  {
    what: 'a message from an allowed number', rings: true, why: '',
    // Another text each time: the same words within five seconds count as one message that landed twice.
    write: async (writer, _account, step) => (await writer.messages.arrive({ from: '+12025550143', text: `On my way, ${step}` })).committedAt,
  },
  mail('a mail from a stranger', { from: { address: 'news@shop.example' }, subject: 'Sale' }, false, 'no allowed sender matches'),
  mail('a mail from an allowed domain', { from: { address: 'rota@example.org', name: 'Rota' }, subject: 'Shifts', attachments: ['shifts.pdf'] }),
  {
    what: 'the newest mail moved to the archive', rings: false, why: 'moved, not new',
    write: async (writer) => {
      const { result } = await writer.mail.arrive({ from: { address: 'x@elsewhere.example' } });
      return (await writer.mail.move(result, 'Archive')).committedAt;
    },
  },
  {
    what: 'a Gmail mail, inbox by label', rings: true, why: '',
    write: async (writer) => {
      const { result: accounts } = await writer.mail.accountIds();
      return (await writer.mail.arrive({ account: accounts[1]!, mailbox: 'INBOX', from: ada, subject: 'By label' })).committedAt;
    },
  },
  {
    what: 'a reaction to a message', rings: false, why: 'a reaction, not a message',
    write: async (writer) => {
      const { result } = await writer.messages.sent({ from: '+12025550143', text: 'See you' });
      return (await writer.messages.tapback(result, { from: '+12025550143' })).committedAt;
    },
  },
];
