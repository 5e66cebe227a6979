import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { ConfirmSheet } from '../parts/confirm-sheet.tsx';
import type { PlainSettings } from '../../app/contract/plain-settings.ts';
import { LeftOutSheet } from './left-out-sheet.tsx';
import { SettingsGroup, SettingsRow, SwitchRow } from './settings-group.tsx';
import { setSetting } from './set-setting.ts';

/** What holds for every client that may read. */
export function ReadingGroup({ settings }: { readonly settings: PlainSettings }) {
  const [open, setOpen] = useState<'left-out' | 'codes' | null>(null);
  const close = () => setOpen(null);
  return (
    <SettingsGroup title="Reading">
      <SettingsRow label="Accounts and mailboxes left out" hint="No client hears of mail there, reads it or finds it."><Button onClick={() => setOpen('left-out')}>Choose...</Button></SettingsRow>
      <SwitchRow
        label="Hide codes for signing in" hint="On: codes that are valid for one time are blotted out in what clients read." on={settings.hideCodes}
        onChange={(on) => (on ? void setSetting('hideCodes', true) : setOpen('codes'))}
      />
      <SwitchRow
        label="Fetch mail that is not on this Mac" hint="On: where a client opens such a mail, Mail is asked for its text while Mail runs." on={settings.fetchThroughMail}
        onChange={(on) => void setSetting('fetchThroughMail', on)}
      />
      {open === 'left-out' && <LeftOutSheet onClose={close} />}
      {open === 'codes' && (
        <ConfirmSheet title="Show codes for signing in?" confirm="Show Codes" onConfirm={() => setSetting('hideCodes', false)} onClose={close}>
          <p>Clients that may read then read codes as well. Who has such a code may be able to sign in as you.</p>
        </ConfirmSheet>
      )}
    </SettingsGroup>
  );
}
