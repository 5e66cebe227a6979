import { hasDigit, plainDigits, plainPlaces } from './plain-digits.ts';

/**
 * One-time codes in texts of strangers, blotted out: whoever reads a code can sign in as the owner. By words that name a
 * code and by how the code stands beside them; a link to sign in is not looked for.
 */
const BLOT = '\u2022';

/** What a code is called, at the end of a word: `Bestätigungscode` too. CJK has no ends of words. */
const NAMES = new RegExp(
  [
    // Latin script
    '(?:codes?|passcodes?|kode|koden|kod|kodu|kodunuz|koda|kód|kódja|kódot|koodi|koodisi|codice|c[oó]digo|codi|cod|otp|totp|pin|passwor[dt]|kennwort|wachtwoord|senha|contraseña|clave|has[łl]o|heslo|geslo|şifre|şifreniz|lösenord|adgangskode)(?!\\p{L})',
    '(?<!\\p{L})(?:mã|m?TAN)(?!\\p{L})',
    // Cyrillic, Greek, Hebrew, Arabic, Devanagari, Thai
    '(?:код|пароль|κωδικός|κωδικό|κωδικος|קוד|סיסמה|رمز|کد|كود|الرمز|कोड|ओटीपी)(?!\\p{L})', 'รหัส',
    // Chinese, Japanese, Korean
    '[验驗]证?證?[码碼]', '校[验驗][码碼]', '动态密?码', '動態密?碼', '认证码', '認証コード', '確認コード', '認証番号', '確認番号', 'ワンタイムパスワード', '暗証番号', '인증\\s?(?:번호|코드)', '보안\\s?코드', '확인\\s?코드',
  ].join('|'),
  'giu',
);
/** Codes of another kind, by the word before. */
const OTHER_CODE = /(?:promo(?:tional)?|promotion|discount|coupon|voucher|gift|referral|offer|rabatt|gutschein|aktions|artikel|produkt|kunden|sendungs|kortings|réduction|descuento|area|zip|postal|post|country|error|fehler|erreur|status|exit|source|quell|qr|bar|strich|dress|tracking|product|tax|sort|swift|iban|colou?r|morse|penal|building|unicode|hex)[\s_-]?$/iu;
/** The same by the word after, as Romance languages have it. */
const OF_ANOTHER_KIND = /^\s*(?:of conduct|postal\p{L}*|promo\p{L}*|client[es]?|cliente|fiscale?|sconto|(?:de\s|à\s|a\s|d['’])?\s*(?:barras?|barres?|pedido|producto|produit|prodotto|reserva|r[ée]servation|prenotazione|descuento|r[ée]duction|article|articolo|art[íi]culo))(?!\p{L})/iu;
/** A word and a number, as shops make them up: no code to sign in with looks so. */
const PROMOTION = /^[A-Z]{3,}\d{1,4}$/;
/** The names of a trip: with letters in it, not a code to sign in with. */
const TRIP = /(?:confirmation|booking|reservation|reference|record|buchungs)[\s_-]?$/iu;

/** Between a name and its code, or a code and its name. */
const LINK = '(?:is|are|was|as|ist|lautet|lauten|als|es|est|è|é|är|er|on|jest|je|to|adalah|là|va|це|это|является|यह|है|是|为|為|は|が|です)';
const ENDS_IN_LINK = new RegExp(`(?:[:：=]|(?<!\\p{L})${LINK}(?!\\p{L})|[是为為はが])\\s*["'“”„«»*>(\\[「【_]*\\s*$`, 'iu');
const BEGINS_WITH_LINK = new RegExp(`^["'“”»*)\\]」】_]*\\s*(?:[:：–—-]|${LINK}(?!\\p{L})|[是为為はが])`, 'iu');
const ONLY_MARKS = /^["'“”„«»*>#([「【_\s:：-]*$/u;
const ENDS_SENTENCE = /[.!?](?:\s|$)|[。！？]|\n/u;
/** Numbers that stand there say something else. */
const OTHER_NUMBER = /(?:order|invoice|ticket|tracking|account|card|ending(?: in)?|ref(?:erence)?|case|room|flight|phone|call|tel|fax|zip|version|build|page|bestell\p{L}*|rechnung\p{L}*|auftrag\p{L}*|commande|facture|pedido|factura|ordine|fattura|number|no|nr|nº|n°|since|until|valid|expires?|within)[\s.:#№-]*$/iu;

/** `G-123456`; digits in one run or in even groups; capital letters with digits. Scripts without spaces may stand right beside it. */
const CANDIDATE = /(?<![\p{Script=Latin}\p{N}.,/+@=&_-])(?:[A-Z]{1,3}-\d{4,8}|\d{3}[ -]\d{3}|\d{4}[ -]\d{4}|\d{2}[ -]\d{2}[ -]\d{2}|\d{4,8}|(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{5,8})(?![\p{Script=Latin}\p{N}_]|[.,:/-]\d|[ -]\d{2}|@)/gu;
/** Most texts have nothing like one: they are not looked through for names. */
const LIKELY = /\d{4}|\d[ -]\d|[A-Z]\d|\d[A-Z]|#/u;
const GOOGLE = /(?<![\p{L}\p{N}-])G-\d{6}(?!\d)/gu;
/** The last line of a message that is bound to a domain: `@example.com #123456` (WICG, origin-bound one-time codes). */
const BOUND = /(?<=(?:^|\n)@[\w.-]{1,253} #)[^\s#@%]{3,16}/gu;
const MONEY_BEFORE = /(?:[$€£¥₹₩₽]|\b(?:USD|EUR|GBP|INR|JPY|CHF|Rs\.?|kr\.?))\s?$/u;
const MONEY_AFTER = /^\s?(?:[$€£¥₹₩₽%]|(?:USD|EUR|GBP|INR|JPY|CHF|kr|dollars?|euros?|points?|people|users?|seconds?|minutes?|hours?|days?|km|kg|MB|GB)\b)/iu;
const YEAR = /^(?:19|20)\d{2}$/;

/** Reach of a name, in characters. */
const NEAR = 60;
const BELOW = 200;
/** Names looked at; a mail has a handful. */
const MAX_NAMES = 2000;
/** Codes looked for everywhere: each place may be compared with all of them. */
const MAX_CODES = 1000;

interface Found {
  readonly start: number;
  readonly end: number;
}

/** The text with each digit and letter of a one-time code as a dot: as long as before, so that places in it hold. @param about a subject, whose words count as well */
export function hideCodes(text: string, about = ''): string {
  if (!hasDigit(text) && !text.includes('#')) return text;
  const plain = plainDigits(text);
  const shown = dotted(plain, plainDigits(about));
  if (shown === plain) return text;
  if (plain === text) return shown;
  let [result, at] = ['', 0];
  for (const [nth, { start, size }] of plainPlaces(text).entries()) {
    if (shown[nth] === plain[nth]) continue;
    result += text.slice(at, start) + BLOT.repeat(size);
    at = start + size;
  }
  return result + text.slice(at);
}

function dotted(text: string, about: string): string {
  if (!LIKELY.test(text)) return text;
  const lead = about === '' ? '' : `${about}\n`;
  const whole = lead + text;
  const codes = new Set<string>();
  for (const form of [GOOGLE, BOUND]) {
    for (const [code] of whole.matchAll(form)) if (codes.add(code).size >= MAX_CODES) break;
  }
  let names = 0;
  for (const name of whole.matchAll(NAMES)) {
    if ((names += 1) > MAX_NAMES || codes.size >= MAX_CODES) break;
    const found = codeBeside(whole, { start: name.index, end: name.index + name[0].length });
    if (found !== null) codes.add(whole.slice(found.start, found.end));
  }
  if (codes.size === 0) return text;
  // Wherever else it stands too.
  const anywhere = new RegExp(`(?<![\\p{Script=Latin}\\p{N}])(?:${[...codes].map((code) => code.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')})(?![\\p{Script=Latin}\\p{N}])`, 'gu');
  return whole.replace(anywhere, (code) => code.replace(/[\p{L}\p{N}]/gu, (letter) => BLOT.repeat(letter.length))).slice(lead.length);
}

/** Whether a stretch may hold a code of the text that it is cut from: then the whole of it has to be looked through. */
export const mayShowCode = (stretch: string, whole: string): boolean => LIKELY.test(plainDigits(stretch)) || (whole.includes(' #') && whole.search(BOUND) >= 0);

function codeBeside(text: string, name: Found): Found | null {
  const before = text.slice(Math.max(0, name.start - 20), name.start);
  if (OTHER_CODE.test(before) || OF_ANOTHER_KIND.test(text.slice(name.end, name.end + 40))) return null;
  const lettersToo = !TRIP.test(before);
  return codeAfter(text, name, lettersToo) ?? codeBefore(text, name, lettersToo);
}

function codeAfter(text: string, { end }: Found, lettersToo: boolean): Found | null {
  const window = text.slice(end, end + BELOW + 20);
  CANDIDATE.lastIndex = 0;
  const match = CANDIDATE.exec(window);
  if (match === null || match.index > BELOW) return null;
  const found = { start: end + match.index, end: end + match.index + match[0].length };
  const gap = window.slice(0, match.index);
  const isTight = gap.length <= NEAR && !ENDS_SENTENCE.test(gap) && (ENDS_IN_LINK.test(gap) || ONLY_MARKS.test(gap));
  const isAlone = gap.includes('\n') && standsAlone(text, found);
  // Six digits are what most codes are: a few words may stand between.
  const isUsual = /^\d{6}$/.test(match[0]) && gap.length <= NEAR && !ENDS_SENTENCE.test(gap);
  if (!isTight && !isAlone && !isUsual) return null;
  return isCode(text, found, lettersToo, isTight && ENDS_IN_LINK.test(gap)) ? found : null;
}

function codeBefore(text: string, { start }: Found, lettersToo: boolean): Found | null {
  const from = Math.max(0, start - NEAR - 12);
  CANDIDATE.lastIndex = 0;
  const match = [...text.slice(from, start).matchAll(CANDIDATE)].at(-1);
  if (match === undefined) return null;
  const found = { start: from + match.index, end: from + match.index + match[0].length };
  const gap = text.slice(found.end, start);
  if (gap.length > NEAR || ENDS_SENTENCE.test(gap)) return null;
  const isLinked = BEGINS_WITH_LINK.test(gap);
  if (!isLinked && !/^\s?$/.test(gap)) return null;
  return isCode(text, found, lettersToo, isLinked) ? found : null;
}

/** @param linked a word or sign says that this is the code: then a year is one too */
function isCode(text: string, { start, end }: Found, lettersToo: boolean, linked: boolean): boolean {
  const code = text.slice(start, end);
  if (PROMOTION.test(code)) return false;
  if (/[A-Z]/.test(code) && !lettersToo && !/^[A-Z]{1,3}-\d+$/.test(code)) return false;
  if (YEAR.test(code) && !linked) return false;
  const before = text.slice(Math.max(0, start - 24), start);
  return !MONEY_BEFORE.test(before) && !MONEY_AFTER.test(text.slice(end, end + 12)) && !OTHER_NUMBER.test(before);
}

function standsAlone(text: string, { start, end }: Found): boolean {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  // What goes on for longer is no line with a code alone.
  const [rest] = text.slice(end, end + BELOW).split('\n', 1);
  return ONLY_MARKS.test(text.slice(lineStart, start)) && ONLY_MARKS.test(rest!);
}
