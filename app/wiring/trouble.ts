/**
 * `unreadable`: the file can't be read or parsed. `cant-write`: it can, but a safe change of it can't be worked out or made. `changed`: it
 * is no longer what it was when the change was shown.
 */
export type TroubleKind = 'unreadable' | 'cant-write' | 'changed';

/** Why another program's settings are left alone; the message is one sentence for the owner. */
export class SettingsTrouble extends Error {
  readonly kind: TroubleKind;

  constructor(kind: TroubleKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
