import type { ChatRow, SenderRow } from '../../app/contract/values.ts';
import { forWords, KINDS, ruleFor, ruleKey, ruleNote, searchRules } from './rule-words.ts';

/** One row of the table: a sender rule, or a chat whose members may ring. */
export interface SenderItem {
  readonly key: string;
  readonly title: string;
  readonly kind: string;
  readonly note: string;
  readonly for: string;
  readonly lastAt: number | null;
  readonly on: boolean;
  readonly rule: SenderRow | null;
  readonly chat: ChatRow | null;
}

/** Rules first, then chats. @param text search */
export function senderItems(rules: readonly SenderRow[], chats: readonly ChatRow[], text: string): readonly SenderItem[] {
  const wanted = text.trim().toLowerCase();
  return [
    ...searchRules(rules, text).map((rule): SenderItem => ({
      key: ruleKey(rule), title: rule.display, kind: KINDS[rule.kind], note: ruleNote(rule), for: forWords(ruleFor(rule)), lastAt: rule.lastAt, on: rule.on, rule, chat: null,
    })),
    ...chats.filter(({ name }) => `${name} group chat`.toLowerCase().includes(wanted)).map((chat): SenderItem => ({
      key: `chat ${chat.id}`, title: chat.name, kind: chat.isGroup ? 'Group chat' : 'Chat', note: '', for: 'Messages', lastAt: chat.lastAt, on: true, rule: null, chat,
    })),
  ];
}

/** `14 of 14 on`: chats have no switch, so they count as on. */
export function onWords(rules: readonly Pick<SenderRow, 'on'>[], chats: readonly unknown[]): string {
  const on = rules.filter((rule) => rule.on).length + chats.length;
  return `${on} of ${rules.length + chats.length} on`;
}
