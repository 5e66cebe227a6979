import type { ReactNode } from 'react';
import { Icon, type IconId } from './icon.tsx';
import './banner.css';

interface BannerProps {
  readonly kind?: 'attention' | 'note';
  readonly icon?: IconId;
  readonly children: ReactNode;
  readonly actions?: ReactNode;
}

/** A sentence that needs the owner, with what to do about it. `attention` at most once on a page. */
export function Banner({ kind = 'attention', icon = 'warning', children, actions }: BannerProps) {
  return (
    <div className={`banner banner-${kind}`} data-banner={kind}>
      <Icon id={icon} />
      <div className="banner-text">{children}</div>
      {actions && <div className="banner-actions">{actions}</div>}
    </div>
  );
}
