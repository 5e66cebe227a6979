import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from './random.ts';

/** What a generated mail is made of. */
export type MailShape = 'plain' | 'alternative' | 'html' | 'mixed' | 'cjk';

export interface CorpusMail {
  readonly shape: MailShape;
  /** RFC 5322 bytes. */
  readonly message: Buffer;
  /** True if an attachment's body lies beside the file, as in a `.partial.emlx`. */
  readonly isPartial: boolean;
  /** Number and bytes of that part. */
  readonly attachment: { readonly part: string; readonly name: string; readonly bytes: Buffer } | null;
}

export interface CorpusHeader {
  readonly from: string;
  readonly subject: string;
  readonly messageId: string;
  /** Unix seconds. */
  readonly date: number;
}

const SYLLABLES = ['ba', 'ce', 'di', 'fo', 'gu', 'ha', 'ke', 'li', 'mo', 'nu', 'pa', 're', 'si', 'to', 'vu', 'wa', 'xe', 'yi', 'zo', 'lan', 'mer', 'tin', 'son', 'dur'];
const COMMON = ['the', 'to', 'and', 'of', 'a', 'in', 'for', 'is', 'on', 'that', 'we', 'you', 'with', 'please', 'meeting', 'report', 'invoice', 'project', 'order', 'team', 'schedule', 'Zürich', 'Müller', 'café'];
const CJK = ['会議', '資料', '来週', '確認', '予定', '東京', '請求書', '添付', '会社', '報告', '打ち合わせ', '送付', '明日', '注文', '配送'];
const VOCABULARY = 20_000;

/** The n-th word of the vocabulary; low numbers come up most. */
export function corpusWord(nth: number): string {
  if (nth < COMMON.length) return COMMON[nth]!;
  let [rest, word] = [nth, ''];
  do {
    word += SYLLABLES[rest % SYLLABLES.length]!;
    rest = Math.floor(rest / SYLLABLES.length);
  } while (rest > 0);
  return `${word}${SYLLABLES[(nth * 7) % SYLLABLES.length]!}`;
}

/** A word that stands in every `every`-th mail alone: how many hits a query has is known beforehand. */
export const markerWord = (every: number): string => `marker${every}x`;
export const MARKERS = [10_000, 1000, 100, 20, 4] as const;

/** Shares of the shapes in a hundred: 55 text and HTML, 30 HTML only (2 of each 85 carry an attachment), 12 plain, 3 Japanese. */
export function shapeOfNth(nth: number): MailShape {
  const place = (Math.imul(nth, 0x9e3779b1) >>> 8) % 100;
  if (place < 49) return 'alternative';
  if (place < 55) return 'mixed';
  if (place < 85) return 'html';
  return place < 97 ? 'plain' : 'cjk';
}

/** The n-th mail of a corpus; the same numbers give the same bytes. */
export function corpusMail(nth: number, header: CorpusHeader): CorpusMail {
  const random = new Random(nth + 1);
  const shape = shapeOfNth(nth);
  // Log-normal: the median file has about 4 KB, one in a hundred 30 KB and more.
  const size = Math.min(60_000, 560 * Math.exp(0.85 * gauss(random))) * (shape === 'plain' || shape === 'cjk' ? 3.2 : shape === 'html' ? 2 : 1);
  const words = Math.max(12, Math.round(size / 4.2));
  const paragraphs = shape === 'cjk' ? japanese(random, words) : english(random, words);
  paragraphs.push(MARKERS.filter((every) => nth % every === 0).map(markerWord).join(' '));
  const text = paragraphs.join('\n\n');
  const top = [
    'Return-Path: <bounce@list.example>', `Received: from mx.example.org by mail.example.org with ESMTPS id ${random.between(1e8, 1e9)}; ${rfcDate(header.date)}`,
    `From: ${header.from}`, 'To: Me <me@example.org>', `Subject: ${header.subject}`, `Message-ID: ${header.messageId}`, `Date: ${rfcDate(header.date)}`, 'MIME-Version: 1.0',
    `DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=k1; h=from:to:subject; bh=${'Ab3/'.repeat(10)}=;\n b=${'xYz9+'.repeat(30)}`,
  ];
  const boundary = `=_b${nth}_${random.between(1e6, 1e7)}`;
  const alternative = (mark: string): string[] => [
    `--${mark}`, 'Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable', '', quotedPrintable(text), '',
    `--${mark}`, 'Content-Type: text/html; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable', '', quotedPrintable(html(paragraphs, random)), '', `--${mark}--`, '',
  ];
  const whole = (lines: string[], isPartial = false, attachment: CorpusMail['attachment'] = null): CorpusMail =>
    ({ shape, message: Buffer.from([...top, ...lines].join('\n')), isPartial, attachment });
  switch (shape) {
    case 'alternative':
      return whole([`Content-Type: multipart/alternative; boundary="${boundary}"`, '', ...alternative(boundary)]);
    case 'html':
      return whole(['Content-Type: text/html; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable', '', quotedPrintable(html(paragraphs, random)), '']);
    case 'plain':
      return whole(['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit', '', text, '']);
    case 'cjk':
      return whole(['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64', '', base64(Buffer.from(text)), '']);
    case 'mixed': {
      const bytes = Buffer.alloc(random.between(500, 3000), `file ${nth} `);
      const name = `report-${nth}.pdf`;
      return whole(
        [
          `Content-Type: multipart/mixed; boundary="${boundary}m"`, '', `--${boundary}m`, `Content-Type: multipart/alternative; boundary="${boundary}"`, '', ...alternative(boundary),
          `--${boundary}m`, `Content-Type: application/pdf; name="${name}"`, 'Content-Transfer-Encoding: base64', `Content-Disposition: attachment; filename="${name}"`,
          `X-Apple-Content-Length: ${base64(bytes).length}`, '', '', `--${boundary}m--`, '',
        ],
        true, { part: '2', name, bytes },
      );
    }
  }
}

