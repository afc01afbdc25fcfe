/** What a form has to say, beside the field or above it. */
import { emailInText } from './email-in-text.ts';
import styles from './shared.module.css';

interface Props {
  id: string;
  /** `null` keeps the place in the page, so that a message which comes later is read out. */
  text: string | null;
  /** Makes an address in the text something to click; only beside a field for addresses. */
  onSuggestion?: ((email: string) => void) | undefined;
  /** Without a script an address is plain text. */
  plain?: boolean;
}

/** An error, announced when it appears. */
export function Notice({ id, text, onSuggestion, plain = false }: Props) {
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

function Words({ text, onSuggestion }: { text: string; onSuggestion: Props['onSuggestion'] }) {
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
