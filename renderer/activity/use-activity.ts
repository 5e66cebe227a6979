import { useCallback, useEffect, useRef, useState } from 'react';
import type { ActivityRow } from '../../app/contract/values.ts';
import { problemOf } from '../stores/notice-store.ts';
import { engine, withEngine } from '../stores/engine-store.ts';
import { joinRows } from './day-groups.ts';
import type { ActivityKind } from './words.ts';

const PAGE = 200;

interface Loaded {
  readonly rows: readonly ActivityRow[];
  readonly more: boolean;
  readonly busy: boolean;
  readonly problem: string | null;
}

const START: Loaded = { rows: [], more: false, busy: true, problem: null };

/** Pages by the id of the oldest row on screen, so that rows written meanwhile shift nothing. New rows come by themselves. */
export function useActivity(kind: ActivityKind | null, client: string | null) {
  const [loaded, setLoaded] = useState(START);
  /** Answers to what was asked before the filter changed are dropped. */
  const generation = useRef(0);

  const load = useCallback(async (before: number | null) => {
    const asked = generation.current;
    setLoaded((last) => ({ ...last, busy: true }));
    try {
      const filter = { ...(kind === null ? {} : { kind }), ...(client === null ? {} : { client }), ...(before === null ? {} : { before }) };
      const page = await engine.activity.recent({ limit: PAGE, filter });
      if (asked === generation.current) setLoaded(({ rows }) => ({ rows: joinRows(rows, page), more: page.length === PAGE, busy: false, problem: null }));
    } catch (error) {
      if (asked === generation.current) setLoaded((last) => ({ ...last, busy: false, problem: problemOf(error) }));
    }
  }, [kind, client]);

  useEffect(() => withEngine((engineClient) => {
    generation.current += 1;
    setLoaded(START);
    const fits = (row: ActivityRow) => (kind === null || row.kind === kind) && (client === null || row.client === client);
    const stop = engineClient.on('activity', ({ rows }) => setLoaded((last) => ({ ...last, rows: joinRows(last.rows, rows.filter(fits)) })));
    void load(null);
    return () => {
      generation.current += 1;
      stop();
    };
  }), [kind, client, load]);

  const oldest = loaded.rows.at(-1)?.id ?? null;
  const loadMore = useCallback(() => void load(oldest), [load, oldest]);
  return { ...loaded, loadMore };
}
