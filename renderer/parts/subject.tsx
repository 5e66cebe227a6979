import { useEffect, useRef, type ReactNode } from 'react';
import { tellGone } from '../stores/notice-store.ts';
import { useView } from '../stores/view-store.ts';

interface SubjectProps {
  /** Said when it goes while it is open: what is gone, and what that means. */
  readonly gone: string | (() => string);
  readonly onClose: () => void;
  /** @param close instead of `onClose`: only what its owner closes through it was not lost */
  readonly children: (close: () => void) => ReactNode;
}

/**
 * A sheet or page about one thing of the engine, which may go while it is open: an hour runs out, another program takes it away.
 * What is taken from the page without `close` is gone: that is told, and it does not open again by itself.
 */
export function Subject({ gone, onClose, children }: SubjectProps) {
  const closed = useRef(false);
  const latest = useRef({ gone, onClose });
  useEffect(() => {
    latest.current = { gone, onClose };
  });
  useEffect(() => {
    const { section } = useView.getState();
    return () => {
      // Who goes to another section has left it.
      if (closed.current || useView.getState().section !== section) return;
      latest.current.onClose();
      const { gone: words } = latest.current;
      tellGone(typeof words === 'string' ? words : words());
    };
  }, []);
  function close() {
    closed.current = true;
    onClose();
  }
  return <Drawn close={close}>{children}</Drawn>;
}

function Drawn({ close, children }: { readonly close: () => void; readonly children: SubjectProps['children'] }) {
  return children(close);
}
