import type { ReactNode } from 'react';
import type { HealthIcon } from '../../app/contract/health.ts';

export type IconId =
  | HealthIcon
  | 'mail' | 'message' | 'plus' | 'minus' | 'search' | 'close' | 'check' | 'warning' | 'problem' | 'unknown' | 'chevron-right' | 'chevron-down' | 'copy' | 'wait';

const BELL = 'M8 1.75a4 4 0 0 0-4 4v2.6c0 .5-.2 1-.55 1.4l-.7.8a.75.75 0 0 0 .55 1.2h9.4a.75.75 0 0 0 .55-1.2l-.7-.8A2.1 2.1 0 0 1 12 8.35v-2.6a4 4 0 0 0-4-4Z';
const CLAPPER = 'M6.4 13.4a1.7 1.7 0 0 0 3.2 0';
const line = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.4, strokeLinecap: 'round', strokeLinejoin: 'round' } as const;

const SHAPES: Readonly<Record<IconId, ReactNode>> = {
  off: <><path d={BELL} {...line} /><path d={CLAPPER} {...line} /></>,
  attention: <><path d={BELL} {...line} /><path d={CLAPPER} {...line} /><path d="M8 4.5v2.9M8 9.3v.2" {...line} /></>,
  stopped: <><path d={BELL} {...line} /><path d={CLAPPER} {...line} /><path d="M2.5 2.5l11 11" {...line} /></>,
  paused: <path d="M5.5 3v10M10.5 3v10" {...line} strokeWidth={2.4} />,
  watching: <><path d={BELL} {...line} /><path d="M4 7h8v1.35c0 .5.2 1 .55 1.4l.7.8a.75.75 0 0 1-.55 1.2H3.3a.75.75 0 0 1-.55-1.2l.7-.8A2.1 2.1 0 0 0 4 8.35Z" fill="currentColor" /><path d={CLAPPER} {...line} /></>,
  listening: <><path d={BELL} fill="currentColor" stroke="currentColor" strokeWidth={1.4} /><circle cx="8" cy="14" r="1.4" fill="currentColor" /></>,
  mail: <><rect x="1.75" y="3.25" width="12.5" height="9.5" rx="1.5" {...line} /><path d="m2.5 4.5 5.5 4 5.5-4" {...line} /></>,
  message: <path d="M2 7.5C2 4.7 4.7 2.75 8 2.75s6 1.95 6 4.75-2.7 4.75-6 4.75c-.6 0-1.2-.06-1.75-.2L3.5 13.25l.5-2.2A4.4 4.4 0 0 1 2 7.5Z" {...line} />,
  plus: <path d="M8 3.25v9.5M3.25 8h9.5" {...line} />,
  minus: <path d="M3.25 8h9.5" {...line} />,
  search: <><circle cx="7" cy="7" r="4.25" {...line} /><path d="m10.2 10.2 3.3 3.3" {...line} /></>,
  close: <path d="m4 4 8 8m0-8-8 8" {...line} />,
  check: <path d="m3 8.5 3.25 3.25L13 5" {...line} />,
  warning: <><path d="M8 2.25 14.25 13H1.75Z" {...line} /><path d="M8 6.5v3M8 11.2v.1" {...line} /></>,
  problem: <><circle cx="8" cy="8" r="6.25" {...line} /><path d="m5.75 5.75 4.5 4.5m0-4.5-4.5 4.5" {...line} /></>,
  unknown: <><circle cx="8" cy="8" r="6.25" {...line} strokeDasharray="2.5 2.4" /><path d="M5.5 8h5" {...line} /></>,
  wait: <><circle cx="8" cy="8" r="6.25" {...line} /><path d="M8 4.5V8l2.5 1.5" {...line} /></>,
  'chevron-right': <path d="m6 3.5 4.5 4.5L6 12.5" {...line} />,
  'chevron-down': <path d="m3.5 6 4.5 4.5L12.5 6" {...line} />,
  copy: <><rect x="5.25" y="5.25" width="8" height="8" rx="1.25" {...line} /><path d="M10.75 5.25v-1.5a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h1.5" {...line} /></>,
};

/** Decoration beside a text that says the same. Its shape carries the meaning, never its colour. */
export function Icon({ id, size = 16 }: { readonly id: IconId; readonly size?: number }) {
  return <svg aria-hidden="true" data-icon={id} width={size} height={size} viewBox="0 0 16 16">{SHAPES[id]}</svg>;
}
