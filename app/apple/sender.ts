import { parsePhoneNumberFromString as parseWith, isSupportedCountry, Metadata, type CountryCode, type MetadataJson } from 'libphonenumber-js/core';
import mobileNumbers from 'libphonenumber-js/mobile/metadata';
import allNumbers from 'libphonenumber-js/min/metadata';
import { domainToASCII, domainToUnicode } from 'node:url';
import { withoutHidden } from '../text/hidden.ts';
import type { SenderSet } from './reader.ts';

/** One normaliser for every way in (architecture 5): settings, arguments, the command line, rows of both stores. */
export type SenderKind = 'address' | 'domain' | 'phone' | 'code';

/** An entry that names senders, normalised. `subdomains` counts for domains only. */
export interface ParsedSender {
  readonly kind: SenderKind;
  readonly value: string;
  readonly subdomains: boolean;
}

export type SenderParse =
  | { readonly ok: true; readonly kind: SenderKind; readonly value: string; /** For people: IDN in both forms, a number as typed. */ readonly display: string }
  | { readonly ok: false; /** A sentence that repeats nothing of the input. */ readonly reason: string };

/** Longest entry that is looked at: a name of some length and an address. */
const MAX_ENTRY = 512;
/** RFC 5321 4.5.3.1: local part 64, path 256 with its brackets. */
const MAX_ADDRESS = 254;
const MAX_LOCAL = 64;
/** Longest handle that is worth normalising; `handle.id` of real stores stays below 100. */
const MAX_HANDLE = 320;

/** Joiners belong to no address, also where they are seen; half a character to none at all. */
const UNSAFE = /[\u200c\u200d\p{Surrogate}]/u;
const ASCII = /^[\x21-\x7e]*$/;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** What domainToASCII would read as part of a URL, decode or drop. */
const NOT_DOMAIN = /[\s%/\\?#@:[\]()<>,;"'*|^`{}&=+!$~]/;
const NOT_LOCAL = /[\s()<>[\]:;@\\,"*]/;
const PHONE_SHAPE = /^\+?[\d\s().\-/\u00a0\u2010-\u2015\u202f\uff0b\uff10-\uff19]+$/;
/** Suffixes under which Messages keeps filtered copies of a handle (data-formats/chat-db 6). */
const FILTER_SUFFIX = /\s*\((?:smsf[a-z_]*|filtered)\)$/i;

const NOT_A_SENDER = 'Not an address, domain or number';

/**
 * Reads one entry by ui.md's Senders table. `region` is an ISO 3166 code for numbers in local form, or null
 * (then only numbers with + are read: ruling 13).
 */
export function parseSender(text: string, region: string | null): SenderParse {
  const entry = text.replace(/^[\s\u00a0]+|[\s\u00a0]+$/g, '');
  if (entry === '') return refuse('An empty entry names nobody');
  if (entry.length > MAX_ENTRY) return refuse(`Longer than ${MAX_ENTRY} characters`);
  if (UNSAFE.test(entry) || withoutHidden(entry) !== entry) return refuse('Holds control characters or characters that cannot be seen');
  if (entry.includes('*')) return refuse('Wildcards are not read: name a whole address, domain or number');
  const bracketed = /^[^<>]*<([^<>]*)>$/.exec(entry) ?? /^"(?:[^"\\]|\\.)*"\s*<([^<>]*)>$/.exec(entry);
  if (bracketed) return readAddress(bracketed[1]!.trim());
  if (entry.startsWith('@')) return readDomain(entry.slice(1));
  if (entry.includes('@')) return readAddress(entry);
  if (PHONE_SHAPE.test(entry)) return readNumber(entry, region);
  return readDomain(entry);
}

const refuse = (reason: string): SenderParse => ({ ok: false, reason });

function readAddress(text: string): SenderParse {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at).normalize('NFC').toLowerCase();
  if (at <= 0 || NOT_LOCAL.test(local)) return refuse(NOT_A_SENDER);
  const domain = asciiDomain(text.slice(at + 1));
  if (domain === null) return refuse(NOT_A_SENDER);
  if (local.length > MAX_LOCAL) return refuse(`The part before @ is longer than ${MAX_LOCAL} characters`);
  const value = `${local}@${domain}`;
  if (value.length > MAX_ADDRESS) return refuse(`An address has at most ${MAX_ADDRESS} characters`);
  return { ok: true, kind: 'address', value, display: inBothForms(value, `${local}@${domainToUnicode(domain)}`) };
}

