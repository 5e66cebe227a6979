import { useState } from 'react';
import type { PlainSettings } from '../../app/contract/plain-settings.ts';
import { Field } from '../parts/field.tsx';
import { Select } from '../parts/select.tsx';
import { setHideDetails } from '../stores/shell-store.ts';
import { useView } from '../stores/view-store.ts';
import { ConfirmSheet } from '../parts/confirm-sheet.tsx';
import { setSetting } from './set-setting.ts';
import { SettingsGroup, SettingsRow, SwitchRow } from './settings-group.tsx';

const DAYS = [0, 1, 7, 30];
const RATES = [30, 60, 120, 240, 600];
/** A value that was set elsewhere stays in the list. */
const withOwn = (values: readonly number[], own: number) => [...new Set([...values, own])].toSorted((a, b) => a - b);

export function PrivacyGroup({ settings }: { readonly settings: PlainSettings }) {
  const hideDetails = useView((view) => view.hideDetails);
  return (
    <SettingsGroup title="Privacy">
      <SwitchRow label="Send subject lines" hint="Off: a mail's subject is sent as empty." on={settings.subjects} onChange={(on) => void setSetting('subjects', on)} />
      <AskRow on={settings.askNewClients} />
      <SwitchRow label="Send old messages that are synced late" hint="Off: adding an account doesn't send thousands of old ones." on={settings.backfill} onChange={(on) => void setSetting('backfill', on)} />
      <SettingsRow label="Keep senders in Activity">
        <Select
          label="Keep senders in Activity" hideLabel value={String(settings.keepSendersDays)} onChange={(value) => void setSetting('keepSendersDays', Number(value))}
          options={withOwn(DAYS, settings.keepSendersDays).map((days) => ({ value: String(days), label: days === 0 ? 'Never' : days === 1 ? '1 day' : `${days} days` }))}
        />
      </SettingsRow>
      <SettingsRow label="Events a client gets in an hour" hint="More are held back, and a digest says how many.">
        <Select
          label="Events a client gets in an hour" hideLabel value={String(settings.ratePerHour)} onChange={(value) => void setSetting('ratePerHour', Number(value))}
          options={withOwn(RATES, settings.ratePerHour).map((rate) => ({ value: String(rate), label: `At most ${rate}` }))}
        />
      </SettingsRow>
      <RegionRow region={settings.region} />
      <SwitchRow label="Hide details in Live" hint="Names, addresses and subjects are swapped for a sentence. Allow sender still shows whom you allow." on={hideDetails} onChange={setHideDetails} />
    </SettingsGroup>
  );
}

/** On again at once; off only after it was said what that means. */
function AskRow({ on }: { readonly on: boolean }) {
  const [confirming, setConfirming] = useState(false);
  return (
    <>
      <SwitchRow
        label="Ask before a new client gets events" on={on} onChange={(value) => (value ? void setSetting('askNewClients', true) : setConfirming(true))}
        hint={on ? 'Until you answer it sees which events exist, and gets none.' : 'Off: any program that connects gets events from the senders you allow.'}
      />
      {confirming && (
        <ConfirmSheet title="Let new clients in without asking?" confirm="Turn Off" onConfirm={() => setSetting('askNewClients', false)} onClose={() => setConfirming(false)}>
          <p>Any program on this Mac that connects to Belfry then gets events from the senders you allow, and you see it in Clients only afterwards.</p>
          <p>Reading, search and replies are still asked for. Programs that you don't allow stay refused, and those that wait for you now go on waiting.</p>
        </ConfirmSheet>
      )}
    </>
  );
}

function RegionRow({ region }: { readonly region: string | null }) {
  const [text, setText] = useState(region ?? '');
  const code = text.trim().toUpperCase();
  const bad = code !== '' && !/^[A-Z]{2}$/.test(code);

  function save() {
    if (!bad && code !== (region ?? '')) void setSetting('region', code === '' ? null : code);
  }

  return (
    <SettingsRow label="Country of phone numbers" hint="For numbers without a country code: two letters, such as NL. Empty: such numbers are refused.">
      <div className="settings-short">
        <Field
          label="Country of phone numbers" hideLabel value={text} maxLength={2} problem={bad ? 'Two letters, such as NL.' : null}
          onChange={(event) => setText(event.target.value)} onBlur={save} onKeyDown={(event) => event.key === 'Enter' && save()}
        />
      </div>
    </SettingsRow>
  );
}
