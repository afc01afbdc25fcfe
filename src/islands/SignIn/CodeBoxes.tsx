/** Six boxes for a code. */
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { codeMessages } from '../../lib/accounts/messages.ts';
import { formFields } from '../../lib/accounts/model.ts';
import styles from './SignIn.module.css';

interface Props {
  /** Id of the error's element. */
  describedBy: string;
  invalid: boolean;
  disabled: boolean;
  /** Called when all boxes are filled. */
  onComplete(code: string): void;
  onChange?(code: string): void;
}

/** State of the boxes, and their event handlers. */
function useBoxes({ invalid, disabled, onComplete, onChange }: Omit<Props, 'describedBy'>) {
  const [boxes, setBoxes] = useState<Boxes>(emptyBoxes);
  const inputs = useRef<(HTMLInputElement | null)[]>([]);

  useEffect(() => inputs.current[0]?.focus(), []);
  // After a refusal the user types the code again from the first box; the digits stay until then.
  useEffect(() => {
    if (invalid && !disabled) inputs.current[0]?.focus();
  }, [invalid, disabled]);

  function change(next: Boxes) {
    if (disabled) return;
    setBoxes(next);
    inputs.current[next.at]?.focus();
    const code = next.digits.join('');
    if (code === boxes.digits.join('')) return;
    onChange?.(code);
    if (isComplete(next)) onComplete(code);
  }

  usePageWidePaste((text) => change(insert(boxes, boxes.at, text)));

  return {
    boxes,
    inputs,
    // Cutting a digit, or deleting it with an on-screen keyboard, is reported by no key.
    onInput: (index: number, digit: string, value: string) =>
      change(value === '' ? erase(boxes, index) : insert(boxes, index, typedInto(digit, value))),
    onKeyDown(event: KeyboardEvent<HTMLInputElement>, index: number) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const to = moved(index, event.key);
      if (to !== null) inputs.current[to]?.focus();
      else if (event.key === 'Backspace') change(backspace(boxes, index));
      else if (event.key === 'Delete') change(erase(boxes, index));
      else return;
      event.preventDefault();
    },
    onPaste(event: ClipboardEvent<HTMLInputElement>, index: number) {
      event.preventDefault();
      change(insert(boxes, index, event.clipboardData.getData('text')));
    },
  };
}

/** Takes a code that is pasted anywhere in the page except into another field. */
function usePageWidePaste(take: (text: string) => void): void {
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const paste = (event: globalThis.ClipboardEvent) => {
      const text = event.clipboardData?.getData('text') ?? '';
      const isField = (event.target as Element).closest?.('input, textarea');
      if (event.defaultPrevented || isField) return;
      event.preventDefault();
      latest.current(text);
    };
    document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  }, []);
}

export function CodeBoxes({ describedBy, invalid, disabled, ...handlers }: Props) {
  const { boxes, inputs, onInput, onKeyDown, onPaste } = useBoxes({ invalid, disabled, ...handlers });
  return (
    // Not every screen reader announces the description of a fieldset; it does that of a group.
    // biome-ignore lint/a11y/useSemanticElements: see above
    <div role="group" aria-label={codeMessages.label} aria-describedby={describedBy} className={styles.boxes}>
      {boxes.digits.map((digit, index) => (
        <input
          // biome-ignore lint/suspicious/noArrayIndexKey: boxes have no other key
          key={index}
          ref={(element) => {
            inputs.current[index] = element;
          }}
          className={`field ${styles.box}`}
          name={formFields.code}
          value={digit}
          aria-label={codeMessages.digit(index + 1)}
          aria-invalid={invalid || undefined}
          aria-disabled={disabled || undefined}
          inputMode="numeric"
          autoComplete={index === 0 ? 'one-time-code' : 'off'}
          autoCapitalize="none"
          spellCheck={false}
          // No `maxLength`: a phone that autofills the code writes all digits into the first box. `onInput`, because React's
          // `onChange` leaves out a digit that is typed over the same digit.
          onInput={(event) => onInput(index, digit, event.currentTarget.value)}
          onChange={ignore}
          onKeyDown={(event) => onKeyDown(event, index)}
          onPaste={(event) => onPaste(event, index)}
          onFocus={(event) => event.target.select()}
        />
      ))}
    </div>
  );
}

const ignore = () => {};

/** A digit that is typed into a box that already has one replaces it. */
function typedInto(before: string, value: string): string {
  return before !== '' && value.length === 2 ? value.replace(before, '') : value;
}

export const codeLength = 6;

export interface Boxes {
  /** One digit or nothing each; always `codeLength` of them. */
  readonly digits: readonly string[];
  /** The box with the cursor. */
  readonly at: number;
}

export const emptyBoxes: Boxes = { digits: Array<string>(codeLength).fill(''), at: 0 };

export const isComplete = ({ digits }: Boxes): boolean => digits.every((digit) => digit !== '');

const within = (at: number) => Math.min(Math.max(at, 0), codeLength - 1);

/** Writes the digits of a text into the boxes from one on: a key, a paste, or a phone's suggestion. A whole code begins at the first box. */
export function insert(boxes: Boxes, at: number, text: string): Boxes {
  const typed = [...text].filter((character) => /[0-9]/.test(character)).slice(0, codeLength);
  if (typed.length === 0) return boxes;
  const from = typed.length === codeLength ? 0 : within(at);
  const digits = boxes.digits.map((digit, index) => typed[index - from] ?? digit);
  return { digits, at: within(from + typed.length) };
}

/** Backspace empties its box, or the previous one if its own is empty. */
export function backspace(boxes: Boxes, at: number): Boxes {
  const target = boxes.digits[at] === '' ? within(at - 1) : at;
  return { digits: boxes.digits.with(target, ''), at: target };
}

/** Delete empties its box. */
export const erase = (boxes: Boxes, at: number): Boxes => ({ digits: boxes.digits.with(at, ''), at });

/** The box that a key moves the cursor to; `null` for other keys. */
export function moved(at: number, key: string): number | null {
  switch (key) {
    case 'ArrowLeft':
      return within(at - 1);
    case 'ArrowRight':
      return within(at + 1);
    case 'Home':
      return 0;
    case 'End':
      return codeLength - 1;
    default:
      return null;
  }
}
