import { useId, type ReactNode } from 'react';
import { Switch } from '../parts/switch.tsx';
import './settings-view.css';

export function SettingsGroup({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const id = useId();
  return (
    <section className="settings-group" aria-labelledby={id}>
      <h2 id={id} className="settings-title">{title}</h2>
      <div className="settings-card">{children}</div>
    </section>
  );
}

interface SettingsRowProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly children?: ReactNode;
}

/** What it is at the left, its control at the right; below each other where there is no room. */
export function SettingsRow({ label, hint, children }: SettingsRowProps) {
  return (
    <div className="settings-row">
      <div className="settings-words">
        <div>{label}</div>
        {hint && <div className="hint">{hint}</div>}
      </div>
      {children && <div className="settings-control">{children}</div>}
    </div>
  );
}

interface SwitchRowProps {
  readonly label: string;
  readonly hint?: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
}

export function SwitchRow({ label, hint, on, onChange }: SwitchRowProps) {
  const id = useId();
  return (
    <SettingsRow label={label} hint={hint && <span id={id}>{hint}</span>}>
      <Switch label={label} on={on} describedBy={hint ? id : undefined} onChange={onChange} />
    </SettingsRow>
  );
}
