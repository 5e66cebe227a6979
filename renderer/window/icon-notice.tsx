import { useEffect, useState } from 'react';
import { Banner } from '../parts/banner.tsx';
import { Button } from '../parts/button.tsx';
import { run } from '../stores/notice-store.ts';
import { shell, useShell } from '../stores/shell-store.ts';
import { clockNow } from '../stores/clock.ts';

const KEY = 'belfry.icon-notice';

/** Says once a day that the menu bar icon is off screen. It asserts no cause: macOS does not tell (ui.md, section 3). */
export function IconNotice() {
  const hidden = useShell(({ state }) => state?.kind === 'app' && state.preferences.showIcon && state.iconOnScreen === false);
  const [due] = useState(() => read() !== today());
  const [closed, setClosed] = useState(false);
  const shown = hidden && due && !closed;
  useEffect(() => {
    if (shown) write(today());
  }, [shown]);
  if (!shown) return null;
  return (
    <div className="window-banner">
      <Banner
        kind="note" icon="unknown"
        actions={(
          <>
            <Button onClick={() => void run(shell().shell.act({ action: 'open-menu-bar-settings' }))}>Open Menu Bar Settings</Button>
            <Button onClick={() => setClosed(true)}>Close</Button>
          </>
        )}
      >
        The menu bar icon is hidden. Either the menu bar is full, or Belfry is off in System Settings &gt; Menu Bar.
      </Banner>
    </div>
  );
}

const today = () => new Date(clockNow()).toDateString();

// Storage can be switched off in a browser; then the notice comes with each start.
function read(): string | null {
  try {
    return window.localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function write(day: string): void {
  try {
    window.localStorage.setItem(KEY, day);
  } catch {
    // See read().
  }
}
