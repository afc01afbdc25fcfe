/** Runs scripts of the admin screens in jsdom, with React and with plain elements in place of WordPress's components. */
import fs from 'node:fs';
import path from 'node:path';
import * as React from 'react';
import { createRoot } from 'react-dom/client';

// biome-ignore lint/suspicious/noExplicitAny: the properties of WordPress's components, which have no types here
type Props = any;

const h = React.createElement;
const Group = Object.assign(({ children }: Props) => h(React.Fragment, null, children), {
  Slot: () => null,
  Register: () => null,
});

const components = {
  Button: ({
    children,
    onClick,
    disabled,
    accessibleWhenDisabled,
    'aria-label': label,
    'data-control': control,
  }: Props) =>
    h(
      'button',
      {
        type: 'button',
        onClick,
        disabled: disabled && !accessibleWhenDisabled,
        'aria-label': label,
        'data-control': control,
      },
      children,
    ),
  CheckboxControl: ({ label, checked, onChange }: Props) =>
    h('input', {
      type: 'checkbox',
      'aria-label': label,
      checked,
      onChange: (event: { target: { checked: boolean } }) => onChange(event.target.checked),
    }),
  TextControl: ({ label, value, onChange }: Props) =>
    h('input', {
      'aria-label': label,
      value,
      onChange: (event: { target: { value: string } }) => onChange(event.target.value),
    }),
};

/** A component that isn't listed shows what is in it. */
const withGroups = (known: object) =>
  new Proxy(known, { get: (target, name) => Reflect.get(target, name) ?? Group }) as Readonly<Record<string, unknown>>;

const words = (format: string, ...values: unknown[]): string => {
  let next = 0;
  return format.replace(/%(?:(\d+)\$)?[sd]/g, (_, place) => String(values[place ? Number(place) - 1 : next++]));
};

/** Runs scripts in their order, after the one that all share. WordPress has what every screen uses; `more` has the rest. */
export function runScripts(names: readonly string[], more: Readonly<Record<string, unknown>>): void {
  const wp = {
    a11y: { speak() {} },
    blockEditor: withGroups({}),
    blockLibrary: { registerCoreBlocks() {} },
    components: withGroups(components),
    date: { dateI18n: (_format: string, date: string) => date, getSettings: () => ({ formats: {} }) },
    domReady: (ready: () => void) => ready(),
    editor: withGroups({}),
    element: { ...React, createRoot },
    htmlEntities: { decodeEntities: (text: string) => text },
    i18n: { __: (text: string) => text, sprintf: words },
    url: {
      addQueryArgs: (address: string, given: Record<string, string>) => `${address}?${new URLSearchParams(given)}`,
    },
    ...more,
  };
  Object.assign(window, { wp });
  for (const file of ['shared.js', ...names]) {
    new Function(fs.readFileSync(path.join(import.meta.dirname, '../assets', file), 'utf8'))();
  }
}

/** The button with this label or text. */
export function button(label: string): HTMLButtonElement {
  const all = [...document.querySelectorAll('button')];
  const found = all.find((one) => (one.getAttribute('aria-label') ?? one.textContent) === label);
  if (!found) throw new Error(`There is no button "${label}".`);
  return found;
}

/** Types into a field as a user does, so that React gets the event. */
export function type(label: string, value: string): void {
  const field = document.querySelector<HTMLInputElement>(`input[aria-label="${label}"]`);
  if (!field) throw new Error(`There is no field "${label}".`);
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, value);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}
