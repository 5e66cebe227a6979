import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { CodeBox } from '../parts/code-box.tsx';
import { Field } from '../parts/field.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { ALLOWED, AllowFields, optionsOf } from '../clients/allow-fields.tsx';
import { engine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';

const MAX_NAME = 64;

/** Makes a token for what is chosen here, and shows it once. */
export function TokenSheet({ onClose }: { readonly onClose: () => void }) {
  const [label, setLabel] = useState('');
  const [allowed, setAllowed] = useState(ALLOWED);
  const [token, setToken] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function make() {
    setBusy(true);
    const outcome = await run(engine.tokens.create({ label: label.trim(), options: optionsOf(allowed) }));
    setBusy(false);
    if (outcome?.ok && outcome.token !== undefined) setToken(outcome.token);
  }

  if (token !== null) {
    return (
      <Sheet title="The new token" wide onClose={onClose} actions={<Button look="main" onClick={onClose}>Done</Button>}>
        <p>This is the only time that it is shown. Whoever has it gets what you allowed it.</p>
        <CodeBox text={token} name="the new token" />
        <p className="hint">A client sends it with each request, as &quot;Authorization: Bearer&quot; and the token.</p>
      </Sheet>
    );
  }
  return (
    <Sheet
      title="New token" onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" disabled={busy || label.trim() === '' || allowed.events.length === 0} onClick={() => void make()}>Make Token</Button>
        </>
      )}
    >
      <Field label="Name" hint="By which you will know it, such as the program that gets it." maxLength={MAX_NAME} value={label} onChange={(event) => setLabel(event.target.value)} />
      <AllowFields value={allowed} onChange={setAllowed} />
    </Sheet>
  );
}
