import type { SenderRow } from '../../app/contract/values.ts';

type Kind = SenderRow['kind'];

export const KINDS: Readonly<Record<Kind, string>> = { address: 'Address', domain: 'Domain', phone: 'Phone', code: 'Short code' };

export const forWords = (target: SenderRow['for']): string => ({ both: 'Mail and Messages', mail: 'Mail', messages: 'Messages' })[target];

/** What a rule can ring for. A number sends no mail, whatever the rule says. */
export const ruleFor = ({ kind, for: target }: Pick<SenderRow, 'kind' | 'for'>): SenderRow['for'] =>
  target === 'both' && sendsNoMail(kind) ? 'messages' : target;

export const sendsNoMail = (kind: Kind): boolean => kind === 'phone' || kind === 'code';

/** `includes subdomains, but not noreply@example.org`; empty for a rule without either. */
export function ruleNote({ subdomains, except }: Pick<SenderRow, 'subdomains' | 'except'>): string {
  const parts: string[] = [];
  if (subdomains) parts.push('includes subdomains');
  if (except.length > 0) parts.push(`but not ${except.slice(0, 2).join(', ')}${except.length > 2 ? ` and ${except.length - 2} more` : ''}`);
  return parts.join(', ');
}

/** Kind and value: a domain and a code never collide. */
export const ruleKey = ({ kind, value }: Pick<SenderRow, 'kind' | 'value'>): string => `${kind} ${value}`;

/** Rules whose text holds what is searched for, in either form of a domain. */
export function searchRules<Row extends Pick<SenderRow, 'kind' | 'display' | 'value'>>(rules: readonly Row[], text: string): readonly Row[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return rules;
  return rules.filter((rule) => `${rule.display} ${rule.value} ${KINDS[rule.kind]}`.toLowerCase().includes(wanted));
}
