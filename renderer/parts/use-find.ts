import { useEffect, useRef } from 'react';
import { useView } from '../stores/view-store.ts';

/** Cmd-F goes to the field that this ref is put on. */
export function useFind() {
  const field = useRef<HTMLInputElement>(null);
  const finds = useView((view) => view.finds);
  const seen = useRef(finds);
  useEffect(() => {
    if (finds === seen.current) return;
    seen.current = finds;
    field.current?.focus();
    field.current?.select();
  }, [finds]);
  return field;
}
