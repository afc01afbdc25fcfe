/** The field for an e-mail address that all forms of the islands have, and what they do with it. */
import { type RefObject, type SyntheticEvent, useEffect, useRef } from 'react';
import { formFields } from '../../lib/accounts/forms.ts';

/**
 * @param error what is wrong with the address; the field is focused when it appears
 * @param onSubmit given what stands in the field
 */
export function useEmailField(error: string | null, onSubmit: (email: string) => void) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (error !== null) input.current?.focus();
  }, [error]);
  return {
    input,
    submit(event: SyntheticEvent) {
      event.preventDefault();
      onSubmit(input.current?.value ?? '');
    },
    /** Takes the address that was probably meant. */
    take(suggestion: string) {
      if (input.current) input.current.value = suggestion;
      onSubmit(suggestion);
    },
  };
}

export interface EmailFieldProps {
  field: RefObject<HTMLInputElement | null>;
  id: string;
  /** Id of what says what is wrong. */
  errorId: string;
  email: string;
  wrong: boolean;
  busy: boolean;
  placeholder?: string | undefined;
}

/** Uncontrolled, so that what is typed before the script has come stays. */
export const EmailField = ({ field, id, errorId, email, wrong, busy, placeholder }: EmailFieldProps) => (
  <input
    ref={field}
    className="field"
    id={id}
    name={formFields.email}
    type="email"
    placeholder={placeholder}
    autoComplete="email"
    autoCapitalize="none"
    spellCheck={false}
    required
    readOnly={busy}
    defaultValue={email}
    aria-describedby={errorId}
    aria-invalid={wrong || undefined}
  />
);
