import { readAttributedBody, readBodyText, type AttributedBody } from './typedstream.ts';

/** Columns of a message that hold its text. */
export interface TextColumns {
  readonly text: string | null;
  readonly attributedBody: Uint8Array | null;
}

export interface MessageText {
  /** Without placeholders, trimmed; '' for a message without text. */
  readonly text: string;
  /** Guids of attachments in the order of their placeholders, as far as the body tells them. */
  readonly transfers: readonly string[];
  readonly links: readonly string[];
  /** True if the row has a body that cannot be read and no text beside it. */
  readonly isUnreadable: boolean;
}

/** U+FFFC stands for an attachment or an app, U+FFFD for an app's balloon (data-formats/chat-db 5). */
const PLACEHOLDERS = /[\uFFFC\uFFFD]/g;
/** A system notice is a template: its names are not for showing. */
const TEMPLATE = /\$\(kIM[A-Za-z]{1,80}\)/g;
const TRANSFER = '__kIMFileTransferGUIDAttributeName';
const LINK = '__kIMLinkAttributeName';

/** The body where it can be read, else the plain copy: on current systems the copy is empty (data-formats/chat-db 5). */
export function readMessageText(columns: TextColumns): MessageText {
  const body = columns.attributedBody === null ? null : readAttributedBody(columns.attributedBody);
  return {
    text: shown(body?.text ?? columns.text ?? ''),
    transfers: attribute(body, TRANSFER),
    links: attribute(body, LINK),
    isUnreadable: body === null && columns.attributedBody !== null && (columns.text ?? '') === '',
  };
}

/** The text alone, for many rows. */
export function plainText({ text, attributedBody }: TextColumns): { readonly text: string; readonly isReadable: boolean } {
  const body = attributedBody === null ? null : readBodyText(attributedBody);
  return { text: shown(body ?? text ?? ''), isReadable: body !== null || attributedBody === null || (text ?? '') !== '' };
}

/** As a person sees it. */
export function shown(text: string): string {
  return text.replace(PLACEHOLDERS, '').replace(TEMPLATE, '').trim();
}

function attribute(body: AttributedBody | null, name: string): string[] {
  return (body?.runs ?? []).flatMap(({ attributes }) => {
    const value = attributes.get(name);
    return typeof value === 'string' ? [value] : [];
  });
}
