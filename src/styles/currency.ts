/**
 * Styles for prices in the reader's currency, as the style sheet `virtual:currency.css`, generated from the publication's
 * currencies.
 */
import type { Plugin } from 'vite';
import { currencyStyle } from '../lib/billing/currency.ts';

const name = 'virtual:currency.css';
const file = '/__currency.css';

/** Makes the style sheet `virtual:currency.css`. */
export const currencyStyles = (): Plugin => ({
  name: 'broadsheet:currency',
  resolveId: (id) => (id === name ? file : null),
  load: (id) => (id === file ? currencyStyle : null),
});
