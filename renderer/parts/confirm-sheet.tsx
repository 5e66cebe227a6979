import { useState, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { Sheet } from './sheet.tsx';

interface ConfirmSheetProps {
  readonly title: string;
  /** The verb that does it. */
  readonly confirm: string;
  /** `danger` unless it can be undone. */
  readonly look?: 'danger' | 'main';
  /** Gives null where it did not work; then the sheet stays and shows why. */
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Before what can't be taken back, or lets more through: says what will happen. */
export function ConfirmSheet({ title, confirm, look = 'danger', onConfirm, onClose, children }: ConfirmSheetProps) {
  const [busy, setBusy] = useState(false);

  async function go() {
    setBusy(true);
    const done = await onConfirm();
    setBusy(false);
    if (done !== null) onClose();
  }

  return (
    <Sheet
      title={title} onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look={look} disabled={busy} onClick={() => void go()}>{confirm}</Button>
        </>
      )}
    >
      {children}
    </Sheet>
  );
}
