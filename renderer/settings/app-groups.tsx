import type { Preferences, ShellAction } from '../../app/contract/shell.ts';
import { Button } from '../parts/button.tsx';
import { RadioGroup } from '../parts/checkbox.tsx';
import { run } from '../stores/notice-store.ts';
import { setPreference, shell, useShell } from '../stores/shell-store.ts';
import { SettingsGroup, SettingsRow, SwitchRow } from './settings-group.tsx';

const act = (action: ShellAction) => void run(shell().shell.act({ action }));
type Flag = { [K in keyof Preferences]: Preferences[K] extends boolean ? K : never }[keyof Preferences];

function FlagRow({ name, label, hint }: { readonly name: Flag; readonly label: string; readonly hint?: string }) {
  const on = useShell(({ state }) => state!.preferences[name]);
  return <SwitchRow label={label} {...(hint === undefined ? {} : { hint })} on={on} onChange={(value) => void setPreference(name, value)} />;
}

export function GeneralGroup() {
  const { preferences, loginItem } = useShell(({ state }) => state!);
  return (
    <SettingsGroup title="General">
      <FlagRow name="openAtLogin" label="Open at login" />
      {/* The system's answer counts, not our own switch (ui.md, section 3). */}
      {preferences.openAtLogin && loginItem === 'requires-approval' && (
        <SettingsRow label="Allow Belfry in System Settings > General > Login Items."><Button onClick={() => act('open-login-items')}>Open Login Items</Button></SettingsRow>
      )}
      <FlagRow name="openMailAtLogin" label="Open Mail at login" hint="New mail arrives only while Mail runs." />
      <FlagRow name="showIcon" label="Show icon in menu bar" hint="Without it, open Belfry again from Applications to see this window." />
      <SettingsRow label="Menu bar click opens">
        <RadioGroup
          label="Menu bar click opens" hideLabel value={preferences.clickOpens} onChange={(value) => void setPreference('clickOpens', value)}
          options={[{ value: 'panel', label: 'Panel' }, { value: 'menu', label: 'Menu' }]}
        />
      </SettingsRow>
      <SettingsRow label="Set-up"><Button onClick={() => void run(shell().shell.open({ section: 'onboarding' }))}>Show Again</Button></SettingsRow>
    </SettingsGroup>
  );
}

export function AlertsGroup() {
  return (
    <SettingsGroup title="Alerts">
      <FlagRow name="alertAccessLost" label="Tell me when access is lost" />
      <FlagRow name="alertEngineStopped" label="Tell me when events have stopped" />
      <FlagRow name="alertClientAsks" label="Tell me when a client asks" />
      <FlagRow name="alertNotDelivered" label="Tell me when events can't be delivered" />
      <FlagRow name="alertUpdateReady" label="Tell me when an update is ready" />
      <SettingsRow label="No alert names a sender, a subject or a client."><Button onClick={() => act('open-notification-settings')}>Open Notification Settings</Button></SettingsRow>
    </SettingsGroup>
  );
}

export function UpdatesGroup() {
  const version = useShell(({ state }) => state!.version);
  const update = useShell(({ state }) => state!.update);
  const off = update.state === 'off';
  return (
    <SettingsGroup title="Updates">
      <SettingsRow label={`Version ${version}`} hint={UPDATE_WORDS[update.state]}>
        {update.state === 'ready' && <Button look="main" onClick={() => act('restart-to-update')}>Restart to Update</Button>}
        {!off && update.state !== 'ready' && <Button disabled={update.state === 'checking'} onClick={() => act('check-for-updates')}>Check</Button>}
      </SettingsRow>
      {!off && <FlagRow name="automaticUpdates" label="Check automatically" />}
    </SettingsGroup>
  );
}

const UPDATE_WORDS = {
  off: "This build doesn't update itself.", none: 'Up to date', checking: 'Checking...', ready: 'Ready. Restart to update.', failed: "Couldn't check. Belfry tries again later.",
} as const;