function readDomain(text: string): SenderParse {
  const domain = asciiDomain(text);
  if (domain === null) return refuse(NOT_A_SENDER);
  return { ok: true, kind: 'domain', value: domain, display: inBothForms(domain, domainToUnicode(domain)) };
}

const inBothForms = (ascii: string, unicode: string) => (unicode === ascii || unicode === '' ? ascii : `${unicode} (${ascii})`);

function readNumber(text: string, region: string | null): SenderParse {
  const typed = text.normalize('NFKC');
  const digits = typed.replaceAll(/\D/g, '');
  if (typed.startsWith('+')) {
    const value = e164(typed);
    return value === null ? refuse('A number with + has 7 to 15 digits and starts with a country code') : { ok: true, kind: 'phone', value, display: text };
  }
  const country = known(region);
  const bare = digits === typed;
  if (bare && digits.length >= 3 && digits.length <= 8) {
    // Both rows of the table fit where whole mobile numbers have 8 digits or fewer (DK, NO, SG): the number wins.
    const mobile = digits.length >= 7 && country !== null ? localNumber(digits, country, mobileNumbers) : null;
    return mobile === null ? { ok: true, kind: 'code', value: digits, display: digits } : { ok: true, kind: 'phone', value: mobile, display: text };
  }
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(typed)) return refuse(NOT_A_SENDER);
  if (digits.length < 3) return refuse('A short code has 3 to 8 digits');
  if (country === null) return refuse('A number without + needs a region: write it with + and the country code');
  const value = bare ? withoutPlus(digits, country) : (localNumber(typed, country) ?? possibleNumber(typed, country));
  if (value !== null) return { ok: true, kind: 'phone', value, display: text };
  return refuse('Not a number of this region: write it with + and the country code');
}

const known = (region: string | null): CountryCode | null => {
  const code = region?.toUpperCase();
  return code !== undefined && isSupportedCountry(code as CountryCode, allNumbers as MetadataJson) ? (code as CountryCode) : null;
};

/**
 * `+` and digits. Where the numbering plan knows the number it has the last word (`+44 (0)20 ...`); other numbers stay
 * as they are written, because a store writes them the same way and new ranges come before new metadata.
 */
function e164(text: string): string | null {
  const digits = text.replaceAll(/\D/g, '');
  if (!/^[1-9]\d{6,14}$/.test(digits) || text.lastIndexOf('+') > 0) return null;
  // Whole North American numbers have one form; most handles of many stores are such.
  if (/^\+1\d{10}$/.test(text)) return text;
  const parsed = parseWith(text, allNumbers as MetadataJson);
  return parsed !== undefined && parsed.ext === undefined && parsed.isValid() ? parsed.number : `+${digits}`;
}

function localNumber(text: string, country: CountryCode, metadata: unknown = allNumbers): string | null {
  const parsed = parseWith(text, country, metadata as MetadataJson);
  return parsed !== undefined && parsed.ext === undefined && parsed.isValid() ? parsed.number : null;
}

/** A number of the right length: new ranges, and the fictional ones of examples. */
function possibleNumber(text: string, country: CountryCode): string | null {
  const parsed = parseWith(text, country, allNumbers as MetadataJson);
  return parsed !== undefined && parsed.ext === undefined && parsed.isPossible() && !parsed.nationalNumber.startsWith('0') ? parsed.number : null;
}

/** A domain in ASCII and lower case, or null for what is none: two labels at least, the last not all digits. */
function asciiDomain(text: string): string | null {
  const trimmed = text.endsWith('.') ? text.slice(0, -1) : text;
  if (trimmed === '' || trimmed.length > 253 || NOT_DOMAIN.test(trimmed)) return null;
  const domain = toAscii(trimmed);
  const labels = domain.split('.');
  if (domain.length > 253 || labels.length < 2 || !labels.every((label) => LABEL.test(label))) return null;
  return /^\d+$/.test(labels.at(-1)!) ? null : domain;
}

/** '' where IDNA refuses it. ASCII is only lower-cased: domainToASCII reads `0x7f.1` as an IPv4 address. */
const toAscii = (domain: string) => (ASCII.test(domain) && !/xn--/i.test(domain) ? domain.toLowerCase() : domainToASCII(domain.normalize('NFC')));