/** The file as Mail writes it: count, message, property list. */
export function emlxFile(message: Buffer, footer: { readonly flags?: number; readonly dateReceived?: number } = {}): Buffer {
  const trailer = `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n<dict>\n\t<key>date-received</key>\n\t<integer>${footer.dateReceived ?? 1_700_000_000}</integer>\n\t<key>flags</key>\n\t<integer>${footer.flags ?? 8_590_195_713}</integer>\n\t<key>remote-id</key>\n\t<string>41</string>\n</dict>\n</plist>\n`;
  return Buffer.concat([Buffer.from(`${`${message.length}`.padEnd(10)}\n`), message, Buffer.from(trailer)]);
}

/** Puts other RFC 5322 text into the file of a mail below Mail's folder. Gives its path. */
export function rewriteMailFile(mailDir: string, rowid: number, message: string): string {
  const file = readdirSync(mailDir, { recursive: true, withFileTypes: true }).find(({ name }) => name === `${rowid}.emlx`)!;
  const path = join(file.parentPath, file.name);
  writeFileSync(path, emlxFile(Buffer.from(message)));
  return path;
}

function gauss(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

function english(random: Random, words: number): string[] {
  return paragraphsOf(random, words, 70, ' ', () => (random.chance(0.45) ? COMMON[Math.floor(COMMON.length * random.next() ** 2)]! : corpusWord(Math.floor(VOCABULARY * random.next() ** 3))));
}

function japanese(random: Random, words: number): string[] {
  return paragraphsOf(random, Math.ceil(words / 2), 40, '', () => (random.chance(0.1) ? '、' : random.pick(CJK)));
}

function paragraphsOf(random: Random, words: number, length: number, gap: string, word: () => string): string[] {
  const paragraphs: string[] = [];
  for (let left = words; left > 0; left -= length) {
    paragraphs.push(`${Array.from({ length: Math.min(left, length) }, word).join(gap)}${random.chance(0.5) ? '.' : '!'}`);
  }
  return paragraphs;
}

function html(paragraphs: readonly string[], random: Random): string {
  const cells = paragraphs.map((paragraph) => `<tr><td style="font-family:Arial,sans-serif;font-size:14px;padding:0 16px"><p>${paragraph}</p></td></tr>`).join('\n');
  return `<html><head><meta charset="utf-8"><title>Mail</title><style>p{margin:0 0 1em} a{color:#06c} .btn{padding:8px 16px;border-radius:4px}</style></head>\n<body><table width="600" cellpadding="0" role="presentation">\n${cells}\n<tr><td><a class="btn" href="https://www.example.org/r/${random.between(1e6, 1e7)}?utm_source=mail&amp;utm_campaign=x">Read more</a> &nbsp;|&nbsp; <a href="https://www.example.org/unsubscribe">Unsubscribe</a></td></tr></table><img src="https://t.example.org/p.gif" width="1" height="1"></body></html>`;
}

function quotedPrintable(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const encoded = line.replace(/[^\x20-\x3c\x3e-\x7e]/g, (sign) => [...Buffer.from(sign)].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''));
      return (encoded.match(/(?:=[0-9A-F]{2}|[^=]){1,24}/g) ?? ['']).reduce<string[]>((lines, piece) => {
        const last = lines.at(-1);
        if (last !== undefined && last.length + piece.length <= 75) lines[lines.length - 1] = last + piece;
        else lines.push(piece);
        return lines;
      }, []).join('=\n');
    })
    .join('\n');
}

const base64 = (bytes: Buffer): string => (bytes.toString('base64').match(/.{1,76}/g) ?? []).join('\n');
const rfcDate = (seconds: number): string => new Date(seconds * 1000).toUTCString().replace('GMT', '+0000');
