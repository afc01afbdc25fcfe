/** Renders islands in tests, in a jsdom document with the methods it lacks. */
import { act, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { vi } from 'vitest';

const react = globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean };
react.IS_REACT_ACT_ENVIRONMENT = true;

// jsdom has the element without its methods.
const dialog = HTMLDialogElement.prototype;
dialog.showModal ??= function showModal(this: HTMLDialogElement) {
  this.open = true;
};
dialog.close ??= function close(this: HTMLDialogElement) {
  if (!this.open) return;
  this.open = false;
  this.dispatchEvent(new Event('close'));
};

export interface Drawn {
  readonly host: HTMLElement;
  draw(node: ReactNode): Promise<void>;
  remove(): Promise<void>;
}

export async function draw(node: ReactNode): Promise<Drawn> {
  const host = document.createElement('div');
  document.body.append(host);
  const root = createRoot(host);
  const again = (next: ReactNode) => act(async () => root.render(next));
  await again(node);
  return {
    host,
    draw: again,
    remove: async () => {
      await act(async () => root.unmount());
      host.remove();
    },
  };
}

/**
 * Waits until a check passes. React renders by itself during the wait: inside `act`, what a late answer changes would be rendered only after the
 * wait.
 */
export async function settle(check: () => void): Promise<void> {
  react.IS_REACT_ACT_ENVIRONMENT = false;
  try {
    await vi.waitFor(check);
  } finally {
    react.IS_REACT_ACT_ENVIRONMENT = true;
  }
  // The effects of what was rendered last.
  await act(async () => {});
}

/** The one element of a selector with this name: its label, its `aria-label` or its text. */
export function named<T extends HTMLElement = HTMLElement>(selector: string, name: string | RegExp): T {
  const says = (text: string | null | undefined) => {
    const plain = (text ?? '').replace(/\s+/g, ' ').trim();
    return typeof name === 'string' ? plain === name : name.test(plain);
  };
  const found = [...document.querySelectorAll<T>(selector)].filter((element) => {
    const label = element.id ? document.querySelector(`label[for="${CSS.escape(element.id)}"]`)?.textContent : null;
    return says(label ?? element.getAttribute('aria-label') ?? element.textContent);
  });
  if (found.length !== 1)
    throw new Error(`${found.length} of ${selector} named ${name} in:\n${document.body.innerHTML}`);
  return found[0] as T;
}

export const button = (name: string | RegExp) => named<HTMLButtonElement>('button', name);
export const field = (name: string | RegExp) => named<HTMLInputElement>('input', name);

export const click = (element: HTMLElement) => act(async () => element.click());

/** Types like a user: sets the value and sends the event for React. */
export async function type(input: HTMLInputElement | HTMLTextAreaElement, value: string): Promise<void> {
  await act(async () => {
    // React replaces the element's own property.
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value')?.set?.call(input, value);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

export const press = (element: HTMLElement, key: string) =>
  act(async () => {
    element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  });

export async function paste(element: HTMLElement, text: string): Promise<void> {
  await act(async () => {
    const event = new Event('paste', { bubbles: true, cancelable: true });
    Object.assign(event, { clipboardData: { getData: () => text } });
    element.dispatchEvent(event);
  });
}

export const submit = (form: HTMLFormElement) =>
  act(async () => {
    form.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }));
  });
