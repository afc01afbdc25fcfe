/** Messages of a form. Apart from form.tsx, because the comments of every article load them and have no email field. */
import { useSyncExternalStore } from 'react';
import { confirmPage } from '../../lib/accounts/forms.ts';
import styles from './shared.module.css';

interface NoticeProps {
  id: string;
  /** `null` keeps the place in the page, so that a message which comes later is read out. */
  text: string | null;
  /** Makes an address in the text something to click; only beside a field for addresses. */
  onSuggestion?: ((email: string) => void) | undefined;
  /** Without a script an address is plain text. */
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

/** Follows a refusal for an unconfirmed address: a link to have the confirmation email sent again. */
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

/** Stands in messages for what an address looks like, and is never a suggestion. */
const example = 'name@example.com';

/** Splits a message at the first address in it; punctuation behind the address stays with the text. */
export function emailInText(text: string): TextWithEmail {
  const found = address.exec(text);
  if (!found || found[0] === example) return { before: text, email: null, after: '' };
  const [email] = found;
  return { before: text.slice(0, found.index), email, after: text.slice(found.index + email.length) };
}

const never = () => () => {};

/** False in what the server draws and while React takes that over, then true; true at once where the server drew nothing. */
export const useScripted = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
