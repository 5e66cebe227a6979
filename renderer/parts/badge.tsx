import { Icon, type IconId } from './icon.tsx';
import './badge.css';

export type BadgeKind = 'ok' | 'wait' | 'problem' | 'quiet';

const SHAPES: Readonly<Record<BadgeKind, IconId>> = { ok: 'check', wait: 'wait', problem: 'problem', quiet: 'unknown' };

/** A status: always a text with a shape, so that it reads without colour. */
export function Badge({ kind, text, icon = SHAPES[kind] }: { readonly kind: BadgeKind; readonly text: string; readonly icon?: IconId }) {
  return <span className={`badge badge-${kind}`}><Icon id={icon} size={12} /><span className="badge-text">{text}</span></span>;
}
