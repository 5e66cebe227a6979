import { useId, type ReactNode } from 'react';
import './checkbox.css';

interface CheckboxProps {
  readonly label: ReactNode;
  readonly hideLabel?: boolean;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
  readonly hint?: ReactNode;
  readonly tabIndex?: number;
}

export function Checkbox({ label, hideLabel = false, checked, onChange, disabled = false, hint, tabIndex }: CheckboxProps) {
  const id = useId();
  return (
    <div className="checkbox">
      <label className="checkbox-line">
        <input
          type="checkbox" className="checkbox-input" checked={checked} disabled={disabled} tabIndex={tabIndex} aria-describedby={hint ? id : undefined}
          onChange={(event) => onChange(event.target.checked)}
        />
        <span className={hideLabel ? 'hidden-text' : 'checkbox-label'}>{label}</span>
      </label>
      {hint && <div id={id} className="checkbox-hint hint">{hint}</div>}
    </div>
  );
}

interface RadioGroupProps<T extends string> {
  readonly label: string;
  readonly hideLabel?: boolean;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly onChange: (value: T) => void;
}

/** One of a few, all of them in view. */
export function RadioGroup<T extends string>({ label, hideLabel = false, value, options, onChange }: RadioGroupProps<T>) {
  const name = useId();
  return (
    <fieldset className="radio-group">
      <legend className={hideLabel ? 'hidden-text' : 'radio-legend'}>{label}</legend>
      {options.map((option) => (
        <label key={option.value} className="checkbox-line">
          <input type="radio" className="checkbox-input" name={name} checked={option.value === value} onChange={() => onChange(option.value)} />
          <span className="checkbox-label">{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
