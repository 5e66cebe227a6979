import { useState } from 'react';
import type { WatchRow } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import { Field } from '../parts/field.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { engine } from '../stores/engine-store.ts';
import { watchTitle } from './watch-words.ts';

/** Items of a watch as files too, for a program that reads a folder. Off unless the owner names one. */
export function FolderSheet({ watch, onClose }: { readonly watch: WatchRow; readonly onClose: () => void }) {
  const [on, setOn] = useState(watch.inbox !== null);
  const [path, setPath] = useState(watch.inbox ?? '');
  const { attempt, busy } = useBusyRun();
  const directory = on ? path.trim() : null;

  return (
    <Sheet
      title="Folder for this watch" onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="main" disabled={busy || directory === '' || directory === watch.inbox}
            onClick={() => void attempt(engine.watches.setInbox({ id: watch.id, directory })).then((done) => done && onClose())}
          >
            Save
          </Button>
        </>
      )}
    >
      <p className="muted">{watchTitle(watch)}</p>
      <Checkbox label="Also write items to a folder" checked={on} onChange={setOn} hint="For a program that reads files and writes a receipt for each." />
      {on && (
        <>
          <Field
            label="Folder" value={path} dir="ltr" onChange={(event) => setPath(event.target.value)}
            hint="A full path, such as /Users/ada/agent. The folder must exist and belong to you, and nobody else may open it (mode 700)."
          />
          <p>
            Each item becomes a JSON file in its folder <code>inbox</code>: the envelope as the client gets it, when it arrived and which watch it belongs to. Never the text.
          </p>
          <p className="hint">Whoever can read the folder sees who wrote to you. Belfry writes only while it is open to you alone, and deletes nothing there.</p>
        </>
      )}
    </Sheet>
  );
}
