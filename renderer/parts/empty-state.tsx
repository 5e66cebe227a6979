import type { ReactNode } from 'react';
import './empty-state.css';

/** What a list says when it has nothing, and what to do about it. */
export function EmptyState({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) {
  return (
    <div className="empty-state">
      <p>{children}</p>
      {action}
    </div>
  );
}
