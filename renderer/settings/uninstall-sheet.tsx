import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useLookup } from '../parts/use-lookup.ts';
import { run } from '../stores/notice-store.ts';
import { shell } from '../stores/shell-store.ts';

/** Lists what will be removed, then what was. The app itself is shown in Finder: it can't remove itself while it runs. */
export function UninstallSheet({ onClose }: { readonly onClose: () => void }) {
  const { value: planned, problem } = useLookup('uninstall', () => shell().uninstall.preview({}), 0);
  const [done, setDone] = useState<readonly string[] | null>(null);
  const [busy, setBusy] = useState(false);

  async function uninstall() {
    setBusy(true);
    setDone(await run(shell().uninstall.run({})));
    setBusy(false);
  }

  if (done !== null) {
    return (
      <Sheet title="Belfry is removed" onClose={onClose} actions={<Button look="main" onClick={onClose}>Done</Button>}>
        <Lines lines={done} />
        <p>Now move Belfry from Applications to the Trash. Finder shows it.</p>
      </Sheet>
    );
  }
  return (
    <Sheet
      title="Uninstall Belfry?" onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" disabled={busy || planned === null} onClick={() => void uninstall()}>Uninstall</Button>
        </>
      )}
    >
      {planned === null && problem === null && <p className="muted">Looking...</p>}
      {planned && (
        <>
          <p>This removes:</p>
          <Lines lines={planned} />
          <p>Other entries in these files stay as they are. It can't be undone.</p>
        </>
      )}
      {problem && <p className="field-problem" role="alert">{problem}</p>}
    </Sheet>
  );
}

function Lines({ lines }: { readonly lines: readonly string[] }) {
  return <ul className="settings-lines">{lines.map((line) => <li key={line}>{line}</li>)}</ul>;
}