/** An address of a store as it is compared: lower case, domain in ASCII. Never refuses; what is no address is lower-cased. */
export function normaliseAddress(text: string): string {
  const trimmed = text.trim();
  if (ASCII.test(trimmed)) return trimmed.toLowerCase();
  const at = trimmed.lastIndexOf('@');
  const local = trimmed.slice(0, at + 1).normalize('NFC').toLowerCase();
  const domain = trimmed.slice(at + 1);
  const ascii = at < 0 || NOT_DOMAIN.test(domain) ? '' : toAscii(domain);
  return local + (ascii === '' ? domain.normalize('NFC').toLowerCase() : ascii);
}

/** Domain of an address in ASCII and lower case, or null where there is none. */
export function domainOf(address: string): string | null {
  const at = address.lastIndexOf('@');
  if (at < 0 || at === address.length - 1) return null;
  const domain = address.slice(at + 1);
  if (ASCII.test(domain)) return domain.toLowerCase();
  const ascii = NOT_DOMAIN.test(domain) ? '' : toAscii(domain);
  return ascii === '' ? null : ascii;
}

const handleCache = new Map<string, string>();
const HANDLE_CACHE = 50_000;

/**
 * A `handle.id` as it is compared: E.164, e-mail in lower case, digits of a short code, anything else (`urn:biz:`,
 * names such as `MYBANK`) in lower case; '' for an empty one. Kept, so that a handle costs its parsing once.
 */
export function normaliseHandle(text: string, region: string | null): string {
  const key = `${region ?? ''}\n${text}`;
  const found = handleCache.get(key);
  if (found !== undefined) return found;
  const value = readHandle(text, region);
  if (handleCache.size >= HANDLE_CACHE) handleCache.clear();
  handleCache.set(key, value);
  return value;
}

/** A handle without the suffix of a filtered copy: the same sender. */
export const withoutFilterSuffix = (handle: string) => (handle.endsWith(')') ? handle.replace(FILTER_SUFFIX, '') : handle);

function readHandle(text: string, region: string | null): string {
  // `account` columns carry `e:` and `p:` before the same forms (data-formats/chat-db 6); an owner may paste them.
  const handle = withoutFilterSuffix(text.slice(0, MAX_HANDLE).trim()).replace(/^[ep]:/i, '');
  if (handle.includes('@')) return normaliseAddress(handle);
  if (!PHONE_SHAPE.test(handle)) return handle.normalize('NFC').toLowerCase();
  const typed = handle.normalize('NFKC');
  if (typed.startsWith('+')) return e164(typed) ?? typed;
  const digits = typed.replaceAll(/\D/g, '');
  const country = known(region);
  if (digits.length < 3) return typed;
  if (digits.length <= 8) return (digits.length >= 7 && country !== null ? localNumber(digits, country, mobileNumbers) : null) ?? digits;
  return withoutPlus(digits, country) ?? digits;
}

/**
 * Nine digits or more that lost their `+` (sanitised stores) or a local form that Messages could not complete. Local forms
 * start with the trunk prefix where it is 0; elsewhere (1 or none) they may lack it, so there the region is asked first.
 */
function withoutPlus(digits: string, country: CountryCode | null): string | null {
  const parsed = digits.startsWith('0') ? undefined : parseWith(`+${digits}`, allNumbers as MetadataJson);
  const abroad = parsed?.isValid() === true ? parsed.number : null;
  if (country === null) return abroad;
  const local = localNumber(digits, country);
  const localFirst = trunkPrefix(country) !== '0' || digits.startsWith('0');
  return (localFirst ? (local ?? abroad) : (abroad ?? local)) ?? possibleNumber(digits, country);
}

const trunkPrefix = (country: CountryCode): string | null => {
  const metadata = new Metadata(allNumbers as MetadataJson);
  metadata.selectNumberingPlan(country);
  // There at run time, missing from the package's types.
  return (metadata.numberingPlan as unknown as { nationalPrefix(): string | null }).nationalPrefix();
};

/** Sets for matching; entries that say the same are merged. */
export function buildSenderSet(entries: Iterable<ParsedSender>): SenderSet {
  const addresses = new Set<string>();
  const domains = new Set<string>();
  const parents = new Set<string>();
  for (const { kind, value, subdomains } of entries) {
    if (kind !== 'domain') addresses.add(value);
    else if (subdomains) parents.add(value);
    else domains.add(value);
  }
  return { addresses, domains, parents };
}

