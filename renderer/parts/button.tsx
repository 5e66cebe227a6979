import type { ComponentPropsWithRef } from 'react';
import { Icon, type IconId } from './icon.tsx';
import './button.css';

interface ButtonProps extends ComponentPropsWithRef<'button'> {
  /** `main` once at most in a view or sheet; `plain` looks like a link; `danger` for what cannot be taken back. */
  readonly look?: 'normal' | 'main' | 'plain' | 'danger';
  readonly icon?: IconId;
  /** 24 px high, for rows. */
  readonly dense?: boolean;
}

export function Button({ look = 'normal', icon, dense = false, className = '', children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={`button button-${look}${dense ? ' button-dense' : ''} ${className}`} {...rest}>
      {icon && <Icon id={icon} />}
      {children}
    </button>
  );
}

/** Only an icon: named by `label`. */
export function IconButton({ icon, label, ...rest }: Omit<ButtonProps, 'children' | 'icon'> & { readonly icon: IconId; readonly label: string }) {
  return <Button look="plain" aria-label={label} title={label} icon={icon} {...rest} />;
}
