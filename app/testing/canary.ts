/**
 * Marks that the builders plant where Belfry must never look or never repeat from: bodies, previews, message texts,
 * file names. Found in any output, log, state file or frame, a mark proves a leak.
 */
export type CanaryPlace = 'mail-body' | 'mail-summary' | 'mail-attachment' | 'message-text' | 'message-attachment';

const MARK = 'qzxCanary';
const PLACES: readonly CanaryPlace[] = ['mail-body', 'mail-summary', 'mail-attachment', 'message-text', 'message-attachment'];

/** The mark of a place: letters and hyphens only, so that JSON, XML, URLs and file names carry it unchanged. */
export function canary(place: CanaryPlace): string {
  return `${MARK}-${place}`;
}

/** The mark in the forms in which text hides: UTF-16, base64 at its three alignments, hex. */
function disguises(): Buffer[] {
  const plain = Buffer.from(MARK, 'utf8');
  const wide = Buffer.from(MARK, 'utf16le');
  const wideBig = Buffer.from(wide).swap16();
  const base64 = [0, 1, 2].map((lead) => {
    const text = Buffer.concat([Buffer.alloc(lead), plain]).toString('base64');
    // Characters that also depend on what stands before or after the mark are cut off.
    const from = lead === 0 ? 0 : lead + 1;
    return Buffer.from(text.slice(from, Math.floor(((lead + plain.length) * 8) / 6)));
  });
  return [plain, wide, wideBig, ...base64, Buffer.from(plain.toString('hex')), Buffer.from(plain.toString('hex').toUpperCase())];
}

const FORMS = disguises();

/** The first mark in the data: its place where it stands in plain text, 'disguised' in another form, else null. */
export function findCanary(data: Uint8Array | string): CanaryPlace | 'disguised' | null {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  for (const place of PLACES) if (bytes.includes(canary(place))) return place;
  return FORMS.some((form) => bytes.includes(form)) ? 'disguised' : null;
}
