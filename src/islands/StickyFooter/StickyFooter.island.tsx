/**
 * The newsletter form of the sticky footer (spec section 2, "Sticky subscribe footer"). The server renders a form that works without
 * JavaScript; it is hydrated at a touch.
 */
import type { Provider } from '../../lib/accounts/service.ts';
import { publication } from '../../publication.ts';
import Newsletters from '../Newsletters/Newsletters.island.tsx';
import styles from './StickyFooter.module.css';

interface Props {
  returnTo: string;
  providers: readonly Provider[];
}

export default function StickyFooter({ returnTo, providers }: Props) {
  return (
    <div className={`wrap ${styles.offer}`}>
      <p className={styles.tagline}>
        <span className={styles.motto}>{publication.motto}.</span>
        <span className={styles.promise}>Free in your inbox, every day.</span>
      </p>
      <Newsletters shape="bar" returnTo={returnTo} providers={providers} />
      <p className={styles.legal}>
        By continuing you agree to our <a href="/privacy-policy">privacy policy</a> and{' '}
        <a href="/privacy-policy#Terms-of-use">terms of use</a>.
      </p>
    </div>
  );
}
