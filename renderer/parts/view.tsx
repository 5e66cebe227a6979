import type { ReactNode } from 'react';
import './view.css';

interface ViewProps {
  readonly title: string;
  /** Filters and buttons beside the title. */
  readonly tools?: ReactNode;
  readonly children: ReactNode;
  /** The view fills the window and scrolls inside itself. */
  readonly fixed?: boolean;
}

/** One section of the main window, with the one `h1` of the page. */
export function View({ title, tools, children, fixed = false }: ViewProps) {
  return (
    <div className={`view${fixed ? ' view-fixed' : ''}`}>
      <div className="view-head">
        <h1 className="view-title" tabIndex={-1}>{title}</h1>
        {tools && <div className="view-tools">{tools}</div>}
      </div>
      {children}
    </div>
  );
}

/** Where the focus goes when what had it is gone. */
export function focusTitle(): void {
  document.querySelector<HTMLElement>('h1[tabindex="-1"]')?.focus();
}