/** `sender` as normaliseAddress or normaliseHandle gives it. Domains match by whole labels. */
export function matches(set: SenderSet, sender: string): boolean {
  if (set.addresses.has(sender)) return true;
  if (set.domains.size === 0 && set.parents.size === 0) return false;
  const domain = domainOf(sender);
  if (domain === null) return false;
  if (set.domains.has(domain)) return true;
  if (set.parents.size === 0) return false;
  for (let at = 0; ; ) {
    if (set.parents.has(domain.slice(at))) return true;
    const dot = domain.indexOf('.', at);
    if (dot < 0) return false;
    at = dot + 1;
  }
}

/**
 * The region of a process without a Mac's settings (ruling 13): the territory of LC_ALL, else of LANG. An `rg`
 * keyword (`en_US@rg=frzzzz`) is the region that its user chose.
 */
export function regionFromLocale(env: { readonly [name: string]: string | undefined }): string | null {
  for (const locale of [env['LC_ALL'], env['LANG']]) {
    const chosen = /[@;-](?:u-)?rg[=-]([a-z]{2})zzzz/i.exec(locale ?? '')?.[1];
    const territory = chosen ?? /^[a-z]{2,3}(?:[_-][a-z]{4})?[_-]([a-z]{2})(?![a-z0-9])/i.exec(locale ?? '')?.[1];
    const region = known(territory ?? null);
    if (region !== null) return region;
  }
  return null;
}

/** Domains at which anyone can have an address: naming one needs a confirmation (ui.md, Senders). */
const SHARED_DOMAINS = new Set(
  `gmail.com googlemail.com outlook.com outlook.de outlook.fr outlook.es outlook.it outlook.jp hotmail.com hotmail.co.uk hotmail.de
  hotmail.fr hotmail.it hotmail.es live.com live.co.uk live.de live.fr live.nl live.it msn.com icloud.com me.com mac.com
  privaterelay.appleid.com yahoo.com yahoo.co.uk yahoo.co.jp yahoo.co.in yahoo.de yahoo.fr yahoo.es yahoo.it yahoo.ca yahoo.com.br
  yahoo.com.au ymail.com rocketmail.com myyahoo.com aol.com aim.com proton.me protonmail.com protonmail.ch pm.me tutanota.com
  tutanota.de tuta.com tuta.io tutamail.com keemail.me fastmail.com fastmail.fm hey.com zoho.com zohomail.com zohomail.eu gmx.com
  gmx.de gmx.net gmx.at gmx.ch gmx.fr mail.com email.com web.de freenet.de t-online.de mailbox.org posteo.de posteo.net arcor.de
  1und1.de bluewin.ch orange.fr wanadoo.fr free.fr laposte.net sfr.fr neuf.fr libero.it virgilio.it tiscali.it alice.it tin.it
  ziggo.nl kpnmail.nl planet.nl xs4all.nl telenet.be skynet.be btinternet.com sky.com virginmedia.com talktalk.net ntlworld.com
  blueyonder.co.uk comcast.net xfinity.com verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net
  juno.com optonline.net rogers.com shaw.ca sympatico.ca bell.net telus.net bigpond.com optusnet.com.au yandex.ru yandex.com ya.ru
  mail.ru bk.ru inbox.ru list.ru rambler.ru qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com aliyun.com 139.com
  189.cn naver.com daum.net hanmail.net nate.com kakao.com docomo.ne.jp ezweb.ne.jp au.com softbank.ne.jp i.softbank.jp nifty.com
  biglobe.ne.jp rediffmail.com uol.com.br bol.com.br terra.com.br ig.com.br seznam.cz email.cz centrum.cz wp.pl o2.pl onet.pl
  interia.pl op.pl gazeta.pl abv.bg ukr.net duck.com simplelogin.com mozmail.com hushmail.com runbox.com disroot.org riseup.net
  mailfence.com pobox.com`.split(/\s+/),
);

/** `domain` in ASCII, any case. Yahoo's and Outlook's national domains are more than a list holds. */
export function isSharedDomain(domain: string): boolean {
  const name = domain.toLowerCase();
  return SHARED_DOMAINS.has(name) || /^(?:yahoo|hotmail|outlook|live|gmx|yandex)\.(?:[a-z]{2}|com?\.[a-z]{2})$/.test(name);
}
