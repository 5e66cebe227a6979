import { useId } from 'react';
import './switch.css';

interface SwitchProps {
  /** Its name: what it turns on, for instance the event. */
  readonly label: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
  readonly disabled?: boolean;
  /** Why it is disabled or what it does; read after the name. */
  readonly describedBy?: string | undefined;
  /** The label stands beside the switch; else it is only read. */
  readonly visibleLabel?: boolean;
  readonly tabIndex?: number;
}

/** On or off, at once. Its state is also a text, since position and colour alone may not carry it. */
export function Switch({ label, on, onChange, disabled = false, describedBy, visibleLabel = false, tabIndex }: SwitchProps) {
  const id = useId();
  return (
    <span className={`switch${visibleLabel ? ' switch-row' : ''}`}>
      <span id={id} className={visibleLabel ? 'switch-label' : 'hidden-text'}>{label}</span>
      <button
        type="button" role="switch" aria-checked={on} aria-labelledby={id} aria-describedby={describedBy} disabled={disabled} tabIndex={tabIndex}
        className="switch-button" onClick={() => onChange(!on)}
      >
        <span className="switch-word" aria-hidden="true">{on ? 'on' : 'off'}</span>
        <span className="switch-track" aria-hidden="true"><span className="switch-knob" /></span>
      </button>
    </span>
  );
}
