import type { Pace } from './pace.ts';

const [EQUALS, SPACE, TAB, LF, CR] = [0x3d, 0x20, 0x09, 0x0a, 0x0d];
/** Bytes of a body that are gone through at a time. */
const STRETCH = 1024 * 1024;

/** Bytes of a body. An encoding that is not known counts as none. Time is linear, with a turn of the loop between stretches. */
export async function transferDecoded(encoding: string, body: Buffer, pace: Pace): Promise<Buffer> {
  if (encoding.includes('base64')) return fromBase64(body, pace);
  if (!encoding.includes('quoted-printable') || !body.includes(EQUALS)) return body;
  const out = Buffer.allocUnsafe(body.length);
  return out.subarray(0, await unquoted(body, out, pace));
}

/** How many bytes that gives, without making them. */
export async function decodedSize(encoding: string, body: Buffer, pace: Pace): Promise<number> {
  if (encoding.includes('quoted-printable')) return unquoted(body, null, pace);
  if (!encoding.includes('base64')) return body.length;
  let signs = 0;
  for (const { from, to } of stretches(base64End(body))) {
    signs += signsIn(body, from, to);
    await pace.after(to - from);
  }
  return Math.floor((signs * 3) / 4);
}

function* stretches(length: number): Generator<{ readonly from: number; readonly to: number }> {
  for (let from = 0; from < length; from += STRETCH) yield { from, to: Math.min(length, from + STRETCH) };
}

const BASE64 = Uint8Array.from({ length: 256 }, (_, byte) => (/[A-Za-z0-9+/_-]/.test(String.fromCharCode(byte)) ? 1 : 0));

async function fromBase64(body: Buffer, pace: Pace): Promise<Buffer> {
  if (body.length <= STRETCH) return Buffer.from(body.toString('latin1'), 'base64');
  const pieces: Buffer[] = [];
  const end = base64End(body);
  for (let from = 0; from < end; ) {
    let to = Math.min(end, from + STRETCH);
    // Four signs are three bytes: none of the four may be left behind.
    for (let odd = signsIn(body, from, to) % 4; odd !== 0 && to < end; to += 1) odd = (odd + BASE64[body[to]!]!) % 4;
    pieces.push(Buffer.from(body.toString('latin1', from, to), 'base64'));
    await pace.after(to - from);
    from = to;
  }
  return Buffer.concat(pieces);
}

/** Padding ends it. */
function base64End(body: Buffer): number {
  const padding = body.indexOf(EQUALS);
  return padding < 0 ? body.length : padding;
}

/** What is no sign of base64 is passed over, as in decoding. */
function signsIn(body: Buffer, from: number, to: number): number {
  let signs = 0;
  for (let at = from; at < to; at += 1) signs += BASE64[body[at]!]!;
  return signs;
}

const HEX = Int8Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()));

async function unquoted(body: Buffer, out: Buffer | null, pace: Pace): Promise<number> {
  let place = { at: 0, length: 0 };
  while (place.at < body.length) {
    const from = place.at;
    place = unquote(body, out, place, Math.min(body.length, from + STRETCH));
    await pace.after(place.at - from);
  }
  return place.length;
}

/** RFC 2045, 6.7, up to an offset or a little beyond. An escape that is none stays as it stands. */
function unquote(body: Buffer, out: Buffer | null, from: { readonly at: number; readonly length: number }, to: number): { at: number; length: number } {
  let { at, length } = from;
  while (at < to) {
    let byte = body[at]!;
    let next = at + 1;
    if (byte === EQUALS) {
      const high = HEX[body[at + 1] ?? 0]!;
      const low = HEX[body[at + 2] ?? 0]!;
      if (high >= 0 && low >= 0) {
        byte = high * 16 + low;
        next = at + 3;
      } else {
        const rest = softBreak(body, next);
        if (rest > 0) {
          at = rest;
          continue;
        }
      }
    }
    if (out !== null) out[length] = byte;
    length += 1;
    at = next;
  }
  return { at, length };
}

/** Offset behind a soft line break, or 0. Blanks before the line end were added on the way. */
function softBreak(body: Buffer, at: number): number {
  while (body[at] === SPACE || body[at] === TAB) at += 1;
  if (body[at] === CR) at += 1;
  if (body[at] === LF) return at + 1;
  return at >= body.length ? body.length : 0;
}
