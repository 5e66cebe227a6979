import type { Store } from '../store.ts';

/**
 * Name of an index over exactly these columns, or null. Asked by columns, because names are Apple's to change and an
 * INDEXED BY that does not fit is an error.
 */
export function indexOn(store: Store, table: string, columns: readonly string[]): string | null {
  const indexes = store.db.pragma(`index_list("${table}")`) as { name: string; partial: number }[];
  const found = indexes.find(({ name, partial }) => {
    if (partial !== 0) return false;
    const parts = store.db.pragma(`index_info("${name}")`) as { name: string | null }[];
    return parts.length === columns.length && parts.every((part, at) => part.name === columns[at]);
  });
  return found?.name ?? null;
}

/** `INDEXED BY` for an index that may be missing. */
export const indexedBy = (index: string | null) => (index === null ? '' : `INDEXED BY "${index}"`);
