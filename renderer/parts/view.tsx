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

/** Where the focus goes when what had it is gone: to the title of the sheet that is open, or of the view. */
export function focusTitle(): void {
  const sheet = document.querySelector('dialog[open]');
  (sheet ?? document).querySelector<HTMLElement>(`${sheet ? 'h2' : 'h1'}[tabindex="-1"]`)?.focus();
}
