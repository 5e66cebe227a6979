import { useState } from 'react';
import { many } from '../../app/contract/glance.ts';
import { Button } from '../parts/button.tsx';
import { CodeBox } from '../parts/code-box.tsx';
import { engine, useEngine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';
import { pickSettings, saveText } from '../stores/own-machine.ts';
import { useInApp, useShell } from '../stores/shell-store.ts';
import { CommandSheet } from './command-sheet.tsx';
import { ConfirmSheet } from '../parts/confirm-sheet.tsx';
import { SettingsGroup, SettingsRow } from './settings-group.tsx';
import { UninstallSheet } from './uninstall-sheet.tsx';

type Open = { readonly kind: 'command' | 'uninstall' | 'reset' } | { readonly kind: 'import'; readonly json: string };

export function AdvancedGroup() {
  const shim = useShell(({ state }) => state?.shim ?? null);
  const inApp = useInApp();
  const slices = useEngine((store) => store.slices);
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);

  async function exportSettings() {
    const json = await run(engine.settings.export({}));
    if (json !== null) await saveText('belfry-settings.json', json);
  }

  async function importSettings() {
    const json = await pickSettings();
    if (json !== null) setOpen({ kind: 'import', json });
  }

  return (
    <SettingsGroup title="Advanced">
      {shim === null
        ? <SettingsRow label="Helper" hint="The helper that clients start was not built here." />
        : (
          <div className="settings-row">
            <div className="settings-words">Helper path</div>
            <CodeBox text={shim} name="the path of the helper" />
          </div>
        )}
      {inApp && <SettingsRow label="The belfry command" hint="Lets you use Belfry in a terminal."><Button onClick={() => setOpen({ kind: 'command' })}>Install...</Button></SettingsRow>}
      <SettingsRow label="Senders, events and settings as a file" hint="No clients: each Mac asks about its own.">
        <Button onClick={() => void exportSettings()}>Export...</Button>
        <Button onClick={() => void importSettings()}>Import...</Button>
      </SettingsRow>
      <SettingsRow label="Start over"><Button onClick={() => setOpen({ kind: 'reset' })}>Reset All Senders and Clients...</Button></SettingsRow>
      {inApp
        ? <SettingsRow label="Remove Belfry from this Mac"><Button onClick={() => setOpen({ kind: 'uninstall' })}>Uninstall...</Button></SettingsRow>
        : <p className="muted">Installing the belfry command and uninstalling belong to the Belfry app on a Mac.</p>}
      {open?.kind === 'command' && <CommandSheet onClose={close} />}
      {open?.kind === 'uninstall' && <UninstallSheet onClose={close} />}
      {open?.kind === 'reset' && (
        <ConfirmSheet title="Reset all senders and clients?" confirm="Reset" onConfirm={() => run(engine.settings.reset({}))} onClose={close}>
          <p>{slices === null ? 'All senders, chats and clients' : `${many(slices.senders.length, 'sender')}, ${many(slices.chats.length, 'chat')} and ${many(slices.clients.length, 'client')}`} will be removed from Belfry.</p>
          <p>Nothing is sent until you add senders and allow clients again. This can't be undone; Export keeps a copy of the senders.</p>
        </ConfirmSheet>
      )}
      {open?.kind === 'import' && (
        <ConfirmSheet title="Import these settings?" confirm="Import" onConfirm={() => run(engine.settings.import({ json: open.json }))} onClose={close}>
          <p>Events, senders, chats and settings become those of the file. Clients stay as they are.</p>
          <p>Export first if you want to keep what is here now.</p>
        </ConfirmSheet>
      )}
    </SettingsGroup>
  );
}
