import { MAX_READ, MAX_READ_WHOLE, readEmlxFile, type Emlx } from './emlx.ts';
import { partBytes, readMailContent, readMailHeaders, readMailText, type MailContent, type MailPart, type MailText, type Missing } from './mail-content.ts';
import type { MailFile, MailFiles, MailboxPlace, OpenedMail } from './mail-files.ts';
import type { MailHeaders } from './mail-headers.ts';
import { MAX_HEADER } from './mime-tree.ts';
import type { Pace } from './pace.ts';
import type { EmlxFooter } from './emlx-footer.ts';

/** `partial`: attachments are in files of their own, or on the server only, or the file ends too early. `no`: the file is empty. */
export type OnDisk = 'no' | 'partial' | 'whole';

/** An attachment with the place of its bytes: in the message's file, in a file of its own, or not on this Mac. */
export interface PlacedAttachment extends MailPart {
  readonly where: 'in-message' | 'beside' | 'not-downloaded';
}

export interface MailReading extends Omit<MailContent, 'attachments'> {
  readonly onDisk: OnDisk;
  /** What Mail noted behind the message. */
  readonly footer: EmlxFooter;
  readonly attachments: readonly PlacedAttachment[];
}

export interface TextReading extends MailText {
  readonly subject: () => string;
  /** True for a `.partial.emlx`. */
  readonly isPartial: boolean;
  /** False if the file's byte count is missing or wrong. */
  readonly isCounted: boolean;
}

/**
 * Reads what Mail has on disk of one mail, whether Mail runs or not: nothing is fetched, nothing is marked as read.
 * Null if no file is there.
 * @throws the file system's error where the file may not be read.
 */
export async function readMail(files: MailFiles, box: MailboxPlace, rowid: number): Promise<MailReading | null> {
  const found = openMail(files, box, rowid, MAX_READ_WHOLE);
  if (found === null) return null;
  const { file, content: emlx } = found;
  const content = await readMailContent(emlx.message, reachesEnd(emlx));
  return {
    ...content,
    missing: missingOf(content.missing, emlx),
    onDisk: onDiskOf(file, emlx),
    // Read when asked for: most callers do without.
    get footer() { return emlx.footer; },
    attachments: content.attachments.map((part) => placed(files, file, rowid, part)),
  };
}

/** `truncated`: the message's file ends before it does. `too-large`: it goes on behind what is read of a message's file. */
export type NoAttachment = 'not-here' | 'truncated' | 'too-large';

/** Bytes of an attachment that lies in the message's file, or the path of its own file; else why there are none. */
export async function attachmentSource(
  files: MailFiles, box: MailboxPlace, rowid: number, part: PlacedAttachment,
): Promise<{ readonly bytes: Buffer } | { readonly path: string } | NoAttachment> {
  if (part.where === 'not-downloaded') return 'not-here';
  const found = openMail(files, box, rowid, MAX_READ_WHOLE);
  if (found === null) return 'not-here';
  if (part.where === 'beside') {
    const beside = files.attachment(found.file, rowid, part.part, part.rawName);
    return beside === null ? 'not-here' : { path: beside.path };
  }
  const { message, isWhole } = found.content;
  const bytes = await partBytes(message, part.part, reachesEnd(found.content));
  if (bytes !== null) return { bytes };
  if (!isWhole) return 'too-large';
  return found.content.isTruncated ? 'truncated' : 'not-here';
}

/** The same without attachments, links and headers: for an index and its snippets. @param limit of bytes that are read @param pace of several mails that are read in a row */
export async function readText(files: MailFiles, box: MailboxPlace, rowid: number, limit = MAX_READ, pace?: Pace): Promise<TextReading | null> {
  const found = openMail(files, box, rowid, limit);
  if (found === null) return null;
  const { file, content: emlx } = found;
  const text = await readMailText(emlx.message, pace, reachesEnd(emlx));
  return { ...text, missing: missingOf(text.missing, emlx), isPartial: file.isPartial, isCounted: emlx.isCounted };
}

/**
 * Headers alone: no more of the file is read than they may take. Null if no file is there, or they are longer than is read.
 * @throws as `readMail`
 */
export async function readHeaders(files: MailFiles, box: MailboxPlace, rowid: number): Promise<MailHeaders | null> {
  const found = openMail(files, box, rowid, 2 * MAX_HEADER);
  return found === null ? null : readMailHeaders(found.content.message);
}

const openMail = (files: MailFiles, box: MailboxPlace, rowid: number, limit: number): OpenedMail<Emlx> | null => files.open(box, rowid, (path) => readEmlxFile(path, limit));

/** False if the message goes on beyond the bytes at hand. */
const reachesEnd = ({ isWhole, isTruncated }: Emlx): boolean => isWhole && !isTruncated;

function onDiskOf({ isPartial }: MailFile, { message, isTruncated }: Emlx): OnDisk {
  if (message.length === 0) return 'no';
  return isPartial || isTruncated ? 'partial' : 'whole';
}

function missingOf(missing: readonly Missing[], emlx: Emlx): readonly Missing[] {
  const more: Missing[] = [];
  if (!emlx.isWhole) more.push('size');
  if (emlx.isTruncated) more.push('truncated');
  if (emlx.message.length === 0) more.push('not-downloaded');
  return [...new Set([...missing, ...more])];
}

function placed(files: MailFiles, file: MailFile, rowid: number, part: MailPart): PlacedAttachment {
  if (part.isHere) return { ...part, where: 'in-message' };
  const beside = files.attachment(file, rowid, part.part, part.rawName);
  return beside === null ? { ...part, where: 'not-downloaded' } : { ...part, size: beside.size, where: 'beside' };
}
