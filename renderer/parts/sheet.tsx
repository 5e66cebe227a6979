import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { enterSheet } from '../stores/notice-store.ts';
import { SheetProblem } from './notices.tsx';
import './sheet.css';

interface SheetProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** The row of buttons at the end. */
  readonly actions: ReactNode;
  /** For sheets that show code. */
  readonly wide?: boolean;
}

/** A modal dialog: the rest of the page is inert, Esc closes it, and the focus goes back to what opened it. */
export function Sheet({ title, onClose, children, actions, wide = false }: SheetProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const dialog = ref.current!;
    const opener = document.activeElement;
    const leave = enterSheet();
    dialog.showModal();
    return () => {
      leave();
      dialog.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref} className={`sheet${wide ? ' sheet-wide' : ''}`} aria-labelledby={heading}
      onCancel={(event) => {
        // Whoever opened the sheet closes it, so that the state of the page and the dialog agree.
        event.preventDefault();
        onClose();
      }}
    >
      <div className="sheet-column">
        <h2 id={heading} tabIndex={-1} className="sheet-title">{title}</h2>
        <div className="sheet-content">{children}</div>
        <SheetProblem />
        <div className="sheet-actions">{actions}</div>
      </div>
    </dialog>
  );
}
