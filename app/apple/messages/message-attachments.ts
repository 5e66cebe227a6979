/** Columns of `attachment`; what a version lacks is null. */
export interface AttachmentColumns {
  readonly guid: string;
  readonly transferName: string | null;
  readonly filename: string | null;
  readonly mimeType: string | null;
  readonly uti: string | null;
  readonly totalBytes: number | null;
  readonly transferState: number | null;
  readonly isSticker: number | null;
  readonly isHidden: number | null;
}

export interface MessageAttachment {
  readonly guid: string;
  /** File name without its folder, control and bidi characters, at most 256; null where there is none. */
  readonly name: string | null;
  /** MIME type, or the UTI where there is none (data-formats/chat-db 11); null if neither is known. */
  readonly type: string | null;
  readonly size: number | null;
  readonly isSticker: boolean;
  /** False while it is on the server only, or still coming. */
  readonly isHere: boolean;
}

const MAX_NAME = 256;
const UNSAFE = /[\p{Cc}\p{Bidi_Control}]/gu;
const DONE = 5;

/** Names and types of a message's attachments, in the order of its placeholders where these are known. Hidden ones are left out. */
export function attachmentsOf(rows: readonly AttachmentColumns[], transfers: readonly string[] = []): MessageAttachment[] {
  const place = new Map(transfers.map((guid, at) => [guid, at]));
  const order = (guid: string): number => place.get(guid) ?? transfers.length;
  return rows
    .filter((row) => row.isHidden !== 1)
    .map((row) => ({
      guid: row.guid,
      name: nameOf(row.transferName) ?? nameOf(row.filename),
      type: row.mimeType !== null && row.mimeType !== '' ? row.mimeType.toLowerCase() : row.uti !== null && row.uti !== '' ? row.uti : null,
      size: row.totalBytes !== null && row.totalBytes > 0 ? row.totalBytes : null,
      isSticker: row.isSticker === 1,
      isHere: row.filename !== null && row.filename !== '' && (row.transferState === null || row.transferState === DONE),
    }))
    .sort((a, b) => order(a.guid) - order(b.guid));
}

function nameOf(path: string | null): string | null {
  const name = (path ?? '').slice((path ?? '').lastIndexOf('/') + 1).replace(UNSAFE, '').slice(0, MAX_NAME);
  return name === '' ? null : name;
}
