import { normaliseAddress, normaliseHandle } from '../sender.ts';

/** A card of one source. */
export interface Card {
  readonly name: string;
  /** Shared by the cards of one person in several accounts (data-formats/contacts), or null. */
  readonly linkId: string | null;
  /** As typed. */
  readonly phones: readonly string[];
  readonly emails: readonly string[];
}

interface Phone {
  readonly card: Card;
  /** Digits as typed, without `+`, trunk zeros or a 00 prefix. */
  readonly digits: string;
  readonly isInternational: boolean;
  /** E.164 by the Mac's region, or whatever else it normalises to. */
  readonly number: string;
}

/** Fewer equal digits from the right say nothing (data-formats/contacts, Matching). */
const LEAST_DIGITS = 7;
const EXTENSION = /\s*(?:[;,#*x]|ext).*$/i;

/** Names by number and address over the united cards of all sources. Pure: knows no files. */
export class ContactIndex {
  readonly #region: string | null;
  readonly #emails = new Map<string, Card[]>();
  /** By their last seven digits. */
  readonly #phones = new Map<string, Phone[]>();

  constructor(cards: Iterable<Card>, region: string | null) {
    this.#region = region;
    for (const card of cards) {
      for (const email of card.emails) add(this.#emails, normaliseAddress(email), card);
      for (const typed of card.phones) this.#addPhone(card, typed);
    }
  }

  /** The name for a normalised sender; null if nobody or more than one person has it. */
  find(sender: string): string | null {
    if (sender.includes('@')) return onePerson(this.#emails.get(sender.toLowerCase()) ?? []);
    // Short codes, `urn:biz:` and names never match: 8 digits or fewer without + are a code.
    return /^(?:\+\d{7,15}|\d{9,15})$/.test(sender) ? this.#findPhone(sender) : null;
  }

  #addPhone(card: Card, typed: string): void {
    const written = typed.replace(EXTENSION, '').trim();
    const number = normaliseHandle(written, this.#region);
    const isInternational = /^(?:\+|00)/.test(written);
    const digits = (written.startsWith('+') ? number : written).replaceAll(/\D/g, '').replace(/^0+/, '');
    if (digits.length < LEAST_DIGITS) return;
    const phone = { card, digits, isInternational, number };
    const key = digits.slice(-LEAST_DIGITS);
    add(this.#phones, key, phone);
    const other = number.slice(-LEAST_DIGITS);
    if (other !== key) add(this.#phones, other, phone);
  }

  #findPhone(sender: string): string | null {
    const digits = sender.replace(/^\+|^0+/, '');
    let longest = 0;
    let found: Card[] = [];
    for (const phone of this.#phones.get(digits.slice(-LEAST_DIGITS)) ?? []) {
      const length = commonEnd(phone, sender, digits);
      if (length === 0 || length < longest) continue;
      if (length > longest) found = [];
      longest = length;
      found.push(phone.card);
    }
    return onePerson(found);
  }
}

/**
 * How many digits agree from the right, 0 where the numbers differ: the one must be the whole end of the other, and of two
 * numbers with country code none is the end of the other.
 */
function commonEnd(phone: Phone, sender: string, digits: string): number {
  if (phone.number === sender) return digits.length;
  if (phone.isInternational && sender.startsWith('+')) return phone.digits === digits ? digits.length : 0;
  const shorter = Math.min(phone.digits.length, digits.length);
  return digits.slice(-shorter) === phone.digits.slice(-shorter) ? shorter : 0;
}

function add<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** Cards of one person have the same name or the same link. */
function onePerson(cards: readonly Card[]): string | null {
  const first = cards[0];
  if (first === undefined) return null;
  return cards.every((card) => card.name === first.name || (card.linkId !== null && card.linkId === first.linkId)) ? first.name : null;
}
