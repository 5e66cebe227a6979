/**
 * Writer of `message.attributedBody`: an NSArchiver typedstream of an attributed string in the two forms that real
 * stores hold (data-formats/chat-db 5). One run over the whole text.
 */
export type BodyForm = 'immutable' | 'mutable';

export interface AttributedBody {
  readonly form?: BodyForm;
  /** Message part of the run, 0 to 127. */
  readonly part?: number;
  /** Guid of an attachment that the run stands for. */
  readonly transferGuid?: string;
}

/** Lengths up to 127 in one byte, to 32767 as `81` and two bytes, above as `82` and four, little endian. */
export function typedstreamLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  if (length < 0x8000) return Buffer.from([0x81, length & 0xff, length >> 8]);
  const out = Buffer.alloc(5);
  out[0] = 0x82;
  out.writeInt32LE(length, 1);
  return out;
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const name = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')]);
const counted = (text: string): Buffer => {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([typedstreamLength(bytes.length), bytes]);
};

const HEADER = Buffer.concat([hex('04 0b'), Buffer.from('streamtyped', 'latin1'), hex('81 e8 03 84 01 40')]);

const OPENING: Record<BodyForm, Buffer> = {
  immutable: Buffer.concat([
    hex('84 84 84'), name('NSAttributedString'), hex('00 84 84'), name('NSObject'), hex('00 85'),
    hex('92 84 84 84'), name('NSString'), hex('01 94 84 01 2b'),
  ]),
  mutable: Buffer.concat([
    hex('84 84 84'), name('NSMutableAttributedString'), hex('00 84 84'), name('NSAttributedString'), hex('00 84 84'),
    name('NSObject'), hex('00 85'),
    hex('92 84 84 84'), name('NSMutableString'), hex('01 84 84'), name('NSString'), hex('01 95 84 01 2b'),
  ]),
};

// References shift by one class between the forms: object (NSObject), string class and its '+' type, and the 'i' type.
const REFERENCES: Record<BodyForm, { object: string; string: string; int: string }> = {
  immutable: { object: '94', string: '92 84 96 96', int: '99' },
  mutable: { object: '95', string: '92 84 98 98', int: '9b' },
};

export function encodeAttributedBody(text: string, options: AttributedBody = {}): Buffer {
  const form = options.form ?? 'immutable';
  const start = Buffer.concat([HEADER, OPENING[form]]);
  if (text === '') return Buffer.concat([start, hex('00 86 86')]);
  const ref = REFERENCES[form];
  const string = (value: string): Buffer => Buffer.concat([hex(ref.string), counted(value), hex('86')]);
  const transfer = options.transferGuid;
  return Buffer.concat([
    start, counted(text), hex('86'),
    hex('84 02 69 49 01'), typedstreamLength(text.length),
    hex('92 84 84 84'), name('NSDictionary'), hex(`00 ${ref.object} 84 01 69`), Buffer.from([transfer === undefined ? 1 : 2]),
    ...(transfer === undefined ? [] : [string('__kIMFileTransferGUIDAttributeName'), string(transfer)]),
    string('__kIMMessagePartAttributeName'),
    hex('92 84 84 84'), name('NSNumber'), hex('00 84 84'), name('NSValue'), hex(`00 ${ref.object} 84 01 2a 84 ${ref.int} ${ref.int}`),
    Buffer.from([options.part ?? 0]), hex('86 86 86'),
  ]);
}
