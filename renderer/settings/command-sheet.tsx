import { Button } from '../parts/button.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useLookup } from '../parts/use-lookup.ts';
import { run } from '../stores/notice-store.ts';
import { shell } from '../stores/shell-store.ts';

/** Shows where the link goes before it is made. */
export function CommandSheet({ onClose }: { readonly onClose: () => void }) {
  const { value, problem } = useLookup('command', () => shell().command.preview({}), 0);

  async function install() {
    if (await run(shell().command.install({}))) onClose();
  }

  return (
    <Sheet
      title="Install the belfry command" onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" disabled={value === null || value.exists === 'other'} onClick={() => void install()}>Install</Button>
        </>
      )}
    >
      {value === null && problem === null && <p className="muted">Looking...</p>}
      {value && (
        <>
          <p>{value.sentence}</p>
          <dl>
            <dt className="settings-title">Link</dt>
            <dd><code>{value.link}</code></dd>
            <dt className="settings-title">Points to</dt>
            <dd><code>{value.target}</code></dd>
          </dl>
        </>
      )}
      {problem && <p className="field-problem" role="alert">{problem}</p>}
    </Sheet>
  );
}
