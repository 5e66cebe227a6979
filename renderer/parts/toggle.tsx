import type { ComponentPropsWithRef } from 'react';
import { Button } from './button.tsx';
import './toggle.css';

interface ToggleProps extends Omit<ComponentPropsWithRef<'button'>, 'onChange'> {
  readonly pressed: boolean;
  readonly onChange: (pressed: boolean) => void;
}

/** A button that stays down; a tick shows it as well as its colour. */
export function Toggle({ pressed, onChange, children, ...rest }: ToggleProps) {
  return (
    <Button aria-pressed={pressed} className="toggle" onClick={() => onChange(!pressed)} {...(pressed && { icon: 'check' })} {...rest}>
      {children}
    </Button>
  );
}
