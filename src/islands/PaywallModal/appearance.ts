/** The paper's colours for fields that the card company draws in frames of its own, where no style of ours reaches. */
import type { Appearance } from '@stripe/stripe-js';

export function appearance(root: HTMLElement = document.documentElement): Appearance {
  const style = getComputedStyle(root);
  const token = (name: string, otherwise: string) => style.getPropertyValue(name).trim() || otherwise;
  const ink = token('--ink', '#16140f');
  const faint = token('--ink-faint', '#66625a');
  const focus = token('--focus', '#0b57a4');
  return {
    theme: 'flat',
    variables: {
      colorPrimary: ink,
      colorBackground: token('--paper-raised', '#fffefa'),
      colorText: ink,
      colorTextSecondary: token('--ink-soft', '#45423a'),
      colorTextPlaceholder: faint,
      colorDanger: token('--red', '#a4141e'),
      fontFamily: 'Libre Franklin, Helvetica Neue, Arial, sans-serif',
      fontSizeBase: '16px',
      borderRadius: '2px',
      spacingUnit: '4px',
      focusBoxShadow: `0 0 0 3px ${focus}`,
    },
    rules: {
      '.Input': { border: `1px solid ${faint}`, padding: '12px' },
      '.Input:focus': { borderColor: ink },
      '.Label': { fontWeight: '600', fontSize: '15px', marginBottom: '6px' },
      '.Tab': { border: `1px solid ${token('--rule', '#d9d4c6')}` },
      '.Tab--selected': { borderColor: ink, color: ink },
    },
  };
}
