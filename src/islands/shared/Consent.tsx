/** The line about privacy and terms (spec section 2, "Auth popup"). */
import { publication } from '../../publication.ts';
import styles from './shared.module.css';

export function Consent() {
  return (
    <p className={styles.consent}>
      By continuing you agree to the <a href="/privacy-policy#Terms-of-use">terms of use</a> and the{' '}
      <a href="/privacy-policy">privacy policy</a> of {publication.name}.
    </p>
  );
}
