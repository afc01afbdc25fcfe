/** Six boxes for a code. What they do is in boxes.ts; here is what the browser needs for it. */
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { formFields } from '../../lib/accounts/forms.ts';
import { type Boxes, backspace, emptyBoxes, erase, insert, isComplete, moved } from './boxes.ts';
import styles from './SignIn.module.css';

interface Props {
  /** Id of what is said about the code. */
  describedBy: string;
  invalid: boolean;
  disabled: boolean;
  /** The code was filled in to the last box by this change. */
  onComplete(code: string): void;
  onChange?(code: string): void;
}

export function CodeBoxes({ describedBy, invalid, disabled, onComplete, onChange }: Props) {
  const [boxes, setBoxes] = useState<Boxes>(emptyBoxes);
  const inputs = useRef<(HTMLInputElement | null)[]>([]);

  useEffect(() => inputs.current[0]?.focus(), []);
  // A code that was refused is typed again from the front; what stands there is kept until then.
  useEffect(() => {
    if (invalid && !disabled) inputs.current[0]?.focus();
  }, [invalid, disabled]);

  // Whatever has the focus: a code that is pasted here is meant for the boxes.
  const latest = useRef<(text: string) => void>(() => {});
  latest.current = (text) => change(insert(boxes, boxes.at, text));
  useEffect(() => {
    const paste = (event: globalThis.ClipboardEvent) => {
      const text = event.clipboardData?.getData('text') ?? '';
      if (event.defaultPrevented || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      latest.current(text);
    };
    document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  }, []);

  function change(next: Boxes) {
    if (disabled) return;
    setBoxes(next);
    inputs.current[next.at]?.focus();
    const code = next.digits.join('');
    if (code === boxes.digits.join('')) return;
    onChange?.(code);
    if (isComplete(next)) onComplete(code);
  }

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>, index: number) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = moved(index, event.key);
    if (to !== null) inputs.current[to]?.focus();
    else if (event.key === 'Backspace') change(backspace(boxes, index));
    else if (event.key === 'Delete') change(erase(boxes, index));
    else return;
    event.preventDefault();
  }

  function onPaste(event: ClipboardEvent<HTMLInputElement>, index: number) {
    event.preventDefault();
    change(insert(boxes, index, event.clipboardData.getData('text')));
  }

  return (
    // A fieldset cannot be described by an error in every reader; a group can.
    // biome-ignore lint/a11y/useSemanticElements: see above
    <div
      role="group"
      aria-label="Verification code, six digits"
      aria-describedby={describedBy}
      className={styles.boxes}
    >
      {boxes.digits.map((digit, index) => (
        <input
          // biome-ignore lint/suspicious/noArrayIndexKey: a box is its place
          key={index}
          ref={(element) => {
            inputs.current[index] = element;
          }}
          className={`field ${styles.box}`}
          name={formFields.code}
          value={digit}
          aria-label={`Digit ${index + 1}`}
          aria-invalid={invalid || undefined}
          aria-disabled={disabled || undefined}
          inputMode="numeric"
          autoComplete={index === 0 ? 'one-time-code' : 'off'}
          autoCapitalize="none"
          spellCheck={false}
          // No limit of one: a phone that fills the code in writes all of it into the first box. And each input counts: React's
          // `onChange` leaves out a digit that is typed over the same digit.
          onInput={(event) => change(insert(boxes, index, typedInto(digit, event.currentTarget.value)))}
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

/** What was added to a box that had a digit already: one digit more replaces it, on whichever side it was typed. */
function typedInto(before: string, value: string): string {
  return before !== '' && value.length === 2 ? value.replace(before, '') : value;
}
