/** Messages of a form. A module of its own, because the comments of every article load it without the email field of form.tsx. */
import { useSyncExternalStore } from 'react';
import { confirmPage } from '../../lib/accounts/model.ts';
import styles from './shared.module.css';

interface NoticeProps {
  id: string;
  /** `null` renders an empty element, so that a later message is announced. */
  text: string | null;
  /** Makes an address in the text a button; only next to a field for addresses. */
  onSuggestion?: ((email: string) => void) | undefined;
  /** Without JavaScript an address is plain text. */
  plain?: boolean;
}

/** An error, announced when it appears. */
export function Notice({ id, text, onSuggestion, plain = false }: NoticeProps) {
  return (
    <div id={id} role="alert" className={styles.notice}>
      {text !== null && (
        <p>
          <Words text={text} onSuggestion={plain ? undefined : onSuggestion} />
        </p>
      )}
    </div>
  );
}

function Words({ text, onSuggestion }: { text: string; onSuggestion: NoticeProps['onSuggestion'] }) {
  const { before, email, after } = emailInText(text);
  if (email === null || !onSuggestion) return text;
  return (
    <>
      {before}
      <button type="button" className={styles.suggestion} onClick={() => onSuggestion(email)}>
        {email}
      </button>
      {after}
    </>
  );
}

/** Link to send the confirmation email again, after a refusal for an unconfirmed address. */
export const ConfirmLink = () => (
  <p>
    <a href={confirmPage(location.pathname)}>Send the confirmation email again</a>
  </p>
);

interface TextWithEmail {
  readonly before: string;
  /** `null` where the text has none. */
  readonly email: string | null;
  readonly after: string;
}

const address = /[^\s<>()[\]",;:“”„«»]+@[^\s<>()[\]",;:@“”„«»]+\.[\p{L}\p{N}-]*[\p{L}\p{N}]/u;

/** The example address in messages, which is never a suggestion. */
const example = 'name@example.com';

/** Splits a message at the first address in it; punctuation behind the address stays with the text. */
export function emailInText(text: string): TextWithEmail {
  const found = address.exec(text);
  if (!found || found[0] === example) return { before: text, email: null, after: '' };
  const [email] = found;
  return { before: text.slice(0, found.index), email, after: text.slice(found.index + email.length) };
}

const never = () => () => {};

/** False on the server and during hydration, then true; true at once where the server rendered nothing. */
export const useScripted = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
